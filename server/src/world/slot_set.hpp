// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/prefetch.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reckoner {

/// A set of entity slots, a bit each. Sets over the same slots are combined word by word, so that what a tick
/// costs follows what changed and not what there is.
class SlotSet {
 public:
  static constexpr std::uint32_t kWordBits = 64;

  /// Makes room for slots 0 to `slots` - 1.
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

  /// 64 slots at once; none beyond the end.
  [[nodiscard]] std::uint64_t word(std::size_t index) const {
    return index < words_.size() ? words_[index] : 0;
  }
  /// Asks for the memory of a word.
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

  /// Calls `f(slot)` for every bit of one word of a set.
  template <class F>
  static void for_each_in(std::uint64_t word, std::size_t index, F&& f) {
    for (; word != 0; word &= word - 1)
      f(static_cast<std::uint32_t>(index * kWordBits) + static_cast<std::uint32_t>(std::countr_zero(word)));
  }

 private:
  static constexpr std::uint64_t bit(std::uint32_t slot) { return std::uint64_t{1} << (slot % kWordBits); }

  std::vector<std::uint64_t> words_;
};

/// A set of few among many slots: going through it passes over the empty words of it, 64 at a time.
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
  /// The words of slots() that are not empty.
  [[nodiscard]] const SlotSet& filled() const { return filled_; }

 private:
  SlotSet slots_;
  SlotSet filled_;
};

}  // namespace reckoner
