// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/world.hpp"

#include <string>

namespace reckoner::test {

/// A world over a short and steady link, until its script does something to it. Either end gives up one that
/// it hears nothing of for ten seconds.
inline WorldConfig near_network(const std::string& script = {}) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 4.0});
  config.script = script;
  config.silent_s = 10.0;
  return config;
}

}  // namespace reckoner::test
