// SPDX-License-Identifier: MIT
#include "client/src/client_impl.hpp"

#include "client/src/client_world.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

// After the program was suspended, the client waits this long for a sign of its server before it gives up the
// connection, s, unless ReconnectConfig::silence_s is shorter.
constexpr double kAfterSleepS = 1.5;

// True if another attempt would fail again, or would displace the client that replaced this one.
bool is_final(EndReason reason) {
  return reason == EndReason::version || reason == EndReason::archetypes || reason == EndReason::replaced ||
         reason == EndReason::kicked;
}

}  // namespace

Client::Impl::Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer,
                   const ClientTestSwitches& given_switches)
    : config(std::move(given)),
      switches(given_switches),
      dialer(given_dialer),
      transport(given_transport),
      log(config.log),
      world(std::make_unique<ClientWorld>(config, switches, messages, stats)),
      back_off(config.reconnect) {
  if (dialer != nullptr) dial_s = -1e300;
}

// A client that leaves and is destroyed must not look like one that was lost.
Client::Impl::~Impl() {
  if (leave_by_s && server && transport != nullptr) send_left();
}

// Corrects the rate of local time if the game's clock does not run at the rate of the server's.
void Client::Impl::review_clock(double local_s) {
  const ClockSync::Review review = world->link.clock().review(local_s, time.rate());
  // The server notices the wrong clock by its time stamps, and sends more of its own.
  if (review.changed) world->link.sender().request_ack();
  if (review.set_by_s > 0.0) log.clock_set(review.set_by_s);
  if (review.factor == 1.0) return;
  const bool was_exact = time.rate() == 1.0;
  time.change_rate(review.factor);
  stats.clock_rate = time.rate();
  if (was_exact || time.rate() == 1.0) log.clock_rate(time.rate());
}

void Client::Impl::advance(double local_s) {
  if (before) before->advance(local_s);
  world->advance(local_s);
}

ClientWorld& Client::Impl::shown_world() {
  if (before && world->can_replace(last_local_s)) {
    before->report_end();
    collect_events();
    before.reset();
    events.push_back({ClientEvent::Kind::restarted, {}});
  }
  return before ? *before : *world;
}

// Events of a world that is not shown yet stay there until it is.
void Client::Impl::collect_events() {
  (before ? *before : *world).events.move_to(events);
}

CallResult Client::Impl::move(EntityId entity, const State& state, EntityId frame, bool teleports) {
  const double local_s = last_local_s;
  advance(local_s);
  State counted = state;
  if (!frame) counted.position += origin;
  if (!is_sane(counted)) return CallError::not_finite;
  if (const CallResult moved = world->owned.move(entity, counted, frame, local_s, teleports); !moved)
    return moved;
  send_due(local_s);
  return {};
}

// The caller must apply arrivals first. A client that was suspended then knows whether its server ended the
// session meanwhile.
void Client::Impl::run_connection(double local_s) {
  if (dialer == nullptr || is_over()) return;
  if (lost_s && config.reconnect.give_up_s > 0.0 && local_s - *lost_s >= config.reconnect.give_up_s)
    return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
  if (dial_s) {
    if (local_s >= *dial_s) dial(local_s);
    return;
  }
  const bool stands = admitted && status == ClientStatus::joined;
  if (stands && local_s - received_s >= config.reconnect.silence_s) {
    if (leaving) return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
    lose("the server stopped responding", local_s);
  }
  if (lost_s && !dial_s && local_s - received_s >= config.reconnect.attempt_s)
    lose(server ? "the server does not answer" : no_answer(), local_s);
}

std::string Client::Impl::no_answer() const {
  std::string hint;
  if (dialer != nullptr) {
    hint = dialer->failure_hint();
  } else if (transport != nullptr) {
    hint = transport->problem();
  }
  return "the server does not answer" + (hint.empty() ? hint : "; " + hint);
}

void Client::Impl::dial(double local_s) {
  dial_s.reset();
  forget_connection();
  received_s = local_s;
  auto dialed = dialer->dial();
  transport = dialed ? *dialed : nullptr;
  if (dialed) return;
  if (lost_s) return lose(dialed.error(), local_s);
  refusal = dialed.error();
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::receive(const TransportEvent& event, double local_s) {
  if (is_over()) {  // a connection that was established too late ends at once
    if (event.kind == TransportEvent::Kind::connected)
      transport->disconnect(event.peer, pack({EndReason::left, 0}));
    return;
  }
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      received_s = local_s;
      begin_connection(event.peer, local_s);
      break;
    case TransportEvent::Kind::disconnected:
      end_connection(unpack_end_code(event.reason), local_s);
      break;
    case TransportEvent::Kind::received:
      note_heard(local_s);
      world->note_arrival(local_s);
      receive_datagram(event.payload, local_s, local_s - std::max(0.0, event.waited_s));
      break;
  }
}

