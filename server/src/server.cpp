// SPDX-License-Identifier: MIT
#include "delay_survey.hpp"
#include "encodings.hpp"
#include "entity_table.hpp"
#include "publisher.hpp"
#include "session_table.hpp"
#include "surroundings.hpp"
#include "worker_pool.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include <reckoner/net/messages.hpp>
#include <reckoner/net/route_codec.hpp>
#include <reckoner/net/route_table.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

// Longer than any client accepts a state datagram after it was sent (see Client), with room to spare.
constexpr double kSlotQuarantineS = 5.0;

// Sessions that one worker takes at a time.
constexpr std::size_t kSessionGrain = 16;

unsigned threads_for(const ServerConfig& config) {
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

struct Server::Impl {
  Impl(ServerConfig given, Transport& given_transport)
      : config(std::move(given)),
        transport(given_transport),
        quantisation(quantisation_of(config.archetypes)),
        pool(threads_for(config)),
        entities(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)),
        publisher(config, quantisation, pool.size()),
        encodings(pool.size()),
        surroundings(config.interest, config.tick_rate_hz) {
    assert(config.tick_rate_hz >= 1.0 && config.tick_rate_hz <= 1000.0);
    assert(!config.archetypes.empty() && config.archetypes.size() <= kMaxArchetypes);
  }

  [[nodiscard]] double time_of(Tick tick) const { return config.epoch_s + tick / config.tick_rate_hz; }

  // The truth as it may be published: without an orientation where the archetype has none.
  [[nodiscard]] State relevant(const State& truth, std::size_t archetype) const {
    State state = truth;
    if (!config.archetypes[archetype].has_orientation) {
      state.orientation = State{}.orientation;
      state.angular_velocity = glm::vec3{0.0f};
    }
    return state;
  }

  void handle(const TransportEvent& event, double now_s);
  void handle_control(const TransportEvent& event);
  void handle_state(const TransportEvent& event, double now_s);
  void join(PeerId peer, const JoinMessage& message);
  void refuse(PeerId peer, const EndCode& code);
  void close_idle(double now_s);
  void say_what_ended();
  void review_surroundings(Tick tick);
  void send(Tick tick, double now_s);

  ServerConfig config;
  Transport& transport;
  std::vector<Quantisation> quantisation;  // by archetype
  WorkerPool pool;
  EntityTable entities;
  RouteTable routes;  // published motions point into it
  Publisher publisher;
  Encodings encodings;
  Surroundings surroundings;
  DelaySurvey delays;
  SessionTable sessions;
  std::map<PeerId, double> waiting;                  // connected at, not joined yet
  std::vector<EntityId> spawned;                     // since the last tick
  std::vector<std::pair<EntityId, Tick>> despawned;  // since the last tick
  std::deque<ServerEvent> events;
  std::vector<std::size_t> rooms;       // scratch, by session: the largest datagram
  std::vector<std::uint32_t> repaired;  // scratch: slot x kLevels + level
  bool closing = false;
  Tick next_tick = 0;
  std::uint32_t next_client = 1;
  ServerStats stats;
};

Server::Server(ServerConfig config, Transport& transport)
    : impl_(std::make_unique<Impl>(std::move(config), transport)) {}
Server::~Server() = default;

EntityId Server::spawn(std::size_t archetype, const std::string& name, const State& state) {
  Impl& s = *impl_;
  if (archetype >= s.config.archetypes.size() || name.size() > kMaxNameBytes) return {};
  const State truth = s.relevant(state, archetype);
  if (!can_travel(truth, s.quantisation[archetype])) return {};

  const auto phase = static_cast<std::uint32_t>(s.entities.size());
  const EntityId id = s.entities.add(s.publisher.make_entity(archetype, name, truth, phase), s.next_tick);
  if (id) {
    s.surroundings.place(*s.entities.find(id));
    s.spawned.push_back(id);
  }
  return id;
}

bool Server::move(EntityId id, const State& truth) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  const State state = impl_->relevant(truth, entity->archetype);
  if (!can_travel(state, impl_->quantisation[entity->archetype])) return false;
  if (rests_at(*entity, state)) return true;
  entity->truth = state;
  impl_->entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::teleport(EntityId id, const State& truth) {
  if (!move(id, truth)) return false;
  Entity* entity = impl_->entities.find(id);
  entity->teleported = true;
  impl_->entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::despawn(EntityId id) {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  if (entity->announced) impl_->despawned.emplace_back(id, impl_->next_tick);
  impl_->surroundings.remove(static_cast<std::uint32_t>(id.slot()));
  impl_->entities.remove(id, impl_->next_tick);
  return true;
}

bool Server::set_relevance(EntityId id, Relevance relevance) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  entity->relevance = relevance;
  impl_->surroundings.place(*entity);
  impl_->spawned.push_back(id);
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
  impl_->spawned.push_back(id);
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
  view.eye = eye;
  return true;
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
  if (entity == nullptr || found == nullptr) return false;
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
  if (!move(id, route.state_at(place, 0.0))) return false;
  entity->follower->give(place);
  return true;
}

const Route* Server::route(RouteId id) const {
  return impl_->routes.find(id);
}

void Server::receive(double now_s) {
  impl_->transport.service(now_s);
  while (const auto event = impl_->transport.poll())
    impl_->handle(*event, now_s);
  impl_->close_idle(now_s);
}

