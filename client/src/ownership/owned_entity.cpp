// SPDX-License-Identifier: MIT
#include "client/src/ownership/owned_entity.hpp"

#include "net/src/codec/route_codec.hpp"
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

// If the game does not call move() for longer than this, the last samples say nothing about the present
// motion.
constexpr double kLongestSilenceS = 0.25;

SendPolicy policy_for(const Archetype& archetype, double tick_rate_hz, double updates_per_second) {
  return SendPolicy{{tick_rate_hz, archetype.threshold_m, archetype.threshold_rad, updates_per_second, 0.0},
                    0};
}

}  // namespace

OwnedEntity::OwnedEntity(const Archetype& archetype, const Quantisation& quantisation, const TickClock& clock,
                         double updates_per_second, std::uint8_t term, const Motion& start)
    : archetype_(&archetype),
      quantisation_(&quantisation),
      clock_(clock),
      updates_per_second_(updates_per_second),
      fit_(clock.tick_rate_hz, MotionFit::horizon_for(updates_per_second, 0.0)),
      policy_(policy_for(archetype, clock.tick_rate_hz, updates_per_second)) {
  restart(term, start);
}

void OwnedEntity::restart(std::uint8_t term, const Motion& start) {
  term_ = term;
  teleports_ = start.teleports;
  stream_ = {};
  fit_.restart();
  watch_.restart(start.state);
  last_ = start;
  last_.route = nullptr;
  last_tick_ = tick_at(start.time_s);
  due_ = resend_ = interrupted_ = false;
  acknowledged_ = 0;
  losses_ = 0;
}

Tick OwnedEntity::tick_at(double time_s) const {
  // Allows for rounding, because a picture may fall exactly on a tick.
  return whole_ticks((time_s - clock_.epoch_s) * clock_.tick_rate_hz + 5e-4);
}

bool OwnedEntity::move(const State& given, FrameId frame, double now_s, double delay_s, bool teleports) {
  const double ahead_s = delay_s + SendPolicy::kTakesEffectS;
  fit_.change_horizon(MotionFit::horizon_for(updates_per_second_, delay_s));
  State state = given;
  if (!archetype_->has_orientation) {
    state.orientation = State{}.orientation;
    state.angular_velocity = glm::vec3{0.0f};
  }
  if (!is_encodable(state, *quantisation_)) return false;
  if (teleports) {
    teleports_ = static_cast<std::uint8_t>((teleports_ + 1u) % kTeleportModulus);
    interrupted_ = resend_ = true;
  }
  const Tick newest = tick_at(now_s);
  if (now_s <= last_.time_s || static_cast<std::int32_t>(newest - last_tick_) < 0) return true;
  if (interrupted_ || last_.frame != frame) watch_.restart(state);
  const State checked = watch_.check(state, archetype_->velocity, now_s, 1.0 / clock_.tick_rate_hz);
  if (watch_.begins()) fit_.restart();
  if (is_encodable(checked, *quantisation_)) state = checked;
  Motion now{state, now_s, teleports_};
  now.frame = frame;
  now.floor = quantisation_->floor;
  now.walls = quantisation_->walls;
  const double silence_s = now_s - last_.time_s;
  const bool connects = !std::exchange(interrupted_, false) && stream_.number() > 0 &&
                        silence_s <= kLongestSilenceS && last_.frame == frame;
  last_.frame = frame;
  if (!connects) {
    fit_.restart();
    // At the tick of the start, the server itself has set the state.
    if (newest != last_tick_) {
      const double tick_s = clock_.time_of(newest);
      const State at = extrapolate(state, tick_s - now_s);
      publish_if_due(is_encodable(at, *quantisation_) ? at : state, newest, ahead_s);
    }
  } else {
    for (Tick tick = last_tick_ + 1; static_cast<std::int32_t>(newest - tick) >= 0; ++tick) {
      const double tick_s = clock_.time_of(tick);
      // The newest tick: the game's state, extrapolated back slightly. Earlier ticks: interpolated.
      const bool recent = now_s - tick_s < 1.0 / clock_.tick_rate_hz;
      State at = recent ? extrapolate(state, tick_s - now_s)
                        : interpolate(last_, now, std::clamp(tick_s, last_.time_s, now_s));
      if (recent) at.velocity = state.velocity;
      at.acceleration = state.acceleration;
      if (!moves(state)) at.velocity = at.angular_velocity = glm::vec3{0.0f};
      publish_if_due(is_encodable(at, *quantisation_) ? at : state, tick, ahead_s);
    }
  }
  last_ = now;
  last_tick_ = newest;
  return true;
}

void OwnedEntity::publish_if_due(const State& truth, Tick tick, double ahead_s) {
  fit_.observe(truth);
  const State fitted = fit_.fitted(truth);
  const double time_s = clock_.time_of(tick);
  if (stream_.number() == 0 || resend_ || stream_.motion().frame != last_.frame ||
      is_due(truth, fitted, {tick, time_s}, ahead_s))
    publish(truth, fitted, tick, ahead_s);
}

bool OwnedEntity::is_due(const State& truth, const State& fitted, const Instant& now, double ahead_s) {
  const Motion& motion = stream_.motion();
  if (!motion.never_reverses && floor_of(motion) == nullptr && walls_of(motion) == nullptr)
    return policy_.due(SendPolicy::FreeMotionInputs{truth, fitted, motion, now.time_s, ahead_s}, now.tick);
  const double later_s = now.time_s + ahead_s;
  const State expected = state_at({.state = fitted,
                                   .never_reverses = motion.never_reverses,
                                   .floor = floor_of(motion),
                                   .walls = walls_of(motion)},
                                  ahead_s);
  return policy_.due(
      SendPolicy::Comparison{truth, state_at(motion, now.time_s), expected, state_at(motion, later_s)},
      now.tick);
}

void OwnedEntity::publish(const State& truth, const State& fitted, Tick tick, double ahead_s) {
  const double time_s = clock_.time_of(tick);
  const State& state = is_encodable(fitted, *quantisation_) ? fitted : truth;
  const double scale = moves(truth) ? policy_.scale() : std::min(1.0, policy_.scale());
  const std::uint8_t precision = policy_.is_at_rest() ? kMaxPrecision : precision_for(scale);
  const double gap_s = stream_.number() > 0 ? (tick - stream_.newest().tick) / clock_.tick_rate_hz : 0.0;
  QuantisedState encoded =
      quantise(state, teleports_, coding_mode_.choose(precision, ahead_s, gap_s), *quantisation_);
  encoded.frame = entity_of(last_.frame);
  const auto decoded = motion_of(encoded, time_s, *quantisation_, RouteTable{});
  if (!decoded) return;  // rounding exceeded the limits; the next tick publishes instead
  stream_.publish(encoded, *decoded, tick, 1.0);
  policy_.update_sent();
  if (resend_) acknowledged_ = 0;
  due_ = true;
  resend_ = false;
}

std::uint32_t OwnedEntity::reference() const {
  const bool can =
      losses_ < 2 && stream_.head().can_refer_to(acknowledged_) && acknowledged_ != stream_.number();
  return can && can_refer(stream_.newest().encoded, stream_.at(acknowledged_).encoded) ? acknowledged_ : 0;
}

void OwnedEntity::note_outcome(std::uint8_t term, std::uint32_t number, bool acked) {
  if (term != term_ || number > stream_.number()) return;
  if (acked) {
    losses_ = 0;
    acknowledged_ = std::max(acknowledged_, number);
    return;
  }
  ++losses_;
  if (number == stream_.number() && acknowledged_ < number) due_ = true;
}

}  // namespace reckoner
