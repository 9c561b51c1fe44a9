// SPDX-License-Identifier: MIT
#include "client/src/connection/spawn_reader.hpp"

#include "net/src/codec/field_codec.hpp"

#include <span>
#include <utility>
#include <variant>

namespace reckoner {

std::optional<Refusal> SpawnReader::read(BitReader& reader, DecodedDatagram& datagram) {
  const Tick tick = datagram.tick;
  read_spawns(reader, spawns_.first_open(), entries_);
  if (reader.failed()) return Refusal::malformed;
  for (SpawnEntry& entry : entries_) {
    if (const auto* end = std::get_if<Despawn>(&entry)) {
      if (end->age > tick || end->number == 0) return Refusal::malformed;
      if (!is_possible(end->number)) return Refusal::beyond_limits;
      datagram.entity_changes.push_back(
          EndedEntity{end->number, end->entity, tick - end->age, end->after_messages});
    } else if (const auto* refusal = std::get_if<PredictionRefusal>(&entry)) {
      datagram.entity_changes.push_back(*refusal);
    } else {
      Spawn& spawn = std::get<Spawn>(entry);
      if (spawn.number == 0) return Refusal::malformed;
      if (!is_possible(spawn.number)) return Refusal::beyond_limits;
      if (const auto why = add(spawn, datagram)) return why;
    }
  }
  return std::nullopt;
}

std::optional<Refusal> SpawnReader::add(Spawn& spawn, DecodedDatagram& datagram) const {
  const Quantisation* q = formats_.quantisation(spawn.archetype);
  if (q == nullptr || spawn.orientation_bits != q->orientation_bits) return Refusal::beyond_limits;
  if (spawn.age > datagram.tick) return Refusal::malformed;
  const Tick motion_tick = datagram.tick - spawn.age;
  const auto motion = motion_of(spawn.state, clock_.time_of(motion_tick), *q, formats_.routes());
  if (!motion) return refusal_for(spawn.state, formats_.routes());
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
      entity.info.end_s = clock_.time_of(motion_tick) + ticks / clock_.tick_rate_hz();
    }
  }
  const std::span<const FieldSpec> fields = formats_.fields(spawn.archetype);
  if (spawn.values_follow) {
    for (const FieldSpec& field : fields)
      entity.values.push_back(initial_value(field));
  } else {
    BitReader values{spawn.fields};
    read_values(values, fields, entity.values);
    if (!values.finished()) return Refusal::malformed;
  }
  datagram.entity_changes.push_back(std::move(entity));
  return std::nullopt;
}

}  // namespace reckoner
