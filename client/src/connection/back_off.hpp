// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// The waits between attempts to connect. They grow from one round of all servers to the next, and are partly
/// random.
class BackOff {
 public:
  explicit BackOff(const ReconnectConfig& config) : config_(config) { reset(); }

  /// An attempt succeeded: the next wait is the first one again.
  void reset() { longest_s_ = config_.first_wait_s; }

  /// Returns the wait before the first attempt of the next round, s. `random_fraction` is a random number
  /// from 0 to 1.
  double next_s(double random_fraction) {
    const double wait_s = std::min(longest_s_, config_.most_wait_s);
    longest_s_ = std::min(config_.most_wait_s, wait_s * std::max(1.0, config_.growth));
    return randomised(wait_s, random_fraction);
  }

  /// Returns the wait before an attempt at another server of the same round, s. It does not grow: its purpose
  /// is only that the clients of a server that died do not arrive at the next one at the same time.
  [[nodiscard]] double within_round_s(double random_fraction) const {
    return randomised(std::min(config_.first_wait_s, config_.most_wait_s), random_fraction);
  }

 private:
  [[nodiscard]] double randomised(double wait_s, double random_fraction) const {
    const double jitter = std::clamp(config_.jitter, 0.0, 1.0);
    return wait_s * (1.0 - jitter + jitter * std::clamp(random_fraction, 0.0, 1.0));
  }

  ReconnectConfig config_;
  double longest_s_ = 0.0;
};

}  // namespace reckoner
