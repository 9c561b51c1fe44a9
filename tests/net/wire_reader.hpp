// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "second_decoder.hpp"
#include "tests/fuzz/generate.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner::test {

/// Decodes datagrams with the library's codec, like a receiver. The second decoder is compared with it.
class WireReader {
 public:
  static constexpr std::uint32_t kSlots = 4;
  static constexpr double kTickRateHz = 60.0;

  explicit WireReader(std::vector<Archetype> archetypes = fuzz::archetypes())
      : archetypes_(std::move(archetypes)) {
    for (const Archetype& archetype : archetypes_)
      quantisations_.push_back(quantisation_for(archetype));
  }

  static const Quantisation& quantisation_of(std::uint32_t slot) {
    return fuzz::quantisations()[slot % fuzz::quantisations().size()];
  }

  /// Spawns an entity at rest. Its archetype's index is the slot modulo the number of archetypes.
  SpawnMessage spawn(std::uint32_t slot) {
    SpawnMessage m;
    m.entity = {slot + 1, 1};
    m.archetype = static_cast<std::uint8_t>(slot % archetypes_.size());
    const Quantisation& q = quantisations_[m.archetype];
    m.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    m.state = quantise(State{}, 1, CodingMode{}, q);
    const auto& specs = archetypes_[m.archetype].fields;
    std::vector<FieldValue> values;
    for (const FieldSpec& spec : specs)
      values.push_back(initial_value(spec));
    m.fields.resize(kMaxValuesBytes);
    BitWriter writer{m.fields};
    write_values(writer, specs, values);
    m.fields.resize(writer.finish().size());
    begin(m);
    return m;
  }
  void begin(const SpawnMessage& m) {
    kinds_[m.entity.index1 - 1] = m.archetype;
    motions_[{m.entity.index1 - 1, m.level, m.motion_tick}] = m.state;
  }

  bool client_datagram(std::span<const std::byte> payload, Tick near_tick) {
    BitReader reader{payload};
    const auto head = read_client_datagram(reader);
    if (!head) return false;
    std::int64_t previous = -1;
    while (head->has_owned) {
      const auto owned = read_owned_head(reader, previous);
      if (!owned) break;
      previous = owned->slot;
      const auto kind = kinds_.find(owned->slot);
      if (kind == kinds_.end()) return false;
      const Quantisation& q = quantisations_[kind->second];
      const Tick tick = whole(owned->tick, near_tick);
      const QuantisedState* base = nullptr;
      if (owned->reference_age) {
        const auto held = owned_.find({owned->slot, tick - *owned->reference_age});
        if (held == owned_.end()) return false;
        base = &held->second;
      }
      const QuantisedState state =
          base ? read_residual(reader, *base, *owned->reference_age / kTickRateHz, q) : read_full(reader, q);
      if (reader.failed() || state.along.route) return false;
      owned_[{owned->slot, tick}] = state;
    }
    return messages_and_end(reader, head->has_messages);
  }

  bool server_datagram(std::span<const std::byte> payload, Tick near_tick) {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    const Tick tick = whole(header.tick, near_tick);
    std::int64_t previous = -1;
    for (std::uint32_t i = 0; i < header.update_count && !reader.failed(); ++i) {
      if (!update(reader, header, tick, previous)) return false;
    }
    if (reader.failed()) return false;
    if (header.has_short_lived) {
      std::vector<ShortLivedEntry> entries;
      read_short_lived(reader, entries);
      if (reader.failed()) return false;
    }
    if (header.has_fields && !fields(reader)) return false;
    return messages_and_end(reader, header.has_messages);
  }

 private:
  static Tick whole(std::uint16_t low, Tick near_tick) {
    return near_tick +
           static_cast<Tick>(static_cast<std::int16_t>(low - static_cast<std::uint16_t>(near_tick)));
  }

  bool update(BitReader& reader, const ServerHeader& header, Tick tick, std::int64_t& previous) {
    const UpdateHeader head = read_update(reader, header.coding, previous);
    const auto kind = kinds_.find(head.slot);
    if (reader.failed() || kind == kinds_.end()) return false;
    previous = head.slot;
    const Quantisation& q = quantisations_[kind->second];
    const QuantisedState* base = nullptr;
    if (head.reference_age) {
      if (*head.reference_age <= head.age) return false;
      const auto held = motions_.find({head.slot, head.level, tick - *head.reference_age});
      if (held == motions_.end() || held->second.along.route) return false;
      base = &held->second;
    }
    const QuantisedState state =
        base ? read_residual(reader, *base, (*head.reference_age - head.age) / kTickRateHz, q)
             : read_full(reader, q);
    if (reader.failed()) return false;
    motions_[{head.slot, head.level, tick - head.age}] = state;
    return true;
  }

  bool fields(BitReader& reader) {
    std::int64_t previous = -1;
    while (const auto slot = read_field_slot(reader, previous)) {
      previous = *slot;
      const auto kind = kinds_.find(*slot);
      if (kind == kinds_.end() || archetypes_[kind->second].fields.empty()) return false;
      std::vector<FieldChange> changes;
      read_changes(reader, archetypes_[kind->second].fields, changes);
      if (reader.failed()) return false;
    }
    return !reader.failed();
  }

  static bool messages_and_end(BitReader& reader, bool has_messages) {
    if (has_messages) {
      MessageBatch batch;
      read_messages(reader, batch);
    }
    return reader.finished();
  }

  std::vector<Archetype> archetypes_;
  std::vector<Quantisation> quantisations_;
  std::map<std::uint32_t, std::uint8_t> kinds_;  // archetype index by slot
  std::map<std::tuple<std::uint32_t, int, Tick>, QuantisedState> motions_;
  std::map<std::pair<std::uint32_t, Tick>, QuantisedState> owned_;
};

/// Converts a declaration for the second decoder.
inline std::vector<second::Declared> declared_as(const std::vector<Archetype>& archetypes) {
  using second::Field;
  std::vector<second::Declared> out;
  for (const Archetype& archetype : archetypes) {
    second::Declared& to = out.emplace_back(second::Declared{archetype.has_orientation, {}});
    for (const FieldSpec& spec : archetype.fields) {
      Field f;
      if (std::holds_alternative<BooleanField>(spec.type)) {
        f.type = Field::Type::boolean;
      } else if (const auto* whole = std::get_if<IntegerField>(&spec.type)) {
        f = {Field::Type::integer, {}, whole->least, whole->most, 0, 0, 1};
      } else if (const auto* real = std::get_if<RealField>(&spec.type)) {
        f = {Field::Type::real, {}, 0, 0, real->least, real->most, real->step};
      } else {
        f = {Field::Type::blob,
             {},
             0,
             static_cast<std::int64_t>(std::get<BlobField>(spec.type).most_bytes),
             0,
             0,
             1};
      }
      to.fields.push_back(f);
    }
  }
  return out;
}

}  // namespace reckoner::test
