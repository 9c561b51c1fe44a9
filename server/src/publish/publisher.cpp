// SPDX-License-Identifier: MIT
#include "server/src/publish/publisher.hpp"

#include "net/src/codec/route_codec.hpp"
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "reckoning/src/motion/state_checks.hpp"
#include "reckoning/src/prediction/send_policy.hpp"
#include "server/src/util/server_observer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Each entity is sampled once in this number of ticks. These ticks are one round.
constexpr std::size_t kTicksPerAgeTurn = 64;

// Weight of one round, or of one entity that ends, in the moving mean. All values from 0.02 to 1 predict the
// recorded traces equally well; the errors differ by less than one percent.
constexpr float kShare = 0.1f;

}  // namespace

void KindPriors::Mean::add(const std::optional<RateFit::Prior>& prior) {
  if (!prior) return;
  for (std::size_t i = 0; i < sum_.size(); ++i)
    sum_[i] += static_cast<double>((*prior)[i]);
  ++count_;
}

void KindPriors::Mean::end_round() {
  if (count_ == 0) return;
  RateFit::Prior mean{};
  for (std::size_t i = 0; i < sum_.size(); ++i)
    mean[i] = static_cast<float>(sum_[i] / count_);
  move_towards(mean);
  sum_.fill(0.0);
  count_ = 0;
}

void KindPriors::Mean::move_towards(const RateFit::Prior& prior) {
  if (!value_) {
    value_ = prior;
    return;
  }
  for (std::size_t i = 0; i < prior.size(); ++i)
    (*value_)[i] += kShare * (prior[i] - (*value_)[i]);
}

MotionFit::Priors KindPriors::of(std::size_t archetype) const {
  const Kind& kind = kinds_[archetype];
  return {kind.linear.value(), kind.angular.value()};
}

void KindPriors::run(const EntityTable& entities) {
  const auto awake = entities.awake().words();
  const std::size_t turn = next_turn_++ % kTicksPerAgeTurn;
  for (std::size_t w = turn * awake.size() / kTicksPerAgeTurn;
       w < (turn + 1) * awake.size() / kTicksPerAgeTurn; ++w) {
    SlotSet::for_each_in(awake[w], w, [&](std::uint32_t slot) {
      const Entity& entity = entities.slots()[slot];
      const MotionFit::Priors priors = entity.fit.priors();
      kinds_[entity.archetype].linear.add(priors.linear);
      kinds_[entity.archetype].angular.add(priors.angular);
    });
  }
  if (turn != kTicksPerAgeTurn - 1) return;
  for (Kind& kind : kinds_) {
    kind.linear.end_round();
    kind.angular.end_round();
  }
}

void KindPriors::learn_from(const Entity& entity) {
  const MotionFit::Priors priors = entity.fit.priors();
  if (priors.linear) kinds_[entity.archetype].linear.move_towards(*priors.linear);
  if (priors.angular) kinds_[entity.archetype].angular.move_towards(*priors.angular);
}

void KindPriors::add(std::size_t archetype, const ExtrapolationErrors& errors) {
  // After this number of publishes, older ones count half.
  constexpr double kMost = 2000.0;
  Kind& kind = kinds_[archetype];
  kind.with += static_cast<double>(errors.with);
  kind.without += static_cast<double>(errors.without);
  kind.publishes += static_cast<double>(errors.publishes);
  if (kind.publishes < kMost) return;
  kind.with *= 0.5;
  kind.without *= 0.5;
  kind.publishes *= 0.5;
}