void Server::tick(double now_s) {
  Impl& s = *impl_;
  const Tick tick = s.next_tick++;
  ++s.stats.ticks;
  s.say_what_ended();
  s.review_surroundings(tick);
  s.delays.run(s.entities, s.sessions);
  s.publisher.run(s.entities, s.routes, tick, s.time_of(tick), s.pool, s.stats);
  s.send(tick, now_s);
  s.transport.service(now_s);
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

std::size_t Server::client_count() const {
  return impl_->sessions.size();
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
  for (const auto& session : s.sessions.all())
    s.transport.disconnect(session->peer(), pack({EndReason::server_shutdown, 0}));
  for (const auto& [peer, since_s] : s.waiting)
    s.transport.disconnect(peer, pack({EndReason::server_shutdown, 0}));
  s.sessions.clear();
  s.waiting.clear();
}

void Server::Impl::handle(const TransportEvent& event, double now_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      if (closing) {
        transport.disconnect(event.peer, pack({EndReason::server_shutdown, 0}));
      } else {
        waiting.emplace(event.peer, now_s);
      }
      break;
    case TransportEvent::Kind::disconnected: {
      waiting.erase(event.peer);
      const Session* session = sessions.find(event.peer);
      if (session == nullptr) break;
      events.push_back({ServerEvent::Kind::client_left, session->id(), "left"});
      Surroundings::release(*session, entities);
      sessions.remove(event.peer);
      break;
    }
    case TransportEvent::Kind::received:
      if (event.channel == Channel::control) {
        handle_control(event);
      } else {
        handle_state(event, now_s);
      }
      break;
  }
}

void Server::Impl::handle_control(const TransportEvent& event) {
  const auto message = decode_control(event.payload);
  const auto* join_message = message ? std::get_if<JoinMessage>(&*message) : nullptr;
  if (join_message != nullptr && waiting.contains(event.peer)) {
    join(event.peer, *join_message);
    return;
  }
  ++stats.malformed;
  if (waiting.contains(event.peer)) refuse(event.peer, {EndReason::malformed, 0});
}

void Server::Impl::handle_state(const TransportEvent& event, double now_s) {
  Session* session = sessions.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (session == nullptr || !datagram || !session->receive(*datagram, now_s, stats)) ++stats.malformed;
}

void Server::Impl::join(PeerId peer, const JoinMessage& message) {
  if (message.version != kProtocolVersion) return refuse(peer, {EndReason::version, kProtocolVersion});
  if (message.archetype_hash != archetype_hash(config.archetypes))
    return refuse(peer, {EndReason::archetypes, 0});
  if (sessions.size() >= config.max_clients) return refuse(peer, {EndReason::full, 0});

  waiting.erase(peer);
  WelcomeMessage welcome;
  welcome.client = {next_client++};
  welcome.tick_rate_hz = config.tick_rate_hz;
  welcome.epoch_s = config.epoch_s;
  welcome.tick = next_tick == 0 ? 0 : next_tick - 1;
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const Archetype& a = config.archetypes[i];
    welcome.archetypes.push_back(
        {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, quantisation[i].codes});
  }
  std::vector<std::byte> buffer(kMaxControlBytes);
  transport.send(peer, Channel::control, encode(welcome, buffer));

  Session& session = sessions.add(welcome.client, peer, config);
  session.view().shows_past = message.shows_past;
  for (std::uint32_t route = 1; route <= routes.size(); ++route)
    session.tell_route({{route}, routes.find({route})->definition()}, transport);
  events.push_back({ServerEvent::Kind::client_joined, welcome.client, {}});
}

void Server::Impl::refuse(PeerId peer, const EndCode& code) {
  waiting.erase(peer);
  events.push_back({ServerEvent::Kind::client_refused, {}, describe(code)});
  transport.disconnect(peer, pack(code));
}

void Server::Impl::close_idle(double now_s) {
  for (auto it = waiting.begin(); it != waiting.end();) {
    const auto [peer, since_s] = *it++;
    if (now_s - since_s > config.join_timeout_s) refuse(peer, {EndReason::join_timeout, 0});
  }
}

void Server::Impl::say_what_ended() {
  for (const auto& [id, at] : despawned) {
    for (const auto& session : sessions.all())
      session->unfollow(id, at, transport);
  }
  despawned.clear();
}

void Server::Impl::review_surroundings(Tick tick) {
  surroundings.place_moving(entities, tick);
  for (const EntityId id : spawned) {
    Entity* entity = entities.find(id);
    if (entity == nullptr) continue;  // gone already
    for (const auto& session : sessions.all())
      surroundings.reconsider(*entity, *session, entities, tick, transport);
  }
  spawned.clear();
  for (const auto& session : sessions.all()) {
    if (surroundings.is_due(*session, tick)) surroundings.update(*session, entities, tick, transport);
  }
}

// In steps: what the clients need is asked for, made once, put together for each, and sent. Between the steps
// all workers meet; the transport is one thread's.
void Server::Impl::send(Tick tick, double now_s) {
  const Session::Step step{entities, publisher.published(), quantisation, encodings,
                           tick,     time_of(tick),         now_s};
  encodings.clear(entities.slots().size());
  rooms.clear();
  for (const auto& session : sessions.all()) {
    session->tell(step, transport);
    rooms.push_back(transport.max_state_bytes(session->peer()));
  }
  pool.run(sessions.size(), kSessionGrain, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      sessions.all()[i]->prepare(step, worker);
  });
  encodings.make(pool, entities, quantisation, config.tick_rate_hz);
  pool.run(sessions.size(), kSessionGrain, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      sessions.all()[i]->write(step, rooms[i]);
  });
  repaired.clear();
  for (const auto& session : sessions.all())
    session->flush(transport, stats, repaired);
  // A repair is charged to the entity's budget like any other update.
  for (const std::uint32_t stream : repaired)
    entities.slots()[stream / kLevels].levels[stream % kLevels].policy.spent();
}

}  // namespace reckoner
