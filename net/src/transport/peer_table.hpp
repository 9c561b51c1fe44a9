// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Maps PeerId to values. Each lookup is one array access. Ids count up; no id repeats within 2^32 ids. add()
/// skips an id if its slot is still in use. A value keeps its address until it is removed.
template <class T>
class PeerTable {
 public:
  explicit PeerTable(std::size_t capacity) : capacity_(capacity), places_(std::bit_ceil(2 * capacity)) {}

  /// Adds a value and returns its new id. The table must have fewer than `capacity` values.
  PeerId add(T value) {
    assert(size_ < capacity_);
    std::uint32_t id = 0;
    do {
      id = ++count_;
    } while (id == 0 || place(id).value);  // no id is null
    Slot& free = place(id);
    free.id = id;
    free.value.emplace(std::move(value));
    ++size_;
    return PeerId{id};
  }

  /// Null if the id is unknown or was removed.
  [[nodiscard]] T* find(PeerId id) {
    Slot& found = place(id.value);
    return found.id == id.value && found.value ? &*found.value : nullptr;
  }
  [[nodiscard]] const T* find(PeerId id) const { return const_cast<PeerTable*>(this)->find(id); }

  bool remove(PeerId id) {
    if (find(id) == nullptr) return false;
    place(id.value).value.reset();
    --size_;
    return true;
  }

  /// Calls `visit(id, value)` for each value. `visit` must neither add nor remove values.
  template <class Visit>
  void for_each(Visit visit) {
    for (Slot& each : places_) {
      if (each.value) visit(PeerId{each.id}, *each.value);
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t id = 0;
    std::optional<T> value;
  };
  [[nodiscard]] Slot& place(std::uint32_t id) { return places_[id & (places_.size() - 1)]; }

  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint32_t count_ = 0;  // of ids issued so far; wraps around
  std::vector<Slot>
      places_;  // a power of two in number; at most half are in use, so add() finds a free one soon
};

}  // namespace reckoner
