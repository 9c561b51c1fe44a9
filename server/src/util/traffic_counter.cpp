// SPDX-License-Identifier: MIT
#include "server/src/util/traffic_counter.hpp"

#include "net/src/codec/field_codec.hpp"

#include <algorithm>

namespace reckoner {
namespace {

void add(ArchetypeTraffic& total, const ArchetypeTraffic& part) {
  for (std::size_t i = 0; i < kEntityContents; ++i)
    total.by_content[i] += part.by_content[i];
  total.fields.resize(std::max(total.fields.size(), part.fields.size()));
  for (std::size_t i = 0; i < part.fields.size(); ++i)
    total.fields[i] += part.fields[i];
  total.field_heads += part.field_heads;
}

}  // namespace

std::string_view name_of(SentContent content) {
  constexpr std::array<std::string_view, kContents> kNames{
      "full_motion", "residual_motion", "route_motion",     "spawn",  "field",
      "end",         "message",         "reliable_message", "header", "prediction"};
  return kNames[static_cast<std::size_t>(content)];
}

SentTraffic& operator+=(SentTraffic& total, const SentTraffic& part) {
  for (std::size_t i = 0; i < kContents; ++i)
    total.by_content[i] += part.by_content[i];
  total.archetypes.resize(std::max(total.archetypes.size(), part.archetypes.size()));
  for (std::size_t i = 0; i < part.archetypes.size(); ++i)
    add(total.archetypes[i], part.archetypes[i]);
  return total;
}

void TrafficShare::fields(std::uint32_t slot, std::uint32_t fields, std::span<const std::uint32_t> value_bits,
                          std::uint64_t bits) {
  ArchetypeTraffic& archetype = archetypes_[archetype_of_[slot]];
  std::uint64_t values = 0, all_value_bits = 0;
  for_each_field(fields, [&](std::size_t field) {
    archetype.fields[field].add(1, value_bits[field]);
    all_value_bits += value_bits[field];
    ++values;
  });
  archetype.field_heads.add(1, bits - all_value_bits);
  entity_content(slot, SentContent::field, values, bits);
  entities_[slot].field_bits += bits;
}

TrafficCounter::TrafficCounter(std::span<const Archetype> archetypes, unsigned workers) : shares_(workers) {
  for (TrafficShare& share : shares_) {
    share.archetypes_.resize(archetypes.size());
    for (std::size_t i = 0; i < archetypes.size(); ++i)
      share.archetypes_[i].fields.resize(archetypes[i].fields.size());
  }
}

void TrafficCounter::add_entity(std::uint32_t slot, std::size_t archetype) {
  if (slot >= archetype_of_.size()) {
    archetype_of_.resize(slot + std::size_t{1});
    for (TrafficShare& share : shares_) {
      share.archetype_of_ = archetype_of_.data();
      share.entities_.resize(archetype_of_.size());
    }
  }
  archetype_of_[slot] = static_cast<std::uint8_t>(archetype);
  for (TrafficShare& share : shares_)
    share.entities_[slot] = {};
}

SentTraffic TrafficCounter::total() const {
  SentTraffic total;
  for (const TrafficShare& share : shares_)
    total += {share.contents_, share.archetypes_};
  for (const ArchetypeTraffic& archetype : total.archetypes) {
    for (std::size_t i = 0; i < kEntityContents; ++i)
      total.by_content[i] += archetype.by_content[i];
  }
  return total;
}

EntityTraffic TrafficCounter::of(std::uint32_t slot) const {
  EntityTraffic total{.archetype = archetype_of_[slot]};
  for (const TrafficShare& share : shares_) {
    const TrafficShare::EntityCost& part = share.entities_[slot];
    total.updates += part.updates;
    total.motion_bits += part.motion_bits;
    total.spawn_bits += part.spawn_bits;
    total.field_bits += part.field_bits;
  }
  return total;
}

}  // namespace reckoner
