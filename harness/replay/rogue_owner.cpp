// SPDX-License-Identifier: MIT
#include "harness/replay/rogue_owner.hpp"

#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <array>
#include <cmath>

namespace reckoner::harness {
namespace {

constexpr double kRadiusM = 10.0;
constexpr double kHonestMps = 0.95 * RogueOwner::kTopSpeedMps;
constexpr double kJumpM = 40.0;
constexpr double kAheadS = 0.5;
constexpr int kFlood = 17;  // datagrams per tick

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

void RogueOwner::receive() {
  while (const auto event = transport_.poll()) {
    std::vector<std::byte> buffer(256);
    if (event->kind == TransportEvent::Kind::connected) {
      server_ = event->peer;
      transport_.send(server_, Channel::control,
                      encode(JoinMessage{kProtocolVersion, archetype_hash_}, buffer));
    }
    if (event->kind != TransportEvent::Kind::received || event->channel != Channel::control) continue;
    std::span<const std::byte> left = event->payload;
    while (!left.empty()) {
      const auto message = decode_next_control(left);
      if (!message) break;
      if (std::holds_alternative<WelcomeMessage>(*message)) {
        joined_ = true;
        transport_.send(server_, Channel::control, encode(GameDataMessage{{kGreeting}, {}}, buffer));
        continue;
      }
      if (is_counted(*message)) ++control_count_;
      const auto* ownership = std::get_if<OwnershipMessage>(&*message);
      if (ownership == nullptr) continue;
      entity_ = ownership->entity;
      term_ = ownership->term;  // the client ignores everything else in a correction
    }
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
  if (!joined_) return;
  if (!entity_) return send_motion(tick, {});
  if (cheat_ == Cheat::future) {
    const auto ahead = static_cast<Tick>(kAheadS * tick_rate_hz);
    return send_motion(tick + ahead, claimed_state(time_s + ahead / tick_rate_hz));
  }
  for (int i = 0; i < (cheat_ == Cheat::flood ? kFlood : 1); ++i)
    send_motion(tick, claimed_state(time_s));
}

void RogueOwner::send_motion(Tick tick, const State& state) {
  ClientDatagram datagram;
  datagram.sequence = sequence_++;
  datagram.control_count = control_count_;
  datagram.has_owned = entity_.has_value();
  std::array<std::byte, kMaxStateBytes> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  if (entity_) {
    write(writer,
          OwnedHead{static_cast<std::uint32_t>(entity_->slot()), term_, static_cast<std::uint16_t>(tick), {}},
          -1);
    write_full(writer, quantise(state, 0, kUnitPrecision, quantisation_), quantisation_);
    writer.write(0, 1);
  }
  transport_.send(server_, Channel::state, writer.finish());
}

}  // namespace reckoner::harness
