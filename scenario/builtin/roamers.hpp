// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <glm/vec2.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// Any number of people who walk about on a plane, evenly distributed, each around a home. They serve to
/// measure servers, because a call is cheap (about 50 ns) and the derivatives are exact. A roamer moves from
/// one random place to the next on a cubic curve. Each such move takes 2 s to 5 s. The heading is independent
/// of the motion. Position, velocity and heading are continuous. Acceleration and angular velocity are
/// bounded (about 10 m/s^2 and 2 rad/s). The result is a pure function of (seed, roamer, time) and does not
/// depend on earlier calls. Not thread-safe.
class Roamers {
 public:
  static constexpr double kAreaEachM2 = 16.0;  ///< area of the plane for each roamer
  static constexpr double kMaxOffsetM = 4.0;   ///< along each axis, a place is at most this far from home

  /// `others` is the number of other entities on the plane. Each of them increases the area as much as a
  /// roamer does.
  Roamers(std::size_t count, std::uint64_t seed, std::size_t others = 0);

  [[nodiscard]] std::size_t size() const { return legs_.size(); }

  /// Returns the state at `time_s`. Not const, because the current leg is cached.
  [[nodiscard]] State state(std::size_t number, double time_s);

  /// The centre of the area in which the roamer moves. Homes are evenly distributed in a square around the
  /// origin.
  [[nodiscard]] glm::dvec2 home(std::size_t number) const;
  [[nodiscard]] double side_m() const { return side_m_; }

 private:
  // The motion between two places: a cubic for each axis and a smooth turn.
  struct Leg {
    double begin_s = std::numeric_limits<double>::infinity();
    double end_s = -std::numeric_limits<double>::infinity();
    glm::dvec2 at{0.0}, rate{0.0}, quadratic{0.0}, sixth_third{0.0};  // coefficients of 1, t, t^2 and t^3
    double heading = 0.0;
    double turn = 0.0;  // rad, over the whole leg
  };

  [[nodiscard]] double leg_s(std::size_t number) const;
  [[nodiscard]] glm::dvec2 place(std::size_t number, std::int64_t leg) const;
  [[nodiscard]] double heading(std::size_t number, std::int64_t leg) const;
  void start_leg(std::size_t number, double time_s);

  std::uint64_t seed_;
  double side_m_;
  std::vector<Leg> legs_;  // the present leg of each roamer
};

}  // namespace reckoner::scenario
