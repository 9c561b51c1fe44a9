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
/// Those of different words (SlotSet) may be noted by different threads. Once all are, list_words() makes
/// them quick to go through: what a client takes in of a tick costs what was published and not what there is.
class Published {
 public:
  /// Nothing is published, of so many slots.
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
  /// The numbers of the words in which something was published, in order, as of list_words().
  [[nodiscard]] std::span<const std::uint32_t> words() const { return words_; }
  [[nodiscard]] std::uint64_t word(std::size_t level, std::size_t index) const {
    return levels_[level].word(index);
  }

 private:
  std::array<SlotSet, kLevels> levels_;
  std::vector<std::uint32_t> words_;
};

}  // namespace reckoner
