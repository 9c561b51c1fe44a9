// SPDX-License-Identifier: MIT
#include "server/src/ownership/ownership.hpp"

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// Tolerance for rounding in single precision. It lets a motion that was reduced to a limit pass
// is_possible().
constexpr double kRounding = 1e-3;

// A prediction can be wrong after a loss. An error of at most the displacement in this time at top speed is
// shown at once, and clients blend it as a correction.
constexpr double kAtOnceS = 0.1;

glm::vec3 shortened(const glm::vec3& v, double most) {
  const double length = glm::length(glm::dvec3{v});
  return length > most ? glm::vec3{glm::dvec3{v} * (most / length)} : v;
}

bool in_world(const glm::dvec3& p, double size_m) {
  return std::abs(p.x) <= size_m && std::abs(p.y) <= size_m && std::abs(p.z) <= size_m;
}

}  // namespace

State within(State state, const OwnerLimits& limits) {
  state.velocity = shortened(state.velocity, limits.max_speed_mps);
  state.acceleration = shortened(state.acceleration, limits.max_acceleration_mps2);
  state.position =
      glm::clamp(state.position, glm::dvec3{-limits.world_size_m}, glm::dvec3{limits.world_size_m});
  return state;
}

OwnerCheck::OwnerCheck(const OwnerLimits& limits, const Motion& start) : limits_(limits) {
  restart(start);
}

void OwnerCheck::restart(const Motion& start) {
  last_ = start;
  from_m_ = start.state.position;
  from_mps_ = start.state.velocity;
  budget_ = {limits_.position_slack_m, limits_.velocity_slack_mps};
}

// The budget at `time_s`: the budget left after the motion last_ (at most the slack) plus the budget accrued
// since then.
OwnerCheck::Budget OwnerCheck::budget_at(double time_s) const {
  const double dt_s = time_s - last_.time_s;
  return {budget_.displacement_m + limits_.max_speed_mps * dt_s,
          budget_.change_mps + limits_.max_acceleration_mps2 * dt_s};
}

bool OwnerCheck::is_possible(const Motion& next) const {
  Budget allowed = budget_at(next.time_s);
  allowed.displacement_m += kRounding;
  allowed.change_mps += kRounding;
  const double speed = glm::length(glm::dvec3{next.state.velocity});
  return in_world(next.state.position, limits_.world_size_m) &&
         speed <= limits_.max_speed_mps + limits_.velocity_slack_mps + kRounding &&
         glm::length(glm::dvec3{next.state.acceleration}) <= limits_.max_acceleration_mps2 + kRounding &&
         glm::distance(next.state.position, from_m_) <= allowed.displacement_m &&
         glm::distance(glm::dvec3{next.state.velocity}, from_mps_) <= allowed.change_mps;
}

bool OwnerCheck::is_possible_after_teleport(const Motion& next, double teleports_m) const {
  OwnerCheck there = *this;
  there.restart(next);
  return there.is_possible(next) && glm::distance(next.state.position, from_m_) <=
                                        teleports_m + budget_at(next.time_s).displacement_m + kRounding;
}

Motion OwnerCheck::nearest(const Motion& next) const {
  const Budget allowed = budget_at(next.time_s);
  Motion out = next;
  const glm::dvec3 displacement = next.state.position - from_m_;
  const double displacement_m = glm::length(displacement);
  if (displacement_m > allowed.displacement_m) {
    out.state.position = from_m_ + displacement * (allowed.displacement_m / displacement_m);
    // The further motion of the entity is unknown. With the velocity from the owner, clients would
    // extrapolate the entity faster than it can move.
    out.state.velocity = glm::vec3{0.0f};
    out.state.acceleration = glm::vec3{0.0f};
  }
  const glm::vec3 from_mps{from_mps_};
  const glm::vec3 change = out.state.velocity - from_mps;
  if (displacement_m <= allowed.displacement_m)
    out.state.velocity = from_mps + shortened(change, allowed.change_mps);
  out.state = within(out.state, limits_);
  return out;
}

Motion OwnerCheck::eased(const Motion& next) const {
  const glm::dvec3 expected = state_at(last_, next.time_s).position;
  const glm::dvec3 off = next.state.position - expected;
  const double off_m = glm::length(off);
  const double most_m = limits_.position_slack_m + kAtOnceS * limits_.max_speed_mps;
  if (!(off_m > most_m)) return next;
  Motion out = next;
  out.state.position = expected + off * (most_m / off_m);
  return nearest(out);
}

void OwnerCheck::change_frame(const State& start, const Motion& last) {
  constexpr double kEveryS = 1.0;
  const double share = std::min(1.0, (last.time_s - allowed_s_) / kEveryS);
  allowed_s_ = last.time_s;
  budget_ = budget_at(last.time_s);
  last_ = last;
  from_m_ = start.position;
  from_mps_ = start.velocity;
  budget_.displacement_m += share * kAtOnceS * limits_.max_speed_mps;
  budget_.change_mps += share * kAtOnceS * limits_.max_speed_mps;
}

