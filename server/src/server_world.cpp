// SPDX-License-Identifier: MIT
#include "server/src/server_world.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/state_checks.hpp"
#include "reckoning/src/util/prefetch.hpp"

#include <algorithm>
#include <utility>

#include <glm/common.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// Time for which a freed slot is not used again, s. It is longer than the delay at which a client still
// accepts a state datagram (see Client).
constexpr double kSlotQuarantineS = 5.0;

// True if the entity did not move in the last tick and `state` leaves it at rest, so the entity need not wake
// up.
bool rests_at(const Entity& entity, const State& state) {
  constexpr glm::vec3 kNone{0.0f};
  return entity.still_ticks > 0 && state.position == entity.truth.position && state.velocity == kNone &&
         state.acceleration == kNone && state.orientation == entity.truth.orientation &&
         state.angular_velocity == kNone;
}

}  // namespace

ServerWorld::ServerWorld(const ServerConfig& config, std::span<const Quantisation> quantisation,
                         const ServerTime& time, Publisher& publisher, Interest& interest,
                         const SessionTable& sessions, Transport& transport, RefusalCounts& refusals)
    : config_(config),
      quantisation_(quantisation),
      time_(time),
      publisher_(publisher),
      interest_(interest),
      sessions_(sessions),
      transport_(transport),
      entities_(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)),
      fields_(config.archetypes),
      ownership_(config, quantisation, entities_, sessions, transport, refusals) {}

State ServerWorld::publishable(const State& truth, std::size_t archetype) const {
  State state = truth;
  if (!config_.archetypes[archetype].has_orientation) {
    state.orientation = State{}.orientation;
    state.angular_velocity = glm::vec3{0.0f};
  }
  return state;
}

std::optional<State> ServerWorld::state(EntityId id) const {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = entity->owned ? state_at(entity->owned->motion, time_.at(time_.next_tick())) : entity->truth;
  if (!entity->frame) state.position -= origin_;
  return state;
}

std::optional<State> ServerWorld::in_world(EntityId id) const {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = entities_.in_world(*entity);
  state.position -= origin_;
  return state;
}

// Entities begin, move and end.

SpawnResult ServerWorld::spawn(std::size_t archetype, const std::string& name, const State& state,
                               EntityId frame, std::unique_ptr<ShortLivedInfo> short_lived, EntityId as) {
  if (archetype >= config_.archetypes.size()) return CallError::unknown_archetype;
  if (name.size() > kMaxNameBytes) return CallError::name_too_long;
  const Entity* outer = entities_.find(frame);
  if (frame && (outer == nullptr || outer->short_lived)) return CallError::unknown_frame;
  if (frame && entities_.frames().fit({}, frame) != FrameTree::Fit::fits) return CallError::too_deep;
  const State truth = publishable(to_server_coordinates(state, frame), archetype);
  if (const auto why = find_unencodable(truth, quantisation_[archetype]); why != CallError::none) return why;

  const Tick tick = time_.next_tick();
  const auto phase = static_cast<std::uint32_t>(entities_.size());
  const auto make = [&] { return publisher_.make_entity(archetype, name, truth, phase); };
  const EntityId id = as ? entities_.add_as(as, make) : entities_.add(make(), tick);
  if (!id) return CallError::world_full;
  Entity& entity = *entities_.find(id);
  entity.way_tick = tick;
  if (short_lived && short_lived->end_s) planned_ends_.add(*short_lived->end_s, id);
  if (short_lived) {
    short_lived->launch = {truth, time_.at(tick)};
    flying_.push_back(id);
  }
  entity.short_lived = std::move(short_lived);
  fields_.add(id, archetype, tick);
  if (frame) entities_.put_into(entity, frame, truth);
  interest_.set_position(entity, entities_);
  interest_.review_later(id);
  return id;
}

