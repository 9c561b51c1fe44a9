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

/// Compares one entity with the route that it follows. Decides whether the entity is on the route, and
/// measures the distance, speed and acceleration of the entity along the route.
///
/// The entity is on the route while its position and its orientation (if the archetype has one) differ from
/// the route by less than the archetype's thresholds. After the entity has left the route, it must stay
/// within half the thresholds for a tenth of a second to be on the route again. So the result does not
/// flicker at the edge, and an entity that only crosses the route is not on it.
///
/// The nearest point is searched only near the expected distance along the route, or on the whole route while
/// the distance is unknown. So the result does not jump to another part of the route that passes close by.
///
/// Each entity on a route has its own RouteFollower. It is a copyable value that allocates no memory. Call
/// observe() once a tick. The route must outlive this object.
class RouteFollower {
 public:
  RouteFollower(RouteId id, const Route& route, const Archetype& archetype, double tick_rate_hz);

  [[nodiscard]] RouteId id() const { return id_; }
  [[nodiscard]] const Route& route() const { return *route_; }

  /// Sets the exact state on the route at the coming tick. The next observe() uses this state instead of a
  /// search.
  void give(const RouteState& exact) { given_ = exact; }

  /// Forgets the distance on the route; call it after a teleport.
  void restart() {
    forget();
    strayed_ = false;
  }

  /// Passes the entity's true state at the next tick.
  void observe(const State& truth);

  [[nodiscard]] bool on_route() const { return on_route_; }

  /// Distance, speed and acceleration along the route at the last observed tick. Call it only while
  /// on_route() is true. Exact values from give() are returned as they are. Otherwise the values are fitted.
  /// If a constant speed explains the last quarter of a second, the fit uses a constant speed. Otherwise it
  /// fits an acceleration to the last tenth of a second.
  [[nodiscard]] RouteState route_state() const;

  /// route_state() as a motion that starts at server time `time_s`, s.
  [[nodiscard]] Motion motion(double time_s) const;

 private:
  static constexpr std::size_t kPast = 16;

  void forget();
  [[nodiscard]] Route::Nearest find_nearest(const State& truth) const;
  [[nodiscard]] glm::dvec3 heading(double distance) const;
  [[nodiscard]] double unwrapped_distance(double distance, const State& truth) const;
  [[nodiscard]] bool is_near(const Route::Nearest& found, double distance, const State& truth) const;
  void add_distance(double distance);
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

  // Ring of distances, m, which continue to grow from lap to lap; the newest is at next_ - 1.
  std::array<double, kPast> past_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;  // 0: the distance on the route is unknown
  double first_speed_ = 0.0;
  int ticks_near_ = 0;
  bool strayed_ = false;
  bool on_route_ = false;
  std::optional<RouteState> given_;  // exact state for the coming tick
  std::optional<RouteState> exact_;  // exact state of the last tick
};

}  // namespace reckoner
