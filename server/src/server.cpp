// SPDX-License-Identifier: MIT
#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "reckoning/src/motion/state_checks.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/server_impl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// Time for which a freed slot is not used again, s. It is longer than the delay at which a client still
// accepts a state datagram (see Client).
constexpr double kSlotQuarantineS = 5.0;

// Number of sessions that one worker processes at a time.
constexpr std::size_t kSessionGrain = 16;

// Largest number of ticks in a row that may leave their datagrams to a later tick.
constexpr int kMaxHeldBack = 3;

unsigned threads_for(const ServerConfig& config, const ServerTestSwitches& switches) {
  if (switches.coding != nullptr || switches.observer != nullptr) return 1;
  return config.threads > 0 ? config.threads : hardware_threads();
}

ServerTestSwitches with_secret(ServerTestSwitches switches) {
  if (!switches.session_secret) switches.session_secret = SecretKey::make();
  return switches;
}

// True if the entity did not move in the last tick and `state` leaves it at rest, so the entity need not wake
// up.
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

Server::Impl::Impl(ServerConfig given, Transport& given_transport, const ServerTestSwitches& given_switches)
    : config(std::move(given)),
      transport(given_transport),
      quantisation(quantisation_of(config.archetypes)),
      switches(with_secret(given_switches)),
      pool(threads_for(config, switches)),
      entities(config.max_entities, static_cast<Tick>(kSlotQuarantineS * config.tick_rate_hz)),
      publisher(config, quantisation, pool.size(), switches.parts),
      fields(config.archetypes),
      encodings(pool.size()),
      snapshots(pool.size()),
      fresh(pool.size()),
      interest(config.interest, config.tick_rate_hz),
      ownership(config, quantisation, stats.refusals),
      log(config.log) {
  for (Quantisation& q : quantisation)
    q.quiet.gap_s = static_cast<float>(quiet_gap_after(publisher.longest_sent_gap_s()));
  publisher.set_observer(switches.observer);
  log.threads(pool.size(), threads_for(config, switches));
}

SpawnResult Server::spawn(std::size_t archetype, const std::string& name, const State& state,
                          EntityId frame) {
  return impl_->spawn(archetype, name, state, frame, nullptr);
}

SpawnResult Server::spawn_short_lived(std::size_t archetype, const State& state, const ShortLived& life,
                                      EntityId frame) {
  Impl& s = *impl_;
  if (archetype >= s.config.archetypes.size()) return CallError::unknown_archetype;
  const std::size_t bytes = life.data.size() + max_values_bytes(s.config.archetypes[archetype].fields);
  if (life.data.size() > kMaxSpawnDataBytes || bytes > kMaxShortLivedBytes) return CallError::data_too_long;
  const double next_s = s.time_of(s.next_tick);
  if (life.end_s && !(*life.end_s > next_s && *life.end_s <= next_s + kMaxShortLifeS))
    return CallError::end_out_of_range;
  auto info = std::make_unique<ShortLivedInfo>();
  info->end_s = life.end_s;
  info->data.assign(life.data.begin(), life.data.end());
  info->predicted_by = life.predicted_by;
  info->prediction = life.prediction;
  return s.spawn(archetype, {}, state, frame, std::move(info));
}

bool Server::refuse_prediction(ClientId client, std::uint32_t key) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return false;
  session->refuse_prediction(key, impl_->next_tick);
  return true;
}

SpawnResult Server::Impl::spawn(std::size_t archetype, const std::string& name, const State& state,
                                EntityId frame, std::unique_ptr<ShortLivedInfo> short_lived, EntityId as) {
  Impl& s = *this;
  if (archetype >= s.config.archetypes.size()) return CallError::unknown_archetype;
  if (name.size() > kMaxNameBytes) return CallError::name_too_long;
  const Entity* outer = s.entities.find(frame);
  if (frame && (outer == nullptr || outer->short_lived)) return CallError::unknown_frame;
  if (frame && s.entities.frames().fit({}, frame) != FrameTree::Fit::fits) return CallError::too_deep;
  const State truth = s.publishable(s.to_server_coordinates(state, frame), archetype);
  if (const auto why = find_unencodable(truth, s.quantisation[archetype]); why != CallError::none) return why;

  const auto phase = static_cast<std::uint32_t>(s.entities.size());
  const auto make = [&] { return s.publisher.make_entity(archetype, name, truth, phase); };
  const EntityId id = as ? s.entities.add_as(as, make) : s.entities.add(make(), s.next_tick);
  if (!id) return CallError::world_full;
  Entity& entity = *s.entities.find(id);
  entity.way_tick = s.next_tick;
  if (short_lived && short_lived->end_s) s.planned_ends.emplace(*short_lived->end_s, id);
  if (short_lived) {
    short_lived->launch = {truth, s.time_of(s.next_tick)};
    s.flying.push_back(id);
  }
  entity.short_lived = std::move(short_lived);
  s.fields.add(id, archetype, s.next_tick);
  if (frame) s.entities.put_into(entity, frame, truth);
  s.interest.set_position(entity, s.entities);
  s.relevance_changed.push_back(id);
  return id;
}

CallResult Server::move(EntityId id, const State& truth) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->owned) return CallError::owned;
  // Games often move entities in order of slot, so prefetch the next one.
  prefetch(entity + 1, sizeof(EntityId) + sizeof(std::size_t) + sizeof(State));
  const State state = impl_->to_server_coordinates(truth, entity->frame);
  if (!impl_->spend_way(*entity, state.position)) return CallError::too_fast;
  return impl_->move(*entity, state);
}