bool OwnerCheck::is_leap(const Motion& next) const {
  constexpr double kLeapS = 1.0;
  const double off_m = glm::distance(next.state.position, state_at(last_, next.time_s).position);
  return off_m > budget_at(next.time_s).displacement_m + kLeapS * limits_.max_speed_mps;
}

void OwnerCheck::accept(const Motion& next) {
  const Budget allowed = budget_at(next.time_s);
  const double displacement_m = glm::distance(next.state.position, from_m_);
  const double change_mps = glm::distance(glm::dvec3{next.state.velocity}, from_mps_);
  budget_.displacement_m = std::clamp(allowed.displacement_m - displacement_m, 0.0, limits_.position_slack_m);
  budget_.change_mps = std::clamp(allowed.change_mps - change_mps, 0.0, limits_.velocity_slack_mps);
  last_ = next;
  from_m_ = next.state.position;
  from_mps_ = next.state.velocity;
}

namespace {

// An owner's estimate of server time may be ahead by this time, because the delay can differ between the two
// directions.
constexpr double kMaxAheadS = 0.1;
// An owner's motion that is older than this counts as late and is not applied.
constexpr double kOldestS = 1.0;

// Minimum time between two notifications of corrections to an owner. Corrections in between are silent.
constexpr double kNotifyEveryS = 0.25;

// An entity without a valid owner comes to rest within this time.
constexpr double kFadeS = 0.5;

// Size of the token bucket, in seconds at the allowed rate. Motions that queued up while the connection was
// stalled may arrive at once.
constexpr double kBurstS = 0.25;

// The server sends the owner the delay to its viewers at most once in this interval, and only if the delay
// changed by more than the second constant.
constexpr double kViewersEveryS = 1.0;
constexpr double kViewersChangeS = 0.015;

// An extrapolated motion may exceed the top speed by this factor before the server slows it down.
constexpr double kSpeedRoom = 1.05;

// Size of the token bucket for turning frames, in seconds at the largest speed. A game that steps its frames
// late turns them further in one step.
constexpr double kTurningBurstS = 0.5;
// An entity that has left a frame because it turned too fast may board again when the bucket has this again.
constexpr double kBoardAgainS = 0.25;

// How fast a frame's turning may move an entity, m/s.
double max_turning_mps(const OwnershipRules& rules, const OwnerLimits& limits) {
  return rules.max_turning_mps > 0.0 ? rules.max_turning_mps : limits.max_speed_mps;
}

// Encodes a state, and returns it as clients will decode it. The limits are narrowed by one rounding step.
// Otherwise rounding could move the state beyond the limits, and all clients would refuse the motion.
OwnedMotion rounded(const State& state, const OwnerLimits& limits, const Entity& entity, double time_s,
                    Tick tick, const Quantisation& q) {
  OwnerLimits inside = limits;
  inside.max_speed_mps = std::max(0.0, limits.max_speed_mps - q.velocity_step_mps);
  inside.world_size_m = std::max(0.0, limits.world_size_m - q.position_step_m);
  State s = nearest_encodable(within(state, inside), q);
  auto encoded = quantise(s, entity.teleports, kUnitPrecision, q);
  encoded.frame = entity.frame;
  auto decoded = motion_of(encoded, time_s, q, RouteTable{});
  if (!decoded) {
    s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
    encoded = quantise(s, entity.teleports, kUnitPrecision, q);
    encoded.frame = entity.frame;
    decoded = motion_of(encoded, time_s, q, RouteTable{});
  }
  Motion motion{s, time_s, entity.teleports};
  motion.frame = frame_of(entity.frame);
  return {encoded, decoded.value_or(motion), tick, true};
}

// Returns a quantisation that also decodes motions beyond the limits, so that the server can correct them.
Quantisation without_limits(const Quantisation& q) {
  constexpr double kAny = 1e7;
  Quantisation wide = q;
  wide.max_speed_mps = std::max(q.max_speed_mps, kAny);
  wide.world_size_m = std::max(q.world_size_m, kAny);
  return wide;
}

}  // namespace

