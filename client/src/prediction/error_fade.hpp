// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The difference between what was shown of a predicted entity and its corrected path, and how it fades: a
/// cubic from the difference in position and velocity to zero, so that what is shown has no steps in either.
///
///   e(u) = (1 - u)^2 ((1 + 2 u) p + u T v),  u = t / T
///
/// p is the difference of the positions, v that of the velocities, T the duration. It is the Hermite cubic
/// that ends at rest in zero. Of all curves with these ends, it has the least mean square of the
/// acceleration.
class ErrorFade {
 public:
  /// An error fades in this time, s. The acceleration that a fade adds is proportional to 1 / T^2.
  static constexpr double kDurationS = 0.25;
  /// A longer error fades faster, m: in a duration that is kLongM / |p| times as long.
  static constexpr double kLongM = 20.0;

  /// Nothing fades any more.
  void stop() { duration_s_ = 0.0; }
  /// Begins at `time_s`, where `shown` was shown and `path` is right. A difference above `most_m` does not
  /// fade: the entity jumps. `duration_s` is that of an error up to kLongM.
  void begin(const State& shown, const State& path, double time_s, double most_m,
             double duration_s = kDurationS);
  /// What is shown at `time_s` of an entity on the path `path`.
  [[nodiscard]] State apply(const State& path, double time_s) const;
  /// The rest of the error in position at `time_s`, m.
  [[nodiscard]] double error_m(double time_s) const;
  /// Time from `time_s` until nothing fades any more, s.
  [[nodiscard]] double left_s(double time_s) const {
    return duration_s_ > 0.0 ? std::clamp(begin_s_ + duration_s_ - time_s, 0.0, duration_s_) : 0.0;
  }

 private:
  struct Shares {
    double of_error = 0.0;
    double of_rate = 0.0;        // s
    double of_error_rate = 0.0;  // 1/s
    double of_rate_rate = 0.0;
  };
  [[nodiscard]] Shares shares(double time_s) const;

  double begin_s_ = 0.0;
  double duration_s_ = 0.0;  // 0: nothing fades
  glm::dvec3 position_m_{0.0};
  glm::dvec3 velocity_mps_{0.0};
  glm::dvec3 rotation_rad_{0.0};  // rotation vector from the path's orientation, in the world
  glm::dvec3 rotation_rps_{0.0};
};

}  // namespace reckoner
