// SPDX-License-Identifier: MIT
#include "client/src/connection/spawn_reader.hpp"

#include "net/src/codec/field_codec.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

bool is_possible(const SettledNumbers& spawns, std::uint32_t number) {
  return spawns.contains(number) || spawns.is_within_window(number);
}

std::optional<Refusal> add(Spawn& spawn, const DecodeContext& known, DecodedDatagram& out) {
  const Quantisation* q = known.formats.quantisation(spawn.archetype);
  if (q == nullptr || spawn.orientation_bits != q->orientation_bits) return Refusal::beyond_limits;
  if (spawn.age > out.tick) return Refusal::malformed;
  const Tick motion_tick = out.tick - spawn.age;
  const auto motion = motion_of(spawn.state, known.clock.time_of(motion_tick), *q, known.formats.routes());
  if (!motion) return refusal_for(spawn.state, known.formats.routes());
  if (motion->frame == frame_of(spawn.entity)) return Refusal::unknown_frame;
  NewEntity entity{.number = spawn.number,
                   .entity = spawn.entity,
                   .info = {spawn.archetype, std::move(spawn.name), spawn.short_lived.has_value()},
                   .level = spawn.level,
                   .motion_tick = motion_tick,
                   .encoded = spawn.state,
                   .motion = *motion,
                   .values_follow = spawn.values_follow};
  if (spawn.short_lived) {
    Spawn::ShortLife& life = *spawn.short_lived;
    entity.prediction = life.prediction;
    entity.info.data = std::move(life.data);
    if (life.life) {
      const double ticks = static_cast<double>(*life.life) / Spawn::kLifeSteps;
      entity.info.end_s = known.clock.time_of(motion_tick) + ticks / known.clock.tick_rate_hz();
    }
  }
  const std::span<const FieldSpec> fields = known.formats.fields(spawn.archetype);
  if (spawn.values_follow) {
    for (const FieldSpec& field : fields)
      entity.values.push_back(initial_value(field));
  } else {
    BitReader values{spawn.fields};
    read_values(values, fields, entity.values);
    if (!values.finished()) return Refusal::malformed;
  }
  out.entity_changes.push_back(std::move(entity));
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> read_spawn_section(BitReader& reader, const DecodeContext& known,
                                          DecodedDatagram& out) {
  const Tick tick = out.tick;
  read_spawns(reader, known.spawns.first_open(), out.scratch.spawns);
  if (reader.failed()) return Refusal::malformed;
  for (SpawnEntry& entry : out.scratch.spawns) {
    if (const auto* end = std::get_if<Despawn>(&entry)) {
      if (end->age > tick || end->number == 0) return Refusal::malformed;
      if (!is_possible(known.spawns, end->number)) return Refusal::beyond_limits;
      out.entity_changes.push_back(
          EndedEntity{end->number, end->entity, tick - end->age, end->after_messages});
    } else if (const auto* refusal = std::get_if<PredictionRefusal>(&entry)) {
      out.entity_changes.push_back(*refusal);
    } else {
      Spawn& spawn = std::get<Spawn>(entry);
      if (spawn.number == 0) return Refusal::malformed;
      if (!is_possible(known.spawns, spawn.number)) return Refusal::beyond_limits;
      if (const auto why = add(spawn, known, out)) return why;
    }
  }
  return std::nullopt;
}

}  // namespace reckoner