bool Ownership::feed(Entity& entity, const QuantisedState& encoded, const Motion& motion, Tick tick,
                     Tick next, double now_s, double silence_s) {
  const auto slot = static_cast<std::uint32_t>(entity.id.slot());
  Owned* owned = find(slot);
  const bool begins = owned == nullptr || owned->id != entity.id || !owned->fed || !entity.owned;
  if (begins) {
    const OwnershipRules rules{.policy = OwnerPolicy::accept, .silence_s = silence_s};
    Owned added{.id = entity.id,
                .owner = {},
                .fed = true,
                .rules = rules,
                .archetype = entity.archetype,
                .check = OwnerCheck{limits_for(entity, rules), motion},
                .known = References{entity.id}};
    owned = &owned_.insert_or_assign(slot, std::move(added)).first->second;
    entity.owned = std::make_unique<OwnedMotion>();
    entity.follower.reset();
  }
  if (motion.time_s > now_s + kMaxAheadS) {
    ++stats_.ahead;
    ++refusals_[Refusal::from_future];
    return false;
  }
  if (!begins && earlier(tick, owned->fed_tick)) {
    ++stats_.late;
    ++refusals_[Refusal::too_old];
    return false;
  }
  owned->received_s = now_s;
  const bool repeated = !begins && tick == owned->fed_tick && !owned->rest_at_s;
  if (repeated) return true;
  owned->fed_tick = tick;
  owned->rest_at_s.reset();
  owned->at_rest = false;
  // No motion may be newer than the coming datagram, nor older than one that was published already.
  const bool in_order =
      begins ? entity.levels[0].stream.number() == 0 || earlier(entity.levels[0].stream.head().tick, tick)
             : earlier(entity.owned->tick, tick);
  next_ = next;
  if (in_order && !earlier(next, tick)) {
    *entity.owned = {encoded, motion, tick, true};
  } else {
    *entity.owned = rounded(state_at(motion, time_of(next)), owned->check.limits(), entity, time_of(next),
                            next, quantisation_[entity.archetype]);
  }
  owned->check.restart(entity.owned->motion);
  ++stats_.accepted;
  return true;
}

void Ownership::note_feed(EntityId id, double now_s) {
  Owned* owned = id ? find(static_cast<std::uint32_t>(id.slot())) : nullptr;
  if (owned != nullptr && owned->id == id && owned->fed) owned->received_s = now_s;
}

void Ownership::stop_feed(Entity& entity) {
  const auto slot = static_cast<std::uint32_t>(entity.id.slot());
  const Owned* owned = find(slot);
  if (owned == nullptr || owned->id != entity.id || !owned->fed) return;
  entity.owned.reset();
  owned_.erase(slot);
}

bool Ownership::is_fed(EntityId id) const {
  const auto found = id ? owned_.find(static_cast<std::uint32_t>(id.slot())) : owned_.end();
  return found != owned_.end() && found->second.id == id && found->second.fed;
}

Ownership::Owned* Ownership::find(std::uint32_t slot) {
  const auto found = owned_.find(slot);
  return found == owned_.end() ? nullptr : &found->second;
}

Tick Ownership::tick_at(double time_s) const {
  return whole_ticks((time_s - config_.epoch_s) * config_.tick_rate_hz);
}

std::optional<ClientId> Ownership::owner(EntityId id) const {
  const auto found = id ? owned_.find(static_cast<std::uint32_t>(id.slot())) : owned_.end();
  if (found == owned_.end() || found->second.id != id || !found->second.owner) return std::nullopt;
  return found->second.owner;
}

OwnerLimits Ownership::limits_for(const Entity& entity, const OwnershipRules& rules) const {
  const Archetype& archetype = config_.archetypes[entity.archetype];
  const Quantisation& q = quantisation_[entity.archetype];
  // The tolerance covers rounding; an update budget makes the rounding steps up to 8 times coarser. For
  // positions it also covers the threshold, and the distance of one tick. The reason: an owner's pictures lie
  // between the ticks that stamp its motions. If a body stops between two ticks, its motion carries the stamp
  // of the first tick and no velocity. So it seems to have arrived up to one tick too early.
  constexpr double kCoarsest = 8.0;
  const double tick_distance_m = archetype.max_speed_mps / config_.tick_rate_hz;
  return {archetype.max_speed_mps, rules.max_acceleration_mps2, archetype.world_size_m,
          kCoarsest * q.position_step_m + archetype.threshold_m + tick_distance_m,
          kCoarsest * q.velocity_step_mps};
}

