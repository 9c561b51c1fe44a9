// SPDX-License-Identifier: MIT
#include "prefetch.hpp"
#include "server_impl.hpp"
#include "server_stats.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <thread>
#include <utility>

#include <reckoner/net/messages.hpp>
#include <reckoner/net/route_codec.hpp>

namespace reckoner {
namespace {

// Longer than any client accepts a state datagram after it was sent (see Client), with room to spare.
constexpr double kSlotQuarantineS = 5.0;

// Sessions that one worker takes at a time.
constexpr std::size_t kSessionGrain = 16;

// So many ticks in a row may leave their datagrams to the next.
constexpr int kMostHeldBack = 3;

unsigned threads_for(const ServerConfig& config) {
  if (config.coding != nullptr) return 1;
  return config.threads > 0 ? config.threads : std::max(1u, std::thread::hardware_concurrency());
}

// True if the entity sleeps, and may go on doing so.
bool rests_at(const Entity& entity, const State& state) {
  constexpr glm::vec3 kNone{0.0f};
  return entity.still_ticks > 0 && state.position == entity.truth.position && state.velocity == kNone &&
         state.acceleration == kNone && state.orientation == entity.truth.orientation &&
         state.angular_velocity == kNone;
}

std::vector<Quantisation> quantisation_of(std::span<const Archetype> archetypes) {
  std::vector<Quantisation> all;
  for (const Archetype& archetype : archetypes)
    all.push_back(quantisation_for(archetype));
  return all;
}

}  // namespace

Server::Impl::Impl(ServerConfig given, Transport& given_transport)
    : config(std::move(given)),
      transport(given_transport),
      quantisation(quantisation_of(config.archetypes)),
      session_secret(config.session_secret ? config.session_secret : SecretKey::make()),
      pool(threads_for(config)),
      entities(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)),
      publisher(config, quantisation, pool.size()),
      fields(config.archetypes),
      encodings(pool.size()),
      snapshots(pool.size()),
      fresh(pool.size()),
      surroundings(config.interest, config.tick_rate_hz),
      ownership(config, quantisation, stats.refusals),
      log(config.log) {
  assert(config.tick_rate_hz >= 1.0 && config.tick_rate_hz <= 1000.0);
  assert(!config.archetypes.empty() && config.archetypes.size() <= kMaxArchetypes);
  for ([[maybe_unused]] const Archetype& archetype : config.archetypes)
    assert(is_valid(archetype.fields));
}

Server::Server(ServerConfig config, Transport& transport)
    : impl_(std::make_unique<Impl>(std::move(config), transport)) {}
Server::~Server() = default;

EntityId Server::spawn(std::size_t archetype, const std::string& name, const State& state, EntityId frame) {
  Impl& s = *impl_;
  if (archetype >= s.config.archetypes.size() || name.size() > kMaxNameBytes) return {};
  if (frame &&
      (s.entities.find(frame) == nullptr || s.entities.frames().fit({}, frame) != FrameTree::Fit::fits))
    return {};
  const State truth = s.relevant(s.counted(state, frame), archetype);
  if (!can_travel(truth, s.quantisation[archetype])) return {};

  const auto phase = static_cast<std::uint32_t>(s.entities.size());
  const EntityId id = s.entities.add(s.publisher.make_entity(archetype, name, truth, phase), s.next_tick);
  if (!id) return {};
  Entity& entity = *s.entities.find(id);
  s.fields.add(id, archetype, s.next_tick);
  if (frame) s.entities.put_into(entity, frame, truth);
  s.surroundings.place(entity, s.entities);
  s.spawned.push_back(id);
  return id;
}

bool Server::move(EntityId id, const State& truth) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr || entity->owned) return false;                          // its owner moves it
  prefetch(entity + 1, sizeof(EntityId) + sizeof(std::size_t) + sizeof(State));  // likely to be moved next
  return impl_->move(*entity, impl_->counted(truth, entity->frame));
}

bool Server::Impl::move(Entity& entity, const State& truth) {
  const State state = relevant(truth, entity.archetype);
  if (!can_travel(state, quantisation[entity.archetype])) return false;
  if (rests_at(entity, state)) return true;
  entity.truth = state;
  entities.awake().insert(static_cast<std::uint32_t>(entity.id.slot()));
  return true;
}

bool Server::teleport(EntityId id, const State& truth) {
  if (impl_->entities.find(id) != nullptr && impl_->entities.find(id)->owned)
    return impl_->put_owned(id, truth);
  if (!move(id, truth)) return false;
  Entity* entity = impl_->entities.find(id);
  entity->teleported = true;
  impl_->entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::despawn(EntityId id) {
  return impl_->end(id);
}

bool Server::set_relevance(EntityId id, Relevance relevance) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  entity->relevance = relevance;
  impl_->surroundings.place(*entity, impl_->entities);
  impl_->note_concern(id);
  return true;
}

