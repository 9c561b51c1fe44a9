// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"

#include <cstddef>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/client/client_config.hpp>
#include <reckoner/client/prediction.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner::test {

/// A session of a player who drives a car that its game predicts, with one disturbance.
struct DrivePlan {
  enum class Disturbance {
    nothing,
    push,          ///< the server's game moves the car by `size` m to the side
    fuel,          ///< the server's game changes only the bytes of the game
    inexact_step,  ///< each step of the client is off by the share `size`, from then on
    lost_inputs,   ///< the client's datagrams are lost for `size` s
    held_inputs,   ///< datagrams that the client sends in `size` s all leave at the end of that time
    stall,         ///< the client's program stops for `size` s, in which the player presses another key
    teleport,      ///< the server's game teleports the car by `size` m
    begins_again,  ///< the prediction ends, and begins again 1 s later
  };
  Disturbance disturbance = Disturbance::nothing;
  double size = 0.0;
  double at_s = 6.0;  ///< the player also presses another key then
  double seconds = 9.0;
  harness::LinkOptions link{.latency_ms = 40.0};
  bool has_game_state = true;  ///< the game sends its bytes
  ClientConfig client{};       ///< without archetypes
};

/// What happened in a session.
struct RecordedDrive {
  struct Pose {
    double local_s = 0.0;
    glm::dvec3 position{0.0};
    glm::quat orientation{};
  };
  struct Taken {
    double time_s = 0.0;  ///< true time
    Tick tick = 0;
    CorrectionReason reason = CorrectionReason::begins;
  };
  std::vector<std::byte> session;  ///< the recording
  std::vector<Pose> drawn;         ///< the car in each picture
  std::vector<Taken> corrections;  ///< that the game has taken
  EntityId car;
  std::vector<PredictionDebug> debug;  ///< of the car, after each picture
};

/// Plays a session in virtual time at 60 Hz.
[[nodiscard]] RecordedDrive play_drive(const DrivePlan& plan);

}  // namespace reckoner::test
