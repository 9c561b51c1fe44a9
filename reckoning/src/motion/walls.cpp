// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/state_checks.hpp"
#include "reckoning/src/motion/wall_contact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/walls.hpp>

namespace reckoner {
namespace {

// A body that is not deeper in a box than this touches it, m. Sent positions are rounded.
constexpr double kTouchM = 0.05;

// Of two boxes side by side, one does not stop a body that slides along the other, m.
constexpr double kSeamM = 1e-6;

// A blend may overshoot. Behind a wall that is thinner than this, it still counts as inside, m.
constexpr double kThinM = 1.0;

// A state is clearly moved by more than this, m.
constexpr double kClearM = 0.02;

// More contacts than in a corner are not needed: the body rests there.
constexpr std::size_t kMostContacts = 4;

// One of the six faces of a box: on its axis, in the positive or in the negative direction.
struct Face {
  const WallBox* box = nullptr;
  glm::length_t axis = 0;
  double sign = 1.0;

  bool operator==(const Face&) const = default;
};

glm::dquat turn_of(const WallBox& box) {
  return glm::dquat{box.orientation};
}

glm::dvec3 normal_of(const Face& face) {
  glm::dvec3 local{0.0};
  local[face.axis] = face.sign;
  return turn_of(*face.box) * local;
}

// Half of the edges of the box that positions may not enter.
glm::dvec3 extent(const Walls& walls, const WallBox& box) {
  return box.half_size + glm::dvec3{walls.margin_m};
}

glm::dvec3 to_box(const WallBox& box, const glm::dvec3& position) {
  return glm::conjugate(turn_of(box)) * (position - box.centre);
}

// True if a body that moves at most `reach_m` from `position` may reach the box.
bool is_near(const Walls& walls, const WallBox& box, const glm::dvec3& position, double reach_m) {
  const glm::dvec3 off = position - box.centre;
  const double room = glm::length(extent(walls, box)) + reach_m;
  return glm::dot(off, off) <= room * room;
}

// How deep a point is behind the face, m; negative in front of it.
double depth_m(const glm::dvec3& local, const glm::dvec3& size, glm::length_t axis, double sign) {
  return size[axis] - sign * local[axis];
}

bool is_inside(const glm::dvec3& local, const glm::dvec3& size) {
  const glm::dvec3 off = glm::abs(local);
  return off.x < size.x && off.y < size.y && off.z < size.z;
}

// The face behind which the point is least deep.
Face nearest_face(const WallBox& box, const glm::dvec3& local, const glm::dvec3& size) {
  Face nearest{&box};
  double least = 1e300;
  for (glm::length_t axis = 0; axis < 3; ++axis) {
    const double sign = local[axis] < 0.0 ? -1.0 : 1.0;
    const double depth = depth_m(local, size, axis, sign);
    if (depth < least) {
      least = depth;
      nearest = {&box, axis, sign};
    }
  }
  return nearest;
}

// The first time from which x + v t + a t^2 / 2 falls below zero, 0 or later; nullopt if there is none.
std::optional<double> falls_below_zero_s(double x, double v, double a) {
  const double square = v * v - 2.0 * a * x;
  if (!(square > 0.0)) return std::nullopt;
  const double root = std::sqrt(square);  // the speed at that time
  double t = -1.0;
  if (std::abs(root - v) > 1e-12 * root) {
    t = 2.0 * x / (root - v);
  } else if (a != 0.0) {
    t = (-root - v) / a;
  }
  return t >= 0.0 ? std::optional{t} : std::nullopt;
}

// A body that moves with a constant acceleration and slides along boxes.
class Slide {
 public:
  Slide(const Walls& walls, const glm::dvec3& position, const glm::dvec3& velocity,
        const glm::dvec3& acceleration)
      : walls_(&walls), position_(position), velocity_(velocity), acceleration_(acceleration) {}

  // Moves the body for `span_s`, or until it reaches a box. Returns the time that has passed, s.
  double advance(double span_s) {
    if (!begun_) begin(span_s);
    const auto hit = first_hit(span_s);
    const double t = hit ? hit->time_s : span_s;
    position_ += (velocity_ + acceleration_ * (0.5 * t)) * t;
    velocity_ += acceleration_ * t;
    if (hit) {
      const Face& face = hit->face;
      const glm::dvec3 local = to_box(*face.box, position_);
      position_ += depth_m(local, extent(*walls_, *face.box), face.axis, face.sign) * normal_of(face);
      touch(face);
    }
    return t;
  }

  [[nodiscard]] bool is_stuck() const { return count_ == kMostContacts; }
  [[nodiscard]] bool touched() const { return count_ > 0; }
  [[nodiscard]] const glm::dvec3& position() const { return position_; }
  [[nodiscard]] const glm::dvec3& velocity() const { return velocity_; }
  [[nodiscard]] const glm::dvec3& acceleration() const { return acceleration_; }
  void rest() { velocity_ = acceleration_ = glm::dvec3{0.0}; }
  // Keeps only the part of the acceleration that brakes.
  void only_brake() {
    const double speed2 = glm::dot(velocity_, velocity_);
    if (speed2 < 1e-12) return rest();
    acceleration_ = velocity_ * (std::min(0.0, glm::dot(velocity_, acceleration_)) / speed2);
  }