// True if the entity can have moved to this position at its top speed since its last move. Games step with
// their own clocks, so it may be ahead by one second at that speed (token bucket).
bool Server::Impl::spend_way(Entity& entity, const glm::dvec3& to) const {
  constexpr float kMostAheadS = 1.0f;
  const glm::dvec3 way = glm::abs(to - entity.truth.position);
  const double way_s = std::max({way.x, way.y, way.z}) / config.archetypes[entity.archetype].max_speed_mps;
  const double since_s = (next_tick - entity.way_tick) / config.tick_rate_hz;
  const auto left_s = static_cast<float>(entity.way_left_s + since_s - way_s);
  if (left_s < 0.0f) return false;
  entity.way_left_s = std::min(kMostAheadS, left_s);
  entity.way_tick = next_tick;
  return true;
}

CallResult Server::Impl::move(Entity& entity, const State& truth) {
  if (entity.short_lived) entity.short_lived->launch.reset();
  return move_to(entity, truth);
}

CallResult Server::Impl::move_to(Entity& entity, const State& truth) {
  const State state = publishable(truth, entity.archetype);
  const CallError why = find_unencodable(state, quantisation[entity.archetype]);
  if (why != CallError::none || rests_at(entity, state)) return why;
  entity.truth = state;
  entities.awake().insert(static_cast<std::uint32_t>(entity.id.slot()));
  return {};
}

CallResult Server::teleport(EntityId id, const State& truth) {
  if (impl_->entities.find(id) != nullptr && impl_->entities.find(id)->owned)
    return impl_->put_owned(id, truth);
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  const State state = impl_->to_server_coordinates(truth, entity->frame);
  if (const CallResult moved = impl_->move(*entity, state); !moved) return moved;
  entity->teleported = true;
  impl_->entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return {};
}

bool Server::despawn(EntityId id) {
  return impl_->end(id);
}

bool Server::set_relevance(EntityId id, Relevance relevance) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  entity->relevance = relevance;
  impl_->interest.set_position(*entity, impl_->entities);
  impl_->note_relevance_change(id);
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
  impl_->note_relevance_change(id);
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
  if (session == nullptr || !is_finite(eye)) return false;
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
      message.route.value > kMaxRoutes || !is_encodable(definition) || !encode(message, buffer).empty();
  if (!fits) return Error{"a route has too many points to be sent in one message"};
  Result<RouteId> id = s.routes.add(definition);  // add() reports all other errors
  if (!id) return id;
  for (const auto& session : s.sessions.all())
    session->send_route(message, s.transport);
  return id;
}

bool Server::follow(EntityId id, RouteId route) {
  Entity* entity = impl_->entities.find(id);
  const Route* found = impl_->routes.find(route);
  if (entity == nullptr || found == nullptr || entity->owned) return false;
  if (entity->short_lived) entity->short_lived->launch.reset();
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

CallResult Server::move_along(EntityId id, const RouteState& along) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->follower) return CallError::no_route;
  const Route& route = entity->follower->route();
  if (!is_encodable(along, route, impl_->quantisation[entity->archetype])) return CallError::beyond_limits;
  const RouteState place = route.advanced_on_route(along, 0.0);
  if (const CallResult moved = impl_->move(*entity, route.state_at(place, 0.0)); !moved) return moved;
  entity->follower->give(place);
  return {};
}

const Route* Server::route(RouteId id) const {
  return impl_->routes.find(id);
}

// A refused time counts as the time of the last call.
double Server::Impl::checked(double now_s) {
  if (time_guard.accepts(now_s)) return now_s;
  ++stats.times_refused;
  return present_s;
}

void Server::receive(double now_s) {
  now_s = impl_->checked(now_s);
  impl_->present_s = now_s;
  impl_->transport.service(now_s);
  while (const auto event = impl_->transport.poll())
    impl_->handle(*event, now_s);
  impl_->close_idle(now_s);
}

void Server::tick(double now_s) {
  Impl& s = *impl_;
  now_s = s.checked(now_s);
  const Tick tick = s.next_tick;
  s.end_as_planned(s.time_of(tick));
  s.fly(s.time_of(tick));
  ++s.next_tick;
  s.present_s = now_s;
  ++s.stats.ticks;
  s.announce_despawns();
  s.apply_playout_changes(now_s);
  s.deliver_held();
  s.report_received();
  s.review_interest(tick);
  const std::size_t reported = s.events.size();
  s.ownership.run(s.entities, s.sessions, tick, s.time_of(tick), now_s, s.transport, s.events);
  s.note_owned_frames();
  s.log.owner_events(s.events, reported);
  s.measure_levers();
  s.delays.run(s.entities, s.sessions);
  if (s.distant_delay_s) {
    s.entities.awake().for_each(
        [&](std::uint32_t slot) { s.entities.slots()[slot].levels[0].delay_s = *s.distant_delay_s; });
  }
  const bool late = now_s >= s.time_of(s.next_tick);
  s.publisher.run(s.entities, s.routes, tick, s.time_of(tick), late, s.pool, s.stats);
  s.log.missing_velocities(s.config.archetypes, s.publisher.missing_velocities());
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
  return impl_->sessions.size() - impl_->logins.lost_count();
}
std::span<const ClientId> Server::clients() const {
  return impl_->sessions.ids();
}
std::optional<SessionStats> Server::session_stats(ClientId client) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? std::optional{session->stats()} : std::nullopt;
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

