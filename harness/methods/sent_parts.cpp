// SPDX-License-Identifier: MIT
#include "harness/methods/sent_parts.hpp"

#include <utility>

namespace reckoner::harness {

void SentParts::before_tick(const Server& server, std::span<const EntityId> ids) {
  before_ = server.traffic();
  entities_.clear();
  for (const EntityId id : ids)
    entities_.push_back(server.traffic_of(id).value_or(EntityTraffic{}));
}

void SentParts::after_tick(const Server& server, std::span<const EntityId> ids, double sent_s) {
  const SentTraffic after = server.traffic();
  if (after.bits() == before_.bits()) return;
  TickContents tick{sent_s, {}};
  const auto add = [&](std::size_t entity, std::string_view kind, std::uint64_t count, std::uint64_t bits) {
    if (bits > 0) tick.parts.push_back({entity, kind, count, bits});
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const EntityTraffic was = entities_[i];
    const EntityTraffic is = server.traffic_of(ids[i]).value_or(was);
    add(i, "motion", is.updates - was.updates, is.motion_bits - was.motion_bits);
    add(i, "spawn", 1, is.spawn_bits - was.spawn_bits);
    add(i, "field", 1, is.field_bits - was.field_bits);
  }
  // The kinds before belong to entities.
  for (std::size_t i = kEntityContents; i < kContents; ++i) {
    const SentAmount& was = before_.by_content[i];
    const SentAmount& is = after.by_content[i];
    add(SentPart::kNoEntity, name_of(static_cast<SentContent>(i)), is.count - was.count, is.bits - was.bits);
  }
  ticks_.push_back(std::move(tick));
}

}  // namespace reckoner::harness
