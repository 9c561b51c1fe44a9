// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/cause.hpp"
#include "harness/explain/session_facts.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner::harness {

/// Settings of explain().
struct ExplainOptions {
  std::size_t worst = 10;  ///< largest number of steps
  /// Only the entity with this slot plus one (EntityId::index1); empty: all entities.
  std::optional<std::uint32_t> entity;
  /// Pictures in the first seconds do not count, because the clock of the client settles, s.
  double skip_s = 2.0;
};

/// One piece of evidence: a name and a number, for example "lost_sequence" and 1234. Units are in the name.
struct Evidence {
  std::string_view name;
  double value = 0.0;
};

/// A step in what the client drew, and its explanation.
struct ExplainedStep {
  EntityId entity;
  std::string name;       ///< of the entity; may be empty
  std::size_t frame = 0;  ///< number of the picture with the largest change
  double at_s = 0.0;      ///< time of that picture since the first call of the session
  double server_s = 0.0;  ///< its server time, as the client estimated it, s
  double velocity_step_mps =
      0.0;  ///< change of the drawn velocity in one picture, beyond the motion's acceleration
  double position_step_m = 0.0;  ///< displacement in one picture beyond the drawn velocity
  double correction_m = 0.0;     ///< how far the known motion moved at the shown time; 0: not at all
  Cause cause = Cause::motion;
  bool known =
      false;  ///< true: the recording proves the cause; false: it is inferred from what arrived and when
  std::string sentence;            ///< the explanation for people
  std::vector<Evidence> evidence;  ///< the numbers behind the sentence
};

/// Finds the largest steps in the drawn velocity and position of a session, and explains each of them. The
/// largest step comes first. Pure: no files, no clock, no threads, no exceptions.
[[nodiscard]] std::vector<ExplainedStep> explain(const SessionFacts& facts, const ExplainOptions& options);

}  // namespace reckoner::harness
