// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"
#include "harness/explain/trials/trial_game.hpp"

#include <optional>
#include <string>
#include <vector>

namespace reckoner::harness {

/// What explain() says about a session with a known disturbance.
struct TrialResult {
  TrialPlan plan;
  int redraws = 0;                     ///< plans that made no visible step, and so were drawn again
  std::string entity;                  ///< the entity that the disturbance moved most
  double step_mps = 0.0;               ///< its largest change of drawn velocity after the disturbance
  double undisturbed_mps = 0.0;        ///< the same without the disturbance
  std::optional<ExplainedStep> found;  ///< what explain() says about that step; empty: it did not find it
  bool right = false;                  ///< `found` names the cause
  bool worst_is_right = false;         ///< the largest step of the session names it
  std::vector<ExplainedStep> steps;    ///< the largest steps of the session
};

/// Plays a session with a disturbance of this kind, and explains the step that it made. The disturbance
/// counts only if a session that is equal in all else has at most half of that step. `with_decisions`:
/// explain() also gets the decisions of the server.
[[nodiscard]] TrialResult run_trial(Cause cause, std::uint64_t seed, bool with_decisions = false);

/// Plays an undisturbed session. Right if no step has a cause other than the threshold or the motion itself.
[[nodiscard]] TrialResult run_undisturbed_trial(std::uint64_t seed, bool with_decisions = false);

}  // namespace reckoner::harness
