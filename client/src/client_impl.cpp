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

// Call it in receive(). Reports times that the client had to ignore.
void Client::Impl::note_clock() {
  stats.times_refused = time.refused();
  const double lead_s = time.take_lead_s();
  if (lead_s > 0.0 && !std::exchange(says_lead, true)) log.leads(lead_s);
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

// Local time of a call that shows or changes something.
double Client::Impl::time_of_call(double given_s) {
  const double local_s = time.ahead(given_s);
  if (time.ended_lead()) {
    world->end_lead();
    if (before) before->end_lead();
  }
  stats.times_refused = time.refused();
  return local_s;
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

CallResult Client::Impl::move(EntityId entity, const State& state, double local_s, EntityId frame,
                              bool teleports) {
  local_s = time_of_call(local_s);
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
  const std::string failure_hint = dialer == nullptr ? std::string{} : dialer->failure_hint();
  return "the server does not answer" + (failure_hint.empty() ? failure_hint : "; " + failure_hint);
}

void Client::Impl::dial(double local_s) {
  dial_s.reset();
  server = {};
  admitted = resuming = false;
  next_session_key = {};
  received_s = local_s;
  auto dialed = dialer->dial();
  transport = dialed ? *dialed : nullptr;
  if (dialed) return;
  if (lost_s) return lose(dialed.error(), local_s);
  refusal = dialed.error();
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::receive(const TransportEvent& event, double local_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      received_s = local_s;
      begin_connection(event.peer);
      break;
    case TransportEvent::Kind::disconnected:
      end_connection(unpack_end_code(event.reason), local_s);
      break;
    case TransportEvent::Kind::received:
      note_heard(local_s);
      world->note_arrival(local_s);
      if (event.channel == Channel::control) {
        receive_control(event.payload, local_s);
        // otherwise the datagram overtook the welcome and cannot concern this client yet
      } else if (admitted) {
        world->receive(event.payload, local_s, local_s - std::max(0.0, event.waited_s));
        take_reliable();
        apply_ordered(local_s);
        if (world->link.sender().ack_overdue()) send_due(local_s);
      }
      break;
  }
}

// Datagrams that queued up while the program was suspended do not prove that the server is still there.
void Client::Impl::note_heard(double local_s) {
  const bool doubtful = admitted && world->link.clock().is_backlog();
  const double patience_s = std::max(0.0, config.reconnect.silence_s - kAfterSleepS);
  received_s = doubtful ? std::max(received_s, local_s - patience_s) : local_s;
}

void Client::Impl::begin_connection(PeerId peer) {
  server = peer;
  if (leaving) return transport->disconnect(server, pack({EndReason::left, 0}));
  if (status == ClientStatus::connecting) status = ClientStatus::joining;
  std::array<std::byte, 64> buffer;
  resuming = static_cast<bool>(session);
  if (resuming) {
    const std::uint32_t received = world->link.reliable().taken();
    transport->send(server, Channel::control, encode(ResumeMessage{id, session, received}, buffer));
  }
  const JoinMessage join{kProtocolVersion, archetype_hash(config.archetypes),
                         config.playout.mode != PlayoutMode::present,
                         std::clamp(world->blend_s(), 0.0, kMaxBlendS)};
  transport->send(server, Channel::control, encode(join, buffer));
  joining_as = {join.shows_past, join.shows_past, join.blend_s};
}

void Client::Impl::end_connection(const EndCode& code, double local_s) {
  const bool was_joined = status == ClientStatus::joined || status == ClientStatus::reconnecting;
  const bool has_reason = code.reason != EndReason::none && code.reason != EndReason::left;
  const bool refused = has_reason && (!was_joined || is_final(code.reason));
  if (has_reason) apply_all_ordered();
  const std::string why = !server && !has_reason  ? no_answer()
                          : was_joined || refused ? describe(code) + kick_reason
                                                  : "the connection was lost";
  const bool closed = code.reason == EndReason::server_shutdown;
  server = {};
  if (dialer != nullptr && was_joined && !refused && !leaving) {
    if (closed && !lost_s) events.push_back({ClientEvent::Kind::server_closed, {}});
    return lose(why, local_s);
  }
  if (dialer != nullptr && !leaving && !is_final(code.reason) && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(refused ? ClientStatus::refused : ClientStatus::disconnected,
         closed ? ClientEvent::Kind::server_closed : ClientEvent::Kind::disconnected);
}

// Call this when the connection was lost or could not be established. Schedules the next attempt.
void Client::Impl::lose(const std::string& why, double local_s) {
  refusal = why;
  server = {};
  transport = nullptr;
  admitted = false;
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
  server = {};
  transport = nullptr;
  status = ClientStatus::connecting;
  dial_s = local_s + back_off.within_round_s(dialer->random_fraction());
  return true;
}

void Client::Impl::finish(ClientStatus end, ClientEvent::Kind kind) {
  apply_all_ordered();
  status = end;
  log.ended(end == ClientStatus::refused, leaving, refusal);
  server = {};
  admitted = false;
  dial_s.reset();
  events.push_back({kind, {}});
}

void Client::Impl::receive_control(std::span<const std::byte> payload, double local_s) {
  std::span<const std::byte> left = payload;
  do {
    const auto message = decode_next_control(left);
    const bool arrives_in_datagrams = message && belongs_to_stream(*message);
    apply_or_refuse(arrives_in_datagrams ? std::nullopt : message, local_s);
  } while (!left.empty());
  world->link.sender().request_ack();  // the server waits for this before it sends state
}

// Takes the reliable messages that have arrived completely.
void Client::Impl::take_reliable() {
  const bool was_broken = world->link.reliable().is_broken();
  while (const auto bytes = world->link.reliable().next()) {
    auto message = decode_control(*bytes);
    if (message && !belongs_to_stream(*message)) message.reset();
    ordered.add(std::move(message), bytes->size());
  }
  if (was_broken || !world->link.reliable().is_broken()) return;
  ++stats.malformed;
  ++stats.refusals[Refusal::malformed];
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
  const auto why = message ? apply(*message, local_s) : Refusal::malformed;
  if (!why) return;
  ++stats.malformed;
  ++stats.refusals[*why];
}

std::optional<Refusal> Client::Impl::apply(const ControlMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) return apply(*w, local_s);
  if (const auto* s = std::get_if<SessionMessage>(&message)) return apply(*s, local_s);
  if (const auto* k = std::get_if<KickMessage>(&message)) return note_kick(*k), std::nullopt;
  if (!admitted) return Refusal::unexpected;
  return world->apply(message);
}

// Starts the first session, or a session that replaces one that the server no longer knows.
std::optional<Refusal> Client::Impl::apply(const WelcomeMessage& message, double local_s) {
  const bool waits = status == ClientStatus::joining || (status == ClientStatus::reconnecting && !admitted);
  if (!waits || !server) return Refusal::unexpected;
  auto fresh = std::make_unique<ClientWorld>(config, switches, messages, stats);
  if (!fresh->begin(message, local_s)) return Refusal::beyond_limits;
  const bool first = status == ClientStatus::joining;
  if (!first) {
    apply_all_ordered();
    messages.restart(stats);
    world->retire();
    if (!before) before = std::move(world);
  }
  world = std::move(fresh);
  world->link.set_ordered(transport->is_ordered(server));
  status = ClientStatus::joined;
  admitted = true;
  id = message.client;
  session = std::exchange(next_session_key, {});
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

std::optional<Refusal> Client::Impl::apply(const SessionMessage& message, double local_s) {
  if (!server) return Refusal::unexpected;
  const bool another = message.key != session;
  if (admitted && another) return Refusal::unexpected;
  if (!admitted && (!resuming || another)) {
    next_session_key = message.key;
    return std::nullopt;
  }
  if (!SessionClock::is_valid_tick(message.tick)) return Refusal::from_future;
  const bool possible =
      admitted ? messages.confirm(message.processed) : messages.resume(message.received, message.processed);
  if (!possible) return Refusal::never_sent;
  if (admitted) return std::nullopt;
  world->link.resume(message.tick, local_s);
  world->link.set_ordered(transport->is_ordered(server));
  status = ClientStatus::joined;
  admitted = true;
  lost_s.reset();
  back_off.reset();
  events.push_back({ClientEvent::Kind::resumed, {}});
  log.resumed(id);
  return std::nullopt;
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
  if (!admitted || transport == nullptr) return;
  if (world->shows_unreported() || blend_is_unknown()) world->link.showing().note_jump();
  std::optional<DatagramSender::Showing> showing;
  if (world->link.clock().ready()) {
    // Frames may be ahead of receive().
    const double now_s = std::max(world->link.clock().server_time_s(local_s), world->playout.now_s());
    showing = {now_s, world->playout.shown_s()};
  }
  world->link.sender().send_due(local_s, config.ack_interval_s, showing, server, *transport);
  // Only now, so that every message has been offered to a datagram once, however slow the frames are.
  messages.expire(local_s, stats);
}

}  // namespace reckoner
