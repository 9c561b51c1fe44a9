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

/// Compares one entity with the route that it follows: decides whether the entity is on the route, and
/// measures its distance, speed and acceleration along it.
///
/// The entity is on the route while it is within the archetype's thresholds of it: in position and, if the
/// archetype has an orientation, in orientation. After it has left the route, it must stay within half the
/// thresholds for a tenth of a second to be on it again. So the result does not flicker at the edge, nor
/// where the entity only crosses the route.
///
/// The search for the nearest point on the route starts near the expected distance. It covers the whole route
/// only while the distance is unknown, so that the result does not jump to another stretch that passes close
/// by.
///
/// A value without allocations, one per entity. Call observe() once a tick. The route must outlive it.
class RouteFollower {
 public:
  RouteFollower(RouteId id, const Route& route, const Archetype& archetype, double tick_rate_hz);

  [[nodiscard]] RouteId id() const { return id_; }
  [[nodiscard]] const Route& route() const { return *route_; }

  /// Sets the exact state on the route at the coming tick; the next observe() uses it instead of a search.
  void give(const RouteState& exact) { given_ = exact; }

  /// Forgets the distance on the route; call it after a teleport.
  void restart() {
    forget();
    strayed_ = false;
  }

  /// Passes the entity's true state at the next tick.
  void observe(const State& truth);

  [[nodiscard]] bool on_route() const { return on_route_; }

  /// Distance, speed and acceleration along the route at the tick observed last; call only while on_route().
  /// Exact values from give() are returned as they are. Otherwise the values are fitted: to the last quarter
  /// of a second with a constant speed if that explains it, else to the last tenth of a second with an
  /// acceleration.
  [[nodiscard]] RouteState place() const;

  /// place() as a motion that starts at server time `time_s`, s.
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

  std::array<double, kPast> past_{};  // ring of distances, m, counting on across laps; newest at next_ - 1
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
