// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// A motion that the histories of several clients have in common.
using SharedMotion = std::shared_ptr<const Motion>;

/// One copy of each published motion. The histories of all clients that were sent a motion refer to the same
/// copy: a copy for each of them would be many times larger than a processor's cache.
///
/// Must outlive every SharedMotion that it has returned.
class SharedMotions {
 public:
  /// Copies the motions that were published in this tick.
  void update(const EntityTable& entities, const Published& published);

  /// The newest motion of a stream at this level of detail. The stream must have been published. Several
  /// threads may call it at the same time, but none during update().
  [[nodiscard]] const SharedMotion& newest(std::size_t slot, std::size_t level) const {
    return newest_[slot * kLevels + level];
  }

  /// Copies a motion. Any thread may call it.
  [[nodiscard]] SharedMotion copy(const Motion& motion);

 private:
  std::pmr::synchronized_pool_resource memory_;  // so that a server in a steady state allocates nothing
  std::vector<SharedMotion> newest_;             // index: slot * kLevels + level
};

}  // namespace reckoner
