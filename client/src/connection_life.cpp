// SPDX-License-Identifier: MIT
// How a client's connections come and go.
#include "client_impl.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace reckoner {
namespace {

// So long a client that slept waits to hear from its server, if that is shorter than the silence it waits
// otherwise, s.
constexpr double kAfterSleepS = 1.5;

// Trying again would change nothing, or take the place of somebody who is to have it.
bool is_final(EndReason reason) {
  return reason == EndReason::version || reason == EndReason::archetypes || reason == EndReason::replaced;
}

}  // namespace

// After what has arrived was taken in, so that a client that slept finds out first whether it was missed.
void Client::Impl::live(double local_s) {
  if (dialer == nullptr || is_over()) return;
  if (lost_s && config.reconnect.give_up_s > 0.0 && local_s - *lost_s >= config.reconnect.give_up_s)
    return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
  if (dial_s) {
    if (local_s >= *dial_s) dial(local_s);
    return;
  }
  const bool stands = admitted && status == ClientStatus::joined;
  if (stands && local_s - heard_s >= config.reconnect.silence_s) lose("the server fell silent", local_s);
  if (lost_s && !dial_s && local_s - heard_s >= config.reconnect.attempt_s)
    lose(server ? "the server does not answer" : no_answer(), local_s);
}

std::string Client::Impl::no_answer() const {
  const std::string doubt = dialer == nullptr ? std::string{} : dialer->doubt();
  return "the server does not answer" + (doubt.empty() ? doubt : "; " + doubt);
}

void Client::Impl::dial(double local_s) {
  dial_s.reset();
  server = {};
  admitted = resuming = false;
  coming = {};
  heard_s = local_s;
  auto dialed = dialer->dial();
  transport = dialed ? *dialed : nullptr;
  if (dialed) return;
  if (lost_s) return lose(dialed.error(), local_s);
  refusal = dialed.error();
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::handle(const TransportEvent& event, double local_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      heard_s = local_s;
      handle_connected(event.peer);
      break;
    case TransportEvent::Kind::disconnected:
      handle_end(unpack_end_code(event.reason), local_s);
      break;
    case TransportEvent::Kind::received:
      note_heard(local_s);
      world->note_arrival(local_s);
      if (event.channel == Channel::control) {
        handle_control(event.payload, local_s);
      } else if (admitted) {  // else it overtook the welcome; nothing in it can be for us yet
        world->take(event.payload, local_s);
        if (world->link.ack_overdue()) acknowledge(local_s);
      }
      break;
  }
}

// What lay here while the client slept does not say that the server is still there.
void Client::Impl::note_heard(double local_s) {
  const bool doubtful = admitted && world->link.is_history();
  const double patience_s = std::max(0.0, config.reconnect.silence_s - kAfterSleepS);
  heard_s = doubtful ? std::max(heard_s, local_s - patience_s) : local_s;
}

void Client::Impl::handle_connected(PeerId peer) {
  server = peer;
  if (leaving) return transport->disconnect(server, pack({EndReason::left, 0}));
  if (status == ClientStatus::connecting) status = ClientStatus::joining;
  std::array<std::byte, 64> buffer;
  resuming = static_cast<bool>(session);
  if (resuming) {
    transport->send(server, Channel::control,
                    encode(ResumeMessage{id, session, world->link.control_count()}, buffer));
  }
  const JoinMessage join{kProtocolVersion, archetype_hash(config.archetypes),
                         config.playout.mode != PlayoutMode::present,
                         std::clamp(world->blend_s(), 0.0, kMostBlendS)};
  transport->send(server, Channel::control, encode(join, buffer));
  joining_as = {join.shows_past, join.shows_past, join.blend_s};
}

