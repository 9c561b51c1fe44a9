// SPDX-License-Identifier: MIT
#include "client/src/world/session_formats.hpp"

#include "reckoning/src/blend/interpolate.hpp"

namespace reckoner {

bool SessionFormats::begin(const WelcomeMessage& message, std::vector<Archetype>& archetypes) {
  if (message.archetypes.size() != archetypes.size()) return false;
  for (std::size_t i = 0; i < archetypes.size(); ++i) {
    const ArchetypeLimits& limits = message.archetypes[i];
    archetypes[i].threshold_m = limits.threshold_m;
    archetypes[i].threshold_rad = limits.threshold_rad;
    archetypes[i].max_speed_mps = limits.max_speed_mps;
    archetypes[i].world_size_m = limits.world_size_m;
    quantisation_.push_back(quantisation_for(archetypes[i]));
    quantisation_.back().codes = limits.codes;
    quantisation_.back().quiet.gap_s = static_cast<float>(quiet_gap_after(message.longest_gap_s));
  }
  archetypes_ = archetypes;
  return true;
}

bool SessionFormats::add_route(const RouteMessage& message) {
  if (message.route.value != routes_.size() + 1) return false;
  return static_cast<bool>(routes_.add(message.definition));
}

}  // namespace reckoner
