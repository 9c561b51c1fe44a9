// SPDX-License-Identifier: MIT
// What arrives at a server from its clients, and what the game has to say to them.
#include "server_impl.hpp"

#include <memory>
#include <string>

namespace reckoner {

void Server::Impl::handle(const TransportEvent& event, double now_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      if (closing) {
        transport.disconnect(event.peer, pack({EndReason::server_shutdown, 0}));
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
        end(*session, reason == EndReason::replaced ? "the same client has joined anew" : "left");
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
  if (join_message != nullptr && waiting.contains(event.peer)) {
    join(event.peer, *join_message);
    return;
  }
  const auto* resume_message = message ? std::get_if<ResumeMessage>(&*message) : nullptr;
  if (resume_message != nullptr && waiting.contains(event.peer)) {
    resume(event.peer, *resume_message);
    return;
  }
  const auto* data = message ? std::get_if<GameDataMessage>(&*message) : nullptr;
  Session* session = sessions.find(event.peer);
  if (data != nullptr && session != nullptr) return take_in(*session, *data);
  const auto* playout = message ? std::get_if<PlayoutMessage>(&*message) : nullptr;
  if (playout != nullptr && session != nullptr) return take_in(*session, *playout);
  Comeback* comeback = session != nullptr ? session->comeback() : nullptr;
  if (join_message != nullptr && comeback != nullptr && std::exchange(comeback->expects_join, false)) return;
  not_taken_in(message ? Refusal::unexpected : Refusal::malformed);
  if (waiting.contains(event.peer)) refuse(event.peer, {EndReason::malformed, 0});
}

void Server::Impl::handle_state(const TransportEvent& event, double now_s) {
  Session* session = sessions.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (!datagram) return not_taken_in(Refusal::malformed);
  if (session == nullptr) return not_taken_in(Refusal::unexpected);
  std::span<const Ownership::Update> owned;
  if (datagram->has_owned) {
    Refusal why{};
    const auto read = ownership.read(reader, session->id(), next_tick, why);
    // Perhaps of what was taken from it, or against what never came: as if the datagram had not come.
    if (!read) return not_taken_in(why, reader.failed() || !session->ever_owned());
    owned = *read;
  }
  batch.clear();
  if (datagram->has_messages) read_messages(reader, batch);
  if (!reader.finished()) return not_taken_in(Refusal::malformed);
  const Session::Receipt receipt = session->receive(*datagram, now_s, stats);
  if (receipt == Session::Receipt::refused) return not_taken_in(Refusal::never_sent);
  if (receipt == Session::Receipt::repeated) return not_taken_in(Refusal::repeated, false);
  ownership.heard(session->id(), now_s);
  if (!owned.empty()) take_in_owned(owned, *session, now_s);
  for (const MessageBatch::Item& item : batch.items)
    take_in(*session, batch.payload(item), item.time_s);
}

void Server::Impl::take_in(const Session& session, std::span<const std::byte> payload,
                           std::optional<double> time_s) {
  if (inbox.add(session.id(), payload, time_s, false)) return (void)++stats.messages_received;
  ++stats.messages_refused;
  not_taken_in(Refusal::too_many, false);
}

void Server::Impl::take_in(Session& session, const PlayoutMessage& message) {
  if (const auto why = session.playout().say(message)) return not_taken_in(*why, false);
  changing.push_back(session.id());
}

// What clients have said of how they show others, each twice a second at most.
void Server::Impl::follow_playouts(double now_s) {
  std::erase_if(changing, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr) return true;
    const auto playout = session->playout().due(now_s);
    if (!playout) return false;
    Surroundings::set_shows_past(*session, entities, playout->shows_past);
    session->change_seen(playout->interpolates ? Path::interpolate : Path::predict, playout->blend_s);
    return true;
  });
}

// Encoded, or copied, once for all.
std::size_t Server::Impl::send_to(std::span<Session* const> clients, std::span<const std::byte> payload,
                                  Delivery delivery, std::optional<double> time_s) {
  if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !can_stamp(*time_s)))
    return 0;
  std::size_t taken = 0;
  if (delivery == Delivery::reliable) {
    std::vector<std::byte> buffer(payload.size() + 64);
    const auto encoded = encode(GameDataMessage{{payload.begin(), payload.end()}, time_s}, buffer);
    for (Session* session : clients)
      taken += session->send_reliable(encoded, time_of(next_tick), transport) ? 1 : 0;
    stats.messages_sent += taken;
  } else {
    const auto shared = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    for (Session* session : clients)
      taken += session->send_unreliable(shared, time_s, time_of(next_tick)) ? 1 : 0;
  }
  stats.messages_dropped += clients.size() - taken;
  return taken;
}

void Server::Impl::join(PeerId peer, const JoinMessage& message) {
  if (message.version != kProtocolVersion) {
    return refuse(peer, {EndReason::version, kProtocolVersion},
                  "protocol version mismatch: the client speaks version " + std::to_string(message.version) +
                      ", this server version " + std::to_string(kProtocolVersion));
  }
  if (message.archetype_hash != archetype_hash(config.archetypes))
    return refuse(peer, {EndReason::archetypes, 0});
  if (sessions.size() >= config.max_clients && !away.empty()) end(*sessions.find(away.front()));
  if (sessions.size() >= config.max_clients) return refuse(peer, {EndReason::full, 0});

  waiting.erase(peer);
  WelcomeMessage welcome;
  welcome.client = {next_client++};
  welcome.tick_rate_hz = config.tick_rate_hz;
  welcome.epoch_s = config.epoch_s;
  welcome.tick = next_tick == 0 ? 0 : next_tick - 1;
  welcome.longest_gap_s = publisher.longest_gap_s(1.0);
  welcome.rewinds = config.rewind_s > 0.0;
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const Archetype& a = config.archetypes[i];
    welcome.archetypes.push_back(
        {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, quantisation[i].codes});
  }
  Session& session = sessions.add(welcome.client, peer, config);
  if (config.resume_s > 0.0) session.remember_sent(session_key(session_secret, welcome.client));
  std::vector<std::byte> buffer(kMaxControlBytes);
  std::size_t size = encode(session_message(session), buffer).size();
  size += encode(welcome, std::span(buffer).subspan(size)).size();
  transport.send(peer, Channel::control, std::span(buffer).first(size));
  session.view().shows_past = message.shows_past;
  session.playout() =
      DeclaredPlayout{PlayoutMessage{message.shows_past, message.shows_past, message.blend_s}};
  if (config.rewind_s > 0.0)
    session.remember_seen(message.shows_past ? Path::interpolate : Path::predict, message.blend_s,
                          config.rewind_s);
  for (std::uint32_t route = 1; route <= routes.size(); ++route)
    session.tell_route({{route}, routes.find({route})->definition()}, transport);
  events.push_back({ServerEvent::Kind::client_joined, welcome.client, {}});
  log.joined(welcome.client, peer);
}

void Server::Impl::refuse(PeerId peer, const EndCode& code, const std::string& why) {
  waiting.erase(peer);
  events.push_back({ServerEvent::Kind::client_refused, {}, why});
  log.refused(peer, why);
  transport.disconnect(peer, pack(code));
}

void Server::Impl::close_idle(double now_s) {
  for (auto it = waiting.begin(); it != waiting.end();) {
    const auto [peer, since_s] = *it++;
    if (now_s - since_s > config.join_timeout_s) refuse(peer, {EndReason::join_timeout, 0});
  }
  while (!away.empty()) {
    Session& session = *sessions.find(away.front());
    if (now_s - session.comeback()->lost_s <= config.resume_s) break;
    end(session);
  }
}

}  // namespace reckoner
