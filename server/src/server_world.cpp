// SPDX-License-Identifier: MIT
#include "server/src/server_world.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <utility>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// Time for which a freed slot is not used again, s. It is longer than the delay at which a client still
// accepts a state datagram (see Client).
constexpr double kSlotQuarantineS = 5.0;

}  // namespace

ServerWorld::ServerWorld(const ServerConfig& config, std::span<const Quantisation> quantisation,
                         const ServerTime& time, Publisher& publisher, Interest& interest,
                         const SessionTable& sessions, Transport& transport, RefusalCounts& refusals,
                         TrafficCounter& traffic)
    : config_(config),
      quantisation_(quantisation),
      time_(time),
      publisher_(publisher),
      interest_(interest),
      sessions_(sessions),
      transport_(transport),
      traffic_(traffic),
      entities_(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)),
      states_(config, quantisation, time, entities_),
      fields_(config.archetypes),
      ownership_(config, quantisation, entities_, sessions, interest, transport, refusals) {}

// Entities begin, move and end.

SpawnResult ServerWorld::spawn(std::size_t archetype, const std::string& name, const State& state,
                               EntityId frame, std::unique_ptr<ShortLivedInfo> short_lived, EntityId as) {
  if (archetype >= config_.archetypes.size()) return CallError::unknown_archetype;
  if (name.size() > kMaxNameBytes) return CallError::name_too_long;
  const Entity* outer = entities_.find(frame);
  if (frame && (outer == nullptr || outer->short_lived)) return CallError::unknown_frame;
  if (frame && entities_.frames().fit({}, frame) != FrameTree::Fit::fits) return CallError::too_deep;
  const State truth = states_.publishable(states_.to_server_coordinates(state, frame), archetype);
  if (const auto why = find_unencodable(truth, quantisation_[archetype]); why != CallError::none) return why;

  const Tick tick = time_.next_tick();
  const auto phase = static_cast<std::uint32_t>(entities_.size());
  const auto make = [&] { return publisher_.make_entity(archetype, name, truth, phase); };
  const EntityId id = as ? entities_.add_as(as, make) : entities_.add(make(), tick);
  if (!id) return CallError::world_full;
  Entity& entity = *entities_.find(id);
  entity.move_tick = tick;
  traffic_.add_entity(static_cast<std::uint32_t>(id.slot()), archetype);
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
  if (life.data.size() > kMaxSpawnDataBytes || bytes > kMaxSpawnContentBytes) return CallError::data_too_long;
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

CallResult ServerWorld::teleport(EntityId id, const State& truth) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  const State state = states_.to_server_coordinates(truth, entity->frame);
  const CallResult moved =
      entity->owned ? override_owner(*entity, state) : states_.set_from_game(*entity, state);
  if (!moved) return moved;
  entity->teleported = true;
  entities_.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return {};
}

CallResult ServerWorld::override_owner(Entity& entity, const State& truth) {
  const State state = states_.publishable(truth, entity.archetype);
  const CallError why = find_unencodable(state, quantisation_[entity.archetype]);
  if (why != CallError::none) return why;
  if (!ownership_.override_motion(entity, state, time_.next_tick())) return CallError::owned;
  return {};
}

bool ServerWorld::end_entity(EntityId id, bool as_planned) {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return false;
  empty_frame(*entity);
  publisher_.learn_from(*entity);
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

CallResult ServerWorld::enter_frame(EntityId id, EntityId frame) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  const Entity* outer = entities_.find(frame);
  if (frame && outer == nullptr) return CallError::unknown_frame;
  if (entity->frame == frame) return {};
  if (entity->owned) return CallError::owned;
  if (outer != nullptr && outer->short_lived) return CallError::short_lived;
  switch (entities_.frames().fit(id, frame)) {
    case FrameTree::Fit::circle:
      return CallError::circle;
    case FrameTree::Fit::too_deep:
      return CallError::too_deep;
    case FrameTree::Fit::fits:
      break;
  }
  const State truth = state_in_frame(frame, *entity);
  const CallError why = find_unencodable(truth, quantisation_[entity->archetype]);
  if (why == CallError::none) put_into(*entity, frame, truth);
  return why;
}

State ServerWorld::state_in_frame(EntityId frame, const Entity& entity) const {
  const State world = entities_.in_world(entity);
  const Entity* outer = entities_.find(frame);
  return states_.publishable(outer != nullptr ? into_frame(entities_.in_world(*outer), world) : world,
                             entity.archetype);
}

void ServerWorld::put_into(Entity& entity, EntityId frame, const State& truth) {
  const EntityId before = entity.frame;
  if (entity.short_lived) entity.short_lived->launch.reset();
  entities_.put_into(entity, frame, truth);
  interest_.note_frame_change(entity, before, entities_);
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

// Relevance and routes.

CallResult ServerWorld::set_relevance(EntityId id, Relevance relevance) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  entity->relevance = relevance;
  interest_.set_position(*entity, entities_);
  interest_.review_with_contents_later(id, entities_);
  return {};
}

CallResult ServerWorld::set_groups(EntityId id, std::uint32_t groups) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  entity->groups = groups;
  interest_.review_with_contents_later(id, entities_);
  return {};
}

Result<RouteId> ServerWorld::add_route(const RouteDefinition& definition) {
  const RouteMessage message{{static_cast<std::uint32_t>(routes_.size() + 1)}, definition};
  std::vector<std::byte> buffer(kMaxReliableMessageBytes);
  const bool fits =
      message.route.value > kMaxRoutes || !is_encodable(definition) || !encode(message, buffer).empty();
  if (!fits) return Error{"a route has too many points to be sent in one message"};
  Result<RouteId> id = routes_.add(definition);  // add() reports all other errors
  if (!id) return id;
  for (const auto& session : sessions_.all())
    session->send_route(message);
  return id;
}

CallResult ServerWorld::follow(EntityId id, RouteId route) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  const Route* found = routes_.find(route);
  if (found == nullptr) return CallError::unknown_route;
  if (entity->owned) return CallError::owned;
  if (entity->short_lived) entity->short_lived->launch.reset();
  entity->follower.emplace(route, *found, config_.archetypes[entity->archetype], config_.tick_rate_hz);
  entities_.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return {};
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
    if (!states_.set(*entity, state_at(motion, now_s))) end(id);
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

}  // namespace reckoner