namespace {

// An entity that has not moved for this many ticks goes to sleep. Nothing that learns from an entity's motion
// looks further back than this. So skipping the ticks of a sleeping entity changes nothing.
constexpr std::uint32_t kTicksToSleep = 128;

// An error dv of the velocity at one end of a gap T bends the cubic on each side of it by up to (4/27) T dv.
// The same error makes a prediction wrong by T dv at the end of the gap. The weight is the ratio of the two
// errors; the errors of both cubics are added.
constexpr double kEndWeight = 8.0 / 27.0;

// Typical time that a client waits before it acknowledges a datagram, s.
constexpr double kClientAnswerDelayS = 0.03;

// The choice of the coding mode learns from every fourth publish, because learning costs four times as much
// as encoding.
constexpr std::uint32_t kPublishesPerLesson = 4;

// An entity's memory is prefetched this number of slots ahead, and the part whose address is in that memory a
// little later.
constexpr std::uint32_t kFetchAhead = 4;
constexpr std::uint32_t kFetchLessonAhead = 2;

// The longest gap for which interpolating clients should have to wait. With an update budget it is 4/3 of the
// mean gap; without a budget it is some ticks, at least one. The delay of the clients follows from this gap
// (PlayoutClock). So longer gaps mean more delay but more even errors. Measurement on the recorded traces at
// 10 updates a second: the 95th percentile of the error is the same for all gaps from 0.12 to 0.15 s.
constexpr double kGapsToWait = 1.33;
constexpr double kLongestGapS = 0.133;
// From this budget on, updates per second, it is the mean gap. So clients show what happened a tick earlier,
// and the threshold is so low that nobody sees the larger error (docs/TUNING.md).
constexpr double kOftenHz = 30.0;

// A gap that is shorter than this is not rounded up beyond this, s.
constexpr double kLongestRoundedS = 0.2;

constexpr double kFrameChangeUrgency = 16.0;

// The share of the thresholds within which a motion counts as steady, and the weight of the newest steady
// motion in the mean time that they last.
constexpr double kSteadyShare = 1.0 / 32.0;
constexpr float kSteadyGain = 0.25f;

// A larger error counts as this one, in KindPriors::ExtrapolationErrors::kErrorStep: 16 times the threshold.
constexpr double kMostError = 1024.0;

// A bend smaller than this share of the threshold is not worth sending. The acceleration that is sent then
// serves extrapolation.
constexpr double kWorthBending = 0.25;

// Returns the error of the published motion in multiples of the level's threshold. Uses the error of position
// or of orientation, whichever is larger in these multiples.
double urgency_of(const SendPolicy::Comparison& c, const Archetype& archetype, double factor) {
  double off_m = 0.0, off_rad = 0.0;
  if (c.gap) {
    off_m = c.gap->m;
    off_rad = c.gap->rad;
  } else {
    off_m = glm::distance(c.truth.position, c.published.position) +
            glm::distance(c.expected_ahead.position, c.published_ahead.position);
    off_rad = angle_between(c.truth.orientation, c.published.orientation) +
              angle_between(c.expected_ahead.orientation, c.published_ahead.orientation);
  }
  if (!archetype.has_orientation) off_rad = 0.0;
  return std::max(off_m / archetype.threshold_m, off_rad / archetype.threshold_rad) / factor;
}

}  // namespace

Entity Publisher::make_entity(std::size_t archetype, const std::string& name, const State& truth,
                              std::uint32_t phase) const {
  const Archetype& kind = config_.archetypes[archetype];
  // The error of a quadratic motion grows with the square of the time since the publish. A threshold four
  // times as large therefore needs half the rate.
  const auto policy = [&](double factor) {
    const double rate = 1.0 / std::sqrt(factor);
    return EntityLevel{
        SendPolicy{{config_.tick_rate_hz, kind.threshold_m * factor, kind.threshold_rad * factor,
                    config_.updates_per_second * rate, config_.fixed_rate_hz * rate},
                   phase},
        factor};
  };
  MotionFit fit{config_.tick_rate_hz, MotionFit::horizon_for(rate_hz(), 0.0)};
  fit.begin_with(kinds_.of(archetype));
  return {.id = {},
          .archetype = archetype,
          .truth = truth,
          .gap = nullptr,
          .fit = fit,
          .levels = {policy(1.0), policy(kLevelFactor), policy(kLevelFactor * kLevelFactor)},
          .follower = {},
          .name = name};
}

