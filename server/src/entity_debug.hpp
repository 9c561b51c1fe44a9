// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/server_world.hpp"

#include <optional>

#include <reckoner/net/archetype.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// What Server::debug() returns. `time_s` is the server time of the last tick, s. Nullopt if the entity was
/// not published yet.
[[nodiscard]] std::optional<EntityDebug> debug_data(const Entity& entity, const Archetype& archetype,
                                                    const ServerWorld& world, double time_s);

}  // namespace reckoner
