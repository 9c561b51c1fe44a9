// SPDX-License-Identifier: MIT
#include "bit_archive.hpp"

#include <cassert>

#include <reckoner/net/datagram.hpp>
#include <reckoner/net/messages.hpp>

namespace reckoner {
namespace {

constexpr unsigned kGapOrder = 2;       // ids of neighbouring slots are mostly a few apart
constexpr unsigned kAgeOrder = 0;       // most updates are sent in the tick they are made
constexpr unsigned kAckDelayOrder = 8;  // tens of milliseconds

}  // namespace

template <class Archive>
void serialize(Archive& archive, Ack& ack) {
  archive(ack.newest, ack.window);
}

template <class Archive>
void serialize(Archive& archive, Echo& echo) {
  archive(wire::ranged(echo.stamp, 0, (1 << kStampBits) - 1),
          wire::ranged(echo.held, -Echo::kMostHeld, Echo::kMostHeld));
}

// A part that may be absent: one bit, and the part if it is set.
template <class Archive, class T>
void serialize_optional(Archive& archive, std::optional<T>& part) {
  bool present = part.has_value();
  archive(present);
  if (present && !part) part.emplace();
  if (present) archive(*part);
}

template <class Archive>
void serialize(Archive& archive, ServerHeader& h) {
  archive(h.sequence, h.tick, wire::golomb(h.complete_age, kAgeOrder));
  serialize_optional(archive, h.ack);
  serialize_optional(archive, h.echo);
}

template <class Archive>
void serialize(Archive& archive, ClientDatagram& d) {
  archive(d.sequence, d.control_count, wire::ranged(d.stamp, 0, (1 << kStampBits) - 1));
  serialize_optional(archive, d.ack);
  if (d.ack) archive(wire::golomb(d.ack_delay, kAckDelayOrder));
}

void write(BitWriter& writer, const ServerHeader& header) {
  wire::BitOutputArchive archive{writer};
  archive(header);
}

ServerHeader read_server_header(BitReader& reader) {
  wire::BitInputArchive archive{reader};
  ServerHeader header;
  archive(header);
  return header;
}

void write(BitWriter& writer, const UpdateHeader& update, std::int64_t previous_slot) {
  assert(std::int64_t{update.slot} > previous_slot);
  auto gap = static_cast<std::uint32_t>(std::int64_t{update.slot} - previous_slot - 1);
  std::uint32_t age = update.age;
  bool more = true;
  wire::BitOutputArchive archive{writer};
  archive(more, wire::golomb(gap, kGapOrder), wire::golomb(age, kAgeOrder));
}

std::optional<UpdateHeader> read_update(BitReader& reader, std::int64_t previous_slot) {
  if (reader.read(1) == 0) return std::nullopt;
  std::uint32_t gap = 0;
  std::uint32_t age = 0;
  wire::BitInputArchive archive{reader};
  archive(wire::golomb(gap, kGapOrder), wire::golomb(age, kAgeOrder));
  const std::int64_t slot = previous_slot + 1 + gap;
  if (slot >= kMaxEntities) reader.fail();
  if (reader.failed()) return std::nullopt;
  return UpdateHeader{static_cast<std::uint32_t>(slot), age};
}

void write(BitWriter& writer, const ClientDatagram& datagram) {
  wire::BitOutputArchive archive{writer};
  archive(datagram);
}

std::optional<ClientDatagram> read_client_datagram(BitReader& reader) {
  wire::BitInputArchive archive{reader};
  ClientDatagram datagram;
  archive(datagram);
  if (!reader.finished()) return std::nullopt;
  return datagram;
}

}  // namespace reckoner
