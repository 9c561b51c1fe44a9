// SPDX-License-Identifier: MIT
#include "client/src/client_impl.hpp"

#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

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
      log(config.log),
      connection(config.reconnect, given_transport, given_dialer),
      session(std::make_unique<ClientSession>(config, switches, messages, stats)) {}

// A client that leaves and is destroyed must not look like one that was lost.
Client::Impl::~Impl() {
  if (leave_by_s && connection.is_connected()) send_left();
}

// Corrects the rate of local time if the game's clock does not run at the rate of the server's.
void Client::Impl::review_clock(double local_s) {
  const ClockSync::Review review = session->link.clock().review(local_s, time.rate());
  // The server notices the wrong clock by its time stamps, and sends more of its own.
  if (review.changed) session->link.sender().request_ack();
  if (review.set_by_s > 0.0) log.clock_set(review.set_by_s);
  if (review.factor == 1.0) return;
  const bool was_exact = time.rate() == 1.0;
  time.change_rate(review.factor);
  stats.clock_rate = time.rate();
  if (was_exact || time.rate() == 1.0) log.clock_rate(time.rate());
}

void Client::Impl::advance(double local_s) {
  if (before) before->advance(local_s);
  session->advance(local_s);
}

ClientSession& Client::Impl::shown_session() {
  if (before && session->can_replace(last_local_s)) {
    before->shown.report_end();
    collect_events();
    before.reset();
    events.push_back({ClientEvent::Kind::restarted, {}});
  }
  return before ? *before : *session;
}

// Events of a session that is not shown yet stay there until it is.
void Client::Impl::collect_events() {
  (before ? *before : *session).world.events.move_to(events);
  constexpr std::size_t kMostWaiting = 131'072;  // enough for every entity to spawn and end once
  while (events.size() > kMostWaiting) {
    (void)take_event();
    ++stats.events_discarded;
  }
}

std::optional<ClientEvent> Client::Impl::take_event() {
  if (events.empty()) return std::nullopt;
  const ClientEvent event = events.front();
  events.pop_front();
  session->owned.note_polled(event);
  return event;
}

CallResult Client::Impl::move(EntityId entity, const State& state, EntityId frame, bool teleports) {
  const double local_s = last_local_s;
  State counted = state;
  if (!frame) counted.position += origin;
  if (!is_sane(counted)) return CallError::not_finite;
  if (const CallResult moved = session->owned.move(entity, counted, frame, local_s, teleports); !moved)
    return moved;
  send_due(local_s);
  return {};
}

void Client::Impl::run_connection(double local_s) {
  if (is_over()) return;
  const bool has_session = handshake.is_admitted() && status == ClientStatus::joined;
  switch (connection.review(local_s, has_session)) {
    case Reconnect::Due::nothing:
      return;
    case Reconnect::Due::dial:
      return dial(local_s);
    case Reconnect::Due::give_up:
      return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
    case Reconnect::Due::silence:
      if (leaving) return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
      return lose("the server stopped responding", local_s);
    case Reconnect::Due::no_answer:
      return lose(connection.server() ? "the server does not answer" : connection.explain_no_answer(),
                  local_s);
  }
}

void Client::Impl::dial(double local_s) {
  handshake.forget();
  const auto error = connection.dial(local_s);
  if (!error) return;
  if (connection.lost_s()) return lose(*error, local_s);
  refusal = *error;
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::receive(const TransportEvent& event, double local_s) {
  if (is_over()) {  // a connection that was established too late ends at once
    if (event.kind == TransportEvent::Kind::connected)
      connection.transport()->disconnect(event.peer, pack({EndReason::left, 0}));
    return;
  }
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      connection.note_connected(event.peer, local_s);
      begin_connection(local_s);
      break;
    case TransportEvent::Kind::disconnected:
      end_connection(unpack_end_code(event.reason), local_s);
      break;
    case TransportEvent::Kind::received:
      // Datagrams that queued up while the program was suspended do not prove that the server is still there.
      connection.note_heard(local_s, handshake.is_admitted() && session->link.clock().is_backlog());
      session->note_arrival(local_s);
      receive_datagram(event.payload, local_s, local_s - std::max(0.0, event.waited_s));
      break;
  }
}

void Client::Impl::begin_connection(double local_s) {
  if (leaving) return connection.disconnect(EndReason::left);
  if (status == ClientStatus::connecting) status = ClientStatus::joining;
  const JoinRequest request{kProtocolVersion,
                            archetype_hash(config.archetypes),
                            is_buffered(config.playout.mode),
                            session->declared_blend(),
                            {}};
  handshake.begin(request, session->link.reliable().taken());
  sent_playout.note_request(request);
  handshake.send_request(connection, local_s);
}