CallResult Ownership::give(EntityId id, ClientId owner, const OwnershipRules& rules, Tick tick) {
  Entity* found = entities_.find(id);
  if (found == nullptr) return CallError::unknown_entity;
  if (sessions_.find(owner) == nullptr) return CallError::unknown_client;
  if (found->short_lived) return CallError::short_lived;
  if (!is_valid(rules)) return CallError::out_of_range;
  Entity& entity = *found;
  const auto slot = static_cast<std::uint32_t>(id.slot());
  std::uint8_t term = 0;
  if (Owned* before = find(slot)) {
    term = before->term;
    revoke(entity);
  }
  const Motion start{entity.truth, time_of(tick), entity.teleports};
  Owned owned{.id = entity.id,
              .owner = owner,
              .rules = rules,
              .archetype = entity.archetype,
              .check = OwnerCheck{limits_for(entity, rules), start},
              .known = References{entity.id},
              .term = static_cast<std::uint8_t>((term + 1u) % kTerms)};
  owned.received_s = owned.filled_s = time_of(tick);
  owned.tokens = kBurstS * rules.max_updates_per_s;
  owned.turning_left_m = kTurningBurstS * max_turning_mps(rules, owned.check.limits());
  owned.placed_m = glm::length(entity.truth.position);
  Owned& added = owned_.insert_or_assign(slot, std::move(owned)).first->second;
  entity.follower.reset();
  if (!entity.owned) entity.owned = std::make_unique<OwnedMotion>();
  set_server_motion(added, entity, entity.truth, tick);
  entities_.awake().insert(slot);
  return {};
}

CallResult Ownership::revoke(EntityId id) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  return revoke(*entity) ? CallError::none : CallError::no_owner;
}

bool Ownership::revoke(Entity& entity) {
  Owned* owned = find(static_cast<std::uint32_t>(entity.id.slot()));
  if (owned == nullptr) return false;
  if (owned->notified) notify(*owned, entity, OwnershipMessage::Change::revoked);
  entity.owned.reset();
  owned_.erase(static_cast<std::uint32_t>(entity.id.slot()));
  return true;
}

bool Ownership::override_motion(Entity& entity, const State& state, Tick tick) {
  Owned* owned = find(static_cast<std::uint32_t>(entity.id.slot()));
  if (owned == nullptr) return false;
  set_server_motion(*owned, entity, state, tick);
  owned->placed_m = glm::length(state.position);
  owned->term = static_cast<std::uint8_t>((owned->term + 1u) % kTerms);
  if (owned->notified) notify(*owned, entity, OwnershipMessage::Change::corrected);
  return true;
}

void Ownership::notify(Owned& owned, const Entity& entity, OwnershipMessage::Change change) {
  Session* session = sessions_.find(owned.owner);
  if (session == nullptr) return;
  OwnershipMessage message;
  message.entity = owned.id;
  message.change = change;
  message.term = owned.term;
  message.viewers_s = owned.viewers_s = std::clamp(entity.levels[0].delay_s, 0.0, 1.0);
  message.orientation_bits = static_cast<std::uint8_t>(quantisation_[entity.archetype].orientation_bits);
  message.motion_tick = entity.owned->tick;
  message.state = entity.owned->encoded;
  if (change != OwnershipMessage::Change::repeated) owned.teleports = message.state.teleports;
  session->send_ownership(message, tick_);
}

std::optional<std::span<const Ownership::Update>> Ownership::read(BitReader& reader, ClientId client,
                                                                  Tick now, Refusal& why) {
  const auto refused = [&why](Refusal reason) {
    why = reason;
    return std::nullopt;
  };
  next_ = now;
  updates_.clear();
  std::int64_t previous = -1;
  while (const auto head = read_owned_head(reader, previous)) {
    previous = head->slot;
    Owned* owned = find(head->slot);
    // The client may have lost the ownership without knowing it yet. The motions of the entity cannot be
    // decoded any more.
    if (owned == nullptr || owned->owner != client) {
      ++stats_.void_terms;
      return refused(Refusal::unknown_entity);
    }
    const Quantisation& q = quantisation_[owned->archetype];
    const Tick tick = unwrap16(head->tick, now);
    QuantisedState encoded;
    if (head->reference_age) {
      const QuantisedState* base = owned->known.find(0, tick - *head->reference_age);
      if (base == nullptr) return refused(Refusal::unknown_baseline);
      encoded = read_residual(reader, *base, *head->reference_age / config_.tick_rate_hz, q);
    } else {
      encoded = read_full(reader, q);
    }
    if (reader.failed()) return refused(Refusal::malformed);
    if (encoded.along.route) return refused(Refusal::unknown_route);
    if (encoded.coding_mode.bends || encoded.sudden) return refused(Refusal::unexpected);
    const auto motion = motion_of(encoded, time_of(tick), without_limits(q), RouteTable{});
    if (!motion) return refused(Refusal::beyond_limits);
    updates_.push_back({head->slot, head->term, tick, encoded, *motion});
  }
  if (reader.failed()) return refused(Refusal::malformed);
  return updates_;
}

void Ownership::judge(std::span<const Update> updates, ClientId client, double now_s) {
  frame_changes_.clear();
  for (const Update& update : updates) {
    Owned* owned = find(update.slot);
    Entity& entity = entities_.slots()[update.slot];
    if (owned == nullptr || owned->owner != client || entity.id != owned->id) continue;
    owned->known.note(0, update.tick, update.encoded);
    if (update.term != owned->term) {
      ++stats_.void_terms;
      ++refusals_[Refusal::too_old];
      continue;
    }
    judge(*owned, entity, update, now_s);
    entities_.awake().insert(update.slot);
  }
  note_frame_changes();
}

