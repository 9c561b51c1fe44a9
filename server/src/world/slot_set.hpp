// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/baselines.hpp"
#include "reckoning/src/util/prefetch.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reckoner {

/// A set of entity slots with one bit per slot. Set operations process 64 slots per word, so the cost of a
/// tick depends mainly on the number of changes and little on the number of entities.
class SlotSet {
 public:
  static constexpr std::uint32_t kWordBits = 64;

  /// Reserves room for the slots 0 to `slots` - 1.
  void fit(std::size_t slots) {
    const std::size_t words = (slots + kWordBits - 1) / kWordBits;
    if (words > words_.size()) words_.resize(words, 0);
  }

  void insert(std::uint32_t slot) {
    fit(slot + std::size_t{1});
    words_[slot / kWordBits] |= bit(slot);
  }
  void erase(std::uint32_t slot) {
    if (slot / kWordBits < words_.size()) words_[slot / kWordBits] &= ~bit(slot);
  }
  [[nodiscard]] bool contains(std::uint32_t slot) const {
    return slot / kWordBits < words_.size() && (words_[slot / kWordBits] & bit(slot)) != 0;
  }
  [[nodiscard]] bool empty() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  void clear() { words_.assign(words_.size(), 0); }
  /// Number of slots in the set.
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_)
      sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }

  /// The bits of the 64 slots that begin at 64 * `index`. 0 beyond the end of the set.
  [[nodiscard]] std::uint64_t word(std::size_t index) const {
    return index < words_.size() ? words_[index] : 0;
  }
  /// Prefetches one word.
  void fetch(std::size_t index) const {
    if (index < words_.size()) prefetch(&words_[index]);
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

  /// Calls `f(slot)` for every slot in order. `f` may erase the slot that it is called with.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for_each_in(words_[w], w, f);
  }

  /// Calls `f(slot)` for every set bit of `word`, which is the word at `index` of a set.
  template <class F>
  static void for_each_in(std::uint64_t word, std::size_t index, F&& f) {
    for (; word != 0; word &= word - 1)
      f(static_cast<std::uint32_t>(index * kWordBits) + static_cast<std::uint32_t>(std::countr_zero(word)));
  }

 private:
  static constexpr std::uint64_t bit(std::uint32_t slot) { return std::uint64_t{1} << (slot % kWordBits); }

  std::vector<std::uint64_t> words_;
};

/// A set for a few of many slots. Iteration skips empty words, up to 64 words at a time.
class SparseSlotSet {
 public:
  void insert(std::uint32_t slot) {
    slots_.insert(slot);
    filled_.insert(slot / SlotSet::kWordBits);
  }
  void erase(std::uint32_t slot) {
    slots_.erase(slot);
    if (slots_.word(slot / SlotSet::kWordBits) == 0) filled_.erase(slot / SlotSet::kWordBits);
  }
  [[nodiscard]] bool contains(std::uint32_t slot) const { return slots_.contains(slot); }

  /// Calls `f(slot)` for every slot in order. `f` may erase the slot that it is called with.
  template <class F>
  void for_each(F&& f) const {
    filled_.for_each([&](std::uint32_t word) { SlotSet::for_each_in(slots_.word(word), word, f); });
  }

  [[nodiscard]] const SlotSet& slots() const { return slots_; }
  /// The indices of those words of slots() that are not empty.
  [[nodiscard]] const SlotSet& filled() const { return filled_; }

 private:
  SlotSet slots_;
  SlotSet filled_;
};

/// The slots of the entities that were published in one tick; one set for each level of detail.
///
/// Different threads may insert slots at the same time if the slots are in different words of a SlotSet.
/// After the last insert, list_words() prepares fast iteration, so that the cost per client depends on the
/// number of publishes and not on the number of entities.
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
  /// The indices of the words that contain a published slot, ascending. Valid after list_words().
  [[nodiscard]] std::span<const std::uint32_t> words() const { return words_; }
  [[nodiscard]] std::uint64_t word(std::size_t level, std::size_t index) const {
    return levels_[level].word(index);
  }

 private:
  std::array<SlotSet, kLevels> levels_;
  std::vector<std::uint32_t> words_;
};

}  // namespace reckoner