SpawnResult ServerWorld::spawn_short_lived(std::size_t archetype, const State& state, const ShortLived& life,
                                           EntityId frame) {
  if (archetype >= config_.archetypes.size()) return CallError::unknown_archetype;
  const std::size_t bytes = life.data.size() + max_values_bytes(config_.archetypes[archetype].fields);
  if (life.data.size() > kMaxSpawnDataBytes || bytes > kMaxShortLivedBytes) return CallError::data_too_long;
  const double next_s = time_.at(time_.next_tick());
  if (life.end_s && !(*life.end_s > next_s && *life.end_s <= next_s + kMaxShortLifeS))
    return CallError::end_out_of_range;
  auto info = std::make_unique<ShortLivedInfo>();
  info->end_s = life.end_s;
  info->data.assign(life.data.begin(), life.data.end());
  info->predicted_by = life.predicted_by;
  info->prediction = life.prediction;
  return spawn(archetype, {}, state, frame, std::move(info));
}

CallResult ServerWorld::move(EntityId id, const State& truth) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->owned) return CallError::owned;
  // Games often move entities in order of slot, so prefetch the next one.
  prefetch(entity + 1, sizeof(EntityId) + sizeof(std::size_t) + sizeof(State));
  const State state = to_server_coordinates(truth, entity->frame);
  if (!spend_way(*entity, state.position)) return CallError::too_fast;
  return move_from_game(*entity, state);
}

// True if the entity can have moved to this position at its top speed since its last move. Games step with
// their own clocks, so it may be ahead by one second at that speed (token bucket).
bool ServerWorld::spend_way(Entity& entity, const glm::dvec3& to) const {
  constexpr float kMostAheadS = 1.0f;
  const glm::dvec3 way = glm::abs(to - entity.truth.position);
  const double way_s = std::max({way.x, way.y, way.z}) / config_.archetypes[entity.archetype].max_speed_mps;
  const double since_s = (time_.next_tick() - entity.way_tick) / config_.tick_rate_hz;
  const auto left_s = static_cast<float>(entity.way_left_s + since_s - way_s);
  if (left_s < 0.0f) return false;
  entity.way_left_s = std::min(kMostAheadS, left_s);
  entity.way_tick = time_.next_tick();
  return true;
}

CallResult ServerWorld::move_along(EntityId id, const RouteState& along) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->follower) return CallError::no_route;
  const Route& route = entity->follower->route();
  if (!is_encodable(along, route, quantisation_[entity->archetype])) return CallError::beyond_limits;
  const RouteState place = route.advanced_on_route(along, 0.0);
  if (const CallResult moved = move_from_game(*entity, route.state_at(place, 0.0)); !moved) return moved;
  entity->follower->give(place);
  return {};
}

// The game moves a short-lived entity from now on, so the server no longer does.
CallResult ServerWorld::move_from_game(Entity& entity, const State& truth) {
  if (entity.short_lived) entity.short_lived->launch.reset();
  return set_truth(entity, truth);
}

CallResult ServerWorld::set_truth(Entity& entity, const State& truth) {
  const State state = publishable(truth, entity.archetype);
  const CallError why = find_unencodable(state, quantisation_[entity.archetype]);
  if (why != CallError::none || rests_at(entity, state)) return why;
  entity.truth = state;
  entities_.awake().insert(static_cast<std::uint32_t>(entity.id.slot()));
  return {};
}

CallResult ServerWorld::teleport(EntityId id, const State& truth) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  const State state = to_server_coordinates(truth, entity->frame);
  if (const CallResult moved =
          entity->owned ? teleport_owned(*entity, state) : move_from_game(*entity, state);
      !moved)
    return moved;
  entity->teleported = true;
  entities_.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return {};
}

CallResult ServerWorld::teleport_owned(Entity& entity, const State& truth) {
  const State state = publishable(truth, entity.archetype);
  const CallError why = find_unencodable(state, quantisation_[entity.archetype]);
  if (why != CallError::none) return why;
  if (!ownership_.override_motion(entity, state, time_.next_tick())) return CallError::owned;
  return {};
}