// Returns false if the datagram does not contain the answer to the request, or if the answer is impossible.
bool Client::Impl::take_answer(std::span<const std::byte> payload, double local_s) {
  const JoinHandshake::Answer read = JoinHandshake::read_answer(payload);
  if (const auto* why = std::get_if<Refusal>(&read)) return session->refuse(*why), false;
  const auto* answer = std::get_if<JoinAnswer>(&read);
  if (answer == nullptr) return false;
  if (!answer->resumed) return begin_session(), true;
  const auto why = resume(*answer->resumed, local_s);
  if (!why) return true;
  session->refuse(*why);
  abandon_session(local_s);
  return false;
}

// The server has opened a session: the first one, or one that replaces a session that the server no longer
// knows. Its welcome message follows.
void Client::Impl::begin_session() {
  apply_all_ordered();
  messages.restart(stats);
  if (session->link.has_begun()) {
    session->retire();
    if (!before) before = std::move(session);
  }
  session = std::make_unique<ClientSession>(config, switches, messages, stats);
  session->link.set_ordered(connection.is_ordered());
  handshake.note_new_session();
}

std::optional<Refusal> Client::Impl::resume(const ResumeAnswer& resumed, double local_s) {
  if (const auto why = handshake.find_impossible(resumed)) return why;
  if (!messages.resume(resumed.received, resumed.processed)) return Refusal::never_sent;
  session->link.resume(resumed.tick, local_s);
  session->link.set_ordered(connection.is_ordered());
  status = ClientStatus::joined;
  handshake.note_resumed();
  connection.note_session();
  events.push_back({ClientEvent::Kind::resumed, {}});
  log.resumed(handshake.id());
  return std::nullopt;
}

// Only datagrams with nothing but reliable messages can be read now.
void Client::Impl::receive_before_welcome(std::span<const std::byte> payload, double local_s) {
  switch (session->link.receive_first(payload, local_s)) {
    case ServerLink::First::has_more:
      return handshake.keep(payload);
    case ServerLink::First::refused:
      return;
    case ServerLink::First::accepted:
      break;
  }
  while (!handshake.is_admitted() && session->take_message())
    apply_ordered(local_s);
  session->take_reliable();
  const bool has_other = messages.counts().processed_count() > 0;
  const bool is_broken = session->link.reliable().is_broken();
  if (!handshake.is_admitted() && (has_other || is_broken)) return abandon_session(local_s);
  if (!handshake.is_admitted()) return;
  apply_ordered(local_s);
  // For the clock, they arrive only now: it begins with the welcome message.
  for (const auto& datagram : handshake.take_kept()) {
    if (handshake.is_admitted())  // not after one that ended the session
      receive_datagram(datagram, local_s, local_s);
  }
}

std::optional<Refusal> Client::Impl::apply(const WelcomeMessage& message, double local_s) {
  if (handshake.is_admitted() || !connection.server()) return Refusal::unexpected;
  if (!session->begin(message, local_s)) return Refusal::beyond_limits;
  const bool first = status == ClientStatus::joining;
  status = ClientStatus::joined;
  handshake.note_welcome(message);
  sent_playout.begin();
  messages.begin(static_cast<bool>(message.key));
  connection.note_session();
  log.joined(message.client, first);
  if (first) events.push_back({ClientEvent::Kind::joined, {}});
  return std::nullopt;
}

void Client::Impl::receive_datagram(std::span<const std::byte> payload, double local_s, double arrived_s) {
  if (handshake.awaits_answer() && !take_answer(payload, local_s)) return;
  if (!handshake.is_admitted()) return receive_before_welcome(payload, local_s);
  session->receive(payload, local_s, arrived_s);
  session->take_reliable();
  if (session->link.reliable().is_broken()) return abandon_session(local_s);
  apply_ordered(local_s);
  if (session->link.sender().ack_overdue()) send_due(local_s);
}

// Applies the reliable messages that do not wait for a spawn any more.
void Client::Impl::apply_ordered(double local_s) {
  while (const auto message = session->next_message()) {
    if (const auto why = *message ? apply(**message, local_s) : Refusal::malformed) session->refuse(*why);
    session->link.sender().request_ack();
  }
  session->end_waiting();
}

std::optional<Refusal> Client::Impl::apply(const ReliableMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) return apply(*w, local_s);
  if (const auto* k = std::get_if<KickMessage>(&message)) return note_kick(*k), std::nullopt;
  if (!handshake.is_admitted()) return Refusal::unexpected;
  return session->apply(message);
}

// The session has ended: nothing that messages wait for will arrive.
void Client::Impl::apply_all_ordered() {
  session->take_reliable();
  while (const auto message = session->next_message_at_the_end()) {
    if (!*message) continue;
    const auto* kick = std::get_if<KickMessage>(&**message);
    kick != nullptr ? note_kick(*kick) : (void)session->apply(**message);
  }
}

