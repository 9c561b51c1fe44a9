// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"

#include <optional>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// Returns the debug data of an entity shown for the instant `shown_s` at server time `now_s`, s, except the
/// thresholds. Positions are in the server's coordinates. Empty if the entity's frame is invalid.
[[nodiscard]] std::optional<ShownDebug> debug_of(const KnownEntity& entity, const Frames& frames,
                                                 double now_s, double shown_s);

}  // namespace reckoner
