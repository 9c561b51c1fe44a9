// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

constexpr int kMaxHalvings = 12;

// `frame` rotated about its tangent by `angle`, rad.
TangentFrame rolled(const TangentFrame& frame, double angle) {
  const double c = portable::cos(angle);
  const double s = portable::sin(angle);
  return {frame.tangent, frame.left * c + frame.up * s, frame.up * c - frame.left * s};
}

}  // namespace

FrameTable::FrameTable(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc,
                       const FrameOptions& options) {
  const double largest_turn = std::clamp(options.largest_turn, 1e-3, 1.0);
  glm::dvec3 tangent = unit_tangent(path, 0.0);
  if (tangent == glm::dvec3(0.0)) tangent = glm::dvec3(1.0, 0.0, 0.0);
  nodes_.push_back({0.0, path.position(0.0), frame_towards(tangent, options.up)});

  const auto pieces = path.pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const CubicPiece<glm::dvec3>& piece = pieces[i];
    if (piece.is_constant()) continue;
    const auto start = static_cast<double>(i);
    const CubicPath<glm::dvec3> alone({piece}, piece.position(1.0),
                                      false);  // so that u = 1 gives the direction in which the piece arrives
    const auto carry_to = [&](double u) {
      const Node& last = nodes_.back();
      const glm::dvec3 at = piece.position(u);
      nodes_.push_back(
          {start + u, at, transport_frame(last.frame, last.position, at, unit_tangent(alone, u))});
    };
    const std::function<void(double, double, int)> cover = [&](double a, double b, int depth) {
      const double m = 0.5 * (a + b);
      const glm::dvec3 ta = unit_tangent(alone, a);
      const glm::dvec3 tm = unit_tangent(alone, m);
      const glm::dvec3 tb = unit_tangent(alone, b);
      const double turn = curve_math::angle_between(ta, tm) + curve_math::angle_between(tm, tb);
      if (depth >= kMaxHalvings || (depth > 0 && turn <= largest_turn)) {
        carry_to(b);
        return;
      }
      cover(a, m, depth + 1);
      cover(m, b, depth + 1);
    };
    cover(0.0, 1.0, 0);
    // At a corner, turn the frame to the direction in which the next piece starts.
    Node& joint = nodes_.back();
    joint.frame =
        transport_frame(joint.frame, joint.position, joint.position, unit_tangent(path, start + 1.0));
  }

  if (path.closed() && options.close && arc.length() > 0.0) {
    const TangentFrame& first = nodes_.front().frame;
    const glm::dvec3 last_up = nodes_.back().frame.up;
    const double angle =
        portable::atan2(-glm::dot(first.up, nodes_.back().frame.left), glm::dot(first.up, last_up));
    roll_rate_ = angle / arc.length();
  }
}

TangentFrame FrameTable::frame(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc,
                               double parameter) const {
  const double t = parameter > 0.0 ? std::min(parameter, path.end_parameter()) : 0.0;
  const auto after = std::upper_bound(nodes_.begin(), nodes_.end(), t,
                                      [](double p, const Node& node) { return p < node.parameter; });
  const Node& node = *(after - 1);
  const glm::dvec3 tangent = unit_tangent(path, t);
  TangentFrame frame = node.frame;
  if (tangent != glm::dvec3(0.0) && t > node.parameter) {
    frame = transport_frame(node.frame, node.position, path.position(t), tangent);
  }
  return roll_rate_ == 0.0 ? frame : rolled(frame, roll_rate_ * arc.distance_at(t));
}

}  // namespace reckoner