bool Server::set_relevance(ClientId client, EntityId id, Relevance relevance) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr || impl_->entities.find(id) == nullptr) return false;
  session->view().set_relevance(id, relevance);
  return true;
}

bool Server::set_groups(EntityId id, std::uint32_t groups) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  entity->groups = groups;
  impl_->note_concern(id);
  return true;
}

bool Server::set_groups(ClientId client, std::uint32_t groups) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return false;
  session->view().groups = groups;
  session->view().changed = true;
  return true;
}

bool Server::set_view(ClientId client, const glm::dvec3& eye) {
  Session* session = impl_->sessions.find(client);
  const bool sane = std::isfinite(eye.x) && std::isfinite(eye.y) && std::isfinite(eye.z);
  if (session == nullptr || !sane) return false;
  ClientView& view = session->view();
  view.changed = view.changed || !view.eye;
  view.eye = eye + impl_->origin;
  return true;
}

bool Server::set_field(EntityId id, std::size_t field, const FieldValue& value) {
  return impl_->fields.set(id, field, value, impl_->next_tick);
}

std::optional<FieldValue> Server::field(EntityId id, std::size_t field) const {
  const FieldTable::Row* row = impl_->fields.find(id);
  if (row == nullptr || field >= row->values.size()) return std::nullopt;
  return row->values[field];
}

bool Server::send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                  std::optional<double> time_s) {
  Session* session = impl_->sessions.find(client);
  return session != nullptr && impl_->send_to(std::span{&session, 1}, payload, delivery, time_s) == 1;
}

std::size_t Server::broadcast(std::span<const std::byte> payload, Delivery delivery,
                              std::optional<double> time_s) {
  Impl& s = *impl_;
  s.receivers.clear();
  for (const auto& session : s.sessions.all())
    s.receivers.push_back(session.get());
  return s.send_to(s.receivers, payload, delivery, time_s);
}

std::optional<GameMessage> Server::poll_message() {
  return impl_->inbox.poll();
}

Result<RouteId> Server::add_route(const RouteDefinition& definition) {
  Impl& s = *impl_;
  const RouteMessage message{{static_cast<std::uint32_t>(s.routes.size() + 1)}, definition};
  std::vector<std::byte> buffer(kMaxControlBytes);
  const bool fits =
      message.route.value > kMaxRoutes || !can_travel(definition) || !encode(message, buffer).empty();
  if (!fits) return Error{"a route has too many points to be sent in one message"};
  Result<RouteId> id = s.routes.add(definition);  // says what else is wrong
  if (!id) return id;
  for (const auto& session : s.sessions.all())
    session->tell_route(message, s.transport);
  return id;
}

bool Server::follow(EntityId id, RouteId route) {
  Entity* entity = impl_->entities.find(id);
  const Route* found = impl_->routes.find(route);
  if (entity == nullptr || found == nullptr || entity->owned) return false;
  entity->follower.emplace(route, *found, impl_->config.archetypes[entity->archetype],
                           impl_->config.tick_rate_hz);
  impl_->entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::leave_route(EntityId id) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr || !entity->follower) return false;
  entity->follower.reset();
  return true;
}

bool Server::move_along(EntityId id, const RouteState& along) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr || !entity->follower) return false;
  const Route& route = entity->follower->route();
  if (!can_travel(along, route, impl_->quantisation[entity->archetype])) return false;
  const RouteState place = route.carried(along, 0.0);
  if (!impl_->move(*entity, route.state_at(place, 0.0))) return false;
  entity->follower->give(place);
  return true;
}

const Route* Server::route(RouteId id) const {
  return impl_->routes.find(id);
}

void Server::receive(double now_s) {
  impl_->present_s = now_s;
  impl_->transport.service(now_s);
  while (const auto event = impl_->transport.poll())
    impl_->handle(*event, now_s);
  impl_->close_idle(now_s);
}

void Server::tick(double now_s) {
  Impl& s = *impl_;
  const Tick tick = s.next_tick++;
  s.present_s = now_s;
  ++s.stats.ticks;
  s.say_what_ended();
  s.follow_playouts(now_s);
  s.tell_taken();
  s.review_surroundings(tick);
  const std::size_t told = s.events.size();
  s.ownership.run(s.entities, s.sessions, tick, s.time_of(tick), now_s, s.transport, s.events);
  s.log.owners(s.events, told);
  s.measure_levers();
  s.delays.run(s.entities, s.sessions);
  s.publisher.run(s.entities, s.routes, tick, s.time_of(tick), s.pool, s.stats);
  s.send(tick, now_s);
  s.transport.service(now_s);
  s.log.review(s.sessions, s.stats, s.config.tick_rate_hz, now_s);
}