void Ownership::note_frame_changes() {
  for (const FrameChange& change : frame_changes_) {
    if (const Entity* entity = entities_.find(change.entity))
      interest_.note_frame_change(*entity, change.before, entities_);
  }
}

bool Ownership::has_token(Owned& owned, double now_s) const {
  const double rate = owned.rules.max_updates_per_s;
  owned.tokens = std::min(std::max(1.0, kBurstS * rate), owned.tokens + rate * (now_s - owned.filled_s));
  owned.filled_s = now_s;
  if (owned.tokens < 1.0) return false;
  owned.tokens -= 1.0;
  return true;
}

// True if the owner may have teleported the entity `count` times since its last motion, to `to`.
bool Ownership::may_teleport(const Owned& owned, const OwnerCheck& check, const Motion& to,
                             unsigned count) const {
  if (count == 0) return false;
  if (owned.rules.policy == OwnerPolicy::accept) return true;
  // Stamps are rounded to ticks.
  const double least_s = count * owned.rules.teleport_interval_s - 1.0 / config_.tick_rate_hz;
  return owned.rules.max_teleport_m > 0.0 && to.time_s >= owned.teleported_s + least_s &&
         check.is_possible_after_teleport(to, count * owned.rules.max_teleport_m);
}

// Counts a correction, and notifies the owner unless it was notified a moment ago.
void Ownership::correct(Owned& owned, const Entity& entity, double now_s) {
  ++stats_.corrected;
  ++owned.corrected;
  owned.needs_resend = now_s - owned.correction_sent_s < kNotifyEveryS;
  if (owned.needs_resend) return;
  owned.correction_sent_s = now_s;
  owned.term = static_cast<std::uint8_t>((owned.term + 1u) % kTerms);
  notify(owned, entity, OwnershipMessage::Change::corrected);
}

// Accepts a motion. It must be possible, or the owner must be trusted.
void Ownership::accept(Owned& owned, Entity& entity, const Update& update, const Motion& motion) {
  ++stats_.accepted;
  const Session* session = sessions_.find(owned.owner);
  if (session != nullptr) session->seen().note_owned_frame(motion);
  const bool trusted = owned.rules.policy == OwnerPolicy::accept;
  const Motion shown = trusted ? motion : owned.check.eased(motion);
  // A teleport, because clients limit the speed of a correction (Motion::max_speed_mps), and that speed would
  // be too slow here.
  if (trusted && owned.check.is_leap(motion)) entity.teleported = true;
  set_owner_motion(owned, entity, shown, update.tick);
  // Publish the owner's encoding unchanged if possible, so that clients can use the same baselines.
  const bool as_it_came = shown.state.position == motion.state.position;
  const auto limited =
      motion_of(update.encoded, motion.time_s, quantisation_[entity.archetype], RouteTable{});
  const bool as_stamped = entity.owned->tick == update.tick;
  if (as_it_came && as_stamped && limited) {
    entity.owned->encoded = update.encoded;
    entity.owned->encoded.teleports = entity.teleports;
    entity.owned->motion = *limited;
    entity.owned->motion.teleports = entity.teleports;
    owned.check.accept(motion);
  } else {
    owned.check.accept(as_it_came ? motion : entity.owned->motion);
    owned.needs_resend = !as_it_came;
  }
}

