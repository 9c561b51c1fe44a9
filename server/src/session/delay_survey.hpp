// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace reckoner {

/// Measures, for every entity and level of detail, the delay within which an update reaches 90 % of the
/// subscribers. The publisher plans ahead by this delay. It is a percentile so that a few slow clients do not
/// decide for all others.
class DelaySurvey {
 public:
  /// Measures some of the entities. Over many calls, each entity is measured about once a second.
  void run(EntityTable& entities, const SessionTable& sessions);

 private:
  void measure_word(EntityTable& entities, const SessionTable& sessions, std::size_t word);

  std::size_t next_turn_ = 0;
  // Scratch; index: bit of the slot in its word.
  std::array<std::vector<double>, SlotSet::kWordBits> delays_s_;
};

}  // namespace reckoner
