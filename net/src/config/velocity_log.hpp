// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/motion/velocity_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/log.hpp>

namespace reckoner {

/// Logs that a game leaves velocities at zero although its entities move: once for each archetype and for
/// each of velocity and angular velocity.
class VelocityLog {
 public:
  /// `missing`: the sum of VelocityWatch::missing() over the entities of an archetype. `i`: its index.
  void note(const LogSink& sink, std::span<const Archetype> archetypes, std::size_t i, std::uint8_t missing) {
    if (missing == VelocityWatch::kNothing) return;
    said_.resize(archetypes.size());
    const unsigned fresh = missing & ~unsigned{said_[i]};
    if (fresh == 0) return;
    said_[i] = static_cast<std::uint8_t>(said_[i] | fresh);
    const Archetype& archetype = archetypes[i];
    const bool estimated = archetype.velocity != VelocitySource::given;
    for (const auto what : {VelocityWatch::kVelocity, VelocityWatch::kAngularVelocity}) {
      if ((fresh & what) == 0) continue;
      say(sink, estimated ? LogLevel::info : LogLevel::warning,
          estimated ? "velocity estimated, the game gives none" : "the game gives no velocity",
          {{"archetype", std::string_view(archetype.name)},
           {"of", std::string_view(what == VelocityWatch::kVelocity ? "position" : "orientation")}});
    }
  }

 private:
  std::vector<std::uint8_t> said_;  // VelocityWatch::Missing; index: archetype
};

}  // namespace reckoner
