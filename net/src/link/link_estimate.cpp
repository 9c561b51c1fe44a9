// SPDX-License-Identifier: MIT
#include "net/src/link/link_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

constexpr double kLongestRoundTripS = 10.0;
constexpr double kRoundTripGain = 1.0 / 8.0;  // RFC 6298, alpha
constexpr double kDeviationGain = 1.0 / 4.0;  // RFC 6298, beta
constexpr double kInitialTimeoutS = 1.0;
constexpr double kShortestTimeoutS = 0.05;  // allows for coarse clocks and a busy machine
constexpr double kLongestOneWayS = 0.25;

}  // namespace

void LinkEstimate::add(double round_trip_s) {
  if (!(round_trip_s >= 0.0 && round_trip_s < kLongestRoundTripS)) return;
  if (!known_) {
    known_ = true;
    round_trip_s_ = round_trip_s;
    deviation_s_ = round_trip_s / 2.0;
    return;
  }
  deviation_s_ += kDeviationGain * (std::abs(round_trip_s - round_trip_s_) - deviation_s_);
  round_trip_s_ += kRoundTripGain * (round_trip_s - round_trip_s_);
}

double LinkEstimate::timeout_s(double answer_delay_s) const {
  if (!known_) return kInitialTimeoutS;
  return std::max(kShortestTimeoutS, round_trip_s_ + 4.0 * deviation_s_ + answer_delay_s);
}

double LinkEstimate::one_way_s() const {
  return std::min(kLongestOneWayS, 0.5 * round_trip_s_ + deviation_s_);
}

}  // namespace reckoner
