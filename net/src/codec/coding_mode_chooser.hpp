// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <cstdint>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Learns from an entity's own motions in which coding_mode its next is sent most cheaply: which prior
/// forecasts it, how far it tends to stray, for how long its motions hold. Changes its mind seldom, for a
/// change costs bits.
///
/// One per entity; a value, no allocation.
class RECKONER_NET_API CodingModeChooser {
 public:
  /// A motion, and one published `dt_s` before it that a client may well hold: about a round trip older. A
  /// few a second are enough. can_refer() must hold.
  void observe(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
               const Quantisation& quantisation);

  /// The coding_mode of a motion published `gap_s` after the one before it (0: the first), which clients show
  /// `delay_s` after its time stamp. Call once for each.
  [[nodiscard]] CodingMode choose(std::uint8_t precision, double delay_s, double gap_s);

 private:
  std::array<float, kPriors> costs_{};  // bits, fading
  float wander_ = 4.0f;                 // octaves, means
  float twist_ = 4.0f;
  float gap_s_ = 0.0f;
  float rate_ = 1e9f;  // weight of the newest observation; the first replaces the prior
  float gap_rate_ = 1e9f;
  CodingMode coding_mode_{.reach = 0};
};

}  // namespace reckoner
