// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/call_result.hpp>
#include <reckoner/server/recipients.hpp>

namespace reckoner {

/// Replaces the contents of `found` by the sessions of the recipients, in the order in which they joined.
/// `origin` is the server's origin in the world, m. If `to` is not valid, returns why, and `found` is empty.
[[nodiscard]] CallError find_recipients(const Recipients& to, const SessionTable& sessions,
                                        const EntityTable& entities, const glm::dvec3& origin,
                                        std::vector<Session*>& found);

}  // namespace reckoner