void Publisher::run(EntityTable& entities, const RouteTable& routes, Tick tick, double time_s, bool late,
                    WorkerPool& pool, ServerStats& stats) {
  published_.begin(entities.slots().size());
  const Now now{routes, tick, time_s, late};
  const auto awake = entities.awake().words();
  // Each work item is a whole word of the slot set, so two workers never write to the same word.
  pool.run(awake.size(), 1, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t w = first; w < last; ++w) {
      SlotSet::for_each_in(awake[w], w, [&](std::uint32_t slot) {
        if (slot + kFetchAhead < entities.slots().size()) entities.slots()[slot + kFetchAhead].fetch();
        // This one reads the entity, so it must not be one of another worker.
        const std::uint32_t next = slot + kFetchLessonAhead;
        if (next / SlotSet::kWordBits == w && next < entities.slots().size())
          entities.slots()[next].fetch_lesson();
        if (!examine_entity(entities.slots()[slot], now, counts_[worker])) entities.awake().erase(slot);
        for (std::size_t level = 0; level < kLevels; ++level) {
          if (published_.contains(level, slot)) {
            entities.heads()[slot * kLevels + level] = entities.slots()[slot].levels[level].stream.head();
          }
        }
      });
    }
  });
  published_.list_words();
  kinds_.run(entities);
  for (Counts& counts : counts_) {
    stats.publishes += counts.publishes;
    stats.published_for += counts.causes;
    stats.route_entity_ticks += counts.route_entity_ticks;
    counts.causes = {};
    counts.publishes = counts.route_entity_ticks = 0;
    for (std::size_t i = 0; i < missing_.size(); ++i)
      missing_[i] |= std::exchange(counts.missing[i], std::uint8_t{0});
  }
  // Summed over all workers first, so that the result does not depend on their number.
  for (std::size_t i = 0; i < config_.archetypes.size(); ++i) {
    KindPriors::ExtrapolationErrors sum;
    for (Counts& counts : counts_) {
      sum.with += counts.errors[i].with;
      sum.without += counts.errors[i].without;
      sum.publishes += counts.errors[i].publishes;
      counts.errors[i] = {};
    }
    kinds_.add(i, sum);
  }
}

// Publishes one entity as needed. Returns false if the entity may go to sleep.
bool Publisher::examine_entity(Entity& entity, const Now& now, Counts& counts) {
  if (entity.teleported) {
    entity.watch.restart(entity.truth);
    entity.fit.restart();
    if (entity.gap) entity.gap->restart();
    if (entity.follower) entity.follower->restart();
    entity.teleports = static_cast<std::uint8_t>((entity.teleports + 1) % kTeleportModulus);
  }
  if (!entity.owned) check_velocity(entity, now, counts);
  // The fit aims at the age that updates have when most subscribers of the finest level get them.
  entity.fit.change_horizon(MotionFit::horizon_for(rate_hz(), entity.levels[0].delay_s));
  entity.fit.observe(entity.truth);
  const bool interpolated = std::any_of(entity.levels.begin(), entity.levels.end(),
                                        [](const EntityLevel& level) { return level.interpolated(); });
  if (interpolated && !entity.gap) entity.gap = std::make_unique<GapFit>(config_.tick_rate_hz);
  if (entity.gap) entity.gap->observe(entity.truth);
  if (entity.follower) entity.follower->observe(entity.truth);
  const std::uint64_t published = counts.publishes;
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (followed(entity, level)) examine_level(entity, level, now, counts);
  }
  entity.announced = true;
  entity.teleported = entity.publish_now = false;
  if (entity.levels[0].stream.head().route) ++counts.route_entity_ticks;
  const bool still =
      !moves(entity.truth) && !entity.follower && counts.publishes == published && entity.fit.settled();
  entity.still_ticks = still ? entity.still_ticks + 1 : 0;
  return entity.still_ticks < kTicksToSleep;
}

// Replaces velocities that do not fit the positions from the game. The owner of an entity does this itself.
void Publisher::check_velocity(Entity& entity, const Now& now, Counts& counts) const {
  const VelocitySource source = config_.archetypes[entity.archetype].velocity;
  entity.truth = entity.watch.check(entity.truth, source, now.time_s, 1.0 / config_.tick_rate_hz, now.late);
  if (entity.watch.begins()) entity.fit.restart();
  const std::uint8_t missing = entity.watch.missing();
  if (missing == VelocityWatch::kNothing && source != VelocitySource::estimated) return;
  counts.missing[entity.archetype] |= missing;
  const Quantisation& q = quantisation_[entity.archetype];
  if (!is_encodable(entity.truth, q)) {  // the game may have moved it further than its top speed allows
    const State nearest = nearest_encodable(entity.truth, q);
    entity.truth.velocity = nearest.velocity;
    entity.truth.angular_velocity = nearest.angular_velocity;
  }
}

// The finest level is always published once at the start. If the interest radius is unlimited, the finest
// level stays up to date even without subscribers, so that it is ready for clients that join later.
bool Publisher::followed(const Entity& entity, std::size_t level) const {
  const EntityLevel& l = entity.levels[level];
  return l.subscribers > 0 || (level == 0 && (l.stream.number() == 0 || config_.interest.radius_m <= 0.0));
}

