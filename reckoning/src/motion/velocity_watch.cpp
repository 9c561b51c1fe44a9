// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/velocity_watch.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Smaller changes wait until they have added up: rounding errors of a resting entity are no motion.
constexpr double kLeastChangeM = 1e-5;
constexpr float kLeastTurn = 2e-6f;  // of a component of the quaternion

// A difference may be this many times as large as the one before it. A body that starts with a constant
// acceleration has differences in the ratios 1 : 3 : 5.
constexpr float kMostGrowth = 3.01f;

// A change begins a new motion after more than kStillS and after more than this number of ticks. It is then
// not known how long the change took.
constexpr double kLongestTicks = 1.6;

// The time between two checks counts as at most this, s: a sleeping entity is not checked.
constexpr double kLongestStepS = 0.05;

// Steps of time are rounded.
constexpr float kEnoughS = static_cast<float>(0.999 * VelocityWatch::kStillS);

constexpr glm::vec3 kNone{0.0f};

float square(const glm::vec3& v) {
  return glm::dot(v, v);
}

bool differs(const glm::quat& a, const glm::quat& b) {
  return std::abs(a.x - b.x) > kLeastTurn || std::abs(a.y - b.y) > kLeastTurn ||
         std::abs(a.z - b.z) > kLeastTurn || std::abs(a.w - b.w) > kLeastTurn;
}

glm::dvec3 turn_between(const glm::quat& from, const glm::quat& to) {
  return rotation_log(glm::normalize(glm::dquat{to}) * glm::conjugate(glm::normalize(glm::dquat{from})));
}

}  // namespace

void VelocityWatch::Rate::changed(const glm::dvec3& change, double time_s, double longest_s) {
  const double since_s = time_s - changed_s_;
  changed_s_ = time_s;
  if (changes_ == 0 || !(since_s > 0.0) || since_s > longest_s) {
    changes_ = 1;
    return;
  }
  const glm::vec3 before = difference_;
  const float before_s = interval_s_;
  difference_ = glm::vec3{change / since_s};
  interval_s_ = static_cast<float>(since_s);
  if (changes_ < 2) {
    changes_ = 2;
    rate_ = difference_;
    return;
  }
  if (!(square(difference_) <= kMostGrowth * kMostGrowth * square(before))) return;
  const glm::vec3 growth = difference_ - before;
  rate_ = difference_;
  if (before_s > 0.0f && std::abs(interval_s_ - before_s) > 0.01f * interval_s_) {
    // The game moves the entity at other times than it shows it; the mean over two intervals is more even.
    rate_ = (difference_ * interval_s_ + before * before_s) / (interval_s_ + before_s);
  } else if (constexpr float kSmooth = 0.4f; square(growth) < kSmooth * kSmooth * square(difference_)) {
    // A difference is the rate in the middle of its interval. If the motion is smooth, the rate at its end
    // follows from the last two differences.
    rate_ += 0.5f * growth;
  }
}

// Waits for one and a half intervals, because the times of changes may be uneven.
void VelocityWatch::Rate::unchanged(double time_s, double longest_s) {
  if (changes_ == 0) return;
  const bool knows_interval = changes_ == 2 && interval_s_ > 0.0f;
  const double patience_s = knows_interval ? 1.5 * static_cast<double>(interval_s_) : longest_s;
  if (time_s - changed_s_ > std::min(patience_s, longest_s)) changes_ = 0;
}

void VelocityWatch::Rate::restart(const glm::vec3& rate) {
  rate_ = difference_ = rate;
  interval_s_ = 0.0f;
  changes_ = rate == kNone ? 0 : 2;
}

bool VelocityWatch::Standing::check(bool changes, bool has_rate, double step_s, double longest_s) {
  const auto step = static_cast<float>(step_s);
  without_s_ = changes || has_rate ? 0.0f : std::min(without_s_ + step, 1.0f);
  if (changes || static_cast<double>(without_s_) > longest_s) {
    with_rate_s_ = 0.0f;
  } else if (has_rate) {
    with_rate_s_ = std::min(with_rate_s_ + step, 1.0f);
  }
  return with_rate_s_ >= kEnoughS;
}

State VelocityWatch::check(const State& given, VelocitySource source, double time_s, double tick_s,
                           bool late) {
  const bool estimates_all = source == VelocitySource::estimated;
  const bool estimates = source != VelocitySource::given;
  const double longest_s = std::max(1.1 * kStillS, kLongestTicks * tick_s);
  const double step_s = late ? 0.0 : std::clamp(time_s - checked_s_, 0.0, kLongestStepS);
  const glm::dvec3 moved = begun_ ? given.position - position_ : glm::dvec3{0.0};
  const bool moves = glm::dot(moved, moved) > kLeastChangeM * kLeastChangeM;
  const bool turns = begun_ && differs(given.orientation, orientation_);
  const bool has_velocity = given.velocity != kNone && given.velocity != returned_velocity_;
  const bool has_turn = given.angular_velocity != kNone && given.angular_velocity != returned_turn_;
  State out = given;
  returned_velocity_ = returned_turn_ = kNone;
  missing_ = kNothing;
  const bool knew = linear_.is_known();
  const bool knew_turn = angular_.is_known();

  if (!has_velocity || estimates_all) {
    if (restarted_ && !moves) linear_.begin_at(time_s);
    moves ? linear_.changed(moved, time_s, longest_s) : linear_.unchanged(time_s, longest_s);
    if (estimates) out.velocity = returned_velocity_ = linear_.rate();
    if (!has_velocity && moves && linear_.is_known()) missing_ |= kVelocity;
  } else {
    linear_.forget();
  }
  if (!has_turn || estimates_all) {
    if (restarted_ && !turns) angular_.begin_at(time_s);
    turns ? angular_.changed(turn_between(orientation_, given.orientation), time_s, longest_s)
          : angular_.unchanged(time_s, longest_s);
    if (estimates) out.angular_velocity = returned_turn_ = angular_.rate();
    if (!has_turn && turns && angular_.is_known()) missing_ |= kAngularVelocity;
  } else {
    angular_.forget();
  }

  begins_ = estimates && ((!knew && linear_.is_known()) || (!knew_turn && angular_.is_known()));
  const bool should_move = has_velocity || given.acceleration != kNone;
  if (position_stands_.check(moves || !begun_, should_move, step_s, longest_s))
    out.velocity = out.acceleration = kNone;
  if (orientation_stands_.check(turns || !begun_, has_turn, step_s, longest_s)) out.angular_velocity = kNone;

  if (moves || !begun_) position_ = given.position;
  if (turns || !begun_) orientation_ = given.orientation;
  checked_s_ = time_s;
  begun_ = true;
  restarted_ = false;
  return out;
}

void VelocityWatch::restart(const State& state) {
  position_ = state.position;
  orientation_ = state.orientation;
  linear_.restart(state.velocity);
  angular_.restart(state.angular_velocity);
  // These velocities may already be in the state.
  if (returned_velocity_ != kNone) returned_velocity_ = state.velocity;
  if (returned_turn_ != kNone) returned_turn_ = state.angular_velocity;
  position_stands_ = orientation_stands_ = {};
  restarted_ = true;
}

}  // namespace reckoner
