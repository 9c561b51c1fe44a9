// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/residual/residual_fields.hpp"
#include "net/src/wire/prefix_code.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reckoner {
namespace {

constexpr float kLearnRate = 0.05f;  // final weight of a new observation in the means
constexpr float kGapRate = 0.05f;    // final weight of a new gap in its mean
// Bits that another prior must have saved recently to replace the current one.
constexpr float kMinSavedBits = 6.0f;
constexpr float kOctaveHysteresis = 1.3f;  // hysteresis: octaves between the mean and the setting in use
constexpr double kReachHysteresis = 0.95;  // hysteresis: margin before a shorter reach is chosen

// Binary logarithm of x >= 1 with an error of at most 0.09, which is enough to compare costs.
float rough_log2(float x) {
  constexpr float kOne = 1065353216.0f;  // the bits of 1.0f, as an integer
  return (static_cast<float>(std::bit_cast<std::uint32_t>(x)) - kOne) * 0x1p-23f;
}

// Estimates the bits of a residual, independent of the code parameters.
class CostEstimator {
 public:
  void reserved() {}
  template <class Condition>
  bool flag(const Condition& condition) {
    return condition();
  }
  void bits(std::uint8_t&, unsigned) {}
  void choice(std::uint8_t&, std::uint8_t, unsigned) {}
  template <class Condition>
  bool rest_as_forecast(bool, const Condition&) {
    return false;
  }
  template <class T>
  void assume(T&, std::int64_t, std::int64_t) {}
  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t, double) {
    const auto folded = static_cast<float>(wire::fold(std::int64_t{value} - forecast));
    size_[static_cast<std::size_t>(field)] = folded;
    bits_ += rough_log2(1.0f + folded);
  }

  [[nodiscard]] float total() const { return bits_; }
  [[nodiscard]] float size(CodeField field) const { return size_[static_cast<std::size_t>(field)]; }

 private:
  std::array<float, kCodeFields> size_{};
  float bits_ = 0.0f;
};

void learn(float& mean, float observed, float rate) {
  mean += rate * (observed - mean);
}

void follow_with_hysteresis(std::uint8_t& octave, float mean, std::uint8_t most) {
  if (std::abs(mean - static_cast<float>(octave)) < kOctaveHysteresis) return;
  octave = static_cast<std::uint8_t>(std::clamp(std::round(mean), 0.0f, static_cast<float>(most)));
}

}  // namespace

void CodingModeChooser::observe(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
                                const Quantisation& quantisation) {
  // The weights 1, 1/2, 1/3, ... give a plain mean at first.
  rate_ = std::max(kLearnRate, rate_ / (1.0f + rate_));
  const ExpectedMotion expected_motion = expected_motion_from(baseline, dt_s, quantisation);
  QuantisedState copy = state;
  for (std::size_t prior = 0; prior < kPriorCount; ++prior) {
    copy.coding_mode.prior = static_cast<std::uint8_t>(prior);
    CostEstimator weigher;
    code_residual(weigher, copy, baseline, expected_motion, dt_s, quantisation);
    learn(costs_[prior], weigher.total(), rate_);
    if (prior != coding_mode_.prior || !(dt_s > 0.0)) continue;
    const Steps steps = steps_at(quantisation, state);
    const auto spread = static_cast<float>(1.0 / spread_after(dt_s));
    const auto position = static_cast<float>(steps.position_m / quantisation.position_step_m);
    const float moved = 0.25f * (weigher.size(CodeField::position_x) + weigher.size(CodeField::position_y));
    learn(wander_, static_cast<float>(portable::log2((0.5f + moved) * position * spread)), rate_);
    if (quantisation.orientation_bits == 0) continue;
    const auto turn =
        static_cast<float>(kHalfSqrt2 / largest_steps(steps.orientation_bits) / unit_turn_rad(quantisation));
    const float turned = (weigher.size(CodeField::orientation_1) + weigher.size(CodeField::orientation_2) +
                          weigher.size(CodeField::orientation_3)) *
                         (1.0f / 3.0f);
    learn(twist_, static_cast<float>(portable::log2((0.5f + turned) * turn * spread)), rate_);
  }
}

CodingMode CodingModeChooser::choose(std::uint8_t precision, double delay_s, double gap_s) {
  constexpr float kLongestSampledGapS = 2.0f;
  if (gap_s > 0.0) {
    gap_rate_ = std::max(kGapRate, gap_rate_ / (1.0f + gap_rate_));
    learn(gap_s_, std::min(static_cast<float>(gap_s), kLongestSampledGapS), gap_rate_);
  }
  coding_mode_.precision = precision;
  const std::uint8_t reach = reach_for(delay_s + double{gap_s_});
  const std::uint8_t reach_with_margin = reach_for((delay_s + double{gap_s_}) / kReachHysteresis);
  if (reach > coding_mode_.reach || reach_with_margin < coding_mode_.reach) coding_mode_.reach = reach;
  const auto best = static_cast<std::size_t>(std::min_element(costs_.begin(), costs_.end()) - costs_.begin());
  if (costs_[best] + kMinSavedBits * kLearnRate < costs_[coding_mode_.prior]) {
    coding_mode_.prior = static_cast<std::uint8_t>(best);
  }
  follow_with_hysteresis(coding_mode_.wander, wander_, kMaxWander);
  follow_with_hysteresis(coding_mode_.twist, twist_, kMaxTwist);
  return coding_mode_;
}

}  // namespace reckoner
