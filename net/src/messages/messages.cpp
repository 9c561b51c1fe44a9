// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_serialize.hpp"
#include "net/src/codec/route_serialize.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "net/src/messages/join_serialize.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <bit>
#include <cassert>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace reckoner {
namespace {

// Numbers of the messages on the wire: never renumbered, never reused.
enum class Kind : std::uint8_t {
  // 1, 8 and 9 were join, session and resume up to version 11, and 3 and 4 spawn and despawn up to
  // version 10.
  welcome = 2,
  route = 5,
  game_data = 6,
  ownership = 7,
  playout = 10,
  kick = 11,
  after_spawns = 12,
  unordered = 13
};
constexpr int kMaxKind = 15;

constexpr double kMaxSeconds = 1e12;
constexpr double kMaxMetres = 1e12;
constexpr double kMaxViewersS = 10.0;

constexpr Kind kind_of(const WelcomeMessage&) {
  return Kind::welcome;
}
constexpr Kind kind_of(const AfterSpawnsMessage&) {
  return Kind::after_spawns;
}
constexpr Kind kind_of(const RouteMessage&) {
  return Kind::route;
}

constexpr Kind kind_of(const GameDataMessage&) {
  return Kind::game_data;
}

constexpr Kind kind_of(const OwnershipMessage&) {
  return Kind::ownership;
}

constexpr Kind kind_of(const PlayoutMessage&) {
  return Kind::playout;
}

constexpr Kind kind_of(const KickMessage&) {
  return Kind::kick;
}

constexpr Kind kind_of(const UnorderedMessage&) {
  return Kind::unordered;
}

template <class Message>
std::optional<ReliableMessage> read_as(BitReader& reader) {
  Message message;
  wire::BitInputArchive archive{reader};
  archive(message);
  reader.align();
  if (reader.failed()) return std::nullopt;
  return message;
}

}  // namespace

// Argument-dependent lookup finds serialize(), so these functions are in the namespace of the messages.

template <class Archive>
void serialize(Archive& archive, EntityId& id) {
  archive(wire::ranged(id.index1, 1, kMaxEntities), id.generation);
}

template <class Archive, std::size_t Count>
void serialize_gains(Archive& archive, std::array<std::int8_t, Count>& gains) {
  for (std::int8_t& gain : gains)
    archive(wire::ranged(gain, INT8_MIN, INT8_MAX));
}

template <class Archive>
void serialize(Archive& archive, OrderRule& r) {
  archive(wire::ranged(r.offset, OrderRule::kMinOffset, OrderRule::kMaxOffset),
          wire::ranged(r.slope, 0, OrderRule::kMaxSlope));
}

template <class Archive>
void serialize(Archive& archive, Prior& h) {
  serialize_gains(archive, h.horizontal);
  serialize_gains(archive, h.vertical);
  serialize_gains(archive, h.tilt);
  serialize_gains(archive, h.yaw);
  archive(wire::ranged(h.pitch_share, 0, CodeParameters::kMaxShare),
          wire::ranged(h.other_share, 0, CodeParameters::kMaxShare));
}

template <class Archive>
void serialize(Archive& archive, CodeParameters& c) {
  for (OrderRule& rule : c.orders)
    archive(rule);
  serialize_gains(archive, c.velocity);
  for (Prior& prior : c.priors)
    archive(prior);
}

template <class Archive>
void serialize(Archive& archive, ArchetypeLimits& l) {
  archive(wire::real(l.threshold_m, 1e-6, kMaxMetres), wire::real(l.threshold_rad, 1e-6, kMaxMetres),
          wire::real(l.max_speed_mps, 0.0, kMaxMetres), wire::real(l.world_size_m, 0.0, kMaxMetres), l.codes);
}

template <class Archive>
void serialize(Archive& archive, WelcomeMessage& m) {
  archive(m.client.value, m.key, wire::real(m.tick_rate_hz, 1.0, 1000.0),
          wire::real(m.epoch_s, -kMaxSeconds, kMaxSeconds), m.tick,
          wire::real(m.longest_gap_s, 0.0, kMaxSeconds), m.rewinds, wire::list(m.archetypes, kMaxArchetypes));
}