bool Server::kick(ClientId client, std::string_view reason) {
  Impl& s = *impl_;
  Session* const session = s.sessions.find(client);
  if (session == nullptr || reason.size() > kMaxKickReasonBytes) return false;
  const PeerLogin login = s.logins.find(client);
  s.transport.revoke_login(login);
  s.kick(*session, reason);
  if (login.client_id) (void)s.kick_revoked(*login.client_id, reason);
  return true;
}

std::size_t Server::kick_player(std::uint64_t client_id, std::string_view reason) {
  if (reason.size() > kMaxKickReasonBytes) return 0;
  impl_->transport.revoke_login({.client_id = client_id});
  return impl_->kick_revoked(client_id, reason);
}

// Ends the sessions of a player whose logins were revoked, and the connections that have not joined yet.
// Returns the number of the sessions.
std::size_t Server::Impl::kick_revoked(std::uint64_t client_id, std::string_view reason) {
  const std::vector<ClientId> kicked = logins.of_player(client_id);
  for (const ClientId client : kicked)
    kick(*sessions.find(client), reason);
  std::vector<PeerId> joining;
  for (const auto& [peer, since_s] : waiting) {
    if (transport.login(peer).is_revoked) joining.push_back(peer);
  }
  for (const PeerId peer : joining)
    refuse(peer, {EndReason::kicked, 0});
  return kicked.size();
}

void Server::Impl::kick(Session& session, std::string_view reason) {
  session.intake().drop_held();
  if (const PeerId peer = session.peer()) {
    std::array<std::byte, kMaxKickReasonBytes + 16> buffer;
    session.send_all_messages(transport);
    transport.send(peer, Channel::control, encode(KickMessage{std::string(reason)}, buffer));
    transport.disconnect(peer, pack({EndReason::kicked, 0}));
  }
  end(session, reason.empty() ? std::string("kicked") : "kicked: " + std::string(reason));
}

void Server::shutdown() {
  Impl& s = *impl_;
  s.closing = true;
  s.log.closing(s.sessions.size());
  for (const auto& session : s.sessions.all()) {
    session->send_all_messages(s.transport);
    s.transport.disconnect(session->peer(), pack({EndReason::server_shutdown, 0}));
  }
  for (const auto& [peer, since_s] : s.waiting)
    s.transport.disconnect(peer, pack({EndReason::server_shutdown, 0}));
  s.sessions.clear();
  s.logins.clear();
  s.waiting.clear();
}

void Server::Impl::announce_despawns() {
  for (const Despawned& gone : despawned) {
    for (const auto& session : sessions.all())
      session->unfollow(gone.id, gone.tick, gone.as_planned);
  }
  despawned.clear();
}

void Server::Impl::review_interest(Tick tick) {
  interest.update_positions(entities, tick);
  for (const EntityId id : relevance_changed) {
    Entity* entity = entities.find(id);
    if (entity == nullptr) continue;  // the entity has already ended
    for (const auto& session : sessions.all())
      interest.reconsider(*entity, *session, entities, tick);
  }
  relevance_changed.clear();
  for (const auto& session : sessions.all()) {
    if (interest.is_due(*session, tick)) interest.update(*session, entities, tick);
  }
}

// True if this tick leaves its datagrams to the next tick, which is already due. Sending is most of the cost
// of a tick. If the server is late, the datagrams of this tick would be outdated at once.
bool Server::Impl::hold_back(Tick tick, double now_s) {
  const bool holds = now_s >= time_of(tick + 1) && held_back < kMaxHeldBack;
  held_back = holds ? held_back + 1 : 0;
  return holds;
}

// With one thread, writes and sends each client's datagrams in turn. With several threads, all datagrams are
// written first and sent afterwards, because only one thread may use the transport.
void Server::Impl::send(Tick tick, double now_s) {
  if (config.rewind_s > 0.0) motions.update(entities, publisher.published());
  const Session::TickInputs step{entities,
                                 fields,
                                 publisher.published(),
                                 config.archetypes,
                                 quantisation,
                                 routes,
                                 encodings,
                                 tick,
                                 time_of(tick),
                                 now_s,
                                 config.tick_rate_hz,
                                 !fields.changes().empty(),
                                 hold_back(tick, now_s),
                                 switches.coding,
                                 &motions,
                                 switches.observer};
  encodings.begin(entities, quantisation, config.tick_rate_hz);
  const bool alone = pool.size() == 1;
  const std::size_t shares = alone ? 1 : (sessions.size() + kSessionGrain - 1) / kSessionGrain;
  if (datagrams.size() < shares) datagrams.resize(shares);
  max_datagram_bytes.resize(sessions.size());
  const auto send_reliable = [&](std::size_t i) {
    sessions.all()[i]->send_waiting_messages(transport);
    sessions.all()[i]->send_spawns(step, transport);
    max_datagram_bytes[i] = transport.max_state_bytes(sessions.all()[i]->peer());
  };
  for (std::size_t i = 0; i < sessions.size() && !alone; ++i)
    send_reliable(i);
  pool.run(sessions.size(), kSessionGrain, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (i + 2 < last) sessions.all()[i + 2]->fetch();
      if (i + 1 < last) sessions.all()[i + 1]->fetch_lists(step.published);
      if (alone) send_reliable(i);
      DatagramBuffer& buffer = datagrams[alone ? 0 : i / kSessionGrain];
      Session::Scratch scratch{worker, snapshots[worker], fresh[worker], buffer};
      sessions.all()[i]->write_datagrams(step, max_datagram_bytes[i], scratch);
      if (alone) buffer.flush(transport);
    }
  });
  fields.clear_changes();
  for (DatagramBuffer& buffer : datagrams)
    finish_outbox(buffer);
}