void Ownership::judge(Owned& owned, Entity& entity, const Update& update, double now_s) {
  // An owner is not notified of a dropped motion, so the server must ask the owner to send it again.
  if (!has_token(owned, now_s)) {
    ++stats_.too_many;
    ++refusals_[Refusal::too_many];
    owned.needs_resend = true;
    return;
  }
  const double stamp_s = update.motion.time_s;
  if (stamp_s > now_s + kMaxAheadS) {
    ++stats_.ahead;
    ++refusals_[Refusal::from_future];
    owned.needs_resend = true;
    if (!owned.refused_since_s) owned.refused_since_s = now_s;
    return;
  }
  const bool newer = static_cast<std::int32_t>(update.tick - entity.owned->tick) > 0;
  if (!newer || stamp_s < now_s - kOldestS || stamp_s <= owned.check.last().time_s) {
    ++stats_.late;
    ++refusals_[Refusal::too_old];
    owned.needs_resend = owned.needs_resend || stamp_s > owned.check.last().time_s;
    return;
  }
  Motion motion = update.motion;
  motion.teleports = entity.teleports;
  const auto check = check_in(owned, entity, motion);
  const unsigned declared =
      (update.encoded.teleports + kTeleportModulus - owned.teleports) % kTeleportModulus;
  const bool teleports = check && may_teleport(owned, *check, motion, declared);
  if (check && (teleports || owned.rules.policy == OwnerPolicy::accept || check->is_possible(motion))) {
    owned.check = *check;
    owned.teleports = update.encoded.teleports;
    if (teleports) {
      owned.check.restart(motion);
      owned.teleported_s = stamp_s;
      entity.teleported = true;
      stats_.teleports += declared;
    }
    put_into_frame(entity, motion);
    accept(owned, entity, update, motion);
    return;
  }
  ++refusals_[check ? Refusal::beyond_limits : Refusal::unknown_frame];
  if (owned.rules.policy == OwnerPolicy::refuse || owned.rules.policy == OwnerPolicy::accept) {
    ++stats_.refused;
    ++owned.refused;
    owned.needs_resend = true;
    if (!owned.refused_since_s) owned.refused_since_s = now_s;
    return;
  }
  const Motion nearest = check ? check->eased(check->nearest(motion)) : motion;
  // The entity may enter a new frame only from nearby. Otherwise the frame would carry the distant entity
  // along.
  const bool near = entity_of(nearest.frame) == entity.frame ||
                    glm::length(nearest.state.position) <= owned.rules.frame_reach_m || !nearest.frame;
  if (check && near) {
    owned.check = *check;
    put_into_frame(entity, nearest);
    set_owner_motion(owned, entity, nearest, update.tick);
    owned.check.accept(entity.owned->motion);
    if (nearest.state.position != motion.state.position) owned.check.spend_displacement();
  } else if (!owned.refused_since_s) {
    owned.refused_since_s =
        now_s;  // an owner that ignores its corrections would drift on with the last motion
  }
  correct(owned, entity, now_s);
}

// Makes `motion` the entity's motion. If the time stamp of the motion is slightly ahead, the motion gets the
// tick of its publish as its time stamp, because no motion may be newer than the datagram that contains it.
void Ownership::set_owner_motion(Owned& owned, Entity& entity, const Motion& motion, Tick tick) const {
  owned.refused_since_s.reset();
  owned.rest_at_s.reset();
  owned.at_rest = owned.needs_resend = false;
  const bool ahead = static_cast<std::int32_t>(tick - next_) > 0;
  const Tick of = ahead ? next_ : tick;
  *entity.owned = rounded(ahead ? state_at(motion, time_of(of)) : motion.state, owned.check.limits(), entity,
                          time_of(of), of, quantisation_[entity.archetype]);
}

// Replaces the owner's motion by a motion from the server. The entity continues from `state`.
void Ownership::set_server_motion(Owned& owned, Entity& entity, const State& state, Tick tick) {
  *entity.owned =
      rounded(state, owned.check.limits(), entity, time_of(tick), tick, quantisation_[entity.archetype]);
  owned.check.restart(entity.owned->motion);
  entity.truth = entity.owned->motion.state;
}

void Ownership::note_arrival(ClientId client, double now_s) {
  for (auto& [slot, owned] : owned_) {
    if (owned.owner == client) owned.received_s = now_s;
  }
}

void Ownership::release(ClientId client, std::vector<EntityId>& ended) {
  for (auto& [slot, owned] : owned_) {
    if (owned.owner != client) continue;
    if (owned.rules.gone == OwnerGone::despawn) {
      ended.push_back(owned.id);
    } else if (const Entity* entity = entities_.find(owned.id); entity != nullptr && owned.notified) {
      notify(owned, *entity, OwnershipMessage::Change::revoked);
    }
    owned.owner = {};
    owned.notified = false;
  }
}

void Ownership::run(Tick tick, double time_s, double now_s, std::deque<ServerEvent>& events) {
  tick_ = tick;
  frame_changes_.clear();
  for (auto it = owned_.begin(); it != owned_.end();) {
    auto& [slot, owned] = *it;
    Entity& entity = entities_.slots()[slot];
    const bool orphan = !owned.owner && !owned.fed && owned.at_rest;
    // An entity from elsewhere may have ended and begun again under its id.
    if (entity.id != owned.id || !entity.owned || orphan) {
      if (entity.id == owned.id) entity.owned.reset();
      it = owned_.erase(it);
      continue;
    }
    ++it;
    const Session* session = sessions_.find(owned.owner);
    const bool known =
        session != nullptr && session->knows(owned.id) && (!entity.frame || session->knows(entity.frame));
    owned.notified = owned.notified && session != nullptr && session->knows(owned.id);
    if (known && !owned.notified) {
      owned.notified = true;
      owned.received_s = now_s;
      notify(owned, entity, OwnershipMessage::Change::given);
    }
    enforce_limits(owned, entity, tick, time_s, now_s);
    const bool other_viewers = now_s - owned.viewers_sent_s > kViewersEveryS &&
                               std::abs(entity.levels[0].delay_s - owned.viewers_s) > kViewersChangeS;
    const bool again = owned.needs_resend && now_s - owned.viewers_sent_s > kNotifyEveryS &&
                       now_s - owned.received_s < kNotifyEveryS;
    if (owned.notified && (other_viewers || again)) {
      owned.viewers_sent_s = now_s;
      notify(owned, entity, OwnershipMessage::Change::repeated);
    }
    entity.truth = state_at(entity.owned->motion, time_s);
    spend_turning(owned, entity);
    if (owned.turning_left_m < 0.0 && entity.frame) leave_frame(owned, entity, tick);
    report(owned, now_s, events);
    if (entity.owned->fresh || moves(entity.truth)) entities_.awake().insert(slot);
  }
  note_frame_changes();
}

