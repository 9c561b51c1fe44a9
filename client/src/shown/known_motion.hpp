// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/ownership/owned_section.hpp"
#include "client/src/world/entity_store.hpp"

#include <optional>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The state of an entity at server time `time_s`, s, as the motions that the client knows describe it:
/// without blends, chases and corrections, in the server's coordinates. Owned entities continue from the last
/// state of their game. Empty before the oldest known motion, after the entity's end, and if the entity or
/// its frame is unknown at that time.
[[nodiscard]] std::optional<State> known_motion(const EntityStore& entities, const OwnedSection& owned,
                                                EntityId id, double time_s);

}  // namespace reckoner