// Sends the waiting datagrams, adds up the statistics, and charges the repairs to the budgets of their
// entities, like other updates.
void Server::Impl::finish_outbox(DatagramBuffer& buffer) {
  buffer.flush(transport);
  stats += std::exchange(buffer.stats, {});
  for (const std::uint32_t stream : buffer.repaired)
    entities.slots()[stream / kLevels].levels[stream % kLevels].policy.update_sent();
  buffer.repaired.clear();
}

// Events from clients, and game messages to clients.

void Server::Impl::handle(const TransportEvent& event, double now_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      if (closing) {
        transport.disconnect(event.peer, pack({EndReason::server_shutdown, 0}));
      } else if (event.reason != 0 &&
                 event.reason != kProtocolVersion) {  // 0: the transport carries no number
        refuse_version(event.peer, event.reason);
      } else {
        waiting.emplace(event.peer, now_s);
        log.connected(event.peer);
      }
      break;
    case TransportEvent::Kind::disconnected: {
      waiting.erase(event.peer);
      Session* session = sessions.find(event.peer);
      if (session == nullptr) break;
      const EndReason reason = unpack_end_code(event.reason).reason;
      if (reason == EndReason::none) {
        lose(*session);
      } else {
        end(*session, reason == EndReason::replaced ? "the same client has joined again" : "left");
      }
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
  const auto* resume_message = message ? std::get_if<ResumeMessage>(&*message) : nullptr;
  if ((join_message != nullptr || resume_message != nullptr) && waiting.contains(event.peer)) {
    const PeerLogin login = transport.login(event.peer);
    if (login.is_revoked) return refuse(event.peer, {EndReason::kicked, 0});
    return join_message != nullptr ? join(event.peer, *join_message, login)
                                   : resume(event.peer, *resume_message, login);
  }
  const auto* data = message ? std::get_if<GameDataMessage>(&*message) : nullptr;
  Session* session = sessions.find(event.peer);
  if (data != nullptr && session != nullptr) return process(*session, *data);
  const auto* playout = message ? std::get_if<PlayoutMessage>(&*message) : nullptr;
  if (playout != nullptr && session != nullptr) return process(*session, *playout);
  if (join_message != nullptr && session != nullptr && std::exchange(session->resume().expects_join, false))
    return;
  count_refusal(message ? Refusal::unexpected : Refusal::malformed);
  if (waiting.contains(event.peer)) refuse(event.peer, {EndReason::malformed, 0});
}

void Server::Impl::handle_state(const TransportEvent& event, double now_s) {
  Session* session = sessions.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (!datagram) return count_refusal(Refusal::malformed);
  if (session == nullptr) return count_refusal(Refusal::unexpected);
  std::span<const Ownership::Update> owned;
  if (datagram->has_owned) {
    Refusal why{};
    const auto read = ownership.read(reader, session->id(), next_tick, why);
    // The client may no longer own the entity, or the baseline may never have arrived. In both cases the
    // datagram counts as lost.
    if (!read) return count_refusal(why, reader.failed() || !session->ever_owned());
    owned = *read;
  }
  batch.clear();
  if (datagram->has_messages) read_messages(reader, batch);
  if (!reader.finished()) return count_refusal(Refusal::malformed);
  const double waited_s = std::max(0.0, event.waited_s);
  const Session::Receipt receipt = session->receive(*datagram, now_s, stats, waited_s);
  if (receipt == Session::Receipt::refused) return count_refusal(Refusal::never_sent);
  if (receipt == Session::Receipt::repeated) return count_refusal(Refusal::repeated, false);
  ownership.note_arrival(session->id(), now_s);
  if (!owned.empty()) process_owned(owned, *session, now_s);
  for (const MessageBatch::Item& item : batch.items)
    receive_unreliable(*session, batch.payload(item), item.time_s);
}

// Passes a message on to the game. The game may have too many messages to poll already.
void Server::Impl::deliver(const Session& session, std::span<const std::byte> payload,
                           std::optional<double> time_s) {
  if (!inbox.add(session.id(), payload, time_s, false)) return refuse_message();
  ++stats.messages_received;
}

void Server::Impl::refuse_message() {
  ++stats.messages_refused;
  count_refusal(Refusal::too_many, false);
}

void Server::Impl::process(Session& session, const PlayoutMessage& message) {
  if (const auto why = session.playout().declare(message)) return count_refusal(*why, false);
  changing_playout.push_back(session.id());
}

// Applies the changes of the clients' playout settings, for each client at most twice a second.
void Server::Impl::apply_playout_changes(double now_s) {
  std::erase_if(changing_playout, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr) return true;
    const auto playout = session->playout().due(now_s);
    if (!playout) return false;
    Interest::set_shows_past(*session, entities, playout->shows_past);
    session->change_seen(playout->interpolates ? MotionPath::interpolate : MotionPath::predict,
                         playout->blend_s);
    return true;
  });
}

