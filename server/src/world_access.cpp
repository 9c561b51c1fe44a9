// SPDX-License-Identifier: MIT
#include "server/src/world_access.hpp"

#include "net/src/codec/route_codec.hpp"
#include "server/src/server_impl.hpp"

#include <cassert>

namespace reckoner {

void WorldAccess::start_at(Tick tick) {
  assert(Server::Impl::of(*server_).stats.ticks == 0);
  Server::Impl::of(*server_).time.start_at(tick);
}

SpawnResult WorldAccess::spawn_as(EntityId id, std::size_t archetype, const std::string& name,
                                  const State& state, EntityId frame) {
  if (!id) return CallError::unknown_entity;
  return Server::Impl::of(*server_).world.spawn(archetype, name, state, frame, nullptr, id);
}

bool WorldAccess::feed(EntityId id, const QuantisedState& encoded, Tick tick, double now_s,
                       double silence_s) {
  Server::Impl& s = Server::Impl::of(*server_);
  Entity* entity = s.world.find(id);
  if (entity == nullptr) return false;
  auto motion = motion_of(encoded, s.time.at(tick), s.quantisation[entity->archetype], s.world.routes());
  if (!motion) {
    ++s.stats.refusals[refusal_for(encoded, s.world.routes())];
    return false;
  }
  const EntityId frame = encoded.frame;
  if (frame && s.world.find(frame) == nullptr) return false;
  if (frame != entity->frame && s.world.entities().frames().fit(id, frame) != FrameTree::Fit::fits)
    return false;
  motion->teleports = encoded.teleports;
  if (frame != entity->frame) s.world.put_into(*entity, frame, motion->state);
  if (!s.world.ownership().feed(*entity, encoded, *motion, tick, s.time.next_tick(), now_s, silence_s))
    return false;
  if (encoded.teleports != entity->teleports) {
    // The publisher counts the teleport, so that the count becomes the other server's.
    entity->teleports =
        static_cast<std::uint8_t>((encoded.teleports + kTeleportModulus - 1) % kTeleportModulus);
    entity->teleported = true;
  }
  entity->truth = state_at(entity->owned->motion, s.time.at(s.time.next_tick()));
  s.world.entities().awake().insert(static_cast<std::uint32_t>(id.slot()));
  s.interest.set_position(*entity, s.world.entities());
  return true;
}

void WorldAccess::note_feed(EntityId id, double now_s) {
  Server::Impl::of(*server_).world.ownership().note_feed(id, now_s);
}

bool WorldAccess::is_fed(EntityId id) const {
  return Server::Impl::of(*server_).world.ownership().is_fed(id);
}

void WorldAccess::hold(EntityId id, const State& state, const MotionFit::Priors& priors,
                       const MotionFit::Memory& memory) {
  Server::Impl& s = Server::Impl::of(*server_);
  Entity* entity = s.world.find(id);
  if (entity == nullptr) return;
  s.world.ownership().stop_feed(*entity);
  entity->fit = MotionFit{s.config.tick_rate_hz, entity->fit.horizon_s()};
  entity->fit.begin_with(priors);
  entity->fit.resume(memory);
  entity->truth = s.world.states().publishable(state, entity->archetype);
  entity->move_left_s = 1.0f;
  entity->move_tick = s.time.next_tick();
  publish_in_next_tick(id);
}

MotionFit::Priors WorldAccess::priors(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? entity->fit.priors() : MotionFit::Priors{};
}

MotionFit::Memory WorldAccess::memory(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? entity->fit.memory() : MotionFit::Memory{};
}

void WorldAccess::publish_in_next_tick(EntityId id) {
  Server::Impl& s = Server::Impl::of(*server_);
  Entity* entity = s.world.find(id);
  if (entity == nullptr) return;
  entity->publish_now = true;
  entity->still_ticks = 0;
  s.world.entities().awake().insert(static_cast<std::uint32_t>(id.slot()));
}

std::optional<WorldAccess::EncodedMotion> WorldAccess::published(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  if (entity == nullptr || entity->levels[0].stream.number() == 0) return std::nullopt;
  const PublishStream::Publish& newest = entity->levels[0].stream.newest();
  return EncodedMotion{newest.encoded, newest.tick};
}

void WorldAccess::append_published(std::vector<EntityId>& ids) const {
  const Server::Impl& s = Server::Impl::of(*server_);
  const Published& published = s.publisher.published();
  for (const std::uint32_t index : published.words()) {
    SlotSet::for_each_in(published.word(0, index), index,
                         [&](std::uint32_t slot) { ids.push_back(s.world.entities().slots()[slot].id); });
  }
}

void WorldAccess::set_distant_delay(double delay_s) {
  Server::Impl::of(*server_).distant_delay.set(delay_s);
}

std::optional<State> WorldAccess::state_of(const QuantisedState& encoded, std::size_t archetype, Tick tick,
                                           double time_s) const {
  const Server::Impl& s = Server::Impl::of(*server_);
  if (archetype >= s.quantisation.size()) return std::nullopt;
  const auto motion = motion_of(encoded, s.time.at(tick), s.quantisation[archetype], s.world.routes());
  return motion ? std::optional{state_at(*motion, time_s)} : std::nullopt;
}

RouteId WorldAccess::route(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr && entity->follower ? entity->follower->id() : RouteId{};
}

const Quantisation& WorldAccess::quantisation(std::size_t archetype) const {
  return Server::Impl::of(*server_).quantisation[archetype];
}
std::optional<std::size_t> WorldAccess::archetype(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? std::optional{entity->archetype} : std::nullopt;
}
const std::string* WorldAccess::name(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? &entity->name : nullptr;
}
std::uint8_t WorldAccess::teleports(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? entity->teleports : std::uint8_t{0};
}
std::uint32_t WorldAccess::groups(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? entity->groups : kAllGroups;
}
Relevance WorldAccess::relevance(EntityId id) const {
  const Entity* entity = Server::Impl::of(*server_).world.find(id);
  return entity != nullptr ? entity->relevance : Relevance::by_distance;
}
std::optional<double> WorldAccess::one_way_s(ClientId client) const {
  const Session* session = Server::Impl::of(*server_).sessions.find(client);
  if (session == nullptr || !session->round_trip().known()) return std::nullopt;
  return session->round_trip().one_way_s();
}
std::optional<glm::dvec3> WorldAccess::eye(ClientId client) const {
  Session* session = Server::Impl::of(*server_).sessions.find(client);
  return session != nullptr ? session->view().eye : std::nullopt;
}
const ServerConfig& WorldAccess::config() const {
  return Server::Impl::of(*server_).config;
}

}  // namespace reckoner
