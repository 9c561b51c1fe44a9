// SPDX-License-Identifier: MIT
#include "server/src/interest/playout_changes.hpp"

#include "server/src/interest/interest.hpp"

namespace reckoner {

std::optional<Refusal> PlayoutChanges::declare(Session& session, const PlayoutMessage& message) {
  if (const auto why = session.playout().declare(message)) return why;
  changing_.push_back(session.id());
  return std::nullopt;
}

void PlayoutChanges::apply_due(double now_s, const SessionTable& sessions, EntityTable& entities) {
  std::erase_if(changing_, [&](ClientId client) {
    Session* session = sessions.find(client);
    if (session == nullptr) return true;
    const auto playout = session->playout().due(now_s);
    if (!playout) return false;
    Interest::set_shows_past(*session, entities, playout->shows_past);
    session->seen().change(playout->interpolates ? MotionPath::interpolate : MotionPath::predict,
                           playout->blend);
    return true;
  });
}

}  // namespace reckoner