// Encodes or copies the message once for all clients.
std::size_t Server::Impl::send_to(std::span<Session* const> clients, std::span<const std::byte> payload,
                                  Delivery delivery, std::optional<double> time_s) {
  if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !is_valid_stamp(*time_s)))
    return 0;
  std::size_t taken = 0;
  if (delivery == Delivery::reliable) {
    std::vector<std::byte> buffer(payload.size() + 64);
    const auto encoded = encode(GameDataMessage{{payload.begin(), payload.end()}, time_s}, buffer);
    for (Session* session : clients)
      taken += session->send_reliable(encoded, transport) ? 1 : 0;
    stats.messages_sent += taken;
  } else {
    const auto shared = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    for (Session* session : clients)
      taken += session->send_unreliable(shared, time_s, time_of(next_tick)) ? 1 : 0;
  }
  stats.messages_dropped += clients.size() - taken;
  return taken;
}

void Server::Impl::join(PeerId peer, const JoinMessage& message, const PeerLogin& login) {
  if (message.version != kProtocolVersion) return refuse_version(peer, message.version);
  if (message.archetype_hash != archetype_hash(config.archetypes))
    return refuse(peer, {EndReason::archetypes, 0});
  replace_sessions(login, {});
  if (sessions.size() >= config.max_clients) {
    if (const auto evicted = logins.to_evict()) end(*sessions.find(*evicted));
  }
  if (sessions.size() >= config.max_clients) return refuse(peer, {EndReason::full, 0});

  waiting.erase(peer);
  WelcomeMessage welcome;
  welcome.client = {next_client++};
  welcome.tick_rate_hz = config.tick_rate_hz;
  welcome.epoch_s = config.epoch_s;
  welcome.tick = next_tick == 0 ? 0 : next_tick - 1;
  welcome.longest_gap_s = publisher.longest_sent_gap_s();
  welcome.rewinds = config.rewind_s > 0.0;
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const Archetype& a = config.archetypes[i];
    welcome.archetypes.push_back(
        {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, quantisation[i].codes});
  }
  Session& session = sessions.add(welcome.client, peer, config, switches.parts);
  logins.set(welcome.client, login);
  if (config.resume_s > 0.0) session.enable_resume(session_key(switches.session_secret, welcome.client));
  std::vector<std::byte> buffer(kMaxControlBytes);
  std::size_t size = encode(session_message(session), buffer).size();
  size += encode(welcome, std::span(buffer).subspan(size)).size();
  transport.send(peer, Channel::control, std::span(buffer).first(size));
  session.view().shows_past = message.shows_past;
  session.playout() =
      DeclaredPlayout{PlayoutMessage{message.shows_past, message.shows_past, message.blend_s}};
  if (config.rewind_s > 0.0)
    session.remember_seen(message.shows_past ? MotionPath::interpolate : MotionPath::predict, message.blend_s,
                          config.rewind_s);
  for (std::uint32_t route = 1; route <= routes.size(); ++route)
    session.send_route({{route}, routes.find({route})->definition()}, transport);
  events.push_back({ServerEvent::Kind::client_joined, welcome.client, {}});
  log.joined(welcome.client, peer);
}

void Server::Impl::refuse(PeerId peer, const EndCode& code, const std::string& why) {
  waiting.erase(peer);
  events.push_back({ServerEvent::Kind::client_refused, {}, why});
  log.refused(peer, why);
  transport.disconnect(peer, pack(code));
}

void Server::Impl::refuse_version(PeerId peer, std::uint32_t version) {
  refuse(peer, {EndReason::version, kProtocolVersion},
         "protocol version mismatch: the client speaks version " + std::to_string(version) +
             ", this server version " + std::to_string(kProtocolVersion));
}

void Server::Impl::close_idle(double now_s) {
  for (auto it = waiting.begin(); it != waiting.end();) {
    const auto [peer, since_s] = *it++;
    if (now_s - since_s > config.join_timeout_s) refuse(peer, {EndReason::join_timeout, 0});
  }
  while (const auto oldest = logins.oldest_lost()) {
    Session& session = *sessions.find(*oldest);
    if (now_s - session.resume().lost_s <= config.resume_s) break;
    end(session);
  }
}

// Clients that lost their connection, and clients that resume their session.

// Keeps the session so that the client can resume it. The entities of the client continue without an owner.
void Server::Impl::lose(Session& session) {
  if (!session.can_resume() || closing) return end(session);
  log.lost(session.id(), session.peer());
  release_owned(session.id());
  sessions.move(session, {});
  session.resume().lost_s = present_s;
  logins.lose(session.id());
  events.push_back({ServerEvent::Kind::client_lost, session.id(), "the connection was lost"});
}

void Server::Impl::end(Session& session, std::string_view why) {
  const ClientId id = session.id();
  while (const auto message = session.intake().next_at_the_end())
    deliver(session, message->payload, message->time_s);
  events.push_back({ServerEvent::Kind::client_left, id, std::string(why)});
  log.left(id, session.peer());
  release_owned(id);
  Interest::release(session, entities);
  logins.remove(id);
  sessions.remove(id);
}

// Ends the sessions that a client leaves behind by joining again instead of resuming. Without this, one login
// could fill the server with lost sessions.
void Server::Impl::replace_sessions(const PeerLogin& login, ClientId newest) {
  for (const ClientId older : logins.replaced_by(login, newest)) {
    Session& session = *sessions.find(older);
    // The transport ends the older connection of a login. Its event may come later than the newer one joins.
    if (const PeerId peer = session.peer()) transport.disconnect(peer, pack({EndReason::replaced, 0}));
    end(session, "the same client has joined again");
  }
}

