// SPDX-License-Identifier: MIT
// Clients that are lost, and those that come back.
#include "server_impl.hpp"

#include <algorithm>
#include <array>

namespace reckoner {

// Whatever it owned goes on without it.
void Server::Impl::lose(Session& session) {
  if (session.comeback() == nullptr || session.comeback()->overflowed || closing) return end(session);
  log.lost(session.id(), session.peer());
  release_owned(session.id());
  sessions.move(session, {});
  session.comeback()->lost_s = present_s;
  away.push_back(session.id());
  events.push_back({ServerEvent::Kind::client_lost, session.id(), "its connection was lost"});
}

void Server::Impl::end(Session& session, std::string_view why) {
  const ClientId id = session.id();
  events.push_back({ServerEvent::Kind::client_left, id, std::string(why)});
  log.left(id, session.peer());
  release_owned(id);
  Surroundings::release(session, entities);
  std::erase(away, id);
  sessions.remove(id);
}

// If it cannot be, the join message that follows is answered, as that of any client.
void Server::Impl::resume(PeerId peer, const ResumeMessage& message) {
  Session* session = sessions.find(message.client);
  if (session == nullptr || session->comeback() == nullptr || session->comeback()->key != message.key) return;
  const PeerId before = session->peer();
  if (before) {  // the client knows sooner than the server that it is lost
    lose(*session);
    transport.disconnect(before, 0);
    session = sessions.find(message.client);
    if (session == nullptr) return;
  }
  if (!session->can_resume(message.taken)) return end(*session);
  waiting.erase(peer);
  std::erase(away, session->id());
  sessions.move(*session, peer);
  tell_taken(*session);
  session->comeback()->expects_join = true;
  session->resume(message.taken, config, present_s, next_tick == 0 ? 0 : next_tick - 1, transport);
  events.push_back({ServerEvent::Kind::client_back, session->id(), {}});
  log.back(session->id(), peer);
}

void Server::Impl::take_in(Session& session, const GameDataMessage& message) {
  take_in(session, message.payload, message.time_s);
  const bool was_due = session.intake().is_due();
  session.intake().add(message.payload.size());
  if (!was_due && session.intake().is_due()) untold.push_back(session.id());
}

// The game has polled enough since that there is room for all that the client may then send.
void Server::Impl::tell_taken() {
  std::erase_if(untold, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr || !session->peer() || !session->intake().is_due()) return true;
    if (!inbox.has_room(client, MessageWindow::kMessages, MessageWindow::kBytes)) return false;
    tell_taken(*session);
    return true;
  });
}

void Server::Impl::tell_taken(Session& session) {
  std::array<std::byte, 64> buffer;
  transport.send(session.peer(), Channel::control, encode(session_message(session), buffer));
}

SessionMessage Server::Impl::session_message(Session& session) const {
  const Comeback* const comeback = session.comeback();
  return {comeback != nullptr ? comeback->key : SessionKey{}, session.intake().tell(),
          next_tick == 0 ? 0 : next_tick - 1};
}

}  // namespace reckoner
