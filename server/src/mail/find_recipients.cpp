// SPDX-License-Identifier: MIT
#include "server/src/mail/find_recipients.hpp"

#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

CallError find_fault(const Recipients& to, const EntityTable& entities) {
  switch (to.kind) {
    case Recipients::Kind::within:
      if (!is_finite(to.centre) || !std::isfinite(to.radius_m)) return CallError::not_finite;
      return to.radius_m < 0.0 ? CallError::out_of_range : CallError::none;
    case Recipients::Kind::seeing:
      return entities.find(to.entity) == nullptr ? CallError::unknown_entity : CallError::none;
    case Recipients::Kind::all:
    case Recipients::Kind::listed:
      return CallError::none;
  }
  return CallError::out_of_range;
}

bool is_near(const Session& session, const glm::dvec3& centre, double radius_m) {
  if (!session.view().eye) return false;
  const glm::dvec3 offset = *session.view().eye - centre;
  return glm::dot(offset, offset) <= radius_m * radius_m;
}

}  // namespace

CallError find_recipients(const Recipients& to, const SessionTable& sessions, const EntityTable& entities,
                          const glm::dvec3& origin, std::vector<Session*>& found) {
  found.clear();
  if (const CallError why = find_fault(to, entities); why != CallError::none) return why;
  if (to.kind == Recipients::Kind::listed) {
    for (const ClientId client : to.clients) {
      if (Session* session = sessions.find(client); session != nullptr && client != to.excluded)
        found.push_back(session);
    }
    const auto joined_before = [](const Session* a, const Session* b) { return a->id() < b->id(); };
    std::sort(found.begin(), found.end(), joined_before);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return CallError::none;
  }
  const glm::dvec3 centre = to.centre + origin;
  for (const auto& session : sessions.all()) {
    if (session->id() == to.excluded) continue;
    if (to.kind == Recipients::Kind::within && !is_near(*session, centre, to.radius_m)) continue;
    if (to.kind == Recipients::Kind::seeing && !session->knows(to.entity)) continue;
    found.push_back(session.get());
  }
  return CallError::none;
}

}  // namespace reckoner