// If the session cannot be resumed, the server answers the join message that follows, as for any new client.
void Server::Impl::resume(PeerId peer, const ResumeMessage& message, const PeerLogin& login) {
  Session* session = sessions.find(message.client);
  if (session == nullptr || !session->resume().key || session->resume().key != message.key) return;
  const PeerId before = session->peer();
  if (before) {  // the client noticed the loss of its connection before the server did
    lose(*session);
    transport.disconnect(before, 0);
    session = sessions.find(message.client);
    if (session == nullptr) return;
  }
  if (!session->reliable().can_resume_from(message.processed)) return end(*session);
  waiting.erase(peer);
  logins.set(session->id(), login);
  replace_sessions(login, session->id());
  sessions.move(*session, peer);
  session->intake().drop_held();
  report_received(*session);
  session->resume().expects_join = true;
  session->resume_from(message.processed, config, present_s, next_tick == 0 ? 0 : next_tick - 1, transport);
  events.push_back({ServerEvent::Kind::client_back, session->id(), {}});
  log.back(session->id(), peer);
}

void Server::Impl::receive_unreliable(Session& session, std::span<const std::byte> payload,
                                      std::optional<double> time_s) {
  session.intake().refill(next_tick, 1.0 / config.tick_rate_hz);
  if (!session.intake().allows_unreliable(payload.size())) return refuse_message();
  deliver(session, payload, time_s);
}

void Server::Impl::process(Session& session, const GameDataMessage& message) {
  const bool held_any = session.intake().holds_any();
  if (!session.intake().hold(message.payload, message.time_s)) {
    note_processed(session, message.payload.size());
    return refuse_message();
  }
  deliver_held(session);
  if (!held_any && session.intake().holds_any()) holding.push_back(session.id());
}

// Passes on the held reliable messages that the client's rates allow now.
void Server::Impl::deliver_held(Session& session) {
  session.intake().refill(next_tick, 1.0 / config.tick_rate_hz);
  while (const auto message = session.intake().next()) {
    deliver(session, message->payload, message->time_s);
    note_processed(session, message->payload.size());
  }
}

// Counts a reliable message that was passed on or refused.
void Server::Impl::note_processed(Session& session, std::size_t payload_bytes) {
  ReliableQueue& reliable = session.reliable();
  const bool was_due = reliable.is_report_due();
  reliable.note_received(payload_bytes);
  if (!was_due && reliable.is_report_due()) unreported.push_back(session.id());
}

void Server::Impl::deliver_held() {
  std::erase_if(holding, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr) return true;
    deliver_held(*session);
    return !session->intake().holds_any();
  });
}

// Confirms reliable messages once the game has polled enough of them. The server then has room for all
// messages that the client may send after the confirmation.
void Server::Impl::report_received() {
  std::erase_if(unreported, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr || !session->peer() || !session->reliable().is_report_due()) return true;
    constexpr MessageLimit kWindow = ReliableQueue::kClientWindow;
    if (!inbox.has_room(client, kWindow.messages, kWindow.bytes)) return false;
    report_received(*session);
    return true;
  });
}

void Server::Impl::report_received(Session& session) {
  std::array<std::byte, 64> buffer;
  transport.send(session.peer(), Channel::control, encode(session_message(session), buffer));
}

SessionMessage Server::Impl::session_message(Session& session) const {
  return {session.resume().key, session.reliable().report(), next_tick == 0 ? 0 : next_tick - 1};
}

// Entities in the frames of other entities, and the origin of the game's coordinates.

FrameResult Server::enter_frame(EntityId id, EntityId frame) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  if (entity == nullptr) return FrameResult::unknown_entity;
  const Entity* outer = s.entities.find(frame);
  if (frame && outer == nullptr) return FrameResult::unknown_frame;
  if (entity->frame == frame) return FrameResult::done;
  if (entity->owned) return FrameResult::owned;
  if (outer != nullptr && outer->short_lived) return FrameResult::short_lived;
  switch (s.entities.frames().fit(id, frame)) {
    case FrameTree::Fit::circle:
      return FrameResult::circle;
    case FrameTree::Fit::too_deep:
      return FrameResult::too_deep;
    case FrameTree::Fit::fits:
      break;
  }
  const State truth = s.state_in_frame(frame, *entity);
  if (!is_encodable(truth, s.quantisation[entity->archetype])) return FrameResult::out_of_limits;
  s.put_into(*entity, frame, truth);
  return FrameResult::done;
}

bool Server::set_boardable(EntityId id, bool boardable) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr || entity->short_lived) return false;
  entity->boardable = boardable;
  return true;
}

EntityId Server::frame(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  return entity != nullptr ? entity->frame : EntityId{};
}

std::optional<State> Server::in_world(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = impl_->entities.in_world(*entity);
  state.position -= impl_->origin;
  return state;
}

std::span<const EntityId> Server::entities() const {
  Impl& s = *impl_;
  s.found.clear();
  for (const Entity& entity : s.entities.slots()) {
    if (entity.id) s.found.push_back(entity.id);
  }
  return s.found;
}

std::span<const EntityId> Server::entities_near(const glm::dvec3& centre, double radius_m) const {
  Impl& s = *impl_;
  s.found.clear();
  const glm::dvec3 from = centre + s.origin;
  s.interest.collect_near(from, radius_m, s.entities, s.near_slots);
  s.near_slots.for_each([&](std::uint32_t slot) {
    const Entity& entity = s.entities.slots()[slot];
    const glm::dvec3 offset = s.entities.position_in_world(entity) - from;
    if (entity.id && glm::dot(offset, offset) <= radius_m * radius_m) s.found.push_back(entity.id);
  });
  return s.found;
}