template <class Archive>
void serialize(Archive& archive, AfterSpawnsMessage& m) {
  archive(m.number);
}

template <class Archive>
void serialize(Archive& archive, RouteMessage& m) {
  archive(wire::ranged(m.route.value, 1, kMaxRoutes), m.definition);
}

template <class Archive>
void serialize(Archive& archive, GameDataMessage& m) {
  bool stamped = m.time_s.has_value();
  archive(stamped);
  if (stamped) {
    if (!m.time_s) m.time_s = 0.0;
    archive(wire::real(*m.time_s, -kMaxStamp, kMaxStamp));
  }
  archive(wire::bytes(m.payload, kMaxReliableBytes));
  if constexpr (Archive::is_loading::value) {
    if (m.payload.empty()) archive.bits().fail();
  }
}

template <class Archive>
void serialize(Archive& archive, UnorderedMessage& m) {
  bool waits = m.after_spawns.has_value();
  archive(waits);
  if (waits) {
    if (!m.after_spawns) m.after_spawns = 0;
    archive(*m.after_spawns);
  }
  archive(m.data);
}

template <class Archive>
void serialize(Archive& archive, OwnershipMessage& m) {
  using Change = OwnershipMessage::Change;
  archive(m.entity, wire::ranged(m.change, 0, 3), wire::ranged(m.term, 0, kTerms - 1),
          wire::real(m.viewers_s, 0.0, kMaxViewersS));
  if (m.change != Change::given && m.change != Change::corrected) return;
  archive(m.motion_tick, wire::ranged(m.orientation_bits, 0, 15));
  serialize_state(archive, m.state, m.orientation_bits);
}

template <class Archive>
void serialize(Archive& archive, PlayoutMessage& m) {
  archive(m.interpolates, m.shows_past);
  serialize_blend(archive, m.blend);
  if constexpr (Archive::is_loading::value) {
    if (m.shows_past && !m.interpolates) archive.bits().fail();
  }
}

template <class Archive>
void serialize(Archive& archive, KickMessage& m) {
  archive(wire::text(m.reason, kMaxKickReasonBytes));
}

std::span<const std::byte> encode(const ReliableMessage& message, std::span<std::byte> buffer) {
  BitWriter writer{buffer};
  wire::BitOutputArchive archive{writer};
  std::visit(
      [&](const auto& m) {
        Kind kind = kind_of(m);
        archive(wire::ranged(kind, 0, kMaxKind), m);
      },
      message);
  return writer.overflowed() ? std::span<const std::byte>{} : writer.finish();
}

// The kind is in the first bits.
bool is_unordered(std::span<const std::byte> message) {
  return (std::to_integer<int>(message.front()) & kMaxKind) == static_cast<int>(Kind::unordered);
}

