// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/cause.hpp"
#include "harness/explain/episodes.hpp"
#include "harness/explain/explain.hpp"
#include "harness/explain/link_history.hpp"

#include <string>
#include <vector>

namespace reckoner::harness {

/// The cause of one episode.
struct Finding {
  Cause cause = Cause::motion;
  bool known = false;  ///< ExplainedStep::known
  double correction_m = 0.0;
  std::string sentence;
  std::vector<Evidence> evidence;
};

/// Finds the cause of an episode.
[[nodiscard]] Finding find_cause(const Episode& episode, const SessionFacts& facts, const LinkHistory& link);

}  // namespace reckoner::harness
