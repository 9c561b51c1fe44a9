// SPDX-License-Identifier: MIT
#include "replay_setup.hpp"

#include <utility>

namespace reckoner::harness {

std::vector<Archetype> replay_archetypes(const ReplayOptions& options) {
  Archetype body;
  body.name = "body";
  body.threshold_m = options.budget.threshold_m;
  body.threshold_rad = options.budget.threshold_rad;
  body.max_speed_mps = options.max_speed_mps;
  Archetype point = body;
  point.name = "point";
  point.has_orientation = false;
  return {body, point};
}

ServerConfig replay_server_config(const ReplayOptions& options, double start_s,
                                  std::vector<Archetype> archetypes) {
  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.epoch_s = start_s;
  config.archetypes = std::move(archetypes);
  config.updates_per_second = options.budget.updates_per_second;
  config.fixed_rate_hz = options.budget.fixed_rate_hz;
  config.parts = options.parts;
  return config;
}

ClientConfig replay_client_config(const ReplayOptions& options, std::vector<Archetype> archetypes) {
  ClientConfig config;
  config.archetypes = std::move(archetypes);
  config.playout = options.playout;
  config.playout.frame_rate_hz = options.frame_rate_hz;
  config.uses_stamps = options.uses_stamps;
  config.owned_updates_per_second = options.budget.updates_per_second;
  return config;
}

}  // namespace reckoner::harness