 private:
  struct Hit {
    double time_s;
    Face face;
  };

  [[nodiscard]] double reach_m(double span_s) const {
    return (glm::length(velocity_) + 0.5 * glm::length(acceleration_) * span_s) * span_s;
  }

  // A body that touches a box from the beginning slides along it, at its depth: where the server has put it.
  // A body that is deep in a box ignores it.
  void begin(double span_s) {
    begun_ = true;
    const double reach = reach_m(span_s);
    for (const WallBox& box : walls_->boxes) {
      if (!is_near(*walls_, box, position_, reach)) continue;
      const glm::dvec3 local = to_box(box, position_);
      const glm::dvec3 size = extent(*walls_, box);
      if (!is_inside(local, size)) continue;
      const Face face = nearest_face(box, local, size);
      if (depth_m(local, size, face.axis, face.sign) > kTouchM) {
        if (ignored_count_ < ignored_.size()) ignored_[ignored_count_++] = &box;
      } else if (!is_stuck() && leads_into(normal_of(face))) {
        touch(face);
      }
    }
  }

  // True if the body moves, or is about to move, against this direction.
  [[nodiscard]] bool leads_into(const glm::dvec3& normal) const {
    const double speed = glm::dot(velocity_, normal);
    return speed < 0.0 || (speed == 0.0 && glm::dot(acceleration_, normal) < 0.0);
  }

  [[nodiscard]] bool ignores(const WallBox& box) const {
    const auto* const end = ignored_.data() + ignored_count_;
    return std::find(ignored_.data(), end, &box) != end;
  }
  [[nodiscard]] bool touches(const Face& face) const {
    const auto* const end = contacts_.data() + count_;
    return std::find(contacts_.data(), end, face) != end;
  }

  [[nodiscard]] std::optional<Hit> first_hit(double span_s) const {
    std::optional<Hit> first;
    const double reach = reach_m(span_s);
    for (const WallBox& box : walls_->boxes) {
      if (!is_near(*walls_, box, position_, reach) || ignores(box)) continue;
      const glm::dvec3 size = extent(*walls_, box);
      const glm::dquat back = glm::conjugate(turn_of(box));
      const glm::dvec3 p = back * (position_ - box.centre);
      const glm::dvec3 v = back * velocity_;
      const glm::dvec3 a = back * acceleration_;
      const glm::dvec3 off = glm::abs(p) - size;
      if (std::max({off.x, off.y, off.z}) > reach) continue;
      for (glm::length_t axis = 0; axis < 3; ++axis) {
        for (const double sign : {-1.0, 1.0}) {
          const auto time_s = falls_below_zero_s(sign * p[axis] - size[axis], sign * v[axis], sign * a[axis]);
          if (!time_s || *time_s > (first ? first->time_s : span_s) || touches({&box, axis, sign})) continue;
          const glm::dvec3 there = glm::abs(p + (v + a * (0.5 * *time_s)) * *time_s);
          const glm::length_t i = (axis + 1) % 3;
          const glm::length_t j = (axis + 2) % 3;
          if (there[i] < size[i] - kSeamM && there[j] < size[j] - kSeamM)
            first = Hit{*time_s, {&box, axis, sign}};
        }
      }
    }
    return first;
  }

  // From now on, the body does not move towards the face.
  void touch(const Face& face) {
    contacts_[count_] = face;
    normals_[count_] = normal_of(face);
    ++count_;
    velocity_ = clipped(velocity_);
    acceleration_ = clipped(acceleration_);
  }

  [[nodiscard]] bool leads_into_none(const glm::dvec3& v) const {
    const double tolerance = -1e-9 * glm::length(v);
    return std::all_of(normals_.data(), normals_.data() + count_,
                       [&](const glm::dvec3& n) { return glm::dot(v, n) >= tolerance; });
  }

  // The part of a vector that leads into no contact: along one of them, or along the edge between two.
  [[nodiscard]] glm::dvec3 clipped(const glm::dvec3& v) const {
    if (leads_into_none(v)) return v;
    for (std::size_t i = 0; i < count_; ++i) {
      const glm::dvec3 along = v - std::min(0.0, glm::dot(v, normals_[i])) * normals_[i];
      if (leads_into_none(along)) return along;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const glm::dvec3 edge = glm::cross(normals_[i], normals_[j]);
        const double length2 = glm::dot(edge, edge);
        if (length2 < 1e-12) continue;
        const glm::dvec3 along = edge * (glm::dot(v, edge) / length2);
        if (leads_into_none(along)) return along;
      }
    }
    return glm::dvec3{0.0};
  }