// Brings an entity to rest if its owner is gone, was silent for too long, or was refused for too long. Also
// keeps the extrapolated motion within the limits.
void Ownership::enforce_limits(Owned& owned, Entity& entity, Tick tick, double time_s, double now_s) {
  const State now = state_at(entity.owned->motion, time_s);
  const bool heard = owned.owner || owned.fed;
  const bool silent = !heard ||
                      ((owned.notified || owned.fed) && now_s - owned.received_s > owned.rules.silence_s) ||
                      (owned.refused_since_s && now_s - *owned.refused_since_s > kFadeS);
  if (silent && !owned.at_rest) {
    owned.needs_resend = true;
    if (!owned.rest_at_s) {
      State fading = now;
      fading.acceleration = now.velocity * static_cast<float>(-1.0 / kFadeS);
      fading.angular_velocity = glm::vec3{0.0f};
      set_server_motion(owned, entity, fading, tick);
      owned.rest_at_s = time_s + kFadeS;
    } else if (time_s >= *owned.rest_at_s) {
      State rest;
      rest.position = now.position;
      rest.orientation = now.orientation;
      set_server_motion(owned, entity, rest, tick);
      owned.at_rest = true;
    }
    return;
  }
  const OwnerLimits& limits = owned.check.limits();
  const double speed = glm::length(glm::dvec3{now.velocity});
  const glm::dvec3 far = glm::abs(now.position);
  const bool beyond = speed > kSpeedRoom * limits.max_speed_mps + limits.velocity_slack_mps ||
                      std::max({far.x, far.y, far.z}) > limits.world_size_m;
  if (!beyond) return;
  State slowed = now;
  slowed.acceleration = glm::vec3{0.0f};
  if (std::max({far.x, far.y, far.z}) > limits.world_size_m) slowed.velocity = glm::vec3{0.0f};
  // A copy: the owner's next motion is compared with the owner's last motion.
  const OwnerCheck check = owned.check;
  set_server_motion(owned, entity, slowed, tick);
  owned.check = check;
  owned.needs_resend = true;
}

void Ownership::report(Owned& owned, double now_s, std::deque<ServerEvent>& events) const {
  if (owned.corrected + owned.refused == 0 || now_s - owned.event_s < kNotifyEveryS) return;
  owned.event_s = now_s;
  events.push_back(
      {owned.corrected > 0 ? ServerEvent::Kind::owner_corrected : ServerEvent::Kind::owner_refused,
       owned.owner,
       {},
       owned.id});
  owned.corrected = owned.refused = 0;
}

// Owned entities in the frames of other entities, and their changes of frame.
namespace {

// Returns the state of a frame in the world, extrapolated by `dt_s` from its last true state.
State frame_after(const EntityTable& entities, EntityId frame, double dt_s) {
  const Entity* entity = entities.find(frame);
  if (entity == nullptr) return State{};
  const State state = extrapolate(entity->truth, dt_s);
  return entity->frame ? out_of_frame(frame_after(entities, entity->frame, dt_s), state) : state;
}

}  // namespace

// Returns the check to apply to a motion, converted to the motion's frame. Empty if the entity cannot be in
// that frame.
std::optional<OwnerCheck> Ownership::check_in(const Owned& owned, const Entity& entity,
                                              const Motion& motion) const {
  const EntityId frame = entity_of(motion.frame);
  if (frame == entity.frame) {
    // Without a reach, the owner cannot board anything, and moves as it likes where the game has put it.
    const double reach_m = owned.rules.frame_reach_m;
    const double most_m = std::max(reach_m, owned.placed_m);
    const bool too_far = frame && reach_m > 0.0 && glm::length(motion.state.position) > most_m;
    return too_far || !turns_slowly(owned, motion) ? std::nullopt : std::optional{owned.check};
  }
  if (!may_board(owned, entity, motion)) return std::nullopt;
  // Converts the last motion to the new frame at the new motion's time, with both frames extrapolated to that
  // time. The movement of the frames then does not count as displacement of the entity.
  const double dt_s = motion.time_s - time_of(tick_);
  const State from = entity.frame ? frame_after(entities_, entity.frame, dt_s) : State{};
  const State to = frame ? frame_after(entities_, frame, dt_s) : State{};
  const auto converted = [&](const State& state) {
    const State outside = entity.frame ? out_of_frame(from, state) : state;
    return frame ? into_frame(to, outside) : outside;
  };
  Motion last = owned.check.last();
  const State start = converted(last.state);
  last.state = converted(state_at(last, motion.time_s));
  last.time_s = motion.time_s;
  last.frame = motion.frame;
  OwnerCheck check = owned.check;
  check.change_frame(start, last);
  return check;
}

