// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/cause.hpp"
#include "harness/explain/server_decisions.hpp"
#include "harness/sim/link.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/client/playout.hpp>

namespace reckoner::harness {

/// One disturbance of a session, and the session around it. Everything is drawn from a seed. The injector
/// works on the link, the clock, the server's settings or the game; it knows nothing of the analysis.
struct TrialPlan {
  std::optional<Cause> cause;  ///< empty: nothing is injected
  std::uint64_t seed = 1;      ///< of the motion and of the network
  std::string network;         ///< name; its losses are removed, so that the injected ones are the only ones
  LinkOptions link;
  PlayoutConfig playout;
  std::size_t entities = 6;   ///< bodies that roam, at least 1
  double speed_mps = 6.0;     ///< their typical speed
  double threshold_m = 0.05;  ///< of the server
  double server_phase_s = 0.0;
  double at_s = 6.0;      ///< when the disturbance begins, true time, s
  double lasts_s = 0.0;   ///< how long it lasts, s
  double size = 0.0;      ///< how strong it is; the unit depends on the cause
  bool variant = false;   ///< which of two forms it takes
  std::size_t crowd = 0;  ///< bodies that all turn at once, which exhausts the budget
  std::size_t bytes_per_second = 256'000;
  double seconds = 9.0;  ///< length of the session, s
};

/// Draws a plan for a disturbance of this kind; empty: an undisturbed session.
[[nodiscard]] TrialPlan draw_plan(std::optional<Cause> cause, std::uint64_t seed);

/// What a client drew of one entity in a picture.
struct DrawnPose {
  double time_s = 0.0;   ///< true time
  double local_s = 0.0;  ///< the client's clock
  glm::dvec3 position{0.0};
};

/// What happened in a session.
struct PlayedTrial {
  std::vector<std::byte> session;                       ///< recorded session of the client
  std::map<std::string, std::vector<DrawnPose>> drawn;  ///< by name of the entity
  std::map<std::string, std::uint32_t> ids;             ///< EntityId::index1
  bool failed = false;                                  ///< the client could not join
  ServerDecisions decisions;                            ///< of the server
};

/// Plays a session in virtual time. Without `inject`, everything is equal but the disturbance does not
/// happen.
[[nodiscard]] PlayedTrial play_trial(const TrialPlan& plan, bool inject);

}  // namespace reckoner::harness