bool Server::set_user_value(EntityId id, std::uint64_t value) {
  Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return false;
  entity->user_value = value;
  return true;
}

std::optional<std::uint64_t> Server::user_value(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  return entity != nullptr ? std::optional{entity->user_value} : std::nullopt;
}

bool Server::set_origin(const glm::dvec3& origin) {
  if (!is_finite(origin)) return false;
  impl_->origin = origin;
  return true;
}

State Server::Impl::state_in_frame(EntityId frame, const Entity& entity) const {
  const State world = entities.in_world(entity);
  const Entity* outer = entities.find(frame);
  return publishable(outer != nullptr ? into_frame(entities.in_world(*outer), world) : world,
                     entity.archetype);
}

void Server::Impl::put_into(Entity& entity, EntityId frame, const State& truth) {
  const EntityId before = entity.frame;
  if (entity.short_lived) entity.short_lived->launch.reset();
  entities.put_into(entity, frame, truth);
  note_frame(entity, before);
}

// Notes that the entity has left the frame `before` and is now in another frame.
void Server::Impl::note_frame(const Entity& entity, EntityId before) {
  interest.set_position(entity, entities);
  note_relevance_change(entity.id);
  if (before) relevance_changed.push_back(before);  // clients may no longer need the frame
}

// Notes that the relevance of an entity has changed. The relevance of all entities in its frame then changes,
// too.
void Server::Impl::note_relevance_change(EntityId id) {
  relevance_changed.push_back(id);
  for (const std::uint32_t slot : entities.frames().inside(static_cast<std::uint32_t>(id.slot())))
    note_relevance_change(entities.slots()[slot].id);
}

// Moves the entities in the frame of an ending entity to the next outer frame. An entity that rested in the
// frame stops: the game does not move it, so it would keep the velocity of the frame. An entity that would be
// too fast in the outer frame stops, too. An entity that would be outside the world ends as well.
void Server::Impl::release(const Entity& ending) {
  const auto inside = entities.frames().inside(static_cast<std::uint32_t>(ending.id.slot()));
  const std::vector<std::uint32_t> released{inside.begin(), inside.end()};
  const EntityId outer = ending.frame;
  for (const std::uint32_t slot : released) {
    Entity& entity = entities.slots()[slot];
    State truth = state_in_frame(outer, entity);
    const Quantisation& q = quantisation[entity.archetype];
    const bool rested = entity.still_ticks > 0 && !entity.owned;
    if (rested || !is_encodable(truth, q))
      truth.velocity = truth.acceleration = truth.angular_velocity = glm::vec3{0.0f};
    const bool lost = !is_encodable(truth, q);
    put_into(entity, outer, lost ? State{} : truth);
    if (entity.owned && !lost) (void)ownership.override_motion(entity, truth, next_tick, sessions, transport);
    if (lost) end(entity.id);
  }
}

// Moves the short-lived entities that the game leaves to the server. One that leaves the world ends.
void Server::Impl::fly(double now_s) {
  std::erase_if(flying, [&](EntityId id) {
    Entity* entity = entities.find(id);
    if (entity == nullptr || !entity->short_lived->launch) return true;
    const ShortLivedInfo::Launch& launch = *entity->short_lived->launch;
    const Motion motion{.state = launch.state,
                        .time_s = launch.time_s,
                        .floor = quantisation[entity->archetype].floor,
                        .walls = quantisation[entity->archetype].walls,
                        .frame = frame_of(entity->frame)};
    if (!move_to(*entity, state_at(motion, now_s))) end(id);
    return false;
  });
}

// Ends the short-lived entities whose time has come. Their clients end them by themselves.
void Server::Impl::end_as_planned(double now_s) {
  while (!planned_ends.empty() && planned_ends.begin()->first <= now_s) {
    const EntityId id = planned_ends.begin()->second;
    planned_ends.erase(planned_ends.begin());
    end(id, true);
  }
}

bool Server::Impl::end(EntityId id, bool as_planned) {
  const Entity* entity = entities.find(id);
  if (entity == nullptr) return false;
  release(*entity);
  publisher.ends(*entity);
  if (entity->announced) despawned.push_back({id, next_tick, as_planned});
  if (entity->short_lived && entity->short_lived->end_s && !as_planned) {
    const auto [first, last] = planned_ends.equal_range(*entity->short_lived->end_s);
    planned_ends.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == id; }));
  }
  if (entity->frame) relevance_changed.push_back(entity->frame);
  interest.remove(static_cast<std::uint32_t>(id.slot()));
  fields.remove(id);
  for (const auto& session : sessions.all())
    session->view().forget(id);
  entities.remove(id, next_tick);
  return true;
}

// Returns the lever of an entity's rotation, m: the distance to the outermost entity in its frame.
double Server::Impl::lever_m(std::uint32_t slot) const {
  double lever = 0.0;
  for (const std::uint32_t child : entities.frames().inside(slot))
    lever = std::max(lever, glm::length(entities.slots()[child].truth.position) + lever_m(child));
  return lever;
}