void Publisher::examine_level(Entity& entity, std::size_t level, const Now& now, Counts& counts) {
  EntityLevel& l = entity.levels[level];
  if (entity.owned && level == 0) {
    if (!entity.owned->fresh && !entity.teleported && l.stream.number() > 0) return;
    publish_owned(entity, l, now);
    ++counts.publishes;
    published_.insert(level, static_cast<std::uint32_t>(entity.id.slot()));
    ++counts.causes.owner;
    report(entity, level, now, &PublishCauses::owner, 0.0);
    return;
  }
  double urgency = 1.0;
  double error_m = 0.0;
  std::uint64_t PublishCauses::*cause = &PublishCauses::first;
  if (l.stream.number() > 0) {
    const bool due = is_due(entity, l, now);
    // When the entity enters or leaves a route, this is published at once, unless there is a budget or a
    // fixed rate.
    const RouteId wanted = is_on_route(entity) ? entity.follower->id() : RouteId{};
    const bool changed =
        wanted != l.stream.head().route && config_.updates_per_second <= 0.0 && config_.fixed_rate_hz <= 0.0;
    const bool frame_changed = entity.frame.index1 != l.stream.head().frame_index1 ||
                               (entity.frame && entity.frame != l.stream.newest().encoded.frame);
    if (!due && !changed && !entity.teleported && !frame_changed && !entity.publish_now) return;
    cause = entity.teleported ? &PublishCauses::teleport
            : frame_changed   ? &PublishCauses::frame
            : changed         ? &PublishCauses::route
                              : &PublishCauses::due;
    // The published motion is in another frame, so no error can be measured. The update gets a high urgency
    // instead.
    if (frame_changed) {
      urgency = kFrameChangeUrgency;
    } else {
      const SendPolicy::Comparison compared = compare(entity, l, now.time_s);
      urgency = urgency_of(compared, config_.archetypes[entity.archetype], l.factor);
      error_m = glm::distance(compared.truth.position, compared.published.position);
    }
  }
  if (l.stream.number() > 0) compare_extrapolations(entity, l, now.time_s, counts);
  publish(entity, l, now, urgency);
  ++counts.publishes;
  published_.insert(level, static_cast<std::uint32_t>(entity.id.slot()));
  ++(counts.causes.*cause);
  report(entity, level, now, cause, error_m);
}

void Publisher::report(const Entity& entity, std::size_t level, const Now& now,
                       std::uint64_t PublishCauses::*cause, double error_m) const {
  if (observer_ == nullptr) return;
  const EntityLevel& l = entity.levels[level];
  const bool rated = config_.updates_per_second > 0.0 || config_.fixed_rate_hz > 0.0;
  const std::string_view name = cause == &PublishCauses::first      ? "first"
                                : cause == &PublishCauses::owner    ? "owner"
                                : cause == &PublishCauses::teleport ? "teleport"
                                : cause == &PublishCauses::frame    ? "frame"
                                : cause == &PublishCauses::route    ? "route"
                                : rated                             ? "rate"
                                                                    : "threshold";
  observer_->published({entity.id, static_cast<std::uint8_t>(level), now.time_s, l.stream.motion().time_s,
                        name, error_m, config_.archetypes[entity.archetype].threshold_m * l.factor});
}

// True if the entity is published as a motion along its route.
bool Publisher::is_on_route(const Entity& entity) const {
  return entity.follower && entity.follower->on_route() &&
         is_encodable(entity.follower->route_state(), entity.follower->route(),
                      quantisation_[entity.archetype]);
}

// Time from publishing an update now until clients show it, s.
double Publisher::ahead_s(const EntityLevel& level) const {
  return parts_.latency_aware ? level.delay_s + SendPolicy::kTakesEffectS : 0.0;
}

// Decides whether the level must be published now. Uses a faster comparison for predicted quadratic motions,
// without a floor and without walls, which are by far the most common.
bool Publisher::is_due(const Entity& entity, EntityLevel& level, const Now& now) const {
  const Motion& motion = level.stream.motion();
  if (level.interpolated() || motion.route != nullptr || motion.never_reverses || motion.transition.bends ||
      floor_of(motion) != nullptr || walls_of(motion) != nullptr || is_on_route(entity))
    return level.policy.due(compare(entity, level, now.time_s), now.tick);
  const State expected = fitted(entity);
  return level.policy.due(
      SendPolicy::FreeMotionInputs{entity.truth, expected, motion, now.time_s, ahead_s(level)}, now.tick);
}

