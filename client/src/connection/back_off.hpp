// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// The waits between attempts to connect. They grow from one attempt to the next, and are partly random.
class BackOff {
 public:
  explicit BackOff(const ReconnectConfig& config) : config_(config) { reset(); }

  /// An attempt succeeded: the next wait is the first one again.
  void reset() { longest_s_ = config_.first_wait_s; }

  /// The next wait, s. `random_fraction` is a random number from 0 to 1.
  double next_s(double random_fraction) {
    const double jitter = std::clamp(config_.jitter, 0.0, 1.0);
    const double wait_s = std::min(longest_s_, config_.most_wait_s);
    longest_s_ = std::min(config_.most_wait_s, wait_s * std::max(1.0, config_.growth));
    return wait_s * (1.0 - jitter + jitter * std::clamp(random_fraction, 0.0, 1.0));
  }

 private:
  ReconnectConfig config_;
  double longest_s_ = 0.0;
};

}  // namespace reckoner