bool ServerWorld::end_entity(EntityId id, bool as_planned) {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return false;
  empty_frame(*entity);
  publisher_.ends(*entity);
  if (entity->announced) ended_.push_back({id, time_.next_tick(), as_planned});
  if (entity->short_lived && entity->short_lived->end_s && !as_planned)
    planned_ends_.remove(*entity->short_lived->end_s, id);
  if (entity->frame) interest_.review_later(entity->frame);
  interest_.remove(static_cast<std::uint32_t>(id.slot()));
  fields_.remove(id);
  for (const auto& session : sessions_.all())
    session->view().forget(id);
  entities_.remove(id, time_.next_tick());
  return true;
}

// Entities in the frames of other entities.

FrameResult ServerWorld::enter_frame(EntityId id, EntityId frame) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return FrameResult::unknown_entity;
  const Entity* outer = entities_.find(frame);
  if (frame && outer == nullptr) return FrameResult::unknown_frame;
  if (entity->frame == frame) return FrameResult::done;
  if (entity->owned) return FrameResult::owned;
  if (outer != nullptr && outer->short_lived) return FrameResult::short_lived;
  switch (entities_.frames().fit(id, frame)) {
    case FrameTree::Fit::circle:
      return FrameResult::circle;
    case FrameTree::Fit::too_deep:
      return FrameResult::too_deep;
    case FrameTree::Fit::fits:
      break;
  }
  const State truth = state_in_frame(frame, *entity);
  if (!is_encodable(truth, quantisation_[entity->archetype])) return FrameResult::out_of_limits;
  put_into(*entity, frame, truth);
  return FrameResult::done;
}

State ServerWorld::state_in_frame(EntityId frame, const Entity& entity) const {
  const State world = entities_.in_world(entity);
  const Entity* outer = entities_.find(frame);
  return publishable(outer != nullptr ? into_frame(entities_.in_world(*outer), world) : world,
                     entity.archetype);
}

void ServerWorld::put_into(Entity& entity, EntityId frame, const State& truth) {
  const EntityId before = entity.frame;
  if (entity.short_lived) entity.short_lived->launch.reset();
  entities_.put_into(entity, frame, truth);
  note_frame(entity, before);
}

// Notes that the entity has left the frame `before` and is now in another frame.
void ServerWorld::note_frame(const Entity& entity, EntityId before) {
  interest_.set_position(entity, entities_);
  interest_.review_with_contents_later(entity.id, entities_);
  if (before) interest_.review_later(before);  // clients may no longer need the frame
}

// Moves the entities in the frame of an ending entity to the next outer frame. An entity that rested in the
// frame stops: the game does not move it, so it would keep the velocity of the frame. An entity that would be
// too fast in the outer frame stops, too. An entity that would be outside the world ends as well.
void ServerWorld::empty_frame(const Entity& ending) {
  const auto inside = entities_.frames().inside(static_cast<std::uint32_t>(ending.id.slot()));
  const std::vector<std::uint32_t> released{inside.begin(), inside.end()};
  const EntityId outer = ending.frame;
  for (const std::uint32_t slot : released) {
    Entity& entity = entities_.slots()[slot];
    State truth = state_in_frame(outer, entity);
    const Quantisation& q = quantisation_[entity.archetype];
    const bool rested = entity.still_ticks > 0 && !entity.owned;
    if (rested || !is_encodable(truth, q))
      truth.velocity = truth.acceleration = truth.angular_velocity = glm::vec3{0.0f};
    const bool lost = !is_encodable(truth, q);
    put_into(entity, outer, lost ? State{} : truth);
    if (entity.owned && !lost) (void)ownership_.override_motion(entity, truth, time_.next_tick());
    if (lost) end(entity.id);
  }
}

// Relevance, routes and owners.

bool ServerWorld::set_relevance(EntityId id, Relevance relevance) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return false;
  entity->relevance = relevance;
  interest_.set_position(*entity, entities_);
  interest_.review_with_contents_later(id, entities_);
  return true;
}

