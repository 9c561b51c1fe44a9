// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/state_checks.hpp"
#include "server/src/entity_debug.hpp"
#include "server/src/server_impl.hpp"
#include "server/src/util/refusal_counts.hpp"

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
      time(config.epoch_s, config.tick_rate_hz),
      publisher(config, quantisation, pool.size(), switches.parts),
      encodings(pool.size()),
      snapshots(pool.size()),
      fresh(pool.size()),
      interest(config.interest, config.tick_rate_hz),
      world(config, quantisation, time, publisher, interest, sessions, transport, stats.refusals),
      search(world.entities(), interest),
      log(config.log),
      mail(time, sessions, transport, stats) {
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

bool Server::refuse_prediction(ClientId client, std::uint32_t key) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr) return false;
  session->refuse_prediction(key, impl_->time.next_tick());
  return true;
}

CallResult Server::move(EntityId id, const State& truth) {
  return impl_->world.move(id, truth);
}

CallResult Server::move_along(EntityId id, const RouteState& along) {
  return impl_->world.move_along(id, along);
}

CallResult Server::teleport(EntityId id, const State& truth) {
  return impl_->world.teleport(id, truth);
}

bool Server::despawn(EntityId id) {
  return impl_->world.end(id);
}

FrameResult Server::enter_frame(EntityId id, EntityId frame) {
  return impl_->world.enter_frame(id, frame);
}

EntityId Server::frame(EntityId id) const {
  const Entity* entity = impl_->world.find(id);
  return entity != nullptr ? entity->frame : EntityId{};
}

bool Server::set_boardable(EntityId id, bool boardable) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr || entity->short_lived) return false;
  entity->boardable = boardable;
  return true;
}

bool Server::set_user_value(EntityId id, std::uint64_t value) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr) return false;
  entity->user_value = value;
  return true;
}

std::optional<std::uint64_t> Server::user_value(EntityId id) const {
  const Entity* entity = impl_->world.find(id);
  return entity != nullptr ? std::optional{entity->user_value} : std::nullopt;
}

