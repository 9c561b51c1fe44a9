// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The curve of a route: through its points (Catmull-Rom, TCB, polyline) or rounded inside them (Chaikin).
enum class RouteKind : std::uint8_t { kCatmullRom = 0, kTcb = 1, kChaikin = 2, kPolyline = 3 };

/// What happens at the ends of a route. Open: the entity stops at either end. Closed: the route continues
/// from the last point to the first and repeats. Ping-pong: the entity returns along the route, again and
/// again.
enum class RouteWrap : std::uint8_t { kOpen = 0, kClosed = 1, kPingPong = 2 };

/// How the route orients an entity, whose x axis points forward and z axis up.
///
/// Upright: up is as close to the route's up vector as possible. So the entity stays level without roll, and
/// turns suddenly where the route is vertical. Minimal: no roll about the direction of travel (FrameTable),
/// also in loops. Fixed: the orientation does not change.
enum class RouteFacing : std::uint8_t { kUpright = 0, kMinimal = 1, kFixed = 2 };

/// The largest number of points or keys in a route definition.
inline constexpr std::size_t kMaxRoutePoints = 4096;
/// The largest number of points of a Chaikin route after corner cutting.
inline constexpr std::size_t kMaxChaikinRoutePoints = 65536;

/// The complete definition of a route. Plain data, so that it can be stored and sent. Two equal definitions
/// give routes with equal results, if the same build evaluates them.
struct RouteDefinition {
  RouteKind kind = RouteKind::kCatmullRom;     ///< kind of curve
  RouteWrap wrap = RouteWrap::kOpen;           ///< behaviour at the ends
  RouteFacing facing = RouteFacing::kUpright;  ///< how an entity on the route is oriented

  std::vector<glm::dvec3> points;  ///< m; for all kinds except TCB; at most kMaxRoutePoints
  /// For TCB; at most kMaxRoutePoints. The key times only weight the tangents; the entity's own speed is
  /// used.
  std::vector<TcbKey<glm::dvec3>> keys;

  CatmullRomKnots knots = CatmullRomKnots::kCentripetal;  ///< Catmull-Rom: knot spacing
  /// Catmull-Rom, not closed: reflect the neighbour at the ends (true) or repeat the end point (false).
  bool reflect_ends = false;
  /// TCB, closed: time from the last key to the first; 0 means the average time between the other keys.
  double closing_time = 0.0;
  /// Chaikin: number of corner-cutting passes, 0 to kMaxChaikinPasses. The route is the quadratic B-spline
  /// of the resulting polygon, so it has no corners.
  int passes = 2;
  std::optional<double> angle_limit;    ///< Chaikin, rad (ChaikinOptions::angle_limit)
  std::optional<double> outlier_limit;  ///< Chaikin, rad (ChaikinOptions::outlier_limit)
  /// Up vector for upright and minimal facing; not zero, normalised by the route.
  glm::dvec3 up{0.0, 0.0, 1.0};
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< for fixed facing; not zero, normalised by the route
  double tolerance = kDefaultArcTolerance;  ///< m, largest error of distances along the route; at least 1e-9
};

/// A curve that both sides know, with a table of its arc length. An entity on it is described by a distance
/// and a speed.
///
/// A value. Evaluation allocates nothing. Const use from several threads is safe.
class RECKONER_RECKONING_API Route {
 public:
  /// Makes a route. Fails with a message in these cases:
  /// - the curve's own make() fails
  /// - there are more than kMaxRoutePoints points
  /// - the route has no length
  /// - `up` or `orientation` is zero
  /// - the tolerance is below 1e-9 m
  /// - an enumerator is unknown
  [[nodiscard]] static Result<Route> make(const RouteDefinition& definition);

  [[nodiscard]] double length() const { return arc_.length(); }  ///< m from start to end; one lap if closed
  /// The distance after which positions repeat, m: length() if closed, twice length() for ping-pong. An open
  /// route does not repeat; its period is length().
  [[nodiscard]] double period() const;
  /// What happens at the ends of the route.
  [[nodiscard]] RouteWrap wrap() const { return definition_.wrap; }
  /// The definition of the route, with `up` and `orientation` normalised.
  [[nodiscard]] const RouteDefinition& definition() const { return definition_; }
  /// The curve, by its own parameter.
  [[nodiscard]] const CubicPath<glm::dvec3>& path() const { return path_; }
  /// The table that converts between the curve's parameter and the distance along the route.
  [[nodiscard]] const ArcLengthTable& arc() const { return arc_; }

  /// A point on the route.
  struct Wrapped {
    double distance = 0.0;   ///< m from the start, 0 to length()
    double direction = 1.0;  ///< -1 while a ping-pong route runs backwards, otherwise 1
    bool stopped = false;    ///< true beyond either end of an open route
  };
  /// Converts a distance of any size, m, to the point on the route that it means. A distance beyond the end
  /// of an open route gives that end.
  [[nodiscard]] Wrapped wrapped(double distance) const;

  /// Position in space at a distance of any size, m.
  [[nodiscard]] glm::dvec3 position(double distance) const;

  /// Distance, speed and acceleration `dt_s` seconds later: quadratic, like free motion, but the acceleration
  /// never reverses the speed. A braking entity stops and stays there. `dt_s` may be negative: an entity that
  /// speeds up from rest was at rest before. It ignores the ends of the route.
  [[nodiscard]] static RouteState advanced(const RouteState& state, double dt_s);

  /// Like advanced(), but an entity stops at the ends of an open route. On a closed or ping-pong route the
  /// distance continues to count.
  [[nodiscard]] RouteState advanced_on_route(const RouteState& state, double dt_s) const;

  /// Adds whole periods to `distance`, so that the result is within half a period of `near` and means the
  /// same point. On an open route it returns `distance` unchanged.
  [[nodiscard]] double unwrapped(double distance, double near) const;

  /// The full state of an entity `dt_s` seconds after `state`.
  ///
  /// Velocity is along the tangent. Acceleration is the acceleration along the tangent plus speed^2/radius
  /// towards the centre of curvature. Angular velocity is that of the facing. The entity faces the direction
  /// in which the route runs. Where a ping-pong route turns back, the entity turns round at once. A negative
  /// speed moves the entity backwards. Beyond the end of an open route it stands still at the end.
  [[nodiscard]] State state_at(const RouteState& state, double dt_s) const;

  /// The point on the route that is nearest to a given point.
  struct Nearest {
    double distance = 0.0;           ///< m along the route, 0 to length()
    glm::dvec3 position{0.0};        ///< m, on the route
    double distance_to_point = 0.0;  ///< m, between the two points
  };
  /// The nearest point on the whole route to `point`.
  [[nodiscard]] Nearest nearest(const glm::dvec3& point) const;
  /// The nearest point to `point` within `reach` metres along the route, before and after `distance` (any
  /// size). Use it for an entity whose distance is roughly known: it is cheap and does not jump to another
  /// part of the route that passes close by. On an open or ping-pong route the search stops at the ends.
  [[nodiscard]] Nearest nearest(const glm::dvec3& point, double distance, double reach) const;

 private:
  Route(RouteDefinition definition, CubicPath<glm::dvec3> path, ArcLengthTable arc);
  [[nodiscard]] TangentFrame facing_frame(double parameter, double direction) const;
  [[nodiscard]] glm::dvec3 turn_rate(const TangentFrame& frame, const glm::dvec3& bend,
                                     double velocity) const;

  RouteDefinition definition_;
  CubicPath<glm::dvec3> path_;
  ArcLengthTable arc_;
  std::optional<FrameTable> frames_;  // for minimal facing
};

}  // namespace reckoner
