// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// What a residual is made of, as its prefix codes tell apart, in the order in which they travel. What stands
/// on floors moves up and down by other laws than along them. Of two or three alike, what the first was says
/// much about the second.
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
  orientation_1,  ///< the three smallest components, in order
  orientation_2,
  orientation_3,
  turn_z,  ///< angular velocity
  turn_x,
  turn_y,
};
inline constexpr std::size_t kCodeFields = 15;

/// Which order of prefix code numbers of an expected size get: (slope * c + offset) / 16, at least 0, where c
/// counts the half octaves of the expected size.
struct OrderRule {
  static constexpr std::uint8_t kMostSlope = 31;    ///< the largest that travels
  static constexpr std::int8_t kLeastOffset = -64;  ///< the least that travels
  static constexpr std::int8_t kMostOffset = 63;    ///< the largest that travels

  std::int8_t offset = 0;  ///< of the order, in sixteenths
  std::uint8_t slope = 8;  ///< how the order rises with the expected size, sixteenths for each half octave

  /// Member by member.
  bool operator==(const OrderRule&) const = default;
};

/// How the rates of a thing follow from what it did before: gains in sixteenths. `dp` is how far it came from
/// where it was expected to be, `dv` the same of its velocity, `dt` the age of the baseline.
struct Prior {
  /// Acceleration = [0] the baseline's + [1] dp / dt^2 + [2] dv / dt + [3] velocity / s.
  std::array<std::int8_t, 4> horizontal{};
  std::array<std::int8_t, 4> vertical{};  ///< the same along the vertical axis
  /// Angular velocity = [0] the baseline's + [1] unforeseen turn / dt.
  std::array<std::int8_t, 2> tilt{};  ///< about the horizontal axes
  std::array<std::int8_t, 2> yaw{};   ///< about the vertical axis
  /// Unforeseen turns about the body's y axis (pitch, for what faces along x), and about any axis, as powers
  /// of 1/2 of the variance of those about the vertical one.
  std::uint8_t pitch_share = 2;
  std::uint8_t other_share = 4;  ///< as powers of 1/2

  /// Member by member.
  bool operator==(const Prior&) const = default;
};
inline constexpr std::size_t kPriors = 4;

/// The prefix codes of an archetype's residuals, and the forecasts under them: fixed when a client joins, so
/// that ready bit strings can be shared by all clients.
///
/// The defaults were measured over fifteen recordings of people, cars, balls, aircraft, heads and hands and
/// all built-in scenarios, each with the same weight, at baselines 0.08 and 0.22 s old. They are relative to
/// the steps of Quantisation, so they hold for any threshold.
struct CodeParameters {
  static constexpr std::uint8_t kMostShare = 15;  ///< of Prior::pitch_share and other_share

  /// By CodeField.
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
  /// Velocity = the forecast + [0] dp / dt + [1] the baseline's acceleration * dt, in sixteenths.
  std::array<std::int8_t, 2> velocity{27, -3};
  /// By CodingMode::prior.
  std::array<Prior, kPriors> priors{{
      {{8, -15, 11, -8}, {1, 0, 1, -47}, {3, 3}, {1, 2}, 2, 6},         // who walks where he likes, and looks
      {{17, -51, 40, 0}, {16, -42, 28, -2}, {16, 19}, {15, 21}, 3, 3},  // what has inertia
      {{-10, 21, -18, -6}, {-6, 15, -12, -13}, {11, 8}, {13, 15}, 0, 0},  // what trembles
      {{1, -2, 2, -126}, {0, 0, 0, -64}, {3, 8}, {3, 8}, 1, 2},           // what stops dead
  }};

  /// Member by member.
  bool operator==(const CodeParameters&) const = default;
};

}  // namespace reckoner
