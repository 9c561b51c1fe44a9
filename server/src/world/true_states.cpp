// SPDX-License-Identifier: MIT
#include "server/src/world/true_states.hpp"

#include "net/src/codec/route_codec.hpp"
#include "reckoning/src/util/prefetch.hpp"

#include <algorithm>

#include <glm/common.hpp>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// True if the entity did not move in the last tick and `state` leaves it at rest, so the entity need not wake
// up.
bool rests_at(const Entity& entity, const State& state) {
  constexpr glm::vec3 kNone{0.0f};
  return entity.still_ticks > 0 && state.position == entity.truth.position && state.velocity == kNone &&
         state.acceleration == kNone && state.orientation == entity.truth.orientation &&
         state.angular_velocity == kNone;
}

}  // namespace

State TrueStates::publishable(const State& truth, std::size_t archetype) const {
  State state = truth;
  if (!config_.archetypes[archetype].has_orientation) {
    state.orientation = State{}.orientation;
    state.angular_velocity = glm::vec3{0.0f};
  }
  return state;
}

std::optional<State> TrueStates::state(EntityId id) const {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = entity->owned ? state_at(entity->owned->motion, time_.at(time_.next_tick())) : entity->truth;
  if (!entity->frame) state.position -= origin_;
  return state;
}

std::optional<State> TrueStates::in_world(EntityId id) const {
  const Entity* entity = entities_.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = entities_.in_world(*entity);
  state.position -= origin_;
  return state;
}

CallResult TrueStates::move(EntityId id, const State& truth) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->owned) return CallError::owned;
  // Games often move entities in order of slot, so prefetch the next one.
  prefetch(entity + 1, sizeof(EntityId) + sizeof(std::size_t) + sizeof(State));
  const State state = to_server_coordinates(truth, entity->frame);
  if (!spend_move(*entity, state.position)) return CallError::too_fast;
  return set_from_game(*entity, state);
}

// True if the entity can have moved to this position at its top speed since its last move. Games step with
// their own clocks, so it may be ahead by one second at that speed (token bucket).
bool TrueStates::spend_move(Entity& entity, const glm::dvec3& to) const {
  constexpr float kMostAheadS = 1.0f;
  const glm::dvec3 displacement = glm::abs(to - entity.truth.position);
  const double moved_s = std::max({displacement.x, displacement.y, displacement.z}) /
                         config_.archetypes[entity.archetype].max_speed_mps;
  const double since_s = (time_.next_tick() - entity.move_tick) / config_.tick_rate_hz;
  const auto left_s = static_cast<float>(entity.move_left_s + since_s - moved_s);
  if (left_s < 0.0f) return false;
  entity.move_left_s = std::min(kMostAheadS, left_s);
  entity.move_tick = time_.next_tick();
  return true;
}

CallResult TrueStates::move_along(EntityId id, const RouteState& along) {
  Entity* entity = entities_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->follower) return CallError::no_route;
  const Route& route = entity->follower->route();
  if (!is_encodable(along, route, quantisation_[entity->archetype])) return CallError::beyond_limits;
  const RouteState place = route.advanced_on_route(along, 0.0);
  if (const CallResult moved = set_from_game(*entity, route.state_at(place, 0.0)); !moved) return moved;
  entity->follower->give(place);
  return {};
}

CallResult TrueStates::set_from_game(Entity& entity, const State& truth) {
  if (entity.short_lived) entity.short_lived->launch.reset();
  return set(entity, truth);
}

CallResult TrueStates::set(Entity& entity, const State& truth) {
  const State state = publishable(truth, entity.archetype);
  const CallError why = find_unencodable(state, quantisation_[entity.archetype]);
  if (why != CallError::none || rests_at(entity, state)) return why;
  entity.truth = state;
  entities_.awake().insert(static_cast<std::uint32_t>(entity.id.slot()));
  return {};
}

}  // namespace reckoner
