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

/// Values by PeerId, found by one look into an array. Ids count up and none is given out twice (in 2^32); one
/// whose place is still taken is skipped. Values stay where they are until they are removed.
template <class T>
class PeerTable {
 public:
  explicit PeerTable(std::size_t capacity) : capacity_(capacity), places_(std::bit_ceil(2 * capacity)) {}

  /// At most `capacity` values at once.
  PeerId add(T value) {
    assert(size_ < capacity_);
    do {
      ++last_id_;
    } while (last_id_ == 0 || place(last_id_).value);
    Place& free = place(last_id_);
    free.id = last_id_;
    free.value.emplace(std::move(value));
    ++size_;
    return PeerId{last_id_};
  }

  /// Null if there is none, or no longer.
  [[nodiscard]] T* find(PeerId id) {
    Place& found = place(id.value);
    return found.id == id.value && found.value ? &*found.value : nullptr;
  }
  [[nodiscard]] const T* find(PeerId id) const { return const_cast<PeerTable*>(this)->find(id); }

  bool remove(PeerId id) {
    if (find(id) == nullptr) return false;
    place(id.value).value.reset();
    --size_;
    return true;
  }

  /// Calls `visit(id, value)` for all; it must neither add nor remove.
  template <class Visit>
  void for_each(Visit visit) {
    for (Place& each : places_) {
      if (each.value) visit(PeerId{each.id}, *each.value);
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Place {
    std::uint32_t id = 0;
    std::optional<T> value;
  };
  [[nodiscard]] Place& place(std::uint32_t id) { return places_[id & (places_.size() - 1)]; }

  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint32_t last_id_ = 0;
  std::vector<Place> places_;  // a power of two of them, at most half taken: a free one is soon found
};

}  // namespace reckoner