bool Server::set_field(EntityId id, std::size_t field, const FieldValue& value) {
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

bool Server::follow(EntityId id, RouteId route) {
  return impl_->world.follow(id, route);
}

bool Server::leave_route(EntityId id) {
  Entity* entity = impl_->world.find(id);
  if (entity == nullptr || !entity->follower) return false;
  entity->follower.reset();
  return true;
}

bool Server::give(EntityId id, ClientId owner, const OwnershipRules& rules) {
  return impl_->world.give(id, owner, rules);
}

bool Server::revoke(EntityId id) {
  return impl_->world.revoke(id);
}

std::optional<ClientId> Server::owner(EntityId id) const {
  return impl_->world.ownership().owner(id);
}

const OwnershipStats& Server::ownership_stats() const {
  return impl_->world.ownership().stats();
}

bool Server::set_origin(const glm::dvec3& origin) {
  if (!is_finite(origin)) return false;
  impl_->world.set_origin(origin);
  return true;
}

// What the game asks about entities.

std::size_t Server::entity_count() const {
  return impl_->world.entities().size();
}

std::span<const EntityId> Server::entities() const {
  return impl_->search.all();
}

std::span<const EntityId> Server::entities_near(const glm::dvec3& centre, double radius_m) const {
  return impl_->search.near(centre + impl_->world.origin(), radius_m);
}

std::optional<State> Server::state(EntityId id) const {
  return impl_->world.state(id);
}

std::optional<State> Server::in_world(EntityId id) const {
  return impl_->world.in_world(id);
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

bool Server::set_relevance(EntityId id, Relevance relevance) {
  return impl_->world.set_relevance(id, relevance);
}

bool Server::set_groups(EntityId id, std::uint32_t groups) {
  return impl_->world.set_groups(id, groups);
}

bool Server::set_relevance(ClientId client, EntityId id, Relevance relevance) {
  Session* session = impl_->sessions.find(client);
  if (session == nullptr || impl_->world.find(id) == nullptr) return false;
  session->view().set_relevance(id, relevance);
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
  view.eye = eye + impl_->world.origin();
  return true;
}

// Game messages.

bool Server::send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                  std::optional<double> time_s) {
  return impl_->mail.send(client, payload, delivery, time_s);
}

std::size_t Server::broadcast(std::span<const std::byte> payload, Delivery delivery,
                              std::optional<double> time_s) {
  return impl_->mail.broadcast(payload, delivery, time_s);
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
  now_s = impl_->checked(now_s);
  impl_->transport.service(now_s);
  while (const auto event = impl_->transport.poll())
    impl_->handle(*event, now_s);
  impl_->close_idle(now_s);
}

void Server::tick(double now_s) {
  Impl& s = *impl_;
  now_s = s.checked(now_s);
  const Tick tick = s.time.next_tick();
  s.world.end_planned();
  s.world.fly();
  s.time.begin_tick();
  ++s.stats.ticks;
  s.world.announce_ends();
  s.apply_playout_changes(now_s);
  s.mail.deliver_waiting();
  s.mail.confirm_delivered();
  s.interest.review(s.sessions, s.world.entities(), tick);
  const std::size_t reported = s.events.size();
  s.world.update_owned(tick, now_s, s.events);
  s.log.owner_events(s.events, reported);
  s.world.measure_levers();
  s.delays.run(s.world.entities(), s.sessions);
  if (s.distant_delay_s) {
    s.world.entities().awake().for_each(
        [&](std::uint32_t slot) { s.world.entities().slots()[slot].levels[0].delay_s = *s.distant_delay_s; });
  }
  const bool late = now_s >= s.time.at(s.time.next_tick());
  s.publisher.run(s.world.entities(), s.world.routes(), tick, s.time.at(tick), late, s.pool, s.stats);
  s.log.missing_velocities(s.config.archetypes, s.publisher.missing_velocities());
  s.send(tick, now_s);
  s.transport.service(now_s);
  s.log.review(s.sessions, s.stats, s.config.tick_rate_hz, now_s);
}

Tick Server::next_tick() const {
  return impl_->time.next_tick();
}
double Server::tick_time_s(Tick tick) const {
  return impl_->time.at(tick);
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
const ServerStats& Server::stats() const {
  return impl_->stats;
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

// True if this tick leaves its datagrams to the next tick, which is already due. Sending is most of the cost
// of a tick. If the server is late, the datagrams of this tick would be outdated at once.
bool Server::Impl::hold_back(Tick tick, double now_s) {
  const bool holds = now_s >= time.at(tick + 1) && held_back < kMaxHeldBack;
  held_back = holds ? held_back + 1 : 0;
  return holds;
}

// With one thread, writes and sends each client's datagrams in turn. With several threads, all datagrams are
// written first and sent afterwards, because only one thread may use the transport.
void Server::Impl::send(Tick tick, double now_s) {
  if (config.rewind_s > 0.0) motions.update(world.entities(), publisher.published());
  const Session::TickInputs step{world.entities(),
                                 world.fields(),
                                 publisher.published(),
                                 config.archetypes,
                                 quantisation,
                                 world.routes(),
                                 encodings,
                                 tick,
                                 time.at(tick),
                                 now_s,
                                 config.tick_rate_hz,
                                 !world.fields().changes().empty(),
                                 hold_back(tick, now_s),
                                 switches.coding,
                                 &motions,
                                 switches.observer};
  encodings.begin(world.entities(), quantisation, config.tick_rate_hz);
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
  world.fields().clear_changes();
  for (DatagramBuffer& buffer : datagrams)
    finish_outbox(buffer);
}

// Sends the waiting datagrams, adds up the statistics, and charges the repairs to the budgets of their
// entities, like other updates.
void Server::Impl::finish_outbox(DatagramBuffer& buffer) {
  buffer.flush(transport);
  stats += std::exchange(buffer.stats, {});
  for (const std::uint32_t stream : buffer.repaired)
    world.entities().slots()[stream / kLevels].levels[stream % kLevels].policy.update_sent();
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
  if (data != nullptr && session != nullptr) return mail.accept_reliable(*session, *data);
  const auto* playout = message ? std::get_if<PlayoutMessage>(&*message) : nullptr;
  if (playout != nullptr && session != nullptr) return process(*session, *playout);
  if (join_message != nullptr && session != nullptr && std::exchange(session->resume().expects_join, false))
    return;
  count_malformed(stats, message ? Refusal::unexpected : Refusal::malformed);
  if (waiting.contains(event.peer)) refuse(event.peer, {EndReason::malformed, 0});
}

void Server::Impl::handle_state(const TransportEvent& event, double now_s) {
  Session* session = sessions.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (!datagram) return count_malformed(stats, Refusal::malformed);
  if (session == nullptr) return count_malformed(stats, Refusal::unexpected);
  std::span<const Ownership::Update> owned;
  if (datagram->has_owned) {
    Refusal why{};
    const auto read = world.ownership().read(reader, session->id(), time.next_tick(), why);
    // The client may no longer own the entity, or the baseline may never have arrived. In both cases the
    // datagram counts as lost.
    if (!read) {
      const bool wrong = reader.failed() || !session->ever_owned();
      return wrong ? count_malformed(stats, why) : count_refused(stats, why);
    }
    owned = *read;
  }
  batch.clear();
  if (datagram->has_messages) read_messages(reader, batch);
  if (!reader.finished()) return count_malformed(stats, Refusal::malformed);
  const double waited_s = std::max(0.0, event.waited_s);
  const Session::Receipt receipt = session->receive(*datagram, now_s, stats, waited_s);
  if (receipt == Session::Receipt::refused) return count_malformed(stats, Refusal::never_sent);
  if (receipt == Session::Receipt::repeated) return count_refused(stats, Refusal::repeated);
  world.ownership().note_arrival(session->id(), now_s);
  if (!owned.empty()) world.judge_owned(owned, session->id(), now_s);
  for (const MessageBatch::Item& item : batch.items)
    mail.accept_unreliable(*session, batch.payload(item), item.time_s);
}

void Server::Impl::process(Session& session, const PlayoutMessage& message) {
  if (const auto why = session.playout().declare(message)) return count_refused(stats, *why);
  changing_playout.push_back(session.id());
}

// Applies the changes of the clients' playout settings, for each client at most twice a second.
void Server::Impl::apply_playout_changes(double now_s) {
  std::erase_if(changing_playout, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr) return true;
    const auto playout = session->playout().due(now_s);
    if (!playout) return false;
    Interest::set_shows_past(*session, world.entities(), playout->shows_past);
    session->change_seen(playout->interpolates ? MotionPath::interpolate : MotionPath::predict,
                         playout->blend_s);
    return true;
  });
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
  welcome.tick = time.last_tick();
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
  std::size_t size = encode(mail.confirmation(session), buffer).size();
  size += encode(welcome, std::span(buffer).subspan(size)).size();
  transport.send(peer, Channel::control, std::span(buffer).first(size));
  session.view().shows_past = message.shows_past;
  session.playout() =
      DeclaredPlayout{PlayoutMessage{message.shows_past, message.shows_past, message.blend_s}};
  if (config.rewind_s > 0.0)
    session.remember_seen(message.shows_past ? MotionPath::interpolate : MotionPath::predict, message.blend_s,
                          config.rewind_s);
  for (std::uint32_t route = 1; route <= world.routes().size(); ++route)
    session.send_route({{route}, world.routes().find({route})->definition()}, transport);
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
  world.release_owned(session.id());
  sessions.move(session, {});
  session.resume().lost_s = time.present_s();
  logins.lose(session.id());
  events.push_back({ServerEvent::Kind::client_lost, session.id(), "the connection was lost"});
}

void Server::Impl::end(Session& session, std::string_view why) {
  const ClientId id = session.id();
  mail.deliver_last(session);
  events.push_back({ServerEvent::Kind::client_left, id, std::string(why)});
  log.left(id, session.peer());
  world.release_owned(id);
  Interest::unsubscribe(session, world.entities());
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
  mail.confirm_delivered(*session);
  session->resume().expects_join = true;
  session->resume_from(message.processed, config, time.present_s(), time.last_tick(), transport);
  events.push_back({ServerEvent::Kind::client_back, session->id(), {}});
  log.back(session->id(), peer);
}

// Lag compensation: what clients showed.

std::optional<Pose> Server::pose_seen_by(ClientId client, EntityId entity, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  const auto state = session ? session->shown(entity, time_s, impl_->time.present_s()) : std::nullopt;
  if (!state) return std::nullopt;
  return Pose{state->position - impl_->world.origin(), state->orientation};
}

RewindStatus Server::rewind_status(ClientId client, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  return session != nullptr ? session->rewind_status(time_s, impl_->time.present_s())
                            : RewindStatus::unavailable;
}

std::span<const SeenPose> Server::rewind(ClientId client, double time_s) {
  Impl& s = *impl_;
  s.seen.clear();
  const Session* session = s.sessions.find(client);
  if (session != nullptr) session->shown(time_s, s.time.present_s(), s.seen);
  for (SeenPose& seen : s.seen)
    seen.pose.position -= s.world.origin();
  return s.seen;
}

}  // namespace reckoner
