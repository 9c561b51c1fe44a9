// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"
#include "harness/explain/link_history.hpp"
#include "harness/explain/session_facts.hpp"

#include <cstddef>
#include <vector>

namespace reckoner::harness {

/// Steps of one entity that follow each other closely, and so come from one disturbance.
struct Episode {
  const EntityFacts* entity = nullptr;
  StepFact peak;          ///< the largest step
  double size_mps = 0.0;  ///< by which episodes are ordered: the largest change of the drawn velocity
  double late_spawn_s =
      0.0;  ///< how late the entity appeared, if it appeared late in this episode; otherwise 0
  bool teleported = false;
  bool changed_frame = false;
  bool owned = false;
  bool fading = false;
};

/// The episodes of a session, largest first, at most ExplainOptions::worst.
[[nodiscard]] std::vector<Episode> find_episodes(const SessionFacts& facts, const LinkHistory& link,
                                                 const ExplainOptions& options);

}  // namespace reckoner::harness
