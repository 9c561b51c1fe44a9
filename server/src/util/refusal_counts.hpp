// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/refusal.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Counts a refused payload that a correct client may send.
inline void count_refused(ServerStats& stats, Refusal why) {
  ++stats.refusals[why];
}

/// Counts a refused payload that no correct client sends.
inline void count_malformed(ServerStats& stats, Refusal why) {
  ++stats.refusals[why];
  ++stats.malformed;
}

}  // namespace reckoner
