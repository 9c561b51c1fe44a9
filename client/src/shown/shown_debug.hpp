// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"

#include <optional>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// What there is to say of an entity that is shown for the instant `shown_s` while it is `now_s`, server
/// time, all but the thresholds; in the server's coordinates. Nothing if the frame that it is in is none.
[[nodiscard]] std::optional<ShownDebug> debug_of(const KnownEntity& entity, const Frames& frames,
                                                 double now_s, double shown_s);

}  // namespace reckoner
