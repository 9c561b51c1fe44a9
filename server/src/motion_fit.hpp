// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Chooses the acceleration that is published with a motion. What a body's acceleration is now is often a bad
/// guess of what it will do until the next update: players turn and stop several times a second. So constant
/// velocity and constant acceleration compete, entity by entity, by how well each would have predicted the
/// recent past; the better one is published.
///
/// One per entity; a value, no allocation. Fed once a tick.
class MotionFit {
 public:
  explicit MotionFit(double tick_rate_hz);

  /// The truth at the next tick.
  void observe(const State& truth);

  /// After a teleport: the recent positions no longer connect, what was learned about the entity still holds.
  void restart() { filled_ = 0; }

  /// The acceleration to publish with the truth observed last, m/s^2.
  [[nodiscard]] glm::vec3 acceleration(const State& truth) const;

 private:
  static constexpr std::size_t kMostHorizonTicks = 64;

  std::size_t horizon_ticks_;
  double horizon_s_;
  double forgetting_;
  std::array<State, kMostHorizonTicks> past_;  // ring; newest at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  double constant_velocity_error_ = 0.0;  // mean squares, m^2, exponentially forgotten
  double constant_acceleration_error_ = 0.0;
};

}  // namespace reckoner
