// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/state_checks.hpp"
#include "server/src/entity_debug.hpp"
#include "server/src/mail/find_recipients.hpp"
#include "server/src/server_impl.hpp"

#include <utility>
#include <vector>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

unsigned threads_for(const ServerConfig& config, const ServerTestSwitches& switches) {
  if (switches.coding != nullptr || switches.observer != nullptr) return 1;
  return config.threads > 0 ? config.threads : hardware_threads();
}

ServerTestSwitches with_secret(ServerTestSwitches switches) {
  if (!switches.session_secret) switches.session_secret = SecretKey::make();
  return switches;
}

std::vector<Quantisation> quantisation_of(std::span<const Archetype> archetypes) {
  std::vector<Quantisation> all;
  for (const Archetype& archetype : archetypes)
    all.push_back(quantisation_for(archetype));
  return all;
}

// What the server sends to every client that joins, without the client's id and the tick.
WelcomeMessage welcome_for(const ServerConfig& config, std::span<const Quantisation> quantisation,
                           double longest_gap_s) {
  WelcomeMessage welcome;
  welcome.tick_rate_hz = config.tick_rate_hz;
  welcome.epoch_s = config.epoch_s;
  welcome.longest_gap_s = longest_gap_s;
  welcome.rewinds = config.rewind_s > 0.0;
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const Archetype& a = config.archetypes[i];
    welcome.archetypes.push_back(
        {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, quantisation[i].codes});
  }
  return welcome;
}

}  // namespace

Server::Impl::Impl(ServerConfig given, Transport& given_transport, const ServerTestSwitches& given_switches)
    : config(std::move(given)),
      transport(given_transport),
      switches(with_secret(given_switches)),
      quantisation(quantisation_of(config.archetypes)),
      log(config.log),
      events(log, stats),
      pool(threads_for(config, switches)),
      traffic(config.archetypes, pool.size()),
      time(config.epoch_s, config.tick_rate_hz),
      publisher(config, quantisation, pool.size(), switches.parts),
      interest(config.interest, config.tick_rate_hz),
      world(config, quantisation, time, publisher, interest, sessions, transport, stats.refusals, traffic),
      predictions(config, time, sessions, world),
      search(world.entities(), interest),
      mail(time, sessions, transport, stats, traffic),
      lobby(config, switches, welcome_for(config, quantisation, publisher.longest_sent_gap_s()), time,
            transport, sessions, world, mail, events, log),
      dispatcher(time, sessions, lobby, mail, world, playout, stats),
      sender(config, quantisation, switches, time, pool, sessions, motions, transport, stats, traffic) {
  for (Quantisation& q : quantisation)
    q.quiet.gap_s = static_cast<float>(quiet_gap_after(publisher.longest_sent_gap_s()));
  publisher.set_observer(switches.observer);
  log.threads(pool.size(), threads_for(config, switches));
}

// What the game does with entities.

SpawnResult Server::spawn(std::size_t archetype, const std::string& name, const State& state,
                          EntityId frame) {
  return impl_->world.spawn(archetype, name, state, frame, nullptr);
}

SpawnResult Server::spawn_short_lived(std::size_t archetype, const State& state, const ShortLived& life,
                                      EntityId frame) {
  return impl_->world.spawn_short_lived(archetype, state, life, frame);
}

CallResult Server::refuse_prediction(ClientId client, std::uint32_t key) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return CallError::unknown_client;
  session->refuse_prediction(key, impl_->time.next_tick());
  return {};
}

CallResult Server::move(EntityId id, const State& truth) {
  return impl_->world.states().move(id, truth);
}

CallResult Server::move_along(EntityId id, const RouteState& along) {
  return impl_->world.states().move_along(id, along);
}

CallResult Server::teleport(EntityId id, const State& truth) {
  return impl_->world.teleport(id, truth);
}

CallResult Server::despawn(EntityId id) {
  return impl_->world.end(id) ? CallError::none : CallError::unknown_entity;
}

CallResult Server::enter_frame(EntityId id, EntityId frame) {
  return impl_->world.enter_frame(id, frame);
}

EntityId Server::frame_of(EntityId id) const {
  const Entity* entity = impl_->world.find(id);
  return entity != nullptr ? entity->frame : EntityId{};
}

CallResult Server::set_boardable(EntityId id, bool boardable) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->short_lived) return CallError::short_lived;
  entity->boardable = boardable;
  return {};
}

CallResult Server::set_user_value(EntityId id, std::uint64_t value) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  entity->user_value = value;
  return {};
}

std::optional<std::uint64_t> Server::user_value(EntityId id) const {
  const Entity* entity = impl_->world.find(id);
  return entity != nullptr ? std::optional{entity->user_value} : std::nullopt;
}

CallResult Server::set_field(EntityId id, std::size_t field, const FieldValue& value) {
  if (impl_->world.find(id) == nullptr) return CallError::unknown_entity;
  return impl_->world.fields().set(id, field, value, impl_->time.next_tick());
}

