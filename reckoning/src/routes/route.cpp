// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

using Path = CubicPath<glm::dvec3>;

constexpr double kMinTolerance = 1e-9;

std::size_t point_count(const RouteCurve& curve) {
  if (const auto* tcb = std::get_if<TcbRoute>(&curve)) return tcb->keys.size();
  if (const auto* polyline = std::get_if<PolylineRoute>(&curve)) return polyline->points.size();
  if (const auto* chaikin = std::get_if<ChaikinRoute>(&curve)) return chaikin->points.size();
  return std::get<CatmullRomRoute>(curve).points.size();
}

std::string definition_error(const RouteDefinition& d) {
  if (d.wrap > RouteWrap::ping_pong) return "unknown behaviour at the end of a route";
  if (d.facing > RouteFacing::fixed) return "unknown facing of entities on a route";
  const auto* catmull_rom = std::get_if<CatmullRomRoute>(&d.curve);
  if (catmull_rom != nullptr && catmull_rom->knots > CatmullRomKnots::chordal) return "unknown kind of knots";
  const std::size_t count = point_count(d.curve);
  if (count > kMaxRoutePoints) {
    return "a route has at most " + std::to_string(kMaxRoutePoints) + " points, got " + std::to_string(count);
  }
  if (!(d.tolerance >= kMinTolerance && std::isfinite(d.tolerance)))
    return "a route's tolerance is below 1e-9 m";
  if (!curve_math::usable(d.up) || !(glm::length(d.up) > 1e-9))
    return "a route's up vector is zero or not finite";
  const double norm = glm::length(d.orientation);
  if (!std::isfinite(norm) || !(norm > 1e-9)) return "a route's orientation is zero or not finite";
  return {};
}

Result<Path> make_path(const CatmullRomRoute& route, RouteWrap wrap) {
  const CatmullRomEnds open = route.reflect_ends ? CatmullRomEnds::reflected : CatmullRomEnds::doubled;
  const CatmullRomEnds ends = wrap == RouteWrap::closed ? CatmullRomEnds::closed : open;
  auto curve = CatmullRom<glm::dvec3>::make(route.points, {route.knots, ends});
  if (!curve) return Error{curve.error()};
  return curve->path();
}

Result<Path> make_path(const TcbRoute& route, RouteWrap wrap) {
  TcbOptions options;
  if (wrap == RouteWrap::closed) {
    options.closing_time = route.closing_time;
    if (route.closing_time == 0.0 && route.keys.size() > 1) {
      options.closing_time =
          (route.keys.back().time - route.keys.front().time) / static_cast<double>(route.keys.size() - 1);
    }
  }
  auto spline = TcbSpline<glm::dvec3>::make(route.keys, options);
  if (!spline) return Error{spline.error()};
  return spline->path();
}

Result<Path> make_path(const ChaikinRoute& route, RouteWrap wrap) {
  const bool closed = wrap == RouteWrap::closed;
  auto points = chaikin<glm::dvec3>(
      route.points, {route.passes, closed, route.angle_limit, route.outlier_limit, kMaxChaikinRoutePoints});
  if (!points) return Error{points.error()};
  return quadratic_b_spline_path<glm::dvec3>(*points, closed);
}

Result<Path> make_path(const PolylineRoute& route, RouteWrap wrap) {
  return polyline_path<glm::dvec3>(route.points, wrap == RouteWrap::closed);
}

}  // namespace

Route::Route(RouteDefinition definition, CubicPath<glm::dvec3> path, ArcLengthTable arc)
    : definition_(std::move(definition)), path_(std::move(path)), arc_(std::move(arc)) {
  definition_.orientation = glm::normalize(definition_.orientation);
  definition_.up = glm::normalize(definition_.up);
  if (definition_.facing == RouteFacing::minimal)
    frames_.emplace(path_, arc_, FrameOptions{.up = definition_.up});
}

Result<Route> Route::make(const RouteDefinition& definition) {
  if (std::string error = definition_error(definition); !error.empty()) return Error{std::move(error)};
  Result<Path> path =
      std::visit([&](const auto& curve) { return make_path(curve, definition.wrap); }, definition.curve);
  if (!path) return Error{path.error()};
  Result<ArcLengthTable> arc = ArcLengthTable::make(*path, definition.tolerance);
  if (!arc) return Error{arc.error()};
  if (!(arc->length() > definition.tolerance)) return Error{"a route has no length: all its points coincide"};
  return Route(definition, std::move(*path), std::move(*arc));
}

double Route::period() const {
  return definition_.wrap == RouteWrap::ping_pong ? 2.0 * length() : length();
}

Route::Wrapped Route::wrapped(double distance) const {
  const double full = length();
  if (definition_.wrap == RouteWrap::open) {
    if (!(distance >= 0.0)) return {0.0, 1.0, true};
    return distance > full ? Wrapped{full, 1.0, true} : Wrapped{distance, 1.0, false};
  }
  if (!std::isfinite(distance)) return {};
  double d = std::fmod(distance, period());
  if (d < 0.0) d += period();
  if (definition_.wrap == RouteWrap::closed) return {std::min(d, full), 1.0, false};
  return d < full ? Wrapped{d, 1.0, false} : Wrapped{std::clamp(2.0 * full - d, 0.0, full), -1.0, false};
}

