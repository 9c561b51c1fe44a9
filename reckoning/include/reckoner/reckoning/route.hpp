// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// What happens at the ends of a route.
enum class RouteWrap : std::uint8_t {
  open = 0,       ///< the entity stops at either end
  closed = 1,     ///< the route continues from the last point to the first, and repeats
  ping_pong = 2,  ///< the entity returns along the route, again and again
};

/// How the route orients an entity. The entity's x axis points forward, and its z axis points up.
enum class RouteFacing : std::uint8_t {
  /// The entity's z axis is as close to the route's up vector as possible. So the entity stays upright and
  /// does not roll, but it turns suddenly where the route is vertical.
  upright = 0,
  /// The entity rolls as little as possible about the direction of travel, also in loops (FrameTable).
  minimal = 1,
  fixed = 2,  ///< the orientation does not change
};

/// The largest number of points or keys of a route.
inline constexpr std::size_t kMaxRoutePoints = 4096;
/// The largest number of points of a Chaikin route after corner cutting.
inline constexpr std::size_t kMaxChaikinRoutePoints = 65536;

/// A route along a Catmull-Rom curve, which passes through its points.
struct CatmullRomRoute {
  std::vector<glm::dvec3> points{};                      ///< m; at most kMaxRoutePoints
  CatmullRomKnots knots = CatmullRomKnots::centripetal;  ///< the spacing of the knots
  /// The extra point beyond each end, unless the route is closed. True: the neighbour of the end point,
  /// reflected at the end point. False: the end point again.
  bool reflect_ends = false;
};

/// A route along a Kochanek-Bartels curve (tension, continuity, bias), which passes through its keys.
struct TcbRoute {
  /// At most kMaxRoutePoints. The key times only weight the tangents. They do not set the speed: an entity
  /// moves at its own speed.
  std::vector<TcbKey<glm::dvec3>> keys{};
  /// Of a closed route: time from the last key back to the first key. 0 means the average time between
  /// neighbouring keys.
  double closing_time = 0.0;
};

/// A route that cuts the corners of a polygon (G. Chaikin) and passes inside its points: the quadratic
/// B-spline of the cut polygon, which has no corners.
struct ChaikinRoute {
  std::vector<glm::dvec3> points{};       ///< m; at most kMaxRoutePoints
  int passes = 2;                         ///< number of corner-cutting passes, 0 to kMaxChaikinPasses
  std::optional<double> angle_limit{};    ///< see ChaikinOptions, rad
  std::optional<double> outlier_limit{};  ///< see ChaikinOptions, rad
};

/// A route along the straight lines between its points.
struct PolylineRoute {
  std::vector<glm::dvec3> points{};  ///< m; at most kMaxRoutePoints
};

/// The curve of a route.
using RouteCurve = std::variant<CatmullRomRoute, TcbRoute, ChaikinRoute, PolylineRoute>;

/// The complete definition of a route. Plain data, so that it can be stored and sent. In one build of the
/// library, two equal definitions give routes with equal results.
struct RouteDefinition {
  RouteCurve curve{};                         ///< its curve
  RouteWrap wrap = RouteWrap::open;           ///< behaviour at the ends
  RouteFacing facing = RouteFacing::upright;  ///< how an entity on the route is oriented
  /// Up vector for upright and minimal facing. It must not be zero; the route normalises it.
  glm::dvec3 up{0.0, 0.0, 1.0};
  /// Orientation for fixed facing. It must not be zero; the route normalises it.
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};
  double tolerance = kDefaultArcTolerance;  ///< largest error of distances along the route, m; at least 1e-9
};

/// A curve that both sides know, with a table of its arc length. A distance and a speed describe an entity on
/// the route.
///
/// A value. Evaluation allocates nothing. Const use from several threads is safe.
class RECKONER_RECKONING_API Route {
 public:
  /// Makes a route. Fails with a message in these cases:
  /// - no curve can be made from the points or keys
  /// - there are more than kMaxRoutePoints points or keys
  /// - the route has no length
  /// - `up` or `orientation` is zero or not finite
  /// - the tolerance is below 1e-9 m or not finite
  /// - an enumeration field has an unknown value
  [[nodiscard]] static Result<Route> make(const RouteDefinition& definition);

