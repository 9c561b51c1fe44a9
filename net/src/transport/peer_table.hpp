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
///
/// Several tables give out different ids if each has another `tag` below 2^tag_bits, which the lowest bits of
/// all its ids are. That leaves 2^(32 - tag_bits) ids to each.
template <class T>
class PeerTable {
 public:
  explicit PeerTable(std::size_t capacity, std::uint32_t tag = 0, int tag_bits = 0)
      : capacity_(capacity), tag_(tag), tag_bits_(tag_bits), places_(std::bit_ceil(2 * capacity)) {
    assert(tag_bits >= 0 && tag_bits < 16 && tag >> tag_bits == 0);
  }

  /// At most `capacity` values at once.
  PeerId add(T value) {
    assert(size_ < capacity_);
    std::uint32_t id = 0;
    do {
      id = (++count_ << tag_bits_) | tag_;
    } while (id == tag_ || place(id).value);  // never a count of 0, so that no id is null
    Slot& free = place(id);
    free.id = id;
    free.value.emplace(std::move(value));
    ++size_;
    return PeerId{id};
  }

  /// Null if there is none, or no longer.
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

  /// Calls `visit(id, value)` for all; it must neither add nor remove.
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
  [[nodiscard]] Slot& place(std::uint32_t id) { return places_[(id >> tag_bits_) & (places_.size() - 1)]; }

  std::size_t capacity_;
  std::uint32_t tag_;
  int tag_bits_;
  std::size_t size_ = 0;
  std::uint32_t count_ = 0;   // of ids given out; the highest tag_bits fall out of the id
  std::vector<Slot> places_;  // a power of two of them, at most half taken: a free one is soon found
};

}  // namespace reckoner