void Client::Impl::receive_datagram(std::span<const std::byte> payload, double local_s, double arrived_s) {
  if (request && !take_answer(payload, local_s)) return;
  if (!admitted) return receive_before_welcome(payload, local_s);
  world->receive(payload, local_s, arrived_s);
  take_reliable();
  if (world->link.reliable().is_broken()) return abandon_session(local_s);
  apply_ordered(local_s);
  if (world->link.sender().ack_overdue()) send_due(local_s);
}

// Only datagrams with nothing but reliable messages can be read now.
void Client::Impl::receive_before_welcome(std::span<const std::byte> payload, double local_s) {
  switch (world->link.receive_first(payload, local_s)) {
    case ServerLink::First::has_more:
      return early.add(payload);
    case ServerLink::First::refused:
      return;
    case ServerLink::First::accepted:
      break;
  }
  while (!admitted && take_message())
    apply_ordered(local_s);
  take_reliable();
  const bool has_other = messages.counts().processed_count() > 0;
  if (!admitted && (has_other || world->link.reliable().is_broken())) return abandon_session(local_s);
  if (!admitted) return;
  apply_ordered(local_s);
  // For the clock, they arrive only now: it begins with the welcome message.
  for (const auto& datagram : early.take()) {
    if (admitted) receive_datagram(datagram, local_s, local_s);  // not after one that ended the session
  }
}

// The answer to the request is in the head of every datagram, until this client has acknowledged one. Returns
// false if this is not one of them, or if the answer is impossible.
bool Client::Impl::take_answer(std::span<const std::byte> payload, double local_s) {
  BitReader reader{payload};
  const ServerHeader header = read_server_header(reader);
  if (reader.failed()) return refuse(Refusal::malformed), false;
  if (!header.control.answer) return false;
  const auto& resumed = header.control.answer->resumed;
  if (!resumed) return begin_session(), true;
  const auto why = resume(*resumed, local_s);
  if (!why) return true;
  refuse(*why);
  abandon_session(local_s);
  return false;
}

// Datagrams that queued up while the program was suspended do not prove that the server is still there.
void Client::Impl::note_heard(double local_s) {
  const bool doubtful = admitted && world->link.clock().is_backlog();
  const double patience_s = std::max(0.0, config.reconnect.silence_s - kAfterSleepS);
  received_s = doubtful ? std::max(received_s, local_s - patience_s) : local_s;
}

void Client::Impl::begin_connection(PeerId peer, double local_s) {
  server = peer;
  if (leaving) return transport->disconnect(server, pack({EndReason::left, 0}));
  if (status == ClientStatus::connecting) status = ClientStatus::joining;
  request = JoinRequest{kProtocolVersion,
                        archetype_hash(config.archetypes),
                        config.playout.mode != PlayoutMode::present,
                        std::clamp(world->blend_s(), 0.0, kMaxBlendS),
                        {}};
  if (session) request->resume = {id, session, world->link.reliable().taken()};
  joining_as = {request->shows_past, request->shows_past, request->blend_s};
  requested_s.reset();
  send_request(local_s);
}

