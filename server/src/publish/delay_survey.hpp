// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace reckoner {

/// Finds out, for every entity and level of detail, how long an update takes to reach nine in ten of the
/// clients that follow it, so that none of them bends for the others what is decided for all.
class DelaySurvey {
 public:
  /// Looks at a share of the entities; at each of them once a second or so.
  void run(EntityTable& entities, const SessionTable& sessions);

 private:
  void look_at_word(EntityTable& entities, const SessionTable& sessions, std::size_t word);

  std::size_t next_turn_ = 0;
  std::array<std::vector<double>, SlotSet::kWordBits> delays_s_;  // scratch: by slot within the word
};

}  // namespace reckoner
