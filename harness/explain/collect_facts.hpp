// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/session_facts.hpp"
#include "programs/common/sessions/session_log.hpp"

#include <optional>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Which facts to collect.
struct CollectOptions {
  std::vector<Archetype> archetypes;  ///< of the recorded client
  /// Collect the steps of this entity only (slot plus one, EntityId::index1); empty: of all entities.
  std::optional<std::uint32_t> only;
};

/// Replays a recorded session and returns what happened in it. A damaged or truncated recording gives the
/// facts up to the damage (SessionFacts::damage, truncated). Fails if the recorded settings are invalid for a
/// client.
[[nodiscard]] Result<SessionFacts> collect_facts(program::SessionReader& reader,
                                                 const CollectOptions& options);

}  // namespace reckoner::harness