bool ServerWorld::set_groups(EntityId id, std::uint32_t groups) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return false;
  entity->groups = groups;
  interest_.review_with_contents_later(id, entities_);
  return true;
}

Result<RouteId> ServerWorld::add_route(const RouteDefinition& definition) {
  const RouteMessage message{{static_cast<std::uint32_t>(routes_.size() + 1)}, definition};
  std::vector<std::byte> buffer(kMaxControlBytes);
  const bool fits =
      message.route.value > kMaxRoutes || !is_encodable(definition) || !encode(message, buffer).empty();
  if (!fits) return Error{"a route has too many points to be sent in one message"};
  Result<RouteId> id = routes_.add(definition);  // add() reports all other errors
  if (!id) return id;
  for (const auto& session : sessions_.all())
    session->send_route(message, transport_);
  return id;
}

bool ServerWorld::follow(EntityId id, RouteId route) {
  Entity* entity = entities_.find(id);
  const Route* found = routes_.find(route);
  if (entity == nullptr || found == nullptr || entity->owned) return false;
  if (entity->short_lived) entity->short_lived->launch.reset();
  entity->follower.emplace(route, *found, config_.archetypes[entity->archetype], config_.tick_rate_hz);
  entities_.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool ServerWorld::give(EntityId id, ClientId owner, const OwnershipRules& rules) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr || entity->short_lived || sessions_.find(owner) == nullptr) return false;
  if (!is_valid(rules)) return false;
  ownership_.give(*entity, owner, rules, time_.next_tick());
  entities_.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool ServerWorld::revoke(EntityId id) {
  Entity* entity = entities_.find(id);
  return entity != nullptr && ownership_.revoke(*entity);
}

void ServerWorld::judge_owned(std::span<const Ownership::Update> updates, ClientId client, double now_s) {
  ownership_.judge(updates, client, now_s);
  note_owned_frames();
}

void ServerWorld::note_owned_frames() {
  for (const Ownership::FrameChange& change : ownership_.frame_changes()) {
    if (const Entity* entity = entities_.find(change.entity)) note_frame(*entity, change.before);
  }
}

void ServerWorld::release_owned(ClientId client) {
  released_.clear();
  ownership_.release(client, released_);
  for (const EntityId id : released_)
    end(id);
}

// The steps of a tick.

void ServerWorld::end_planned() {
  const double now_s = time_.at(time_.next_tick());
  while (const auto id = planned_ends_.next_due(now_s))
    end_entity(*id, true);
}

void ServerWorld::fly() {
  const double now_s = time_.at(time_.next_tick());
  std::erase_if(flying_, [&](EntityId id) {
    Entity* entity = entities_.find(id);
    if (entity == nullptr || !entity->short_lived->launch) return true;
    const ShortLivedInfo::Launch& launch = *entity->short_lived->launch;
    const Motion motion{.state = launch.state,
                        .time_s = launch.time_s,
                        .floor = quantisation_[entity->archetype].floor,
                        .walls = quantisation_[entity->archetype].walls,
                        .frame = frame_of(entity->frame)};
    if (!set_truth(*entity, state_at(motion, now_s))) end(id);
    return false;
  });
}

void ServerWorld::announce_ends() {
  for (const Ended& gone : ended_) {
    for (const auto& session : sessions_.all())
      session->unfollow(gone.id, gone.tick, gone.as_planned);
  }
  ended_.clear();
}

void ServerWorld::update_owned(Tick tick, double now_s, std::deque<ServerEvent>& events) {
  ownership_.run(tick, time_.at(tick), now_s, events);
  note_owned_frames();
}

void ServerWorld::apply_distant_delay() {
  if (!distant_delay_s_) return;
  entities_.awake().for_each(
      [&](std::uint32_t slot) { entities_.slots()[slot].levels[0].delay_s = *distant_delay_s_; });
}

}  // namespace reckoner