// Compares the entity with the motion that clients have. On a route only the distance along the route counts.
// The true state is within the thresholds of the route anyway, and no update on the route could reduce a
// lateral offset.
SendPolicy::Comparison Publisher::compare(const Entity& entity, const EntityLevel& level,
                                          double time_s) const {
  const double later_s = time_s + ahead_s(level);
  const Motion& motion = level.stream.motion();
  const State published = state_at(motion, time_s);
  const State published_ahead = state_at(motion, later_s);
  if (!is_on_route(entity)) {
    const State expected = state_at({.state = fitted(entity),
                                     .never_reverses = motion.never_reverses,
                                     .floor = floor_of(motion),
                                     .walls = walls_of(motion)},
                                    ahead_s(level));
    std::optional<GapFit::GapError> gap;
    if (level.interpolated())
      gap = entity.gap->worst_error(motion, entity.truth, time_s, longest_gap_s(level.factor));
    return {entity.truth, published, expected, published_ahead, gap};
  }
  const Motion on_route = entity.follower->motion(time_s);
  return {on_route.state, published, state_at(on_route, later_s), published_ahead};
}

// Lets the coding mode chooser learn from every fourth publish. Computes how many bits the motion would have
// needed relative to an earlier publish that clients may already have.
void Publisher::learn_coding_mode(EntityLevel& level, const QuantisedState& encoded, Tick tick,
                                  const Quantisation& q) const {
  const PublishStream& stream = level.stream;
  if (stream.number() % kPublishesPerLesson != 0) return;
  const double round_trip_s = 2.0 * level.delay_s + kClientAnswerDelayS;
  for (std::uint32_t number = stream.number(); stream.has(number); --number) {
    const PublishStream::Publish& base = stream.at(number);
    const double age_s = (tick - base.tick) / config_.tick_rate_hz;
    if (age_s < round_trip_s) continue;
    if (can_refer(encoded, base.encoded)) level.coding_mode.observe(encoded, base.encoded, age_s, q);
    return;
  }
}

double Publisher::longest_gap_s(double factor) const {
  double at_finest_s = kLongestGapS;
  const double budget_hz = config_.updates_per_second;
  if (budget_hz > 0.0) at_finest_s = (budget_hz >= kOftenHz ? 1.0 : kGapsToWait) / budget_hz;
  if (config_.fixed_rate_hz > 0.0) at_finest_s = 1.0 / config_.fixed_rate_hz;
  const double longest_s = at_finest_s * std::sqrt(factor);
  constexpr double kTickRounding = 1e-6;
  const double ticks = std::ceil(longest_s * config_.tick_rate_hz - kTickRounding);
  // With long ticks, one tick more would be much longer than wanted. At a fixed rate, gaps cannot be shorter.
  const bool rounds_down = config_.fixed_rate_hz <= 0.0 && longest_s < kLongestRoundedS &&
                           ticks > kLongestRoundedS * config_.tick_rate_hz + kTickRounding;
  return std::max(1.0, rounds_down ? ticks - 1.0 : ticks) / config_.tick_rate_hz;
}

double Publisher::longest_sent_gap_s() const {
  const double interval_s = config_.send_rate_hz > 0.0 ? 1.0 / config_.send_rate_hz : 0.0;
  return longest_gap_s(1.0) + std::max(0.0, interval_s - 1.0 / config_.tick_rate_hz);
}

State Publisher::fitted(const Entity& entity) const {
  return parts_.fitted_acceleration ? entity.fit.fitted(entity.truth) : entity.truth;
}

