// SPDX-License-Identifier: MIT
#include "server/src/rewind/shared_motions.hpp"

#include "server/src/world/slot_set.hpp"

namespace reckoner {

void SharedMotions::update(const EntityTable& entities, const Published& published) {
  newest_.resize(entities.slots().size() * kLevels);
  for (const std::uint32_t word : published.words()) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      SlotSet::for_each_in(published.word(level, word), word, [&](std::uint32_t slot) {
        newest_[slot * kLevels + level] = copy(entities.slots()[slot].levels[level].stream.motion());
      });
    }
  }
}

SharedMotion SharedMotions::copy(const Motion& motion) {
  return std::allocate_shared<Motion>(std::pmr::polymorphic_allocator<Motion>(&memory_), motion);
}

}  // namespace reckoner