void Client::Impl::handle_end(const EndCode& code, double local_s) {
  const bool was_joined = status == ClientStatus::joined || status == ClientStatus::reconnecting;
  const bool told = code.reason != EndReason::none && code.reason != EndReason::left;
  const bool refused = told && (!was_joined || is_final(code.reason));
  const std::string why = !server && !told        ? no_answer()
                          : was_joined || refused ? describe(code)
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

// The connection is gone, or did not come about; the next attempt is not far.
void Client::Impl::lose(const std::string& why, double local_s) {
  refusal = why;
  server = {};
  transport = nullptr;
  admitted = false;
  status = ClientStatus::reconnecting;
  if (lost_s) {
    dialer->try_elsewhere();
  } else {
    lost_s = local_s;
    ++stats.connections_lost;
    log.lost(why);
    events.push_back({ClientEvent::Kind::lost, {}});
  }
  dial_s = local_s + back_off.next_s(dialer->chance());
}

// Before the first session: false if there is no other server to try.
bool Client::Impl::goes_elsewhere(const std::string& why, double local_s) {
  if (!dialer->try_elsewhere()) return false;
  log.goes_elsewhere(why);
  refusal = why;
  server = {};
  transport = nullptr;
  status = ClientStatus::connecting;
  dial_s = local_s + back_off.next_s(dialer->chance());
  return true;
}

void Client::Impl::finish(ClientStatus end, ClientEvent::Kind kind) {
  status = end;
  log.ended(end == ClientStatus::refused, leaving, refusal);
  server = {};
  admitted = false;
  dial_s.reset();
  events.push_back({kind, {}});
}

void Client::Impl::handle_control(std::span<const std::byte> payload, double local_s) {
  std::span<const std::byte> left = payload;
  do {
    const auto message = take_control(left);
    // Counted even if it makes no sense: the server numbers what it sends, and both must stay in step.
    if (admitted && (!message || is_counted(*message))) world->link.note_control();
    const auto why = message ? handle_message(*message, local_s) : Refusal::malformed;
    if (!why) continue;
    ++stats.malformed;
    ++stats.refusals[*why];
  } while (!left.empty());
  world->link.hurry();  // the server waits for this before it sends state
}

// Why the message makes no sense now, or nothing.
std::optional<Refusal> Client::Impl::handle_message(const ControlMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) return welcome(*w, local_s);
  if (const auto* s = std::get_if<SessionMessage>(&message)) return take(*s, local_s);
  if (!admitted) return Refusal::unexpected;
  return world->take(message);
}

// A session begins: the first, or one that takes the place of what the server no longer knows.
std::optional<Refusal> Client::Impl::welcome(const WelcomeMessage& message, double local_s) {
  const bool waits = status == ClientStatus::joining || (status == ClientStatus::reconnecting && !admitted);
  if (!waits || !server) return Refusal::unexpected;
  auto fresh = std::make_unique<ClientWorld>(config, mail, stats);
  if (!fresh->begin(message, local_s)) return Refusal::beyond_limits;
  const bool first = status == ClientStatus::joining;
  if (!first) {
    mail.restart(stats);
    world->retire();
    if (!before) before = std::move(world);
  }
  world = std::move(fresh);
  status = ClientStatus::joined;
  admitted = true;
  id = message.client;
  session = std::exchange(coming, {});
  told_playout = joining_as;
  told_playout_s.reset();
  mail.begin(static_cast<bool>(session));
  lost_s.reset();
  back_off.reset();
  log.joined(id, first);
  if (first) events.push_back({ClientEvent::Kind::joined, {}});
  return std::nullopt;
}

std::optional<Refusal> Client::Impl::take(const SessionMessage& message, double local_s) {
  if (!server) return Refusal::unexpected;
  const bool another = message.key != session;
  if (admitted && another) return Refusal::unexpected;
  if (!admitted && (!resuming || another)) {
    coming = message.key;
    return std::nullopt;
  }
  if (!ServerLink::can_be(message.tick)) return Refusal::from_future;
  if (!mail.confirm(message.taken)) return Refusal::never_sent;
  if (admitted) return std::nullopt;
  world->link.resume(message.tick, local_s);
  mail.send_again(server, *transport);
  if (told_playout_s) told_playout.reset();
  status = ClientStatus::joined;
  admitted = true;
  lost_s.reset();
  back_off.reset();
  events.push_back({ClientEvent::Kind::resumed, {}});
  log.resumed(id);
  return std::nullopt;
}

// Not more often than the server follows, but then how it is.
void Client::Impl::tell_playout(double local_s) {
  constexpr double kLeastS = 0.5;
  if (!admitted || transport == nullptr || (told_playout_s && local_s - *told_playout_s < kLeastS)) return;
  const PlayoutMessage shows = world->shows();
  if (shows == told_playout) return;
  std::array<std::byte, 64> buffer;
  transport->send(server, Channel::control, encode(shows, buffer));
  told_playout = shows;
  told_playout_s = local_s;
}

void Client::Impl::acknowledge(double local_s) {
  if (!admitted || transport == nullptr) return;
  if (world->paused()) world->link.note_jump();  // what is shown is not what the server would find out
  mail.go_on(server, *transport);
  mail.expire(local_s, stats);
  std::optional<ServerLink::Showing> showing;
  if (world->link.clock_ready()) showing = {world->link.server_time_s(local_s), world->playout.shown_s()};
  stats.messages_sent +=
      world->link.acknowledge(local_s, config.ack_interval_s, showing, mail.outbox(), server, *transport);
}

}  // namespace reckoner
