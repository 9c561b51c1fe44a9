// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/messages/spawns.hpp"
#include "second_decoder.hpp"
#include "tests/fuzz/generate.hpp"
#include "wire_conversation.hpp"
#include "wire_predictions.hpp"
#include "wire_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>

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

  /// A datagram with the spawn of an entity at rest, which this reader has read. The index of the archetype
  /// is the slot modulo the number of archetypes.
  std::vector<std::byte> spawn(std::uint32_t slot) {
    Spawn spawn;
    spawn.number = spawns_.first_open();
    spawn.entity = {slot + 1, 1};
    spawn.archetype = static_cast<std::uint8_t>(slot % archetypes_.size());
    const Quantisation& q = quantisations_[spawn.archetype];
    spawn.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    spawn.state = quantise(State{}, 1, CodingMode{}, q);
    const auto& specs = archetypes_[spawn.archetype].fields;
    std::vector<FieldValue> values;
    for (const FieldSpec& spec : specs)
      values.push_back(initial_value(spec));
    spawn.fields.resize(kMaxValuesBytes);
    BitWriter value_writer{spawn.fields};
    write_values(value_writer, specs, values);
    spawn.fields.resize(value_writer.finish().size());
    std::vector<std::byte> buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    ServerHeader header;
    header.has_spawns = true;
    write(writer, header);
    SpawnsWriter section;
    EXPECT_TRUE(section.add(writer, spawn, buffer.size() * 8));
    section.finish(writer);
    buffer.resize(writer.finish().size());
    EXPECT_TRUE(server_datagram(buffer, 0));
    return buffer;
  }

  /// The second decoder's expected text for the reliable messages read since the last call.
  std::string complete_messages() { return std::exchange(stream_text_, {}); }

  /// `near_tick` is the next tick of the server.
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
        const auto known_number = owned_.find({owned->slot, tick - *owned->reference_age});
        if (known_number == owned_.end()) return false;
        base = &known_number->second;
      }
      const QuantisedState state =
          base ? read_residual(reader, *base, *owned->reference_age / kTickRateHz, q) : read_full(reader, q);
      if (reader.failed() || state.along.route) return false;
      owned_[{owned->slot, tick}] = state;
    }
    InputBatch inputs;
    const auto find = [this](Tick tick) { return inputs_.find(tick); };
    if (head->has_inputs && !read_inputs(reader, near_tick, find, inputs)) return false;
    if (!messages_and_end(reader, head->has_messages, head->has_reliable, from_client_)) return false;
    if (head->has_inputs) inputs_.add(inputs, near_tick);
    return true;
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
    if (header.has_spawns && !spawns(reader, tick)) return false;
    PredictionReport predictions;
    if (header.has_predictions) read_predictions(reader, tick, predictions);
    if (reader.failed()) return false;
    if (header.has_fields && !fields(reader)) return false;
    return messages_and_end(reader, header.has_messages, header.has_reliable, from_server_);
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
      const auto known_number = motions_.find({head.slot, head.level, tick - *head.reference_age});
      if (known_number == motions_.end() || known_number->second.along.route) return false;
      base = &known_number->second;
    }
    const QuantisedState state =
        base ? read_residual(reader, *base, (*head.reference_age - head.age) / kTickRateHz, q)
             : read_full(reader, q);
    if (reader.failed()) return false;
    motions_[{head.slot, head.level, tick - head.age}] = state;
    return true;
  }

  bool spawns(BitReader& reader, Tick tick) {
    std::vector<SpawnEntry> entries;
    read_spawns(reader, spawns_.first_open(), entries);
    if (reader.failed()) return false;
    const auto settle = [this](std::uint32_t number) {
      const bool is_possible = spawns_.contains(number) || spawns_.is_within_window(number);
      spawns_.settle(number);
      return is_possible;
    };
    for (const SpawnEntry& entry : entries) {
      if (const auto* end = std::get_if<Despawn>(&entry)) {
        if (!settle(end->number)) return false;
        std::uint32_t& newest = ended_[end->entity.index1 - 1];
        newest = std::max(newest, end->number);
      } else if (const auto* spawn = std::get_if<Spawn>(&entry)) {
        if (!settle(spawn->number) || !begin(*spawn, tick)) return false;
      }
    }
    return true;
  }

  bool begin(const Spawn& spawn, Tick tick) {
    if (spawn.archetype >= archetypes_.size()) return false;
    if (spawn.orientation_bits != quantisations_[spawn.archetype].orientation_bits) return false;
    if (!spawn.values_follow) {
      std::vector<FieldValue> values;
      BitReader reader{spawn.fields};
      read_values(reader, archetypes_[spawn.archetype].fields, values);
      if (!reader.finished()) return false;
    }
    const std::uint32_t slot = spawn.entity.index1 - 1;
    const auto known = numbers_.find(slot);
    const std::uint32_t known_number = known == numbers_.end() ? 0 : known->second;
    const auto ended = ended_.find(slot);
    if (spawn.number < known_number || (ended != ended_.end() && spawn.number <= ended->second)) return true;
    const bool is_other = kinds_[slot] != spawn.archetype || ids_[slot] != spawn.entity;
    if (spawn.number == known_number && is_other) return true;
    if (spawn.number > known_number) {
      std::erase_if(motions_, [&](const auto& motion) { return std::get<0>(motion.first) == slot; });
      kinds_[slot] = spawn.archetype;
      ids_[slot] = spawn.entity;
      numbers_[slot] = spawn.number;
    }
    motions_[{slot, spawn.level, tick - spawn.age}] = spawn.state;
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

  bool messages_and_end(BitReader& reader, bool has_messages, bool has_reliable, ReliableReceiver& stream) {
    if (has_messages) {
      MessageBatch batch;
      read_messages(reader, batch);
    }
    std::vector<ReliablePart> parts;
    if (has_reliable) read_reliable_parts(reader, stream.near(), parts);
    if (!reader.finished() || !stream.accepts(parts)) return false;
    stream.add(parts);
    while (const auto message = stream.next())
      stream_text_ += "message: " + hex_of(*message) + "\n";
    while (const auto message = stream.next_early())
      stream_text_ += "early: " + hex_of(*message) + "\n";
    return true;
  }

  std::vector<Archetype> archetypes_;
  std::vector<Quantisation> quantisations_;
  std::map<std::uint32_t, std::uint8_t> kinds_;     // archetype index by slot
  std::map<std::uint32_t, EntityId> ids_;           // by slot
  std::map<std::uint32_t, std::uint32_t> numbers_;  // Spawn::number by slot
  std::map<std::uint32_t, std::uint32_t> ended_;    // the greatest Despawn::number by slot
  SettledNumbers spawns_;
  std::map<std::tuple<std::uint32_t, int, Tick>, QuantisedState> motions_;
  std::map<std::pair<std::uint32_t, Tick>, QuantisedState> owned_;
  WireInputs inputs_;  // of the client
  ReliableReceiver from_server_{{}}, from_client_{{}};
  std::string stream_text_;
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
      f.initial = text_of(initial_value(spec));
      to.fields.push_back(f);
    }
  }
  return out;
}

}  // namespace reckoner::test
