// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/liveness.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace reckoner {

/// What one end of a session of the transport "udp" sends when the layer above sends nothing: signs of life,
/// and the end of the session again and again until the other end answers. Also decides when the session is
/// given up. Times are in seconds on a monotonic clock.
class SessionUpkeep {
 public:
  enum class Due : std::uint8_t { nothing, alive, close };

  /// How often due() should be called, s.
  static constexpr double kVisitS = 0.05;
  /// How many copies of a close an end sends that cannot repeat it.
  static constexpr int kLastCopies = 3;
  /// After this time without a datagram, alive is due, s. TransportLimits::silence_s is at least 1 s, so one
  /// or two in a row may be lost even then. A resting server or client of Reckoner sends every 0.25 s, and
  /// needs none.
  static constexpr double kAliveS = 0.3;
  /// Time between two datagrams of an end that has not heard from the other one in this session, s.
  static constexpr double kGreetingS = 0.25;

  /// `silence_s`: see TransportLimits::silence_s. `connecting`: the session has not begun.
  SessionUpkeep(double now_s, bool connecting, double silence_s)
      : liveness_(now_s, connecting, silence_s), sent_s_(now_s) {}

  /// The session has begun.
  void connected(double now_s) { liveness_.connected(now_s); }
  /// A datagram of the session has arrived.
  void received() { ++received_; }
  /// A datagram of the session was sent.
  void sent(double now_s) { sent_s_ = now_s; }

  /// This end ends the session, and sends a first close now. Does nothing if it had ended it before.
  void close(std::uint32_t reason, double now_s) {
    if (!liveness_.close(now_s)) return;
    reason_ = reason;
    next_close_s_ = now_s + wait_s_;
  }
  [[nodiscard]] bool is_closing() const { return liveness_.closing(); }
  /// The reason that was passed to close().
  [[nodiscard]] std::uint32_t reason() const { return reason_; }

  /// What must be sent now. The caller sends it.
  [[nodiscard]] Due due(double now_s) {
    if (is_closing()) {
      if (now_s < next_close_s_) return Due::nothing;
      wait_s_ = std::min(kLongestWaitS, 2.0 * wait_s_);
      next_close_s_ = now_s + wait_s_;
      return Due::close;
    }
    if (now_s - sent_s_ < (received_ == 0 ? kGreetingS : kAliveS)) return Due::nothing;
    sent_s_ = now_s;
    return Due::alive;
  }

  /// True if the session must be given up: the other end is silent, or its answer to close does not come.
  [[nodiscard]] bool is_given_up(double now_s) { return liveness_.given_up(now_s, received_); }

 private:
  static constexpr double kFirstWaitS = 0.1;
  static constexpr double kLongestWaitS = 1.0;

  Liveness liveness_;
  double sent_s_;
  std::uint32_t received_ = 0;
  std::uint32_t reason_ = 0;
  double next_close_s_ = 0.0;
  double wait_s_ = kFirstWaitS;
};

}  // namespace reckoner
