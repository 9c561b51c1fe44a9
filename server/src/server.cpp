// SPDX-License-Identifier: MIT
#include "entity_table.hpp"
#include "session.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include <reckoner/net/messages.hpp>
#include <reckoner/net/route_codec.hpp>
#include <reckoner/net/route_table.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

// Longer than any client accepts a state datagram after it was sent (see Client), with room to spare.
constexpr double kSlotQuarantineS = 5.0;

// Delay is taken at this quantile of the subscribers, so that no single client bends it for the others.
constexpr double kDelayQuantile = 0.9;

// An update that has arrived takes so long until it shows: half a blend.
constexpr double kTakesEffectS = 0.05;

}  // namespace

struct Server::Impl {
  Impl(ServerConfig given, Transport& given_transport)
      : config(std::move(given)),
        transport(given_transport),
        entities(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)) {
    assert(config.tick_rate_hz >= 1.0 && config.tick_rate_hz <= 1000.0);
    assert(!config.archetypes.empty() && config.archetypes.size() <= kMaxArchetypes);
    for (const Archetype& archetype : config.archetypes)
      quantisation.push_back(quantisation_for(archetype));
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
  void publish_due(Tick tick);
  void publish(Entity& entity, Tick tick);
  [[nodiscard]] bool rides(const Entity& entity) const;
  [[nodiscard]] SendPolicy::Comparison compare(const Entity& entity, double time_s, double ahead_s) const;
  [[nodiscard]] double delay_s() const;

  ServerConfig config;
  Transport& transport;
  EntityTable entities;
  std::vector<Quantisation> quantisation;  // by archetype
  RouteTable routes;                       // published motions point into it
  std::map<PeerId, Session> sessions;      // in order of joining, so that results do not depend on hashes
  std::map<PeerId, double> waiting;        // connected at, not joined yet
  std::vector<std::pair<EntityId, Tick>> despawned;  // since the last tick
  std::deque<ServerEvent> events;
  std::vector<std::uint32_t> repaired;  // scratch
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

  const Archetype& kind = s.config.archetypes[archetype];
  const SendPolicyConfig policy{s.config.tick_rate_hz, kind.threshold_m, kind.threshold_rad,
                                s.config.updates_per_second, s.config.fixed_rate_hz};
  Entity entity{.id = {},
                .archetype = archetype,
                .name = name,
                .truth = truth,
                .published = {},
                .encoded = {},
                .fit = MotionFit{s.config.tick_rate_hz},
                .policy = SendPolicy{policy, static_cast<std::uint32_t>(s.entities.size())}};
  return s.entities.add(std::move(entity), s.next_tick);
}

bool Server::move(EntityId id, const State& truth) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  const State state = impl_->relevant(truth, entity->archetype);
  if (!can_travel(state, impl_->quantisation[entity->archetype])) return false;
  entity->truth = state;
  return true;
}

bool Server::teleport(EntityId id, const State& truth) {
  if (!move(id, truth)) return false;
  Entity* entity = impl_->entities.find(id);
  entity->teleported = true;
  return true;
}

bool Server::despawn(EntityId id) {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  if (entity->announced) impl_->despawned.emplace_back(id, impl_->next_tick);
  impl_->entities.remove(id, impl_->next_tick);
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
  for (auto& [peer, session] : s.sessions)
    session.tell_route(message, s.transport);
  return id;
}

bool Server::follow(EntityId id, RouteId route) {
  Entity* entity = impl_->entities.find(id);
  const Route* found = impl_->routes.find(route);
  if (entity == nullptr || found == nullptr) return false;
  entity->follower.emplace(route, *found, impl_->config.archetypes[entity->archetype],
                           impl_->config.tick_rate_hz);
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
  for (const auto& [id, at] : s.despawned) {
    for (auto& [peer, session] : s.sessions)
      session.retract(id, at, s.transport);
  }
  s.despawned.clear();
  s.publish_due(tick);
  for (auto& [peer, session] : s.sessions) {
    s.repaired.clear();
    session.send(
        {s.entities, s.quantisation, tick, s.time_of(tick), now_s, s.transport, s.stats, s.repaired});
    // A repair is charged to the entity's budget like any other update.
    for (const std::uint32_t slot : s.repaired)
      s.entities.slots()[slot].policy.spent();
  }
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
  return entity->published;
}