void Client::Impl::note_kick(const KickMessage& message) {
  kick_reason = message.reason.empty() ? std::string{} : ": " + message.reason;
}

void Client::Impl::send_playout(double local_s) {
  if (handshake.is_admitted() && connection.transport() != nullptr)
    sent_playout.send_changes(session->playout_message(), messages, local_s);
}

void Client::Impl::send_due(double local_s) {
  if (!connection.is_connected()) return;
  session->link.set_ordered(connection.is_ordered());  // the path may change (PipeTransport::set_path())
  if (handshake.awaits_answer()) return handshake.send_request(connection, local_s);
  if (session->shows_unreported() || sent_playout.blend_is_unknown(session->playout_message(), messages))
    session->link.showing().note_jump();
  std::optional<DatagramSender::Showing> showing;
  if (session->link.clock().ready()) {
    // Shown time may be ahead (ClientConfig::show_ahead_s, PlayoutMode::ahead).
    const PlayoutClock& playout = session->playout;
    const double now_s = playout.follows_inputs()
                             ? playout.seen_s()
                             : std::max(session->link.clock().server_time_s(local_s), playout.seen_s());
    showing = {now_s, playout.shown_s()};
  }
  session->link.sender().send_due(local_s, config.ack_interval_s, showing, connection.server(),
                                  *connection.transport());
  // Only now, so that every message has been offered to a datagram once, however slow the pictures are.
  messages.expire(local_s, stats);
}

void Client::Impl::end_connection(const EndCode& code, double local_s) {
  const bool was_joined = status == ClientStatus::joined || status == ClientStatus::reconnecting;
  const bool has_reason = code.reason != EndReason::none && code.reason != EndReason::left;
  const bool refused = has_reason && (!was_joined || is_final(code.reason));
  if (has_reason && !handshake.awaits_answer())
    apply_all_ordered();  // otherwise only this attempt has failed
  const std::string why = !connection.server() && !has_reason ? connection.explain_no_answer()
                          : was_joined || refused             ? describe(code) + kick_reason
                                                              : "the connection was lost";
  const bool closed = code.reason == EndReason::server_shutdown;
  forget_connection();
  if (connection.can_dial() && was_joined && !refused && !leaving) {
    if (closed && !connection.lost_s()) events.push_back({ClientEvent::Kind::server_closed, {}});
    return lose(why, local_s);
  }
  if (connection.can_dial() && !leaving && !is_final(code.reason) && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(refused ? ClientStatus::refused : ClientStatus::disconnected,
         closed ? ClientEvent::Kind::server_closed : ClientEvent::Kind::disconnected);
}

// Call this when the connection was lost or could not be established. The client tries again.
void Client::Impl::lose(const std::string& why, double local_s) {
  refusal = why;
  handshake.forget();
  status = ClientStatus::reconnecting;
  if (!connection.lose(local_s)) return;
  ++stats.connections_lost;
  log.lost(why);
  events.push_back({ClientEvent::Kind::lost, {}});
}

// Tries the next server before the first session; false if there is no other server.
bool Client::Impl::goes_elsewhere(const std::string& why, double local_s) {
  if (!connection.try_next_server(local_s)) return false;
  log.goes_elsewhere(why);
  refusal = why;
  handshake.forget();
  status = ClientStatus::connecting;
  return true;
}

// What the server has sent is impossible, and nothing more can come out of this session.
void Client::Impl::abandon_session(double local_s) {
  const std::string why = "the server's messages are malformed";
  connection.disconnect(EndReason::malformed);
  handshake.drop_session();
  forget_connection();
  const bool first = status == ClientStatus::joining;
  if (connection.can_dial() && !leaving && !first) return lose(why, local_s);
  if (connection.can_dial() && !leaving && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::forget_connection() {
  connection.forget();
  handshake.forget();
}

void Client::Impl::finish(ClientStatus end, ClientEvent::Kind kind) {
  apply_all_ordered();
  status = end;
  log.ended(end == ClientStatus::refused, leaving, refusal);
  connection.close();
  handshake.forget();
  events.push_back({kind, {}});
}

// Ends the connection of a client that leaves, as soon as the server has its messages.
void Client::Impl::end_if_left(double local_s) {
  if (!leave_by_s || !connection.is_connected()) return;
  if (handshake.is_admitted() && messages.reliable().bytes() > 0 && local_s < *leave_by_s) return;
  send_left();
}

void Client::Impl::send_left() {
  leave_by_s.reset();
  connection.disconnect(EndReason::left);
}

}  // namespace reckoner
