// SPDX-License-Identifier: MIT
// What clients saw.
#include "server_impl.hpp"

namespace reckoner {

std::optional<Pose> Server::pose_seen_by(ClientId client, EntityId entity, double time_s) const {
  const Session* session = impl_->sessions.find(client);
  if (session == nullptr || session->seen() == nullptr) return std::nullopt;
  const auto shown_s = session->seen()->shown_at(time_s, impl_->present_s);
  if (!shown_s) return std::nullopt;
  const auto state = session->seen()->shown(entity, *shown_s);
  if (!state) return std::nullopt;
  return Pose{state->position - impl_->origin, state->orientation};
}

std::span<const SeenPose> Server::rewind(ClientId client, double time_s) {
  Impl& s = *impl_;
  s.seen.clear();
  const Session* session = s.sessions.find(client);
  if (session == nullptr || session->seen() == nullptr) return s.seen;
  if (const auto shown_s = session->seen()->shown_at(time_s, s.present_s))
    session->seen()->shown(*shown_s, s.seen);
  for (SeenPose& seen : s.seen)
    seen.pose.position -= s.origin;
  return s.seen;
}

}  // namespace reckoner