// Measures the levers of all frames, but only from time to time: an entity that moves within a frame seldom
// changes the lever much.
void Server::Impl::measure_levers() {
  constexpr Tick kTicksBetweenMeasurements = 8;
  if (next_tick % kTicksBetweenMeasurements != 0) return;
  for (const std::uint32_t slot : frames_with_lever) {
    Entity& entity = entities.slots()[slot];
    const double share = entity.levels[0].policy.lever_share();
    for (EntityLevel& level : entity.levels)
      level.policy.set_lever(lever_m(slot));
    if (!entity.id || entity.levels[0].policy.lever_share() == share) continue;
    entity.still_ticks = 0;
    entities.awake().insert(slot);
  }
  std::erase_if(frames_with_lever,
                [&](std::uint32_t slot) { return entities.frames().inside(slot).empty(); });
  for (const std::uint32_t member : entities.frames().members()) {
    const auto slot = static_cast<std::uint32_t>(entities.frames().frame_of(member).slot());
    if (std::find(frames_with_lever.begin(), frames_with_lever.end(), slot) == frames_with_lever.end())
      frames_with_lever.push_back(slot);
  }
}

// Entities that clients own.

bool Server::give(EntityId id, ClientId owner, const OwnershipRules& rules) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  if (entity == nullptr || entity->short_lived || s.sessions.find(owner) == nullptr) return false;
  if (!is_valid(rules)) return false;
  s.ownership.give(*entity, owner, rules, s.next_tick, s.sessions, s.transport);
  s.entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::revoke(EntityId id) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  return entity != nullptr && s.ownership.revoke(*entity, s.sessions, s.transport);
}

std::optional<ClientId> Server::owner(EntityId id) const {
  return impl_->ownership.owner(id);
}

std::optional<State> Server::state(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return std::nullopt;
  State state =
      entity->owned ? state_at(entity->owned->motion, impl_->time_of(impl_->next_tick)) : entity->truth;
  if (!entity->frame) state.position -= impl_->origin;
  return state;
}

const OwnershipStats& Server::ownership_stats() const {
  return impl_->ownership.stats();
}

CallResult Server::Impl::put_owned(EntityId id, const State& truth) {
  Entity& entity = *entities.find(id);
  const State state = publishable(to_server_coordinates(truth, entity.frame), entity.archetype);
  const CallError why = find_unencodable(state, quantisation[entity.archetype]);
  if (why != CallError::none) return why;
  if (!ownership.override_motion(entity, state, next_tick, sessions, transport)) return CallError::owned;
  entity.teleported = true;
  entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return {};
}

void Server::Impl::process_owned(std::span<const Ownership::Update> updates, const Session& session,
                                 double now_s) {
  ownership.process(updates, session.id(), now_s, entities, sessions, transport);
  note_owned_frames();
}

void Server::Impl::note_owned_frames() {
  for (const Ownership::FrameChange& change : ownership.frame_changes()) {
    if (const Entity* entity = entities.find(change.entity)) note_frame(*entity, change.before);
  }
}

void Server::Impl::release_owned(ClientId client) {
  ended.clear();
  ownership.release(client, ended, entities, sessions, transport);
  for (const EntityId id : ended)
    end(id);
}

// Lag compensation: what clients showed.

std::optional<Pose> Server::pose_seen_by(ClientId client, EntityId entity, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  const auto state = session ? session->shown(entity, time_s, impl_->present_s) : std::nullopt;
  if (!state) return std::nullopt;
  return Pose{state->position - impl_->origin, state->orientation};
}

RewindStatus Server::rewind_status(ClientId client, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? session->rewind_status(time_s, impl_->present_s) : RewindStatus::unavailable;
}

std::span<const SeenPose> Server::rewind(ClientId client, double time_s) {
  Impl& s = *impl_;
  s.seen.clear();
  const Session* session = s.sessions.find(client);
  if (session != nullptr) session->shown(time_s, s.present_s, s.seen);
  for (SeenPose& seen : s.seen)
    seen.pose.position -= s.origin;
  return s.seen;
}

// Debug data of entities.
namespace {

// Returns the finest level with subscribers, or else the finest level. Other levels without subscribers are
// out of date.
std::size_t finest_followed(const Entity& entity) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (entity.levels[level].subscribers > 0) return level;
  }
  return 0;
}

}  // namespace

std::optional<EntityDebug> Server::debug(EntityId id) const {
  const Impl& s = *impl_;
  const Entity* entity = s.entities.find(id);
  if (entity == nullptr || !entity->announced || s.next_tick == 0) return std::nullopt;
  const std::size_t level = finest_followed(*entity);
  const EntityLevel& followed = entity->levels[level];
  if (followed.stream.number() == 0) return std::nullopt;
  const Motion& motion = followed.stream.motion();
  const Archetype& archetype = s.config.archetypes[entity->archetype];
  const double time_s = s.time_of(s.next_tick - 1);

  EntityDebug debug{.id = id, .truth = s.entities.in_world(*entity), .published = state_at(motion, time_s)};
  if (const Entity* frame = s.entities.find(entity_of(motion.frame)))
    debug.published = out_of_frame(s.entities.in_world(*frame), debug.published);
  debug.age_s = time_s - motion.time_s;
  debug.error_m = glm::distance(debug.truth.position, debug.published.position);
  if (archetype.has_orientation)
    debug.error_rad = angle_between(debug.truth.orientation, debug.published.orientation);
  const double allowed = followed.factor * followed.policy.scale();
  debug.threshold_m = archetype.threshold_m * allowed;
  debug.threshold_rad = archetype.threshold_rad * allowed * followed.policy.lever_share();
  debug.level = static_cast<std::uint8_t>(level);
  for (const EntityLevel& one : entity->levels)
    debug.clients += one.subscribers;
  debug.frame = entity->frame;
  debug.on_route = motion.route != nullptr;
  debug.owned = entity->owned != nullptr;
  debug.truth.position -= s.origin;
  debug.published.position -= s.origin;
  return debug;
}

}  // namespace reckoner
