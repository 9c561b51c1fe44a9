// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace reckoner {

/// The entries of one section in each datagram in flight. Keeps the memory of settled datagrams for later
/// ones, so that it does not allocate in a steady state.
template <class Entry>
class SentContents {
 public:
  /// The datagram `sequence`, which is the newest one, contains this entry. Datagrams in flight must lie
  /// within SequenceRing::kMost numbers.
  void add(Sequence sequence, const Entry& entry) {
    if (oldest_ == next_) oldest_ = sequence;
    next_ = static_cast<Sequence>(sequence + 1u);
    lists_.cover(oldest_, sequence);
    std::vector<Entry>& entries = lists_[sequence];
    if (entries.capacity() == 0 && !spare_.empty()) {
      entries = std::move(spare_.back());
      spare_.pop_back();
    }
    entries.push_back(entry);
  }

  /// The datagram has arrived or was lost: calls `f(entry)` for each of its entries, and removes them.
  template <class F>
  void settle(Sequence sequence, F&& f) {
    if (!may_have_entries(sequence)) return;
    std::vector<Entry>& entries = lists_[sequence];
    if (!entries.empty()) {
      for (const Entry& entry : entries)
        f(entry);
      entries.clear();
      spare_.push_back(std::exchange(entries, {}));
    }
    while (oldest_ != next_ && lists_[oldest_].empty())
      ++oldest_;
  }

  /// Removes the entries for which `f(entry)` is true.
  template <class F>
  void erase_if(F&& f) {
    for (Sequence s = oldest_; s != next_; ++s)
      std::erase_if(lists_[s], f);
  }

 private:
  // The ring has places only for the datagrams from the oldest to the newest with entries. Others of the same
  // flight share these places.
  [[nodiscard]] bool may_have_entries(Sequence sequence) const {
    return static_cast<Sequence>(sequence - oldest_) < static_cast<Sequence>(next_ - oldest_);
  }

  Sequence oldest_ = 0;  // the datagrams before it have no entries
  Sequence next_ = 0;    // after the newest datagram with entries
  SequenceRing<std::vector<Entry>> lists_;
  std::vector<std::vector<Entry>> spare_;  // empty lists, with their memory
};

}  // namespace reckoner