std::optional<FieldValue> Server::field(EntityId id, std::size_t field) const {
  const FieldTable::Row* row = impl_->world.fields().find(id);
  if (row == nullptr || field >= row->values.size()) return std::nullopt;
  return row->values[field];
}

Result<RouteId> Server::add_route(const RouteDefinition& definition) {
  return impl_->world.add_route(definition);
}

const Route* Server::route(RouteId id) const {
  return impl_->world.routes().find(id);
}

CallResult Server::follow(EntityId id, RouteId route) {
  return impl_->world.follow(id, route);
}

CallResult Server::leave_route(EntityId id) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->follower) return CallError::no_route;
  entity->follower.reset();
  return {};
}

CallResult Server::let_predict(EntityId id, ClientId client, const PredictionRules& rules) {
  return impl_->predictions.let_predict(id, client, rules);
}

CallResult Server::stop_prediction(EntityId id, ClientId client) {
  return impl_->predictions.stop_prediction(id, client);
}

CallResult Server::set_game_state(EntityId id, std::span<const std::byte> bytes) {
  return impl_->predictions.set_game_state(id, bytes);
}

PlayerInput Server::input(ClientId client) {
  return impl_->predictions.input(client);
}

std::optional<PredictionStats> Server::prediction_stats(ClientId client) const {
  return impl_->predictions.stats(client);
}

CallResult Server::give(EntityId id, ClientId owner, const OwnershipRules& rules) {
  if (impl_->predictions.is_predicted(id)) return CallError::predicted;
  return impl_->world.ownership().give(id, owner, rules, impl_->time.next_tick());
}

CallResult Server::revoke(EntityId id) {
  return impl_->world.ownership().revoke(id);
}

std::optional<ClientId> Server::owner(EntityId id) const {
  return impl_->world.ownership().owner(id);
}

const OwnershipStats& Server::ownership_stats() const {
  return impl_->world.ownership().stats();
}

CallResult Server::set_origin(const glm::dvec3& origin) {
  if (!is_finite(origin)) return CallError::not_finite;
  impl_->world.states().set_origin(origin);
  return {};
}

// What the game asks about entities.

std::size_t Server::entity_count() const {
  return impl_->world.entities().size();
}

std::span<const EntityId> Server::entities() const {
  return impl_->search.all();
}

std::span<const EntityId> Server::entities_near(const glm::dvec3& centre, double radius_m) const {
  return impl_->search.near(centre + impl_->world.states().origin(), radius_m);
}

std::optional<State> Server::state(EntityId id) const {
  return impl_->world.states().state(id);
}

std::optional<State> Server::in_world(EntityId id) const {
  return impl_->world.states().in_world(id);
}

std::optional<Motion> Server::published(EntityId id) const {
  const Entity* entity = impl_->world.find(id);
  if (entity == nullptr || !entity->announced) return std::nullopt;
  return entity->levels[0].stream.motion();
}

std::optional<EntityDebug> Server::debug(EntityId id) const {
  const Impl& s = *impl_;
  const Entity* entity = s.world.find(id);
  if (entity == nullptr || s.time.next_tick() == 0) return std::nullopt;
  return debug_data(*entity, s.config.archetypes[entity->archetype], s.world, s.time.at(s.time.last_tick()));
}

// Relevance.

CallResult Server::set_relevance(EntityId id, Relevance relevance) {
  return impl_->world.set_relevance(id, relevance);
}

CallResult Server::set_groups(EntityId id, std::uint32_t groups) {
  return impl_->world.set_groups(id, groups);
}

CallResult Server::set_relevance(ClientId client, EntityId id, Relevance relevance) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return CallError::unknown_client;
  if (impl_->world.find(id) == nullptr) return CallError::unknown_entity;
  session->view().set_relevance(id, relevance);
  return {};
}

CallResult Server::set_groups(ClientId client, std::uint32_t groups) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return CallError::unknown_client;
  session->view().groups = groups;
  session->view().changed = true;
  return {};
}

CallResult Server::set_view(ClientId client, const glm::dvec3& eye) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return CallError::unknown_client;
  if (!is_finite(eye)) return CallError::not_finite;
  ClientView& view = session->view();
  view.changed = view.changed || !view.eye;
  view.eye = eye + impl_->world.states().origin();
  return {};
}

// Game messages.

CallResult Server::send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                        std::optional<double> time_s) {
  return impl_->mail.send(client, payload, delivery, time_s);
}

std::size_t Server::broadcast(std::span<const std::byte> payload, Delivery delivery,
                              std::optional<double> time_s) {
  const auto sent = broadcast(Recipients::all(), payload, delivery, time_s);
  return sent ? *sent : 0;
}

Result<std::size_t, CallError> Server::broadcast(const Recipients& to, std::span<const std::byte> payload,
                                                 Delivery delivery, std::optional<double> time_s) {
  const CallError why = find_recipients(to, impl_->sessions, impl_->world.entities(),
                                        impl_->world.states().origin(), impl_->recipients);
  if (why != CallError::none) return why;
  return impl_->mail.broadcast(impl_->recipients, payload, delivery, time_s);
}

