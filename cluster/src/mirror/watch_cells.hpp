// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/mirror/mirror.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <cstdint>
#include <set>
#include <string>

#include <reckoner/cluster/bus.hpp>

namespace reckoner::cluster {

/// Subscribes to the batches of these cells of a world, ends all other subscriptions to cells, and lets the
/// mirror show these cells.
inline void watch_cells(const std::set<std::uint32_t>& wanted, const std::string& world, Bus& bus,
                        Mirror& mirror) {
  const std::set<std::uint32_t>& before = mirror.watched();
  if (wanted == before) return;
  for (const std::uint32_t cell : wanted) {
    if (!before.contains(cell)) bus.subscribe(cell_subject(world, cell));
  }
  for (const std::uint32_t cell : before) {
    if (!wanted.contains(cell)) bus.unsubscribe(cell_subject(world, cell));
  }
  mirror.watch(wanted);
}

}  // namespace reckoner::cluster
