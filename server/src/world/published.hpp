// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/baselines.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reckoner {

/// The slots of the entities that were published in one tick, by level of detail.
///
/// Different threads may insert slots of different words (SlotSet) at the same time. After the last insert,
/// list_words() prepares fast iteration, so that the cost per client depends on the number of publishes and
/// not on the number of entities.
class Published {
 public:
  /// Clears the set and reserves room for the slots 0 to `slots` - 1.
  void begin(std::size_t slots) {
    for (SlotSet& set : levels_) {
      set.fit(slots);
      set.clear();
    }
    words_.clear();
    words_.reserve(levels_[0].words().size());
  }
  void insert(std::size_t level, std::uint32_t slot) { levels_[level].insert(slot); }
  [[nodiscard]] bool contains(std::size_t level, std::uint32_t slot) const {
    return levels_[level].contains(slot);
  }

  /// Prepares words(). Call it after the last insert().
  void list_words() {
    words_.clear();
    for (std::size_t w = 0; w < levels_[0].words().size(); ++w) {
      for (const SlotSet& set : levels_) {
        if (set.word(w) == 0) continue;
        words_.push_back(static_cast<std::uint32_t>(w));
        break;
      }
    }
  }
  /// The numbers of the words that contain a published slot, ascending, as of list_words().
  [[nodiscard]] std::span<const std::uint32_t> words() const { return words_; }
  [[nodiscard]] std::uint64_t word(std::size_t level, std::size_t index) const {
    return levels_[level].word(index);
  }

 private:
  std::array<SlotSet, kLevels> levels_;
  std::vector<std::uint32_t> words_;
};

}  // namespace reckoner