std::optional<GameMessage> Server::poll_message() {
  return impl_->mail.poll();
}

// Receiving and ticks.

// A refused time counts as the time of the last call.
double Server::Impl::checked(double now_s) {
  if (!time.set_present(now_s)) ++stats.times_refused;
  return time.present_s();
}

void Server::receive(double now_s) {
  Impl& s = *impl_;
  now_s = s.checked(now_s);
  s.transport.service(now_s);
  while (const auto event = s.transport.poll())
    s.dispatcher.dispatch(*event, now_s);
  s.lobby.expire(now_s);
  s.lobby.send_last(now_s);
  s.mail.send_early(now_s);
}

void Server::tick(double now_s) {
  Impl& s = *impl_;
  EntityTable& entities = s.world.entities();
  now_s = s.checked(now_s);

  // The game has moved the entities; short-lived ones move and end without it.
  s.world.end_planned();
  s.world.fly();
  const Tick tick = s.time.begin_tick();
  ++s.stats.ticks;

  // Mail, and which entities each client follows.
  s.world.announce_ends();
  s.playout.apply_due(now_s, s.sessions, entities);
  s.mail.deliver_waiting();
  s.mail.confirm_delivered();
  s.interest.review(s.sessions, entities, tick);

  // What to publish of the entities.
  s.events.collect_owner_events(
      [&](auto& events) { s.world.ownership().run(tick, s.time.at(tick), now_s, events); });
  s.levers.measure(entities, s.time.next_tick());
  s.delays.run(entities, s.sessions);
  s.distant_delay.apply(entities);
  const bool late = now_s >= s.time.at(s.time.next_tick());
  s.publisher.run(entities, s.world.routes(), tick, s.time.at(tick), late, s.pool, s.stats);
  s.log.missing_velocities(s.config.archetypes, s.publisher.missing_velocities());
  s.predictions.run(tick, now_s);  // teleports are counted by now

  // What each client lacks goes out.
  s.sender.send(s.world, s.publisher.published(), tick, now_s);
  s.mail.note_tick();
  s.transport.service(now_s);
  s.log.review(s.sessions, s.stats, s.config.tick_rate_hz, now_s);
}

Tick Server::next_tick() const {
  return impl_->time.next_tick();
}
bool Server::is_tick_due() const {
  const ServerTime& time = impl_->time;
  return time.has_present() && time.at(time.next_tick()) <= time.present_s();
}
double Server::tick_time_s(Tick tick) const {
  return impl_->time.at(tick);
}

std::optional<ServerEvent> Server::poll_event() {
  return impl_->events.poll();
}

PeerId Server::peer(ClientId client) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? session->peer() : PeerId{};
}

std::size_t Server::client_count() const {
  return impl_->lobby.connected_clients();
}
std::size_t Server::closing_count() const {
  return impl_->lobby.closing();
}
std::span<const ClientId> Server::clients() const {
  return impl_->sessions.ids();
}
std::optional<SessionStats> Server::session_stats(ClientId client) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? std::optional{session->stats()} : std::nullopt;
}
const ServerStats& Server::stats() const {
  return impl_->stats;
}
std::span<const Archetype> Server::archetypes() const {
  return impl_->config.archetypes;
}
SentTraffic Server::traffic() const {
  return impl_->traffic.total();
}
std::optional<EntityTraffic> Server::traffic_of(EntityId id) const {
  if (impl_->world.find(id) == nullptr) return std::nullopt;
  return impl_->traffic.of(static_cast<std::uint32_t>(id.slot()));
}

CallResult Server::kick(ClientId client, std::string_view reason) {
  return impl_->lobby.kick(client, reason);
}

std::size_t Server::kick_player(std::uint64_t client_id, std::string_view reason) {
  return impl_->lobby.kick_player(client_id, reason);
}

void Server::shutdown() {
  impl_->lobby.shut_down();
}

// Lag compensation: what clients showed.

std::optional<Pose> Server::pose_seen_by(ClientId client, EntityId entity, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  const auto state = session ? session->seen().shown(entity, time_s, impl_->time.present_s()) : std::nullopt;
  if (!state) return std::nullopt;
  return Pose{state->position - impl_->world.states().origin(), state->orientation};
}

RewindStatus Server::rewind_status(ClientId client, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? session->seen().status(time_s, impl_->time.present_s())
                            : RewindStatus::unavailable;
}

std::span<const SeenPose> Server::rewind(ClientId client, double time_s) {
  Impl& s = *impl_;
  s.seen.clear();
  const Session* session = s.sessions.find(client);
  if (session != nullptr) session->seen().shown(time_s, s.time.present_s(), s.seen);
  for (SeenPose& seen : s.seen)
    seen.pose.position -= s.world.states().origin();
  return s.seen;
}

}  // namespace reckoner