void Server::shutdown() {
  Impl& s = *impl_;
  s.closing = true;
  for (const auto& [peer, session] : s.sessions)
    s.transport.disconnect(peer, pack({EndReason::server_shutdown, 0}));
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
      const auto session = sessions.find(event.peer);
      if (session == sessions.end()) break;
      events.push_back({ServerEvent::Kind::client_left, session->second.id(), "left"});
      sessions.erase(session);
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
  const auto session = sessions.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (session == sessions.end() || !datagram || !session->second.receive(*datagram, now_s, entities, stats)) {
    ++stats.malformed;
  }
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

  Session& session = sessions.try_emplace(peer, welcome.client, peer, config).first->second;
  for (std::uint32_t route = 1; route <= routes.size(); ++route)
    session.tell_route({{route}, routes.find({route})->definition()}, transport);
  for (const Entity& entity : entities.slots()) {
    if (entity.id && entity.announced) session.announce(entity);
  }
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

void Server::Impl::publish_due(Tick tick) {
  const double ahead_s = delay_s() + kTakesEffectS;
  for (Entity& entity : entities.slots()) {
    if (!entity.id) continue;
    if (entity.teleported) {
      entity.fit.restart();
      if (entity.follower) entity.follower->restart();
      entity.teleports = static_cast<std::uint8_t>((entity.teleports + 1) % kTeleportModulus);
    }
    entity.fit.observe(entity.truth);
    if (entity.follower) entity.follower->observe(entity.truth);
    if (!entity.announced) {
      publish(entity, tick);
      entity.announced = true;
      for (auto& [peer, session] : sessions)
        session.announce(entity);
    } else {
      const bool due = entity.policy.due(compare(entity, time_of(tick), ahead_s), tick);
      // On to a route, or off it, at once; where a budget or a rate decides, when it allows.
      const RouteId wanted = rides(entity) ? entity.follower->id() : RouteId{};
      const bool changed = wanted != entity.encoded.along.route && config.updates_per_second <= 0.0 &&
                           config.fixed_rate_hz <= 0.0;
      if (due || changed || entity.teleported) {
        publish(entity, tick);
        for (auto& [peer, session] : sessions)
          session.published(entity, tick);
      }
    }
    entity.teleported = false;
    if (entity.encoded.along.route) ++stats.route_entity_ticks;
  }
}

// True if the entity is to be published on its route.
bool Server::Impl::rides(const Entity& entity) const {
  return entity.follower && entity.follower->on_route() &&
         can_travel(entity.follower->place(), entity.follower->route(), quantisation[entity.archetype]);
}

// The entity against what clients have. On a route only the way along it counts: how far the truth is beside
// it is within the thresholds, and nothing that could be sent would change it.
SendPolicy::Comparison Server::Impl::compare(const Entity& entity, double time_s, double ahead_s) const {
  const State published = state_at(entity.published, time_s);
  const State published_ahead = state_at(entity.published, time_s + ahead_s);
  if (!rides(entity)) {
    const State expected = extrapolate(entity.fit.fitted(entity.truth), ahead_s);
    return {entity.truth, published, expected, published_ahead};
  }
  const Motion motion = entity.follower->motion(time_s);
  return {motion.state, published, state_at(motion, time_s + ahead_s), published_ahead};
}

void Server::Impl::publish(Entity& entity, Tick tick) {
  const Quantisation& q = quantisation[entity.archetype];
  const std::uint8_t precision = precision_for(entity.policy.scale());
  if (rides(entity)) {
    const RouteFollower& follower = *entity.follower;
    entity.encoded =
        quantise(follower.id(), follower.route(), follower.place(), entity.teleports, precision, q);
  } else {
    State state = entity.fit.fitted(entity.truth);
    if (!can_travel(state, q)) state = entity.truth;  // the truth was checked, what is fitted can be anything
    entity.encoded = quantise(state, entity.teleports, precision, q);
  }
  entity.published = *motion_of(entity.encoded, time_of(tick), q, routes);
  entity.published_tick = tick;
  entity.policy.spent();
  ++stats.publishes;
}

double Server::Impl::delay_s() const {
  std::vector<double> delays;
  for (const auto& [peer, session] : sessions) {
    if (session.link().known()) delays.push_back(session.link().one_way_s());
  }
  if (delays.empty()) return 0.0;
  const auto rank = static_cast<std::ptrdiff_t>(kDelayQuantile * static_cast<double>(delays.size() - 1));
  std::nth_element(delays.begin(), delays.begin() + rank, delays.end());
  return delays[static_cast<std::size_t>(rank)];
}

}  // namespace reckoner
