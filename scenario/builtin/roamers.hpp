// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <glm/vec2.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// Any number of people who walk about a plane evenly filled with them, each about a home of its own: for
/// measuring servers, so asking is cheap (some 50 ns) and the derivatives are exact. A roamer goes from one
/// drawn place to the next by a cubic, a new one every 2 s to 5 s, and looks where it likes; position,
/// velocity and angle are continuous, acceleration and angular velocity are bounded (about 10 m/s^2 and 2
/// rad/s). A pure function of (seed, roamer, time), whatever was asked before. One thread at a time.
class Roamers {
 public:
  static constexpr double kAreaEachM2 = 16.0;  ///< of the plane, to each
  static constexpr double kReachM = 4.0;       ///< they are drawn to places so far from home along each axis

  /// So many `others` stand between them, and take as much of the plane each.
  Roamers(std::size_t count, std::uint64_t seed, std::size_t others = 0);

  [[nodiscard]] std::size_t size() const { return legs_.size(); }

  /// Where it is at `time_s` and how it moves. Not const: the part of the way that it is on is remembered.
  [[nodiscard]] State state(std::size_t number, double time_s);

  /// The middle of where it roams. Homes are drawn evenly from a square about the origin.
  [[nodiscard]] glm::dvec2 home(std::size_t number) const;
  [[nodiscard]] double side_m() const { return side_m_; }

 private:
  // The way between two places: a cubic for each axis and a smooth turn.
  struct Leg {
    double begin_s = std::numeric_limits<double>::infinity();
    double end_s = -std::numeric_limits<double>::infinity();
    glm::dvec2 at{0.0}, rate{0.0}, half_second{0.0}, sixth_third{0.0};  // a + b t + c t^2 + d t^3
    double heading = 0.0;
    double turn = 0.0;  // rad, over the whole leg
  };

  [[nodiscard]] double leg_s(std::size_t number) const;
  [[nodiscard]] glm::dvec2 place(std::size_t number, std::int64_t leg) const;
  [[nodiscard]] double heading(std::size_t number, std::int64_t leg) const;
  void set_out(std::size_t number, double time_s);

  std::uint64_t seed_;
  double side_m_;
  std::vector<Leg> legs_;  // by roamer
};

}  // namespace reckoner::scenario