  /// Length from start to end, m. For a closed route, the length of one lap.
  [[nodiscard]] double length() const { return arc_.length(); }
  /// The distance after which positions repeat, m. It is length() for a closed route and twice length() for a
  /// ping-pong route. An open route does not repeat; for it the function returns length().
  [[nodiscard]] double period() const;
  /// What happens at the ends of the route.
  [[nodiscard]] RouteWrap wrap() const { return definition_.wrap; }
  /// The definition of the route, with `up` and `orientation` normalised.
  [[nodiscard]] const RouteDefinition& definition() const { return definition_; }
  /// The curve of the route. Its parameter counts cubic pieces, not metres.
  [[nodiscard]] const CubicPath<glm::dvec3>& path() const { return path_; }
  /// The table that converts between the curve's parameter and the distance along the route.
  [[nodiscard]] const ArcLengthTable& arc() const { return arc_; }

  /// A point on the route.
  struct Wrapped {
    double distance = 0.0;   ///< m from the start, 0 to length()
    double direction = 1.0;  ///< -1 while a ping-pong route runs backwards, otherwise 1
    bool stopped = false;    ///< true beyond either end of an open route
  };
  /// The point on the route at `distance`, m. The distance may be negative or count several laps. If it is
  /// beyond an end of an open route, the result is that end.
  [[nodiscard]] Wrapped wrapped(double distance) const;

  /// Position in space at `distance`, m. The distance may be negative or count several laps.
  [[nodiscard]] glm::dvec3 position(double distance) const;

  /// Distance, speed and acceleration `dt_s` seconds after `state`. The motion is quadratic, like free
  /// motion, but the acceleration never reverses the speed: a braking entity stops and stays there. `dt_s`
  /// may be negative. An entity that speeds up from rest was at rest before that. The function ignores the
  /// ends of the route.
  [[nodiscard]] static RouteState advanced(const RouteState& state, double dt_s);

  /// Like advanced(), but an entity stops at the ends of an open route. On a closed or ping-pong route the
  /// distance is not wrapped, so it counts laps.
  [[nodiscard]] RouteState advanced_on_route(const RouteState& state, double dt_s) const;

  /// Adds whole periods to `distance`, so that the result is within half a period of `near`. The result is at
  /// the same point of the route. On an open route it returns `distance` unchanged.
  [[nodiscard]] double unwrapped(double distance, double near) const;

  /// The full state of an entity `dt_s` seconds after `state`.
  ///
  /// The velocity is along the tangent. The acceleration is the sum of the acceleration along the tangent and
  /// speed^2/radius towards the centre of curvature. The angular velocity is the rate at which the
  /// orientation changes. The entity faces the direction in which the route runs. Where a ping-pong route
  /// turns back, the entity turns round at once. A negative speed moves the entity backwards. Beyond the end
  /// of an open route it stands still at the end.
  [[nodiscard]] State state_at(const RouteState& state, double dt_s) const;

  /// The point on the route that is nearest to a given point.
  struct Nearest {
    double distance = 0.0;           ///< distance along the route, m, 0 to length()
    glm::dvec3 position{0.0};        ///< nearest position on the route, m
    double distance_to_point = 0.0;  ///< distance between that position and the given point, m
  };
  /// The point on the whole route that is nearest to `point`.
  [[nodiscard]] Nearest nearest(const glm::dvec3& point) const;
  /// The nearest point to `point` on a part of the route. The part extends from `reach` metres before
  /// `distance` to `reach` metres after it. `distance` may be negative or count several laps. Use this
  /// function for an entity whose distance is roughly known. It is cheap, and it does not jump to another
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
