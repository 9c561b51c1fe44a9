// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <cstdint>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Learns from an entity's own motions which coding mode sends the next motion in the fewest bits. It chooses
/// the prior, the expected deviation from the forecast, and the reach. It changes its choice rarely, because
/// a change costs bits.
///
/// One per entity. A value type; never allocates.
class RECKONER_NET_API CodingModeChooser {
 public:
  /// Learns from a motion and a baseline published `dt_s` before it. The baseline should be about one round
  /// trip older, like one that a client holds. A few calls a second are enough. can_refer() must be true.
  void observe(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
               const Quantisation& quantisation);

  /// Returns the coding mode for a motion published `gap_s` after the previous one (0: the first motion).
  /// Clients show the motion `delay_s` after its time stamp. Call once for each motion.
  [[nodiscard]] CodingMode choose(std::uint8_t precision, double delay_s, double gap_s);

 private:
  std::array<float, kPriorCount> costs_{};  // bits; exponential means
  float wander_ = 4.0f;                     // exponential means of octaves
  float twist_ = 4.0f;
  float gap_s_ = 0.0f;
  float rate_ = 1e9f;  // weight of the newest observation; the first one replaces the initial means
  float gap_rate_ = 1e9f;
  CodingMode coding_mode_{.reach = 0};
};

}  // namespace reckoner
