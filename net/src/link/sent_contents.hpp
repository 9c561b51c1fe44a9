// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
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
  /// within SentWindow::kCapacity numbers.
  void add(Sequence sequence, const Entry& entry) {
    if (lists_.empty()) lists_.resize(SentWindow::kCapacity);
    if (oldest_ == next_) oldest_ = sequence;
    next_ = static_cast<Sequence>(sequence + 1u);
    std::vector<Entry>& entries = list(sequence);
    if (entries.capacity() == 0 && !spare_.empty()) {
      entries = std::move(spare_.back());
      spare_.pop_back();
    }
    entries.push_back(entry);
  }

  /// The datagram has arrived or was lost: calls `f(entry)` for each of its entries, and removes them.
  template <class F>
  void settle(Sequence sequence, F&& f) {
    if (lists_.empty()) return;
    std::vector<Entry>& entries = list(sequence);
    if (!entries.empty()) {
      for (const Entry& entry : entries)
        f(entry);
      entries.clear();
      spare_.push_back(std::exchange(entries, {}));
    }
    while (oldest_ != next_ && list(oldest_).empty())
      ++oldest_;
  }

  /// Removes the entries for which `f(entry)` is true.
  template <class F>
  void erase_if(F&& f) {
    for (Sequence s = oldest_; s != next_; ++s)
      std::erase_if(list(s), f);
  }

 private:
  [[nodiscard]] std::vector<Entry>& list(Sequence sequence) {
    return lists_[sequence % SentWindow::kCapacity];
  }

  Sequence oldest_ = 0;                    // the datagrams before it have no entries
  Sequence next_ = 0;                      // after the newest datagram with entries
  std::vector<std::vector<Entry>> lists_;  // by sequence modulo capacity; none before the first entry
  std::vector<std::vector<Entry>> spare_;  // empty lists, with their memory
};

}  // namespace reckoner
