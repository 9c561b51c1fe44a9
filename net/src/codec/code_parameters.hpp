// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// The fields of a residual, in the order in which they are sent. Each has its own prefix code. The vertical
/// axis is separate, because an entity on a floor moves differently up and down than along the floor. Of two
/// or three similar fields, the first one predicts much about the next.
enum class CodeField : std::uint8_t {
  position_x,
  position_y,
  velocity_x,
  velocity_y,
  acceleration_x,
  acceleration_y,
  position_z,
  velocity_z,
  acceleration_z,
  orientation_1,  ///< the three smallest quaternion components, in order
  orientation_2,
  orientation_3,
  turn_z,  ///< angular velocity
  turn_x,
  turn_y,
};
inline constexpr std::size_t kCodeFields = 15;

/// Computes the order of a prefix code from the expected size of a number: (slope * c + offset) / 16, at
/// least 0. c is the number of half octaves of the expected size.
struct OrderRule {
  static constexpr std::uint8_t kMaxSlope = 31;   ///< largest slope that can be sent
  static constexpr std::int8_t kMinOffset = -64;  ///< smallest offset that can be sent
  static constexpr std::int8_t kMaxOffset = 63;   ///< largest offset that can be sent

  std::int8_t offset = 0;  ///< of the order, in sixteenths
  /// Increase of the order for each half octave of the expected size, in sixteenths.
  std::uint8_t slope = 8;

  /// True if both members are equal.
  bool operator==(const OrderRule&) const = default;
};

/// Predicts the rates of an entity from its earlier motion. The gains are in sixteenths. `dp` is the
/// difference between the actual and the expected position, `dv` the difference of the velocities, and `dt`
/// the age of the baseline.
struct Prior {
  /// Acceleration = [0] * the baseline's + [1] * dp / dt^2 + [2] * dv / dt + [3] * velocity / s.
  std::array<std::int8_t, 4> horizontal{};
  std::array<std::int8_t, 4> vertical{};  ///< gains of `horizontal`, for the vertical axis
  /// Angular velocity = [0] * the baseline's + [1] * unpredicted turn / dt. For the horizontal axes.
  std::array<std::int8_t, 2> tilt{};
  std::array<std::int8_t, 2> yaw{};  ///< gains of `tilt`, for the vertical axis
  /// Variance of unpredicted turns about the body's y axis (pitch, if the body faces along x), relative to
  /// turns about the vertical axis: 2^-pitch_share.
  std::uint8_t pitch_share = 2;
  std::uint8_t other_share = 4;  ///< relative variance of turns about any axis: 2^-other_share

  /// True if all gains and shares are equal.
  bool operator==(const Prior&) const = default;
};
inline constexpr std::size_t kPriorCount = 4;

/// The prefix codes and the forecasts for an archetype's residuals. They are fixed when a client joins, so
/// that clients can share encoded bit strings.
///
/// The defaults were fitted to fifteen recordings (people, cars, balls, aircraft, heads and hands) and all
/// built-in scenarios, with equal weights and baselines 0.08 s and 0.22 s old. They are relative to the steps
/// of Quantisation, so they fit any threshold.
struct CodeParameters {
  static constexpr std::uint8_t kMaxShare = 15;  ///< largest value of Prior::pitch_share and other_share

  /// Indexed by CodeField.
  std::array<OrderRule, kCodeFields> orders{{{-3, 9},
                                             {1, 9},
                                             {16, 7},
                                             {7, 7},
                                             {14, 6},
                                             {0, 7},
                                             {-6, 7},
                                             {19, 7},
                                             {6, 7},
                                             {14, 9},
                                             {5, 9},
                                             {10, 10},
                                             {2, 10},
                                             {-8, 9},
                                             {-4, 9}}};
  /// Velocity = the forecast + [0] * dp / dt + [1] * the baseline's acceleration * dt. Gains in sixteenths.
  std::array<std::int8_t, 2> velocity{27, -3};
  /// Indexed by CodingMode::prior.
  std::array<Prior, kPriorCount> priors{{
      {{8, -15, 11, -8}, {1, 0, 1, -47}, {3, 3}, {1, 2}, 2, 6},  // people who walk and look around freely
      {{17, -51, 40, 0}, {16, -42, 28, -2}, {16, 19}, {15, 21}, 3, 3},    // bodies with inertia
      {{-10, 21, -18, -6}, {-6, 15, -12, -13}, {11, 8}, {13, 15}, 0, 0},  // trembling heads and hands
      {{1, -2, 2, -126}, {0, 0, 0, -64}, {3, 8}, {3, 8}, 1, 2},           // bodies that stop suddenly
  }};

  /// True if all parameters are equal.
  bool operator==(const CodeParameters&) const = default;
};

}  // namespace reckoner