void Client::Impl::end_connection(const EndCode& code, double local_s) {
  const bool was_joined = status == ClientStatus::joined || status == ClientStatus::reconnecting;
  const bool has_reason = code.reason != EndReason::none && code.reason != EndReason::left;
  const bool refused = has_reason && (!was_joined || is_final(code.reason));
  if (has_reason && !request) apply_all_ordered();  // otherwise only this attempt has failed
  const std::string why = !server && !has_reason  ? no_answer()
                          : was_joined || refused ? describe(code) + kick_reason
                                                  : "the connection was lost";
  const bool closed = code.reason == EndReason::server_shutdown;
  forget_connection();
  if (dialer != nullptr && was_joined && !refused && !leaving) {
    if (closed && !lost_s) events.push_back({ClientEvent::Kind::server_closed, {}});
    return lose(why, local_s);
  }
  if (dialer != nullptr && !leaving && !is_final(code.reason) && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(refused ? ClientStatus::refused : ClientStatus::disconnected,
         closed ? ClientEvent::Kind::server_closed : ClientEvent::Kind::disconnected);
}

void Client::Impl::forget_connection() {
  server = {};
  request.reset();
  admitted = false;
}

// Call this when the connection was lost or could not be established. Schedules the next attempt.
void Client::Impl::lose(const std::string& why, double local_s) {
  refusal = why;
  forget_connection();
  transport = nullptr;
  status = ClientStatus::reconnecting;
  const bool within_round = lost_s && dialer->try_next_server();
  if (!lost_s) {
    lost_s = local_s;
    ++stats.connections_lost;
    log.lost(why);
    events.push_back({ClientEvent::Kind::lost, {}});
  }
  const double fraction = dialer->random_fraction();
  dial_s = local_s + (within_round ? back_off.within_round_s(fraction) : back_off.next_s(fraction));
}

// Tries the next server before the first session; false if there is no other server.
bool Client::Impl::goes_elsewhere(const std::string& why, double local_s) {
  if (!dialer->try_next_server()) return false;
  log.goes_elsewhere(why);
  refusal = why;
  forget_connection();
  transport = nullptr;
  status = ClientStatus::connecting;
  dial_s = local_s + back_off.within_round_s(dialer->random_fraction());
  return true;
}

void Client::Impl::finish(ClientStatus end, ClientEvent::Kind kind) {
  apply_all_ordered();
  status = end;
  log.ended(end == ClientStatus::refused, leaving, refusal);
  if (server && transport != nullptr) transport->disconnect(server, pack({EndReason::left, 0}));
  forget_connection();
  dial_s.reset();
  events.push_back({kind, {}});
}

// Takes the reliable messages that have arrived completely.
void Client::Impl::take_reliable() {
  while (take_message()) {
  }
}

// Takes the next reliable message that has arrived completely. Returns false if there is none.
bool Client::Impl::take_message() {
  ReliableReceiver& stream = world->link.reliable();
  const bool was_broken = stream.is_broken();
  const auto bytes = stream.next();
  if (!was_broken && stream.is_broken()) refuse(Refusal::malformed);
  if (!bytes) return false;
  auto message = decode_reliable(*bytes);
  // A route needs no spawn, but a spawn may wait for it. Its place in the order still counts.
  if (admitted && message && std::holds_alternative<RouteMessage>(*message)) {
    if (const auto why = world->apply(*message)) refuse(*why);
    message = AfterSpawnsMessage{};
  }
  ordered.add(std::move(message), bytes->size());
  return true;
}

// What the server has sent is impossible, and nothing more can come out of this session.
void Client::Impl::abandon_session(double local_s) {
  const std::string why = "the server's messages are malformed";
  transport->disconnect(server, pack({EndReason::malformed, 0}));
  session = {};
  forget_connection();
  const bool first = status == ClientStatus::joining;
  if (dialer != nullptr && !leaving && !first) return lose(why, local_s);
  if (dialer != nullptr && !leaving && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

// Applies the reliable messages that do not wait for a spawn any more.
void Client::Impl::apply_ordered(double local_s) {
  while (const auto message = ordered.next(world->link.spawns())) {
    // Count refused messages, too: the server numbers all that it sends, and both sides must agree.
    messages.counts().note_processed();
    apply_or_refuse(*message, local_s);
    world->link.sender().request_ack();
  }
  world->despawn_waiting();
}

// The session has ended: nothing that messages wait for will arrive.
void Client::Impl::apply_all_ordered() {
  take_reliable();
  while (const auto message = ordered.next_at_the_end()) {
    messages.counts().note_processed();
    if (!*message) continue;
    const auto* kick = std::get_if<KickMessage>(&**message);
    kick != nullptr ? note_kick(*kick) : (void)world->apply(**message);
  }
}

void Client::Impl::note_kick(const KickMessage& message) {
  kick_reason = message.reason.empty() ? std::string{} : ": " + message.reason;
}

void Client::Impl::apply_or_refuse(const OrderedMessages::Message& message, double local_s) {
  if (const auto why = message ? apply(*message, local_s) : Refusal::malformed) refuse(*why);
}

void Client::Impl::refuse(Refusal why) {
  ++stats.malformed;
  ++stats.refusals[why];
}

std::optional<Refusal> Client::Impl::apply(const ReliableMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) return apply(*w, local_s);
  if (const auto* k = std::get_if<KickMessage>(&message)) return note_kick(*k), std::nullopt;
  if (!admitted) return Refusal::unexpected;
  return world->apply(message);
}

// The server has opened a session: the first one, or one that replaces a session that the server no longer
// knows. Its welcome message follows.
void Client::Impl::begin_session() {
  apply_all_ordered();
  messages.restart(stats);
  if (world->link.has_begun()) {
    world->retire();
    if (!before) before = std::move(world);
  }
  world = std::make_unique<ClientWorld>(config, switches, messages, stats);
  world->link.set_ordered(transport->is_ordered(server));
  session = {};
  request.reset();
  (void)early.take();
}

std::optional<Refusal> Client::Impl::apply(const WelcomeMessage& message, double local_s) {
  if (admitted || !server) return Refusal::unexpected;
  if (!world->begin(message, local_s)) return Refusal::beyond_limits;
  const bool first = status == ClientStatus::joining;
  status = ClientStatus::joined;
  admitted = true;
  id = message.client;
  session = message.key;
  sent_playout = joining_as;
  sent_playout_s.reset();
  blend_message = 0;
  messages.begin(static_cast<bool>(session));
  lost_s.reset();
  back_off.reset();
  log.joined(id, first);
  if (first) events.push_back({ClientEvent::Kind::joined, {}});
  return std::nullopt;
}

std::optional<Refusal> Client::Impl::resume(const ResumeAnswer& resumed, double local_s) {
  if (!request->resume) return Refusal::unexpected;
  if (!SessionClock::is_valid_tick(resumed.tick)) return Refusal::from_future;
  if (earlier(resumed.received, resumed.processed)) return Refusal::never_sent;
  if (!messages.resume(resumed.received, resumed.processed)) return Refusal::never_sent;
  request.reset();
  world->link.resume(resumed.tick, local_s);
  world->link.set_ordered(transport->is_ordered(server));
  status = ClientStatus::joined;
  admitted = true;
  lost_s.reset();
  back_off.reset();
  events.push_back({ClientEvent::Kind::resumed, {}});
  log.resumed(id);
  return std::nullopt;
}

// Sends the request, and again until the server answers. An ordered path hardly loses it.
void Client::Impl::send_request(double local_s) {
  constexpr double kEveryS = 0.1, kEveryOnOrderedS = 1.0;
  const double every_s = transport->is_ordered(server) ? kEveryOnOrderedS : kEveryS;
  if (requested_s && local_s - *requested_s < every_s) return;
  requested_s = local_s;
  transport->send(server, request_datagram(*request));
  transport->service(local_s);
}

// Sends the playout settings when they change, at most as often as the server applies them.
void Client::Impl::send_playout(double local_s) {
  constexpr double kMinS = 0.5;
  if (!admitted || transport == nullptr || (sent_playout_s && local_s - *sent_playout_s < kMinS)) return;
  const PlayoutMessage shows = world->shows();
  if (shows == sent_playout) return;
  messages.send(shows);
  // The server needs the blend for lag compensation. It applies the message when it arrives.
  if (sent_playout && sent_playout->blend_s != shows.blend_s) blend_message = messages.reliable().added();
  sent_playout = shows;
  sent_playout_s = local_s;
}

// True while the server does not know yet how long this client's blends take.
bool Client::Impl::blend_is_unknown() const {
  return !messages.reliable().has_received(blend_message) ||
         (sent_playout && sent_playout->blend_s != world->shows().blend_s);
}

// Ends the connection of a client that leaves, as soon as the server has its messages.
void Client::Impl::end_if_left(double local_s) {
  if (!leave_by_s || !server || transport == nullptr) return;
  if (admitted && messages.reliable().bytes() > 0 && local_s < *leave_by_s) return;
  send_left();
}

void Client::Impl::send_left() {
  leave_by_s.reset();
  transport->disconnect(server, pack({EndReason::left, 0}));
}

void Client::Impl::send_due(double local_s) {
  if (!server || transport == nullptr) return;
  if (request) return send_request(local_s);
  if (world->shows_unreported() || blend_is_unknown()) world->link.showing().note_jump();
  std::optional<DatagramSender::Showing> showing;
  if (world->link.clock().ready()) {
    // Shown time may be ahead (ClientConfig::show_ahead_s).
    const double now_s = std::max(world->link.clock().server_time_s(local_s), world->playout.now_s());
    showing = {now_s, world->playout.shown_s()};
  }
  world->link.sender().send_due(local_s, config.ack_interval_s, showing, server, *transport);
  // Only now, so that every message has been offered to a datagram once, however slow the frames are.
  messages.expire(local_s, stats);
}

}  // namespace reckoner