// True if the owner may move the entity into the frame of `motion`; the world's frame is always permitted.
bool Ownership::may_board(const Owned& owned, const Entity& entity, const Motion& motion) const {
  const EntityId frame = entity_of(motion.frame);
  const Session* session = sessions_.find(owned.owner);
  if (session == nullptr || entities_.frames().fit(entity.id, frame) != FrameTree::Fit::fits) return false;
  if (!frame) return true;
  const Entity* outer = entities_.find(frame);
  const double room_m = kBoardAgainS * max_turning_mps(owned.rules, owned.check.limits());
  return outer != nullptr && outer->boardable && session->knows(frame) &&
         glm::length(motion.state.position) <= owned.rules.frame_reach_m &&
         (owned.turning_left_m >= room_m || owned.rules.policy == OwnerPolicy::accept) &&
         turns_slowly(owned, motion);
}

// True if the frames around a motion do not turn it faster than the rules permit. This counts with the
// angular velocities that the frames have; spend_turning() counts how far they have turned in fact.
bool Ownership::turns_slowly(const Owned& owned, const Motion& motion) const {
  if (owned.rules.policy == OwnerPolicy::accept) return true;
  double turning_mps = 0.0;
  glm::dvec3 place = motion.state.position;
  for (EntityId id = entity_of(motion.frame); id;) {
    const Entity* frame = entities_.find(id);
    if (frame == nullptr) return false;
    place = glm::dquat{frame->truth.orientation} * place;
    turning_mps += glm::length(glm::cross(glm::dvec3{frame->truth.angular_velocity}, place));
    place += frame->truth.position;
    id = frame->frame;
  }
  return turning_mps <= kSpeedRoom * max_turning_mps(owned.rules, owned.check.limits()) + kRounding;
}

// Counts how far the frames around an entity have turned it since the last tick. What the game declares as a
// teleport of a frame does not count.
void Ownership::spend_turning(Owned& owned, const Entity& entity) const {
  if (owned.fed || owned.rules.policy == OwnerPolicy::accept) return;
  double turned_m = 0.0;
  glm::dvec3 place = entity.truth.position;
  auto before = owned.turned.begin();
  for (EntityId id = entity.frame; id && before != owned.turned.end(); ++before) {
    const Entity& frame = *entities_.find(id);
    const glm::dvec3 turned = glm::dquat{frame.truth.orientation} * place;
    if (before->frame == id && !frame.teleported)
      turned_m += glm::distance(turned, glm::dquat{before->orientation} * place);
    *before = {id, frame.truth.orientation};
    place = turned + frame.truth.position;
    id = frame.frame;
  }
  for (; before != owned.turned.end(); ++before)
    before->frame = {};
  const double most_mps = max_turning_mps(owned.rules, owned.check.limits());
  const double refilled_m = owned.turning_left_m + kSpeedRoom * most_mps / config_.tick_rate_hz;
  owned.turning_left_m = std::min(refilled_m, kTurningBurstS * most_mps) - turned_m;
}

// Moves an entity to the next outer frame, because its frame turns it too fast. It keeps its place in the
// world, and of its velocity what its own top speed permits. The owner continues from there.
void Ownership::leave_frame(Owned& owned, Entity& entity, Tick tick) {
  const EntityId before = entity.frame;
  const Entity& frame = *entities_.find(before);
  State outside = out_of_frame(frame.truth, entity.truth);
  outside.acceleration = outside.angular_velocity = glm::vec3{0.0f};
  entities_.put_into(entity, frame.frame, within(outside, owned.check.limits()));
  frame_changes_.push_back({entity.id, before});
  ++stats_.corrected;
  ++owned.corrected;
  (void)override_motion(entity, entity.truth, tick);
}

void Ownership::put_into_frame(Entity& entity, const Motion& motion) {
  const EntityId before = entity.frame;
  if (entity_of(motion.frame) == before) return;
  entities_.put_into(entity, entity_of(motion.frame), motion.state);
  frame_changes_.push_back({entity.id, before});
}

}  // namespace reckoner