  const Walls* walls_;
  glm::dvec3 position_;
  glm::dvec3 velocity_;
  glm::dvec3 acceleration_;
  bool begun_ = false;
  std::array<Face, kMostContacts> contacts_{};
  std::array<glm::dvec3, kMostContacts> normals_{};
  std::size_t count_ = 0;
  std::array<const WallBox*, 8> ignored_{};
  std::size_t ignored_count_ = 0;
};

State without_rates_into(State state, const glm::dvec3& normal) {
  const glm::dvec3 v{state.velocity};
  const glm::dvec3 a{state.acceleration};
  state.velocity = glm::vec3{v - std::min(0.0, glm::dot(v, normal)) * normal};
  state.acceleration = glm::vec3{a - std::min(0.0, glm::dot(a, normal)) * normal};
  return state;
}

// Applies Walls::reach. Its second result, a moment later, tells how the entity slides.
State reached(const State& state, const Walls& walls, const glm::dvec3& from) {
  if (!walls.reach) return state;
  const glm::dvec3 at = walls.reach(from, state.position);
  const glm::dvec3 back = at - state.position;
  const double distance = glm::length(back);
  if (!is_finite(at) || !(distance > 0.0)) return state;
  State out = without_rates_into(state, back / distance);
  out.position = at;
  constexpr double kStepS = 1.0 / 64.0;
  const glm::dvec3 slides =
      (walls.reach(from, state.position + glm::dvec3{state.velocity} * kStepS) - at) / kStepS;
  if (is_finite(slides)) out.velocity = glm::vec3{slides};
  return out;
}

// Moves the state out of one box.
State out_of_box(const State& state, const Walls& walls, const WallBox& box, const glm::dvec3& base,
                 bool crosses) {
  const glm::dvec3 size = extent(walls, box);
  const glm::dvec3 local = to_box(box, state.position);
  const glm::dvec3 from = to_box(box, base);
  const glm::dvec3 beside = glm::abs(local) - size;  // negative: between the two faces of the axis
  std::optional<Face> out;
  double least = 1e300;
  for (glm::length_t axis = 0; axis < 3; ++axis) {
    if (beside[(axis + 1) % 3] >= 0.0 || beside[(axis + 2) % 3] >= 0.0) continue;
    for (const double sign : {-1.0, 1.0}) {
      const double depth = depth_m(local, size, axis, sign);
      const bool base_is_here = depth_m(from, size, axis, sign) <= kTouchM;
      const double thickness = std::max(2.0 * size[axis], kThinM);
      if (!base_is_here || !(depth > 0.0) || depth > thickness || depth >= least) continue;
      least = depth;
      out = Face{&box, axis, sign};
    }
  }
  if (!out || (crosses && least > kClearM)) return state;
  const glm::dvec3 normal = normal_of(*out);
  State moved = without_rates_into(state, normal);
  moved.position += least * normal;
  return moved;
}

}  // namespace

State stopped_by_walls(const State& state, const Walls& walls, const glm::dvec3& from) {
  State out = state;
  Slide slide(walls, from, state.position - from, glm::dvec3{0.0});
  for (double left = 1.0; left > 0.0 && !slide.is_stuck();)
    left -= slide.advance(left);
  if (slide.touched()) {
    const glm::dvec3 back = slide.position() - state.position;
    const double distance = glm::length(back);
    if (distance > 0.0) out = without_rates_into(out, back / distance);
    out.position = slide.position();
  }
  return reached(out, walls, from);
}

State extrapolated_along_walls(const State& start, const State& free, double dt_s, bool brakes,
                               const Walls& walls) {
  if (!(dt_s > 0.0)) return stopped_by_walls(free, walls, start.position);
  Slide slide(walls, start.position, glm::dvec3{start.velocity}, glm::dvec3{start.acceleration});
  double left_s = dt_s;
  while (left_s > 0.0) {
    if (slide.is_stuck()) {
      slide.rest();
      break;
    }
    const double braking = brakes ? -glm::dot(slide.velocity(), slide.acceleration()) : 0.0;
    const bool stops = braking > 0.0;
    const double stop_s = stops ? glm::dot(slide.velocity(), slide.velocity()) / braking : left_s;
    const double span_s = std::min(left_s, stop_s);
    const double passed_s = slide.advance(span_s);
    left_s -= passed_s;
    if (stops && passed_s >= stop_s) {
      slide.rest();
      break;
    }
    if (stops && left_s > 0.0) slide.only_brake();
  }
  State out = free;
  if (slide.touched()) {
    out.position = slide.position();
    out.velocity = glm::vec3{slide.velocity()};
    out.acceleration = glm::vec3{slide.acceleration()};
  }
  return reached(out, walls, start.position);
}

State blended_along_walls(const State& state, const Walls& walls, const glm::dvec3& base, bool crosses) {
  State out = state;
  for (const WallBox& box : walls.boxes) {
    if (is_near(walls, box, out.position, kThinM)) out = out_of_box(out, walls, box, base, crosses);
  }
  return crosses ? out : reached(out, walls, base);
}

bool is_behind_wall(const State& state, const Walls& walls, const glm::dvec3& base) {
  return glm::distance(blended_along_walls(state, walls, base, false).position, state.position) > kClearM;
}

}  // namespace reckoner
