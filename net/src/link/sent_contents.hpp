// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ring_queue.hpp"
#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace reckoner {

/// The entries of one section in each datagram in flight. They lie one after the other in one ring, so that
/// the memory follows the number of entries in flight. It does not allocate in a steady state.
template <class Entry>
class SentContents {
 public:
  /// The datagram `sequence`, which is the newest one, contains this entry. Datagrams in flight must lie
  /// within SequenceRing::kMost numbers.
  void add(Sequence sequence, const Entry& entry) {
    if (sent_.full() && closed_ > 0 && 2 * closed_ >= sent_.size()) remove_closed();
    sent_.push_back({entry, sequence, true});
    assert(static_cast<Sequence>(sequence - sent_.front().sequence) < SequenceRing<int>::kMost);
  }

  /// The datagram has arrived or was lost: calls `f(entry)` for each of its entries, and removes them.
  template <class F>
  void settle(Sequence sequence, F&& f) {
    for (std::size_t i = first_of(sequence); i < sent_.size() && sent_[i].sequence == sequence; ++i) {
      if (!sent_[i].open) continue;
      close(sent_[i]);
      f(std::as_const(sent_[i].entry));
    }
    trim();
  }

  /// Calls `f(entry)` for each entry of a datagram without an outcome.
  template <class F>
  void for_each(Sequence sequence, F&& f) {
    for (std::size_t i = first_of(sequence); i < sent_.size() && sent_[i].sequence == sequence; ++i) {
      if (sent_[i].open) f(sent_[i].entry);
    }
  }

  /// Removes the entries for which `f(entry)` is true.
  template <class F>
  void erase_if(F&& f) {
    for (Sent& sent : sent_) {
      if (sent.open && f(std::as_const(sent.entry))) close(sent);
    }
    trim();
  }

 private:
  struct Sent {
    Entry entry{};
    Sequence sequence = 0;
    bool open = false;  // the datagram has no outcome yet
  };

  void close(Sent& sent) {
    sent.open = false;
    ++closed_;
  }
  // The first one is always open, unless all are removed.
  void trim() {
    for (; !sent_.empty() && !sent_.front().open; --closed_)
      sent_.pop_front();
  }
  // A datagram whose outcome is not known delays those after it.
  void remove_closed() {
    sent_.erase_if([](const Sent& sent) { return !sent.open; });
    closed_ = 0;
  }

  // The index of the first entry of this datagram, or of another one or the size if it has none.
  [[nodiscard]] std::size_t first_of(Sequence sequence) const {
    if (sent_.empty()) return 0;
    const Sequence oldest = sent_.front().sequence;
    const auto age = static_cast<Sequence>(sequence - oldest);
    if (age > static_cast<Sequence>(sent_.back().sequence - oldest)) return sent_.size();
    std::size_t from = 0, to = sent_.size();
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      const bool is_before = static_cast<Sequence>(sent_[middle].sequence - oldest) < age;
      (is_before ? from : to) = is_before ? middle + 1 : middle;
    }
    return from;
  }

  RingQueue<Sent> sent_;  // in the order of the datagrams
  std::size_t closed_ = 0;
};

}  // namespace reckoner