namespace {

std::optional<ReliableMessage> read_reliable(BitReader& reader) {
  Kind kind{};
  wire::BitInputArchive archive{reader};
  archive(wire::ranged(kind, 0, kMaxKind));
  switch (kind) {
    case Kind::welcome:
      return read_as<WelcomeMessage>(reader);
    case Kind::route:
      return read_as<RouteMessage>(reader);
    case Kind::game_data:
      return read_as<GameDataMessage>(reader);
    case Kind::ownership:
      return read_as<OwnershipMessage>(reader);
    case Kind::playout:
      return read_as<PlayoutMessage>(reader);
    case Kind::kick:
      return read_as<KickMessage>(reader);
    case Kind::unordered:
      return read_as<UnorderedMessage>(reader);
    case Kind::after_spawns:
      return read_as<AfterSpawnsMessage>(reader);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ReliableMessage> decode_reliable(std::span<const std::byte> bytes) {
  BitReader reader{bytes};
  auto message = read_reliable(reader);
  return reader.bits_left() == 0 ? std::move(message) : std::nullopt;
}

std::uint32_t pack(const EndCode& code) {
  return static_cast<std::uint32_t>(code.reason) | (code.detail << 8);
}

EndCode unpack_end_code(std::uint32_t packed) {
  const auto reason = static_cast<std::uint8_t>(packed & 0xffu);
  if (reason > static_cast<std::uint8_t>(EndReason::token)) return {};
  return {static_cast<EndReason>(reason), packed >> 8};
}

namespace {

// `fault`: a secure::TokenFault.
std::string describe_token_fault(std::uint32_t fault) {
  constexpr std::string_view kFaults[] = {
      "is there, but does not let this token in: either its key is not the one with which the token was "
      "issued, or "
      "it has no room for another client",
      "says that the token has expired", "accepts only tokens that name its address",
      "says that the token was used before, is older than another one, or was issued before a kick",
      "belongs to another game than the client or its token"};
  return "the server " + std::string(kFaults[fault < std::size(kFaults) ? fault : 0]);
}

}  // namespace

std::string describe(const EndCode& code) {
  switch (code.reason) {
    case EndReason::none:
      return "the connection ended";
    case EndReason::version:
      // The connection request carries a number that the game passes to the transport or dialer.
      if (code.detail == kProtocolVersion) {
        return "protocol version mismatch: server and client both speak version " +
               std::to_string(kProtocolVersion) +
               ", but the connection was requested with another number; its reason must be kProtocolVersion";
      }
      return "protocol version mismatch: the server speaks version " + std::to_string(code.detail) +
             ", this client version " + std::to_string(kProtocolVersion);
    case EndReason::archetypes:
      return "the server declares other archetypes than this client";
    case EndReason::full:
      return "the server is full";
    case EndReason::malformed:
      return "the server could not read what this client sent";
    case EndReason::join_timeout:
      return "connected, but did not ask to join in time";
    case EndReason::server_shutdown:
      return "the server has shut down";
    case EndReason::left:
      return "left";
    case EndReason::replaced:
      return "the same client has joined from elsewhere";
    case EndReason::kicked:
      return "kicked by the server";
    case EndReason::token:
      return describe_token_fault(code.detail);
  }
  return "unknown reason";
}

namespace {

constexpr unsigned kLengthBits = wire::bits_for(kMaxUnreliableBytes - 1);

template <class Archive>
void serialize_message_head(Archive& archive, std::optional<double>& time_s, std::uint64_t& size) {
  bool stamped = time_s.has_value();
  archive(stamped);
  if (stamped) {
    auto bits = std::bit_cast<std::uint64_t>(time_s.value_or(0.0));
    archive(bits);
    time_s = std::bit_cast<double>(bits);
    if constexpr (Archive::is_loading::value) {
      if (!is_valid_stamp(*time_s)) archive.bits().fail();
    }
  }
  std::uint64_t below = size - 1;
  archive(wire::up_to(below, kMaxUnreliableBytes - 1));
  size = below + 1;
}

}  // namespace

std::size_t message_bits(std::size_t payload_bytes, bool stamped) {
  return 2 + (stamped ? 64 : 0) + kLengthBits + payload_bytes * 8;
}

void write_message(BitWriter& writer, std::span<const std::byte> payload, std::optional<double> time_s) {
  assert(!payload.empty() && payload.size() <= kMaxUnreliableBytes && (!time_s || is_valid_stamp(*time_s)));
  wire::BitOutputArchive archive{writer};
  bool more = true;
  std::uint64_t size = payload.size();
  archive(more);
  serialize_message_head(archive, time_s, size);
  archive(wire::raw(payload));
}

void read_messages(BitReader& reader, MessageBatch& batch) {
  batch.clear();
  wire::BitInputArchive archive{reader};
  for (bool more = true; archive(more), more;) {
    MessageBatch::Item item;
    std::uint64_t size = 1;
    serialize_message_head(archive, item.time_s, size);
    if (size * 8 > reader.bits_left()) reader.fail();  // before any memory is allocated
    if (reader.failed()) return;
    item.offset = batch.bytes.size();
    item.size = size;
    batch.bytes.resize(item.offset + item.size);
    archive(wire::raw(std::span(batch.bytes).subspan(item.offset)));
    batch.items.push_back(item);
  }
}

}  // namespace reckoner
