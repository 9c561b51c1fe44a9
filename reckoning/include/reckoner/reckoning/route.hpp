// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves/catmull_rom.hpp>
#include <reckoner/reckoning/curves/chaikin.hpp>
#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/curves/tcb.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

enum class RouteKind : std::uint8_t { kCatmullRom = 0, kTcb = 1, kChaikin = 2, kPolyline = 3 };

/// What comes after the last point. Open: the entity stops there, and before the start as well. Closed: on to
/// the first point and round again. Ping-pong: back the way it came, and so on.
enum class RouteWrap : std::uint8_t { kOpen = 0, kClosed = 1, kPingPong = 2 };

/// How an entity is turned on the way, its x axis forward and its z axis up. Upright: up is as near to the
/// route's up as it can be (level, no roll; turns suddenly where the route is vertical). Minimal: without
/// roll of its own (FrameTable), also through loops. Fixed: not at all.
enum class RouteFacing : std::uint8_t { kUpright = 0, kMinimal = 1, kFixed = 2 };

inline constexpr std::size_t kMostRoutePoints = 4096;
inline constexpr std::size_t kMostChaikinRoutePoints = 65536;  ///< after corner cutting

/// Everything a route is made of: plain data, so that it can be stored and sent. Two equal definitions make
/// routes that agree wherever they are evaluated by the same build.
struct RouteDefinition {
  RouteKind kind = RouteKind::kCatmullRom;     ///< of the curve
  RouteWrap wrap = RouteWrap::kOpen;           ///< what comes after its end
  RouteFacing facing = RouteFacing::kUpright;  ///< how an entity on it is turned

  std::vector<glm::dvec3> points;  ///< m; for all kinds but TCB; at most kMostRoutePoints
  std::vector<TcbKey<glm::dvec3>>
      keys;  ///< for TCB. Times weigh the tangents only: the speed is the entity's

  CatmullRomKnots knots = CatmullRomKnots::kCentripetal;  ///< Catmull-Rom
  bool reflect_ends = false;                              ///< Catmull-Rom, not closed: mirrored, else doubled
  double closing_time =
      0.0;         ///< TCB, closed: from the last key to the first; 0 stands for the mean of the others
  int passes = 2;  ///< Chaikin; the polygon that comes out is rounded off by its quadratic B-spline, so
                   ///< that the route has no corners
  std::optional<double> angle_limit;           ///< Chaikin, rad
  std::optional<double> outlier_limit;         ///< Chaikin, rad
  glm::dvec3 up{0.0, 0.0, 1.0};                ///< for facing
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< for fixed facing
  double tolerance = kDefaultArcTolerance;     ///< m, of distances along the route; at least 1e-9
};

/// A curve that both sides know, measured: an entity on it is a distance and a speed.
///
/// A value; evaluation allocates nothing; const use from several threads is safe.
class RECKONER_RECKONING_API Route {
 public:
  /// Fails, with the reason, on what the curve's own make() fails on; on too many points, a route with no
  /// length, a zero `up` or `orientation`, a tolerance below 1e-9, or an enumerator that is none.
  [[nodiscard]] static Result<Route> make(const RouteDefinition& definition);

  [[nodiscard]] double length() const { return arc_.length(); }  ///< m, start to end, or once round
  /// The distance after which everything repeats: length, for ping-pong twice that. Open: length, without
  /// repeating.
  [[nodiscard]] double period() const;
  /// What comes after the end.
  [[nodiscard]] RouteWrap wrap() const { return definition_.wrap; }
  /// What it was made from.
  [[nodiscard]] const RouteDefinition& definition() const { return definition_; }
  /// The curve itself, in its own parameter.
  [[nodiscard]] const CubicPath<glm::dvec3>& path() const { return path_; }
  /// Distances along it.
  [[nodiscard]] const ArcLengthTable& arc() const { return arc_; }

  /// A distance of any size brought onto the path.
  struct Wrapped {
    double distance = 0.0;   ///< 0 to length()
    double direction = 1.0;  ///< -1 on a ping-pong route's way back
    bool stopped = false;    ///< open, and beyond an end
  };
  /// The place that a distance means.
  [[nodiscard]] Wrapped wrapped(double distance) const;

  /// Where it is at a distance of any size, m.
  [[nodiscard]] glm::dvec3 position(double distance) const;

  /// Distance, speed and acceleration along the route `dt_s` later: quadratic, as free motion is, but an
  /// acceleration never turns it round: what brakes comes to rest and stays there, and what speeds up from
  /// rest was at rest before.
  [[nodiscard]] static RouteState advanced(const RouteState& state, double dt_s);

  /// The same on this route: beyond an open end it stands still at the end. The distance of a closed or
  /// ping-pong route goes on counting.
  [[nodiscard]] RouteState carried(const RouteState& state, double dt_s) const;

  /// `distance`, brought within half a period of `near` by whole periods: the same place. Open: unchanged.
  [[nodiscard]] double unwrapped(double distance, double near) const;

  /// The full state of an entity `dt_s` seconds after `state`. Velocity is along the tangent; acceleration
  /// along it, and towards the centre by speed^2/radius; angular velocity is that of the facing. The entity
  /// looks along the route the way it is wrapped (on a ping-pong route's way back, backwards along it: it
  /// turns round at once), and a negative speed moves it backwards. Beyond an open route's end it stands
  /// still there.
  [[nodiscard]] State state_at(const RouteState& state, double dt_s) const;

  /// The place on the route that is nearest to a point.
  struct Nearest {
    double distance = 0.0;     ///< along the route, 0 to length()
    glm::dvec3 position{0.0};  ///< on the route, m
    double away = 0.0;         ///< m, from the point
  };
  /// Where the route comes nearest to `point`, anywhere on it.
  [[nodiscard]] Nearest nearest(const glm::dvec3& point) const;
  /// The same within `reach` metres along the route, before and after `distance` (wrapped): for an entity
  /// whose place is known, cheap, and it does not jump to another stretch that passes by. Does not reach
  /// across an open end.
  [[nodiscard]] Nearest nearest(const glm::dvec3& point, double distance, double reach) const;

 private:
  Route(RouteDefinition definition, CubicPath<glm::dvec3> path, ArcLengthTable arc);
  [[nodiscard]] Frame facing_frame(double parameter, double direction) const;
  [[nodiscard]] glm::dvec3 turn_rate(const Frame& frame, const glm::dvec3& bend, double velocity) const;

  RouteDefinition definition_;
  CubicPath<glm::dvec3> path_;
  ArcLengthTable arc_;
  std::optional<FrameTable> frames_;  // for minimal facing
};

}  // namespace reckoner
