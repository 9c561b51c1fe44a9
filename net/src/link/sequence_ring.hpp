// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace reckoner {

/// One entry for each of the last datagrams of a flight, found by the datagram's number. The ring has no
/// memory before the first use, then kLeast entries. It doubles when a flight needs more, up to kMost
/// entries, and never becomes smaller. So a link with a usual flight takes little memory, and no link
/// allocates in a steady state.
template <class Entry>
class SequenceRing {
 public:
  static constexpr std::size_t kLeast = 64;  ///< a second of datagrams at 60 a second
  static constexpr std::size_t kMost = Ack::kMaxDatagrams;
  static_assert(std::has_single_bit(kLeast) && std::has_single_bit(kMost));

  /// Makes sure that the datagrams from `oldest` to `newest`, at most kMost of them, have an entry each.
  /// `newest` never goes back. If the ring grows, the size() datagrams up to the newest before keep their
  /// entries; all others get the default value.
  void cover(Sequence oldest, Sequence newest) {
    const std::size_t count = std::size_t{static_cast<Sequence>(newest - oldest)} + 1;
    assert(count <= kMost);
    if (count > entries_.size()) grow(count);
    newest_ = newest;
  }

  /// The number of entries, a power of two; 0 before the first call of cover().
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// The entry of a datagram. It is also the entry of all datagrams that are a multiple of size() away.
  /// Requires size() > 0. The reference is valid until the next call of cover().
  [[nodiscard]] Entry& operator[](Sequence sequence) { return entries_[sequence & mask_]; }
  [[nodiscard]] const Entry& operator[](Sequence sequence) const { return entries_[sequence & mask_]; }

 private:
  void grow(std::size_t count) {
    std::vector<Entry> larger(std::clamp(std::bit_ceil(count), kLeast, kMost));
    for (std::size_t back = 0; back < size(); ++back) {
      const auto sequence = static_cast<Sequence>(newest_ - back);
      larger[sequence & (larger.size() - 1)] = std::move((*this)[sequence]);
    }
    entries_ = std::move(larger);
    mask_ = entries_.size() - 1;
  }

  std::vector<Entry> entries_;  // by sequence modulo size()
  std::size_t mask_ = 0;        // size() - 1
  Sequence newest_ = 0;
};

}  // namespace reckoner