// Returns the state to publish for free motion. This is the state from which clients predict best. If all
// subscribers interpolate, it is the state that is the best end of an interpolation.
Publisher::OutgoingState Publisher::outgoing_state(Entity& entity, EntityLevel& level, double time_s) const {
  State state = entity.owned ? entity.truth : fitted(entity);  // an owner has fitted its state already
  if (!level.interpolated()) return {state};
  if (level.stream.number() > 0) entity.gap->learn(time_s - level.stream.motion().time_s);
  const State end = entity.gap->smoothed(entity.truth);
  state.position = end.position;
  state.velocity = end.velocity;
  state.orientation = end.orientation;
  state.angular_velocity = end.angular_velocity;
  const glm::vec3 predicting = state.acceleration;
  // With a budget of updates, saved bytes bring no further updates, so the acceleration is sent.
  const bool saves_bytes = rate_hz() <= 0.0;
  // Clients that wait for every tick never extrapolate, unless an update is lost. Then an acceleration that
  // was fitted to one long tick does harm.
  constexpr double kLongestFittedTickS = 0.1;
  const bool waits_for_each_tick = config_.tick_rate_hz * kLongestFittedTickS < 1.0;
  if (level.steady || waits_for_each_tick || (saves_bytes && !kinds_.needs_acceleration(entity.archetype)))
    state.acceleration = glm::vec3{0.0f};
  if (!moves(entity.truth)) return {state};  // the exact state of an entity at rest is sent
  // With a send rate, clients get few of the publishes, so their curves begin at other motions.
  const bool sends_all = config_.send_rate_hz <= 0.0 || config_.send_rate_hz >= config_.tick_rate_hz;
  if (sends_all && leads_here(entity, level) &&
      entity.gap->is_sudden(level.stream.motion(), entity.truth, time_s, longest_gap_s(level.factor),
                            allowed_error(entity, level))) {
    state.acceleration = glm::vec3{0.0f};
    return {.state = state, .sudden = true};
  }
  const auto bend = bend_of(entity, level, time_s);
  if (!bend) {
    if (entity.fit.knows_horizon()) level.predicting_acceleration = predicting;
    return {state};
  }
  state.acceleration = *bend;
  return {state, true, next_link(level.stream.motion())};
}

// The error that clients of the level may show.
GapFit::GapError Publisher::allowed_error(const Entity& entity, const EntityLevel& level) const {
  const Archetype& archetype = config_.archetypes[entity.archetype];
  const double scale = level.factor * level.policy.scale();
  return {archetype.threshold_m * scale, archetype.has_orientation ? archetype.threshold_rad * scale
                                                                   : std::numeric_limits<double>::infinity()};
}

// True if clients will interpolate from the last publish to the next: not if something else than free motion
// lies between them, or if nothing was published before.
bool Publisher::leads_here(const Entity& entity, const EntityLevel& level) const {
  if (!level.interpolated() || level.stream.number() == 0) return false;
  const Motion& from = level.stream.motion();
  return from.route == nullptr && from.teleports == entity.teleports &&
         level.stream.newest().encoded.frame == entity.frame;
}

// Returns the acceleration that bends the interpolation from the last publish like the true path. Empty if
// clients do not interpolate from there (leads_here()), or if the bend is too small to matter.
std::optional<glm::vec3> Publisher::bend_of(const Entity& entity, const EntityLevel& level,
                                            double time_s) const {
  if (!leads_here(entity, level)) return std::nullopt;
  const Motion& from = level.stream.motion();
  const auto bend = entity.gap->bend(from, entity.truth, time_s);
  if (!bend) return std::nullopt;
  const Motion to{entity.gap->smoothed(entity.truth), time_s};
  const glm::dvec3 straight = bending_acceleration(from, to, glm::dvec3{0.0});
  const double gap_s = time_s - from.time_s;
  const double bends_m = bend_share(0.5) * 0.5 * gap_s * gap_s * glm::distance(glm::dvec3{*bend}, straight);
  return bends_m > kWorthBending * allowed_error(entity, level).m ? bend : std::nullopt;
}

// True if all subscribers interpolate and the entity has moved steadily for so long that they will
// extrapolate the motion (longest_gap_s()).
bool Publisher::is_steady(const Entity& entity, const EntityLevel& level) const {
  if (!level.interpolated() || entity.owned) return false;
  const Archetype& archetype = config_.archetypes[entity.archetype];
  const double scale = kSteadyShare * level.factor * std::min(1.0, level.policy.scale());
  return entity.gap->is_steady(longest_gap_s(level.factor),
                               {archetype.threshold_m * scale, archetype.threshold_rad * scale});
}

