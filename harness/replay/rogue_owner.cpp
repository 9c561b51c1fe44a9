// SPDX-License-Identifier: MIT
#include "harness/replay/rogue_owner.hpp"

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/message_length.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <array>
#include <cmath>
#include <variant>
#include <vector>

namespace reckoner::harness {
namespace {

constexpr double kRadiusM = 10.0;
constexpr double kHonestMps = 0.95 * RogueOwner::kTopSpeedMps;
constexpr double kJumpM = 40.0;
constexpr double kAheadS = 0.5;
constexpr int kFlood = 17;  // datagrams per tick

// The stream of the client: one message.
void write_greeting(BitWriter& writer) {
  std::array<std::byte, 64> buffer;
  const auto message = encode(GameDataMessage{{RogueOwner::kGreeting}, {}}, buffer);
  std::vector<std::byte> stream;
  append_message_length(stream, message.size());
  stream.insert(stream.end(), message.begin(), message.end());
  ReliablePartsWriter parts;
  parts.add(writer, 0, stream);
  parts.finish(writer);
}

}  // namespace

std::optional<Cheat> find_cheat(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"none", "speed", "teleport", "future", "flood"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Cheat>(i);
  }
  return std::nullopt;
}

RogueOwner::RogueOwner(Cheat cheat, std::span<const Archetype> archetypes, std::size_t archetype,
                       Transport& transport)
    : cheat_(cheat),
      archetype_hash_(archetype_hash(archetypes)),
      quantisation_(quantisation_for(archetypes[archetype])),
      transport_(transport) {
  quantisation_.max_speed_mps = 1e6;  // so high that the claimed speed is not clamped
}

void RogueOwner::receive(double now_s) {
  while (const auto event = transport_.poll()) {
    if (event->kind == TransportEvent::Kind::connected) server_ = event->peer;
    if (event->kind == TransportEvent::Kind::received) receive_datagram(event->payload, now_s);
  }
}

// A datagram with motions or predictions is ignored; the server sends its messages again.
void RogueOwner::receive_datagram(std::span<const std::byte> payload, double now_s) {
  BitReader reader{payload};
  const ServerHeader header = read_server_header(reader);
  answered_ = answered_ || header.control.answer;
  if (header.update_count > 0 || header.has_predictions || header.has_fields) return;
  std::vector<SpawnEntry> spawns;
  MessageBatch messages;
  std::vector<ReliablePart> parts;
  if (header.has_spawns) read_spawns(reader, 0, spawns);
  if (header.has_messages) read_messages(reader, messages);
  if (header.has_reliable) read_reliable_parts(reader, messages_.near(), parts);
  if (!reader.finished() || !messages_.accepts(parts)) return;
  const auto receipt = link_.receive(header.sequence, header.ack, 0.0, now_s);
  link_.clear_outcomes();
  if (receipt != PeerLink::Receipt::newest && receipt != PeerLink::Receipt::older) return;
  messages_.add(parts);
  while (const auto bytes = messages_.next()) {
    const auto message = decode_reliable(*bytes);
    const auto* ownership = message ? std::get_if<OwnershipMessage>(&*message) : nullptr;
    if (ownership == nullptr) continue;
    entity_ = ownership->entity;
    term_ = ownership->term;  // the client ignores everything else in a correction
  }
}

State RogueOwner::claimed_state(double time_s) const {
  const double mps = cheat_ == Cheat::speed ? 3.0 * kTopSpeedMps : kHonestMps;
  const double angle = mps / kRadiusM * time_s;
  State s;
  s.position = {kRadiusM * portable::cos(angle), kRadiusM * portable::sin(angle), 0.0};
  s.velocity = glm::vec3{glm::dvec3{-portable::sin(angle), portable::cos(angle), 0.0} * mps};
  s.acceleration =
      glm::vec3{glm::dvec3{-portable::cos(angle), -portable::sin(angle), 0.0} * (mps * mps / kRadiusM)};
  if (cheat_ == Cheat::teleport && static_cast<int>(time_s) % 2 != 0) s.position.x += kJumpM;
  return s;
}

void RogueOwner::tick(Tick tick, double time_s, double tick_rate_hz) {
  if (!server_) return;
  if (!answered_) {
    const JoinRequest request{.archetype_hash = archetype_hash_, .resume = {}};
    transport_.send(server_, request_datagram(request));
    return;
  }
  if (!entity_) return send_motion(tick, time_s, {});
  if (cheat_ == Cheat::future) {
    const auto ahead = static_cast<Tick>(kAheadS * tick_rate_hz);
    return send_motion(tick + ahead, time_s, claimed_state(time_s + ahead / tick_rate_hz));
  }
  for (int i = 0; i < (cheat_ == Cheat::flood ? kFlood : 1); ++i)
    send_motion(tick, time_s, claimed_state(time_s));
}

void RogueOwner::send_motion(Tick tick, double time_s, const State& state) {
  link_.expire(time_s);
  ClientDatagram datagram;
  datagram.sequence = link_.begin(time_s);
  link_.clear_outcomes();
  datagram.ack = link_.acknowledge();
  datagram.processed = static_cast<std::uint16_t>(messages_.taken());
  datagram.has_owned = entity_.has_value();
  datagram.has_reliable = !entity_;
  std::array<std::byte, kMaxDatagramBytes> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  if (entity_) {
    write(writer,
          OwnedHead{static_cast<std::uint32_t>(entity_->slot()), term_, static_cast<std::uint16_t>(tick), {}},
          -1);
    write_full(writer, quantise(state, 0, kUnitPrecision, quantisation_), quantisation_);
    writer.write(0, 1);
  } else {
    write_greeting(writer);
  }
  transport_.send(server_, writer.finish());
}

}  // namespace reckoner::harness