glm::dvec3 Route::position(double distance) const {
  return path_.position(arc_.parameter_at(wrapped(distance).distance));
}

RouteState Route::advanced(const RouteState& s, double dt_s) {
  const bool slows =
      // Also true for a negative dt_s if the entity speeds up: back in time, it slows down to the point where
      // it started.
      s.speed * s.acceleration * dt_s < 0.0;
  const double time_to_rest_s = slows ? -s.speed / s.acceleration : 0.0;
  if (slows && std::abs(dt_s) >= std::abs(time_to_rest_s))
    return {s.distance + 0.5 * s.speed * time_to_rest_s, 0.0, 0.0};
  if (s.speed == 0.0 && dt_s < 0.0) return {s.distance, 0.0, 0.0};
  return {s.distance + dt_s * (s.speed + 0.5 * dt_s * s.acceleration), s.speed + dt_s * s.acceleration,
          s.acceleration};
}

RouteState Route::advanced_on_route(const RouteState& state, double dt_s) const {
  const RouteState now = advanced(state, dt_s);
  if (!wrapped(now.distance).stopped) return now;
  return {wrapped(now.distance).distance, 0.0, 0.0};
}

double Route::unwrapped(double distance, double near) const {
  if (definition_.wrap == RouteWrap::open) return distance;
  return distance + period() * std::round((near - distance) / period());
}

TangentFrame Route::facing_frame(double parameter, double direction) const {
  TangentFrame frame = frames_ ? frames_->frame(path_, arc_, parameter)
                               : frame_towards(unit_tangent(path_, parameter), definition_.up);
  if (direction < 0.0) {
    frame.tangent = -frame.tangent;
    frame.left = -frame.left;
  }
  return frame;
}

// Angular velocity of `frame` when it moves along a path with the curvature vector `bend`. `velocity` is in
// m/s, positive in the direction of frame.tangent.
glm::dvec3 Route::turn_rate(const TangentFrame& frame, const glm::dvec3& bend, double velocity) const {
  if (definition_.facing == RouteFacing::fixed) return glm::dvec3(0.0);
  const glm::dvec3 forward_rate = bend * velocity;  // time derivative of frame.tangent; perpendicular to it
  glm::dvec3 w = glm::cross(frame.tangent, forward_rate);
  if (frames_) return w + frame.tangent * (frames_->closing_roll_rate() * velocity);
  // Upright facing: left = up x tangent (normalised) stays horizontal. The part of its derivative along
  // frame.up is the rotation rate about the tangent.
  const glm::dvec3 left = glm::cross(definition_.up, frame.tangent);
  const double size = glm::length(left);
  if (size > 1e-9) w += frame.tangent * (glm::dot(glm::cross(definition_.up, forward_rate), frame.up) / size);
  return w;
}

State Route::state_at(const RouteState& start, double dt_s) const {
  const RouteState now = advanced(start, dt_s);
  const Wrapped at = wrapped(now.distance);
  const double parameter = arc_.parameter_at(at.distance);
  const TangentFrame frame = facing_frame(parameter, at.direction);
  State out;
  out.position = path_.position(parameter);
  out.orientation =
      glm::quat(definition_.facing == RouteFacing::fixed ? definition_.orientation : frame.orientation());
  if (at.stopped) return out;

  const glm::dvec3 bend = curvature(path_, parameter);
  out.velocity = glm::vec3(frame.tangent * now.speed);
  out.acceleration = glm::vec3(frame.tangent * now.acceleration + bend * (now.speed * now.speed));
  // frame.tangent already points in the direction in which the entity faces, so the sign of the speed is
  // right.
  out.angular_velocity = glm::vec3(turn_rate(frame, bend, now.speed));
  return out;
}

Route::Nearest Route::nearest(const glm::dvec3& point) const {
  const NearestPoint<glm::dvec3> found = reckoner::nearest(path_, point);
  return {arc_.distance_at(found.parameter), found.position, found.distance};
}

Route::Nearest Route::nearest(const glm::dvec3& point, double distance, double reach) const {
  const double full = length();
  if (!(2.0 * reach < full)) return nearest(point);
  const double middle = wrapped(distance).distance;
  const auto between = [&](double from, double to) {
    const NearestPoint<glm::dvec3> found =
        reckoner::nearest(path_, point, arc_.parameter_at(from), arc_.parameter_at(to));
    return Nearest{arc_.distance_at(found.parameter), found.position, found.distance};
  };
  Nearest best = between(std::max(0.0, middle - reach), std::min(full, middle + reach));
  if (definition_.wrap != RouteWrap::closed) return best;
  // On a closed route the search continues across the point where the end meets the start.
  if (middle - reach < 0.0) {
    const Nearest other = between(full + middle - reach, full);
    if (other.distance_to_point < best.distance_to_point) best = other;
  }
  if (middle + reach > full) {
    const Nearest other = between(0.0, middle + reach - full);
    if (other.distance_to_point < best.distance_to_point) best = other;
  }
  return best;
}

}  // namespace reckoner