Tick Server::next_tick() const {
  return impl_->next_tick;
}
double Server::tick_time_s(Tick tick) const {
  return impl_->time_of(tick);
}

std::optional<ServerEvent> Server::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  ServerEvent event = std::move(impl_->events.front());
  impl_->events.pop_front();
  return event;
}

PeerId Server::peer(ClientId client) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? session->peer() : PeerId{};
}

std::size_t Server::client_count() const {
  return impl_->sessions.size() - impl_->away.size();
}
std::size_t Server::entity_count() const {
  return impl_->entities.size();
}
const ServerStats& Server::stats() const {
  return impl_->stats;
}

std::optional<Motion> Server::published(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr || !entity->announced) return std::nullopt;
  return entity->levels[0].stream.motion();
}

void Server::shutdown() {
  Impl& s = *impl_;
  s.closing = true;
  s.log.closing(s.sessions.size());
  for (const auto& session : s.sessions.all())
    s.transport.disconnect(session->peer(), pack({EndReason::server_shutdown, 0}));
  for (const auto& [peer, since_s] : s.waiting)
    s.transport.disconnect(peer, pack({EndReason::server_shutdown, 0}));
  s.sessions.clear();
  s.away.clear();
  s.waiting.clear();
}

void Server::Impl::say_what_ended() {
  for (const auto& [id, at] : despawned) {
    for (const auto& session : sessions.all())
      session->unfollow(id, at);
  }
  despawned.clear();
}

void Server::Impl::review_surroundings(Tick tick) {
  surroundings.keep_up(entities, tick);
  for (const EntityId id : spawned) {
    Entity* entity = entities.find(id);
    if (entity == nullptr) continue;  // gone already
    for (const auto& session : sessions.all())
      surroundings.reconsider(*entity, *session, entities, tick);
  }
  spawned.clear();
  for (const auto& session : sessions.all()) {
    if (surroundings.is_due(*session, tick)) surroundings.update(*session, entities, tick);
  }
}

// True if a tick leaves its datagrams to one that is due already: most of a tick's cost is in sending, and
// what a server that is behind would send is overtaken at once.
bool Server::Impl::hold_back(Tick tick, double now_s) {
  const bool holds = now_s >= time_of(tick + 1) && held_back < kMostHeldBack;
  held_back = holds ? held_back + 1 : 0;
  return holds;
}

// Each client's datagrams are written and sent at once if there is one thread; else several write while none
// sends, because the transport is one thread's.
void Server::Impl::send(Tick tick, double now_s) {
  const Session::Step step{entities,
                           fields,
                           publisher.published(),
                           quantisation,
                           encodings,
                           tick,
                           time_of(tick),
                           now_s,
                           config.tick_rate_hz,
                           !fields.changes().empty(),
                           hold_back(tick, now_s),
                           config.coding};
  encodings.begin(entities, quantisation, config.tick_rate_hz);
  const bool alone = pool.size() == 1;
  const std::size_t shares = alone ? 1 : (sessions.size() + kSessionGrain - 1) / kSessionGrain;
  if (outboxes.size() < shares) outboxes.resize(shares);
  rooms.resize(sessions.size());
  const auto tell = [&](std::size_t i) {
    sessions.all()[i]->tell(step, transport);
    rooms[i] = transport.max_state_bytes(sessions.all()[i]->peer());
  };
  for (std::size_t i = 0; i < sessions.size() && !alone; ++i)
    tell(i);
  pool.run(sessions.size(), kSessionGrain, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (i + 2 < last) sessions.all()[i + 2]->fetch();
      if (i + 1 < last) sessions.all()[i + 1]->fetch_lists(step.published);
      if (alone) tell(i);
      Outbox& outbox = outboxes[alone ? 0 : i / kSessionGrain];
      Session::Desk desk{worker, snapshots[worker], fresh[worker], outbox};
      sessions.all()[i]->compose(step, rooms[i], desk);
      if (alone) outbox.flush(transport);
    }
  });
  fields.clear_changes();
  for (Outbox& outbox : outboxes)
    close_account(outbox);
}

// Sends what waits, adds up what was counted, and charges repairs to their entities' budgets like any other
// update.
void Server::Impl::close_account(Outbox& outbox) {
  outbox.flush(transport);
  add(stats, std::exchange(outbox.stats, {}));
  for (const std::uint32_t stream : outbox.repaired)
    entities.slots()[stream / kLevels].levels[stream % kLevels].policy.spent();
  outbox.repaired.clear();
}

}  // namespace reckoner
