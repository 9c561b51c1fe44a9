// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_sender.hpp"

#include <algorithm>
#include <cstddef>

namespace reckoner {

/// Limits the bytes of reliable messages in flight on a link that measures nothing else: it grows while
/// datagrams arrive, and halves after a loss (slow start and congestion avoidance, RFC 5681; the initial size
/// is that of RFC 6928). Times are in seconds on one monotonic clock.
class SendWindow {
 public:
  /// True if the sender should send something at `now_s`, and may.
  [[nodiscard]] bool allows(const ReliableSender& messages, double now_s) const {
    return messages.is_due(now_s) && has_room(messages.bytes_in_flight());
  }
  /// Tells the sender and the window, at `now_s`, what became of a datagram. Returns the number of bytes of
  /// messages that it had.
  std::size_t settle(ReliableSender& messages, const PeerLink::Outcome& datagram, double now_s) {
    const std::size_t before = messages.bytes_in_flight();
    messages.settle(datagram.sequence, datagram.sent_s, datagram.acked);
    const std::size_t bytes = before - messages.bytes_in_flight();
    if (bytes > 0) datagram.acked ? note_arrived(bytes) : note_lost(datagram.sent_s, now_s);
    return bytes;
  }

  /// True if more may be sent while `in_flight` bytes are in flight.
  [[nodiscard]] bool has_room(std::size_t in_flight) const { return static_cast<double>(in_flight) < bytes_; }

  /// A datagram with `bytes` bytes of messages has arrived.
  void note_arrived(std::size_t bytes) {
    const double grown = static_cast<double>(bytes);
    bytes_ = std::min(kMost, bytes_ + (bytes_ < threshold_ ? grown : kDatagram * grown / bytes_));
  }
  /// A datagram with messages that was sent at `sent_s` was lost, as is known at `now_s`.
  void note_lost(double sent_s, double now_s) {
    if (sent_s < reduced_s_) return;  // one loss of several at a time
    reduced_s_ = now_s;
    bytes_ = threshold_ = std::max(kLeast, 0.5 * bytes_);
  }

 private:
  static constexpr double kDatagram = 1200.0;
  static constexpr double kInitial = 10.0 * kDatagram;
  static constexpr double kLeast = 4.0 * kDatagram;
  static constexpr double kMost = 256.0 * 1024.0;

  double bytes_ = kInitial;
  double threshold_ = kMost;
  double reduced_s_ = -1e300;
};

}  // namespace reckoner
