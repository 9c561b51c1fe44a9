// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// Holds an entity against the route that it is said to follow: whether it is on it, where, and how it goes
/// on.
///
/// It is on the route while it is within the archetype's thresholds of it, in place and, where the archetype
/// has an orientation, in facing. Having strayed it is back when it was within half of them for a tenth of a
/// second, so that it does not flicker at the edge, nor on crossing the route.
///
/// Its place is looked for near where it is expected, and anywhere on the route only when it is not known, so
/// that it does not jump between stretches that pass by each other. One per entity; a value, no allocation.
/// Fed once a tick. The route must outlive it.
class RouteFollower {
 public:
  RouteFollower(RouteId id, const Route& route, const Archetype& archetype, double tick_rate_hz);

  [[nodiscard]] RouteId id() const { return id_; }
  [[nodiscard]] const Route& route() const { return *route_; }

  /// The game itself says where it is on the route at the coming tick.
  void give(const RouteState& exact) { given_ = exact; }

  /// After a teleport: its place is not known.
  void restart() {
    forget();
    strayed_ = false;
  }

  /// The truth at the next tick.
  void observe(const State& truth);

  [[nodiscard]] bool on_route() const { return on_route_; }

  /// Distance, speed and acceleration at the tick observed last; while on_route(). As the game said, or
  /// fitted to the last quarter of a second: without acceleration if that is as good, else to the last tenth.
  [[nodiscard]] RouteState place() const;

  /// The same as a motion.
  [[nodiscard]] Motion motion(double time_s) const;

 private:
  static constexpr std::size_t kPast = 16;

  void forget();
  [[nodiscard]] Route::Nearest look(const State& truth) const;
  [[nodiscard]] glm::dvec3 heading(double distance) const;
  [[nodiscard]] double unfolded(double distance, const State& truth) const;
  [[nodiscard]] bool is_near(const Route::Nearest& found, double distance, const State& truth) const;
  void note(double distance);
  [[nodiscard]] double past(std::size_t ticks_ago) const {
    return past_[(next_ + kPast - 1 - ticks_ago) % kPast];
  }
  [[nodiscard]] double expected() const { return filled_ > 1 ? 2.0 * past(0) - past(1) : past(0); }
  [[nodiscard]] std::optional<double> steady_speed() const;

  RouteId id_;
  const Route* route_;
  double threshold_m_;
  double threshold_rad_;
  bool faces_along_;
  double tick_s_;

  std::array<double, kPast> past_{};  // distances, counting laps; newest at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;  // 0: its place is not known
  double first_speed_ = 0.0;
  int ticks_near_ = 0;
  bool strayed_ = false;
  bool on_route_ = false;
  std::optional<RouteState> given_;  // for the coming tick
  std::optional<RouteState> exact_;  // of the last
};

}  // namespace reckoner
