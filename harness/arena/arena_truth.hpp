// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>

namespace reckoner::harness {

/// Where every entity of the arena really was during the last seconds, in the frame in which it moves.
class ArenaTruth {
 public:
  struct Jump {
    double time_s = 0.0;
    glm::dvec3 from{0.0};
    glm::dvec3 to{0.0};
  };

  /// Records a position, m. The caller must not decrease `time_s` from call to call for an entity.
  void note(EntityId id, double time_s, const glm::dvec3& position);
  /// Records a teleport. The caller must not decrease Jump::time_s from call to call for an entity.
  void note_jump(EntityId id, const Jump& jump);

  /// The position at `time_s`, on the straight line between two recorded positions if no jump is between
  /// them. Nullopt before the first position, after the last one, or if the positions are no longer kept.
  [[nodiscard]] std::optional<glm::dvec3> at(EntityId id, double time_s) const;
  /// Time of the first position, s; nullopt if the entity is unknown.
  [[nodiscard]] std::optional<double> first_s(EntityId id) const;
  /// The last jump at or before `time_s`; null if there was none. Valid until the next non-const call.
  [[nodiscard]] const Jump* last_jump(EntityId id, double time_s) const;

 private:
  struct Sample {
    double time_s;
    glm::dvec3 position;
  };
  struct Track {
    double first_s = 0.0;
    std::deque<Sample> samples;
    std::deque<Jump> jumps;
  };

  std::map<EntityId, Track> tracks_;
};

}  // namespace reckoner::harness
