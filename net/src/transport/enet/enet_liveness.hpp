// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

namespace reckoner {

/// When to give a connection up. ENet judges by the acknowledgements of reliable packets alone; this judges
/// by whatever the peer sends, so a lossy link on which state still flows stays open and a dead one does not
/// linger. Times in seconds on any clock that never goes back.
class Liveness {
 public:
  static constexpr double kConnectSeconds = 5.0;   ///< then a server that does not answer is not there
  static constexpr double kClosingSeconds = 10.0;  ///< then an orderly disconnect is cut short

  /// Starts to connect, or is connected already. `silence_s`: then a peer that sends nothing is gone.
  Liveness(double now_s, bool connecting, double silence_s)
      : heard_s_(now_s), deadline_s_(connecting ? now_s + kConnectSeconds : 0.0), silence_s_(silence_s) {}

  void connected(double now_s) {
    heard_s_ = now_s;
    deadline_s_ = 0.0;
  }

  /// False if it was closing before.
  bool close(double now_s) {
    if (std::exchange(closing_, true)) return false;
    deadline_s_ = now_s + kClosingSeconds;
    return true;
  }

  /// Whether there was no connection yet, and whether it is being ended.
  [[nodiscard]] bool connecting() const { return deadline_s_ > 0.0 && !closing_; }
  [[nodiscard]] bool closing() const { return closing_; }

  /// `received_bytes` is any counter that changes whenever the peer sends something. True if all is lost.
  bool given_up(double now_s, std::uint32_t received_bytes) {
    if (std::exchange(received_bytes_, received_bytes) != received_bytes) heard_s_ = now_s;
    return (deadline_s_ > 0.0 && now_s >= deadline_s_) || now_s - heard_s_ >= silence_s_;
  }

 private:
  std::uint32_t received_bytes_ = 0;
  double heard_s_;
  double deadline_s_;  ///< of connecting or closing; 0: none
  double silence_s_;
  bool closing_ = false;
};

}  // namespace reckoner
