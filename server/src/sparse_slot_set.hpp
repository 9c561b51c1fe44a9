// SPDX-License-Identifier: MIT
#pragma once

#include "slot_set.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner {

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
