// SPDX-License-Identifier: MIT
#pragma once

#include "error_beside_attack.hpp"
#include "paths.hpp"
#include "world.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace reckoner::test {

/// Bodies of a world that circle at 4 m/s or faster, each at a place of its own, and that honest clients
/// watch.
class WatchedBodies {
 public:
  WatchedBodies(World& world, int count) : world_(world) {
    for (int i = 0; i < count; ++i) {
      const Circle path{.turn_rps = 0.8 + 0.01 * i, .centre = {15.0 * i, 0.0, 0.0}};
      bodies_.emplace_back(world.add_body(path), path);
    }
  }

  /// Adds what a client shows of each body. Call it in World::on_frame.
  void look(std::size_t client, double time_s, SameTimeErrors& errors) const {
    for (const auto& [id, path] : bodies_)
      errors.add(world_.shown(client, id), path(time_s).position);
  }

 private:
  World& world_;
  std::vector<std::pair<EntityId, Circle>> bodies_;
};

}  // namespace reckoner::test