// Measures whether the acceleration of the last publish would have helped clients to extrapolate until now.
// Errors count only in gaps in which clients must extrapolate.
void Publisher::compare_extrapolations(const Entity& entity, const EntityLevel& level, double time_s,
                                       Counts& counts) const {
  const Motion& last = level.stream.motion();
  if (!level.predicting_acceleration || !level.interpolated() || last.teleports != entity.teleports ||
      level.stream.newest().encoded.frame != entity.frame)
    return;
  KindPriors::ExtrapolationErrors& errors = counts.errors[entity.archetype];
  ++errors.publishes;
  const double gap_s = time_s - last.time_s;
  if (gap_s < longest_gap_s(level.factor) - 0.5 / config_.tick_rate_hz) return;
  const double unit_m = KindPriors::ExtrapolationErrors::kErrorStep *
                        config_.archetypes[entity.archetype].threshold_m * level.factor;
  const auto error = [&](const glm::dvec3& expected) {
    return static_cast<std::uint64_t>(
        std::min(kMostError, glm::distance(expected, entity.truth.position) / unit_m));
  };
  const glm::dvec3 plain = last.state.position + glm::dvec3{last.state.velocity} * gap_s;
  errors.without += error(plain);
  errors.with += error(plain + glm::dvec3{*level.predicting_acceleration} * (0.5 * gap_s * gap_s));
}

// Publishes the owner's own motion with its own time stamp. The owner has already fitted the motion and
// decided when to publish it.
void Publisher::publish_owned(Entity& entity, EntityLevel& level, const Now& now) const {
  OwnedMotion& owned = *entity.owned;
  owned.encoded.teleports = entity.teleports;
  owned.motion.teleports = entity.teleports;
  double urgency = 1.0;
  if (level.stream.number() > 0) {
    const State before = state_at(level.stream.motion(), now.time_s);
    const State after = state_at(owned.motion, now.time_s);
    urgency = level.stream.motion().frame != owned.motion.frame
                  ? kFrameChangeUrgency
                  : glm::distance(before.position, after.position) /
                        config_.archetypes[entity.archetype].threshold_m;
  }
  level.stream.publish(owned.encoded, owned.motion, owned.tick, urgency);
  owned.fresh = false;
}

void Publisher::publish(Entity& entity, EntityLevel& level, const Now& now, double urgency) const {
  const Quantisation& q = quantisation_[entity.archetype];
  // Use the finest precision for an entity at rest: its pose may stay for ever, and the server does not send
  // it again. An entity that only stops for a moment uses at least the precision of its unscaled threshold,
  // even if a budget has raised the threshold.
  level.predicting_acceleration.reset();
  const bool halts = !moves(entity.truth);
  const bool rests = halts && (level.policy.is_at_rest() || level.stream.number() == 0);
  const double scale = halts ? std::min(1.0, level.policy.scale()) : level.policy.scale();
  const std::uint8_t precision =
      rests ? kMaxPrecision : precision_for(scale * level.factor * level.policy.lever_share());
  QuantisedState encoded;
  if (is_on_route(entity)) {
    const RouteFollower& follower = *entity.follower;
    encoded =
        quantise(follower.id(), follower.route(), follower.route_state(), entity.teleports, precision, q);
  } else {
    const double gap_s =
        level.stream.number() > 0 ? (now.tick - level.stream.head().tick) / config_.tick_rate_hz : 0.0;
    if (level.steady) level.steady_s += kSteadyGain * (static_cast<float>(gap_s) - level.steady_s);
    level.steady = is_steady(entity, level);
    OutgoingState outgoing = outgoing_state(entity, level, now.time_s);
    if (!is_encodable(outgoing.state, q))
      outgoing = {entity.truth};  // the true state can always be encoded; the fitted state perhaps cannot
    // A steady motion is extrapolated as long as it is valid, so its velocities must be exact for so long.
    const double valid_s = level.steady ? double{level.steady_s} : 0.0;
    CodingMode coding_mode = level.interpolated()
                                 ? level.coding_mode.choose(precision, valid_s, kEndWeight * gap_s)
                                 : level.coding_mode.choose(precision, level.delay_s, gap_s);
    coding_mode.bends = outgoing.bends;
    coding_mode.steady =
        !outgoing.bends && moves(outgoing.state) && outgoing.state.acceleration == glm::vec3{0.0f};
    encoded = quantise(outgoing.state, entity.teleports, coding_mode, q);
    encoded.link = outgoing.link;
    encoded.sudden = outgoing.sudden && coding_mode.steady;
    encoded.frame = entity.frame;
    learn_coding_mode(level, encoded, now.tick, q);
  }
  encoded.frame = entity.frame;
  level.stream.publish(encoded, *motion_of(encoded, now.time_s, q, now.routes), now.tick, urgency);
  level.policy.update_sent();
}

}  // namespace reckoner
