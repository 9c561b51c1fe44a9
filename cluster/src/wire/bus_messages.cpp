// SPDX-License-Identifier: MIT
#include "cluster/src/wire/bus_messages.hpp"

#include "cluster/src/wire/subjects.hpp"
#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_serialize.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace reckoner::cluster {
namespace {

// The first byte of every message and value: the bytes of other programs and layouts are refused.
constexpr std::uint8_t kMark = 0xb0 + kBusLayout;

constexpr double kMaxMetres = 1e12;
constexpr double kMaxSeconds = 1e12;
constexpr double kMaxHertz = 1e6;
constexpr std::size_t kMaxRecords = 16 * 1024;
constexpr std::size_t kMaxProcessName = 64;
// Orders of the Golomb codes: epochs, generations and ages are usually small.
constexpr unsigned kSmall = 2;
constexpr unsigned kSlot = 8;

template <class Archive>
constexpr bool loading = Archive::is_loading::value;

// A list with a function for its elements. Elements are added one by one, so that a false size allocates no
// memory for missing data.
template <class Archive, class T, class F>
void list(Archive& archive, std::vector<T>& values, std::size_t most, F&& part) {
  auto size = static_cast<std::uint32_t>(values.size());
  archive(wire::golomb(size, kSmall));
  if constexpr (loading<Archive>) {
    values.clear();
    if (size > most) return archive.bits().fail();
    for (std::uint32_t i = 0; i < size && !archive.bits().failed(); ++i)
      part(values.emplace_back());
  } else {
    for (T& value : values)
      part(value);
  }
}

template <class Archive>
void number(Archive& archive, float& value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  archive(bits);
  value = std::bit_cast<float>(bits);
  if constexpr (loading<Archive>) {
    if (!std::isfinite(value)) archive.bits().fail();
  }
}

template <class Archive>
void vec(Archive& archive, glm::vec3& v) {
  number(archive, v.x);
  number(archive, v.y);
  number(archive, v.z);
}

template <class Archive>
void part(Archive& archive, ProcessId& id) {
  archive(id.value);
}

template <class Archive>
void part(Archive& archive, ClusterClient& client) {
  archive(client.gateway.value, client.client);
}

template <class Archive>
void part(Archive& archive, EntityId& id) {
  std::uint32_t slot = id.index1 - 1;
  std::uint32_t generation = id.generation;
  archive(wire::golomb(slot, kSlot), wire::golomb(generation, kSmall));
  if constexpr (loading<Archive>) {
    if (slot >= kMaxEntities || generation > UINT16_MAX) return archive.bits().fail();
    id = {slot + 1, static_cast<std::uint16_t>(generation)};
  }
}

template <class Archive>
void cell(Archive& archive, std::uint32_t& value) {
  archive(wire::ranged(value, 0, ClusterConfig::kMaxCells - 1));
}

template <class Archive>
void archetype(Archive& archive, std::uint32_t& value, const WorldCodec& codec) {
  archive(wire::ranged(value, 0, static_cast<std::int64_t>(codec.archetypes.size()) - 1));
}

// A tick as its age against another one.
template <class Archive>
void age(Archive& archive, Tick& tick, Tick now) {
  std::uint32_t old = now - tick;
  archive(wire::golomb(old, 0));
  tick = now - old;
}

template <class Archive>
void motion(Archive& archive, QuantisedState& state, std::uint32_t kind, const WorldCodec& codec) {
  serialize_state(archive, state, codec.quantisation[kind].orientation_bits);
}

void fields(wire::BitOutputArchive& archive, std::vector<FieldValue>& values, std::uint32_t kind,
            const WorldCodec& codec) {
  write_values(archive.bits(), codec.archetypes[kind].fields, values);
}
void fields(wire::BitInputArchive& archive, std::vector<FieldValue>& values, std::uint32_t kind,
            const WorldCodec& codec) {
  read_values(archive.bits(), codec.archetypes[kind].fields, values);
}

template <class Archive>
void part(Archive& archive, EntityRecord& e, const WorldCodec& codec) {
  part(archive, e.id);
  archive(wire::golomb(e.epoch, kSmall));
  archetype(archive, e.archetype, codec);
  archive(wire::text(e.name, kMaxNameBytes));
  bool all = e.groups == kAllGroups;
  archive(all);
  if (all) e.groups = kAllGroups;
  if (!all) archive(e.groups);
  archive(wire::ranged(e.relevance, 0, 2));
  cell(archive, e.cell);
  archive(e.tick);
  motion(archive, e.motion, e.archetype, codec);
  fields(archive, e.fields, e.archetype, codec);
}

template <class Archive>
void part(Archive& archive, State& state) {
  archive(wire::real(state.position.x, -kMaxMetres, kMaxMetres),
          wire::real(state.position.y, -kMaxMetres, kMaxMetres),
          wire::real(state.position.z, -kMaxMetres, kMaxMetres));
  vec(archive, state.velocity);
  vec(archive, state.acceleration);
  number(archive, state.orientation.w);
  number(archive, state.orientation.x);
  number(archive, state.orientation.y);
  number(archive, state.orientation.z);
  vec(archive, state.angular_velocity);
  if constexpr (loading<Archive>) {
    if (!is_sane(state)) archive.bits().fail();
  }
}

// A RateFit::Prior or a RateFit::Memory.
template <class Archive, std::size_t N>
void part(Archive& archive, std::optional<std::array<float, N>>& learned) {
  bool present = learned.has_value();
  archive(present);
  if (!present) return;
  if (!learned) learned.emplace();
  for (float& value : *learned)
    number(archive, value);
}

template <class Archive>
void part(Archive& archive, Letter& letter) {
  archive(letter.number, wire::bytes(letter.payload, kMaxMailBytes));
  if constexpr (loading<Archive>) {
    if (letter.payload.empty()) archive.bits().fail();
  }
}

template <class Archive>
void part(Archive& archive, EntityBaggage& b) {
  part(archive, b.holder);
  archive(b.revision);
  part(archive, b.state);
  archive(b.tick, b.checkpoint_tick, wire::golomb(b.route, kSmall), wire::bytes(b.data, kMaxGameDataBytes));
  part(archive, b.priors.linear);
  part(archive, b.priors.angular);
  list(archive, b.mail, kMaxCorrespondents, [&](Correspondence& c) {
    part(archive, c.client);
    archive(c.received, c.sent);
    list(archive, c.waiting, kMaxMailWaiting, [&](Letter& letter) { part(archive, letter); });
  });
}

template <class Archive>
void part(Archive& archive, Batch& b, const WorldCodec& codec) {
  cell(archive, b.cell);
  part(archive, b.writer);
  archive(b.holds_cell, wire::golomb(b.cell_epoch, kSmall), b.sequence, b.tick,
          wire::golomb(b.entities, kSmall), b.snapshot, b.last_part);
  list(archive, b.described, kMaxRecords, [&](DescribedRecord& r) {
    archive(wire::ranged(r.cause, 0, 3));
    part(archive, r.entity, codec);
  });
  list(archive, b.motions, kMaxRecords, [&](MotionRecord& r) {
    part(archive, r.id);
    archive(wire::golomb(r.epoch, kSmall));
    archetype(archive, r.archetype, codec);
    age(archive, r.tick, b.tick);
    motion(archive, r.motion, r.archetype, codec);
  });
  list(archive, b.fields, kMaxRecords, [&](FieldsRecord& r) {
    part(archive, r.id);
    archive(wire::golomb(r.epoch, kSmall));
    archetype(archive, r.archetype, codec);
    fields(archive, r.fields, r.archetype, codec);
  });
  list(archive, b.gone, kMaxRecords, [&](GoneRecord& r) {
    part(archive, r.id);
    archive(wire::golomb(r.epoch, kSmall));
    bool moved = r.to_cell.has_value();
    archive(moved);
    if (moved && !r.to_cell) r.to_cell.emplace(0u);
    if (moved) cell(archive, *r.to_cell);
  });
}

template <class Archive>
void part(Archive& archive, Heartbeat& h, const WorldCodec&) {
  part(archive, h.process);
  archive(wire::text(h.name, kMaxProcessName), h.simulator, h.gateway, h.entities,
          wire::real(h.delay_s, 0.0, kMaxSeconds), h.leaving);
  list(archive, h.cells, ClusterConfig::kMaxCells, [&](std::uint32_t& value) { cell(archive, value); });
  list(archive, h.epochs, ClusterConfig::kMaxCells,
       [&](std::uint32_t& value) { archive(wire::golomb(value, kSmall)); });
  if constexpr (loading<Archive>) {
    if (h.epochs.size() != h.cells.size() || !h.process || !is_name(h.name)) archive.bits().fail();
  }
}

template <class Archive>
void part(Archive& archive, Ask& m, const WorldCodec&) {
  part(archive, m.from);
  cell(archive, m.cell);
}
template <class Archive>
void part(Archive& archive, Offer& m, const WorldCodec& codec) {
  part(archive, m.from);
  part(archive, m.entity, codec);
  part(archive, m.baggage);
}
template <class Archive>
void part(Archive& archive, Accept& m, const WorldCodec&) {
  part(archive, m.from);
  part(archive, m.id);
  archive(m.epoch);
}
template <class Archive>
void part(Archive& archive, Commit& m, const WorldCodec& codec) {
  part(archive, m.from);
  part(archive, m.entity, codec);
  part(archive, m.baggage);
  part(archive, m.memory.linear);
  part(archive, m.memory.angular);
}
template <class Archive>
void part(Archive& archive, Done& m, const WorldCodec&) {
  part(archive, m.from);
  part(archive, m.id);
  archive(m.epoch);
}
template <class Archive>
void part(Archive& archive, CellOffer& m, const WorldCodec&) {
  part(archive, m.from);
  cell(archive, m.cell);
  archive(m.epoch);
}
template <class Archive>
void part(Archive& archive, CellAccept& m, const WorldCodec&) {
  part(archive, m.from);
  cell(archive, m.cell);
  archive(m.epoch);
}
template <class Archive>
void part(Archive& archive, CellCommit& m, const WorldCodec&) {
  part(archive, m.from);
  cell(archive, m.cell);
  archive(m.epoch, m.lease_revision, m.epoch_revision);
}
template <class Archive>
void part(Archive& archive, Mail& m, const WorldCodec&) {
  part(archive, m.from);
  part(archive, m.client);
  part(archive, m.entity);
  archive(m.to_client);
  list(archive, m.letters, kMaxMailWaiting, [&](Letter& letter) { part(archive, letter); });
}
template <class Archive>
void part(Archive& archive, MailReceived& m, const WorldCodec&) {
  part(archive, m.from);
  part(archive, m.client);
  part(archive, m.entity);
  archive(m.to_client, m.number);
}

constexpr std::size_t kKinds = std::variant_size_v<BusPayload>;

template <std::size_t I = 0>
std::optional<BusPayload> read_kind(std::size_t kind, BitReader& reader, const WorldCodec& codec) {
  if constexpr (I < kKinds) {
    if (kind != I) return read_kind<I + 1>(kind, reader, codec);
    std::variant_alternative_t<I, BusPayload> message;
    wire::BitInputArchive archive{reader};
    part(archive, message, codec);
    if (!reader.finished()) return std::nullopt;
    return BusPayload{std::move(message)};
  } else {
    return std::nullopt;
  }
}

std::vector<std::byte> finished(BitWriter& writer) {
  if (writer.overflowed()) return {};
  const auto bytes = writer.finish();
  return {bytes.begin(), bytes.end()};
}

template <class Archive>
void value_part(Archive& archive, LeaseValue& v) {
  part(archive, v.holder);
}
template <class Archive>
void value_part(Archive& archive, EpochValue& v) {
  archive(v.epoch);
  part(archive, v.holder);
  archive(v.generation);
}
template <class Archive>
void value_part(Archive& archive, WorldValue& v) {
  archive(v.layout, v.archetypes, v.routes, wire::real(v.tick_rate_hz, 0.0, kMaxHertz),
          wire::real(v.cell_m, 0.0, kMaxMetres), v.columns, v.rows,
          wire::real(v.epoch_s, -kMaxSeconds, kMaxSeconds));
}
template <class Archive>
void value_part(Archive& archive, IdsValue& v) {
  archive(v.blocks);
}

template <class Value>
std::vector<std::byte> write_value_of(Value value) {
  std::byte buffer[128];
  BitWriter writer{buffer};
  wire::BitOutputArchive archive{writer};
  std::uint8_t mark = kMark;
  archive(mark);
  value_part(archive, value);
  return finished(writer);
}

template <class Value>
std::optional<Value> read_value_of(std::span<const std::byte> bytes) {
  BitReader reader{bytes};
  wire::BitInputArchive archive{reader};
  std::uint8_t mark = 0;
  Value value;
  archive(mark);
  value_part(archive, value);
  if (mark != kMark || !reader.finished()) return std::nullopt;
  return value;
}

// Calls write(archive) with a buffer that is large enough. Most messages are small.
template <class Write>
std::vector<std::byte> written(const Write& write) {
  for (const std::size_t size : {std::size_t{4096}, std::size_t{64 * 1024}, kMaxBusBytes}) {
    std::vector<std::byte> buffer(size);
    BitWriter writer{buffer};
    wire::BitOutputArchive archive{writer};
    write(archive);
    if (writer.overflowed()) continue;
    buffer.resize(writer.finish().size());
    return buffer;
  }
  return {};
}

}  // namespace

