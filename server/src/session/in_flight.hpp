// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/ack_window.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/util/prefetch.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// One motion in a datagram.
struct SentMotion {
  Subscriptions::Index place = 0;
  std::uint32_t serial = 0;  ///< of the subscription it was sent for
  std::uint32_t number = 0;  ///< of the publish
  Tick motion_tick = 0;      ///< its time stamp
  std::uint8_t level = 0;
};

/// What each datagram on its way to a client carries. All of it lies close together, oldest first: it is
/// looked at for every client in every tick.
class InFlight {
 public:
  struct Datagram {
    Tick tick = 0;  ///< that sent it
    std::uint32_t bytes = 0;
    std::uint32_t first = 0;  // where its motions begin, counted over all that were ever carried
    std::uint16_t count = 0;
    bool open = false;
  };

  /// A new datagram's record, empty. Sequences follow each other, and no more than SentWindow::kCapacity are
  /// open.
  void begin(Sequence sequence, Tick tick) {
    if (oldest_ == next_) oldest_ = sequence;
    next_ = static_cast<Sequence>(sequence + 1);
    place(sequence) = {.tick = tick, .first = written_, .open = true};
  }
  /// Adds to the newest datagram.
  void add(const SentMotion& carried) {
    if (written_ - released_ == ring_.size()) grow();
    ring_[written_++ & (ring_.size() - 1)] = carried;
    ++place(static_cast<Sequence>(next_ - 1)).count;
  }
  void set_bytes(Sequence sequence, std::size_t bytes) {
    place(sequence).bytes = static_cast<std::uint32_t>(bytes);
  }

  [[nodiscard]] const Datagram& at(Sequence sequence) const {
    return datagrams_[sequence % SentWindow::kCapacity];
  }
  /// Calls `f(carried)` for all that an open datagram carries.
  template <class F>
  void for_each(Sequence sequence, F&& f) const {
    const Datagram& datagram = at(sequence);
    assert(datagram.open);
    for (std::uint32_t i = 0; i < datagram.count; ++i)
      f(ring_[(datagram.first + i) & (ring_.size() - 1)]);
  }

  void fetch() const {
    prefetch(&at(oldest_));
    prefetch(&at(next_));
  }

  /// The datagram's fate is known: what it carried is forgotten.
  void end(Sequence sequence) {
    place(sequence).open = false;
    for (; oldest_ != next_ && !at(oldest_).open; ++oldest_)
      released_ = at(oldest_).first + at(oldest_).count;
  }

 private:
  static constexpr std::size_t kLeast = 16;

  [[nodiscard]] Datagram& place(Sequence sequence) { return datagrams_[sequence % SentWindow::kCapacity]; }
  void grow() {
    std::vector<SentMotion> larger(ring_.empty() ? kLeast : 2 * ring_.size());
    for (std::uint32_t i = released_; i != written_; ++i)
      larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_ = std::move(larger);
  }

  std::vector<SentMotion> ring_;  // a power of two in size
  std::uint32_t written_ = 0;     // so many were ever added
  std::uint32_t released_ = 0;    // the first of which so many are forgotten
  Sequence oldest_ = 0;           // no datagram before it is open
  Sequence next_ = 0;
  std::array<Datagram, SentWindow::kCapacity> datagrams_;
};

}  // namespace reckoner
