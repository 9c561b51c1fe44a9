// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace reckoner {

/// Measures, for every entity and level of detail, the delay within which an update reaches 90 % of the
/// subscribers. The publisher plans ahead by this delay. The percentile keeps a few slow clients from
/// deciding for all others.
class DelaySurvey {
 public:
  /// Measures a share of the entities, so that each is measured about once a second.
  void run(EntityTable& entities, const SessionTable& sessions);

 private:
  void measure_word(EntityTable& entities, const SessionTable& sessions, std::size_t word);

  std::size_t next_turn_ = 0;
  std::array<std::vector<double>, SlotSet::kWordBits> delays_s_;  // scratch, by slot within the word
};

}  // namespace reckoner