WorldCodec::WorldCodec(std::vector<Archetype> kinds) : archetypes(std::move(kinds)) {
  for (const Archetype& kind : archetypes)
    quantisation.push_back(quantisation_for(kind));
}

std::vector<std::byte> encode(const BusPayload& message, const WorldCodec& codec) {
  return written([&](wire::BitOutputArchive& archive) {
    std::uint8_t mark = kMark;
    auto kind = static_cast<std::uint8_t>(message.index());
    archive(mark, kind);
    std::visit(
        [&](const auto& m) {
          auto copy = m;  // the archive's parts take references
          part(archive, copy, codec);
        },
        message);
  });
}

std::optional<BusPayload> decode(std::span<const std::byte> bytes, const WorldCodec& codec) {
  if (bytes.size() > kMaxBusBytes) return std::nullopt;
  BitReader reader{bytes};
  if (reader.read(8) != kMark) return std::nullopt;
  return read_kind(static_cast<std::size_t>(reader.read(8)), reader, codec);
}

std::vector<std::byte> encode_value(const LeaseValue& value) {
  return write_value_of(value);
}
std::vector<std::byte> encode_value(const EpochValue& value) {
  return write_value_of(value);
}
std::vector<std::byte> encode_value(const WorldValue& value) {
  return write_value_of(value);
}
std::vector<std::byte> encode_value(const IdsValue& value) {
  return write_value_of(value);
}
std::optional<LeaseValue> decode_lease(std::span<const std::byte> bytes) {
  return read_value_of<LeaseValue>(bytes);
}
std::optional<EpochValue> decode_epoch(std::span<const std::byte> bytes) {
  return read_value_of<EpochValue>(bytes);
}
std::optional<WorldValue> decode_world(std::span<const std::byte> bytes) {
  return read_value_of<WorldValue>(bytes);
}
std::optional<IdsValue> decode_ids(std::span<const std::byte> bytes) {
  const auto value = read_value_of<IdsValue>(bytes);
  return value && value->blocks <= kMaxEntities / kSlotsInBlock ? value : std::nullopt;
}

std::vector<std::byte> encode_value(const CheckpointValue& value, const WorldCodec& codec) {
  return written([&](wire::BitOutputArchive& archive) {
    std::uint8_t mark = kMark;
    bool present = value.content.has_value();
    archive(mark, present);
    if (!present) return;
    CheckpointValue::Content content = *value.content;
    part(archive, content.entity, codec);
    part(archive, content.baggage);
  });
}

std::optional<CheckpointValue> decode_checkpoint(std::span<const std::byte> bytes, const WorldCodec& codec) {
  if (bytes.size() > kMaxBusBytes) return std::nullopt;
  BitReader reader{bytes};
  wire::BitInputArchive archive{reader};
  std::uint8_t mark = 0;
  bool present = false;
  archive(mark, present);
  CheckpointValue value;
  if (present) {
    value.content.emplace();
    part(archive, value.content->entity, codec);
    part(archive, value.content->baggage);
  }
  if (mark != kMark || !reader.finished()) return std::nullopt;
  return value;
}

}  // namespace reckoner::cluster
