// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace reckoner {

/// Decides when to give up a connection, by everything that the peer sends. So a lossy connection stays open
/// while datagrams still arrive, and a dead connection is closed soon. All times are in seconds on a
/// monotonic clock.
class Liveness {
 public:
  static constexpr double kConnectSeconds = 5.0;   ///< a server that has not answered by then is unreachable
  static constexpr double kClosingSeconds = 10.0;  ///< an orderly disconnect is cut short after this time

  /// `connecting`: the connection is not established yet. `silence_s`: a peer that sends nothing for this
  /// time is lost.
  Liveness(double now_s, bool connecting, double silence_s) : heard_s_(now_s), silence_s_(silence_s) {
    if (connecting) deadline_s_ = now_s + kConnectSeconds;
  }

  void connected(double now_s) {
    heard_s_ = now_s;
    deadline_s_.reset();
  }

  /// Starts an orderly disconnect. Returns false if it had started before.
  bool close(double now_s) {
    if (std::exchange(closing_, true)) return false;
    deadline_s_ = now_s + kClosingSeconds;
    return true;
  }

  /// connecting(): not established yet, and not closing. closing(): an orderly disconnect has started.
  [[nodiscard]] bool connecting() const { return deadline_s_.has_value() && !closing_; }
  [[nodiscard]] bool closing() const { return closing_; }

  /// Returns true if the connection must be given up. `received_bytes` is any counter that changes whenever
  /// the peer sends something.
  bool given_up(double now_s, std::uint32_t received_bytes) {
    if (std::exchange(received_bytes_, received_bytes) != received_bytes) heard_s_ = now_s;
    return (deadline_s_ && now_s >= *deadline_s_) || now_s - heard_s_ >= silence_s_;
  }

 private:
  std::uint32_t received_bytes_ = 0;
  double heard_s_;
  std::optional<double> deadline_s_;  ///< for connecting or closing; empty: none
  double silence_s_;
  bool closing_ = false;
};

}  // namespace reckoner
