// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// Car football with inputs: six cars, a ball, walls and goals. One deterministic function steps everything,
/// on the server and on each client. Equal states and inputs give equal bits on every machine.
namespace football {

inline constexpr std::size_t kCars = 6;
inline constexpr std::size_t kBall = kCars;  ///< index of the ball among the bodies
inline constexpr std::size_t kBodies = kCars + 1;
inline constexpr double kHalfLengthM = 50.0;  ///< the goals are at x = +-kHalfLengthM
inline constexpr double kHalfWidthM = 32.0;   ///< the walls are at y = +-kHalfWidthM

/// What a player does in one tick, 8 bytes.
struct Keys {
  enum Button : std::uint8_t { boost = 1, drift = 2, jump = 4 };
  std::uint8_t buttons = 0;
  std::int8_t throttle = 0;  ///< -127 (brakes, reverse) to 127
  std::int8_t steer = 0;     ///< -127 (right) to 127 (left)

  static constexpr std::size_t kBytes = 8;
  [[nodiscard]] std::array<std::byte, kBytes> bytes() const;
  /// Bytes of another length give no keys.
  [[nodiscard]] static Keys from(std::span<const std::byte> bytes);
  bool operator==(const Keys&) const = default;
};

/// A car, or the ball, which uses only position and velocity.
struct Body {
  glm::dvec3 position{0.0};  ///< m
  glm::dvec3 velocity{0.0};  ///< m/s
  double heading = 0.0;      ///< rad
  double yaw_rate = 0.0;     ///< rad/s
  double boost = 50.0;       ///< what is left, 0 to 100
  double jump_wait_s = 0.0;  ///< until the car may jump again, s

  [[nodiscard]] State state() const;
  /// What a State does not contain exactly, at most kMaxGameStateBytes.
  static constexpr std::size_t kBytes = 7 * sizeof(double);
  [[nodiscard]] std::array<std::byte, kBytes> bytes() const;
  /// Restores exactly what state() and bytes() gave. `bytes` must have kBytes.
  void restore(const State& state, std::span<const std::byte> bytes);
  /// Takes what an inexact state contains, for example one that is extrapolated. The rest stays as it is.
  void follow(const State& state);
};

/// The bodies that touched in a step.
struct Contacts {
  std::array<std::uint8_t, kBodies> with{};  ///< for each body, one bit for each other body

  void add(std::size_t a, std::size_t b) {
    with[a] = static_cast<std::uint8_t>(with[a] | 1u << b);
    with[b] = static_cast<std::uint8_t>(with[b] | 1u << a);
  }
};

/// Null: the car coasts. Its own game steps it elsewhere.
using Inputs = std::array<std::optional<Keys>, kCars>;

/// All bodies.
struct World {
  std::array<Body, kBodies> bodies;
  bool has_contacts = true;  ///< false: bodies pass through each other

  /// Puts everything at its place for a kick-off.
  void kick_off();
  /// Steps everything by `tick_s`.
  Contacts step(const Inputs& inputs, double tick_s);
  /// True if the ball is deep in a goal, so that a kick-off follows. Only the server decides that.
  [[nodiscard]] bool is_goal() const;
};

}  // namespace football
}  // namespace reckoner::harness
