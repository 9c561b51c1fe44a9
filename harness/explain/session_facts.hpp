// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/server_decisions.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/client/prediction.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/blend_profile.hpp>

namespace reckoner::harness {

// What a replay of a recorded session shows. Plain data: `explain()` needs nothing else. "Local" times are on
// the client's clock, all other times are server time; both in s.

/// A state datagram that the client decoded.
struct DatagramFact {
  std::int64_t sequence = 0;  ///< sequence number, continued beyond 16 bits
  double sent_s = 0.0;        ///< time of the tick in which the server sent it
  double complete_s = 0.0;    ///< the server considered the client's data complete up to this time
  double local_s = 0.0;       ///< local time of its arrival
  double now_s = 0.0;         ///< the client's estimate of server time at its arrival
};

/// A motion that arrived for an entity.
struct MotionFact {
  double local_s = 0.0;        ///< local time of its arrival
  double now_s = 0.0;          ///< the client's estimate of server time at its arrival
  double shown_s = 0.0;        ///< the instant that the client showed at its arrival
  double sent_s = 0.0;         ///< time at which the server sent it
  double time_s = 0.0;         ///< its time stamp
  double gap_s = 0.0;          ///< time_s minus the time stamp of the newest motion before
  std::size_t datagram = 0;    ///< index in SessionFacts::datagrams of the one that contained it
  std::uint8_t level = 0;      ///< level of detail
  bool in_spawn = false;       ///< it came in a spawn
  bool fresh = false;          ///< it is the first motion of the entity
  bool applied = false;        ///< false: a newer motion was known
  bool teleports = false;      ///< the teleport counter differs from that of the motion before
  bool changes_frame = false;  ///< the frame differs from that of the motion before
  double error_m = 0.0;        ///< distance at time_s between this motion and the one before, extrapolated
  double turn_mps = 0.0;       ///< difference of their velocities at time_s
  double step_m = 0.0;         ///< how far it moved the state to be shown, without the blend
  double step_mps = 0.0;       ///< how much it changed the velocity to be shown, without the blend
  double speed_mps = 0.0;
};

/// A change of ownership that concerns this client.
struct OwnershipFact {
  enum class Kind : std::uint8_t { given, corrected, revoked };
  double local_s = 0.0;
  Kind kind = Kind::given;
};

/// A picture in which the drawn velocity or position changed by more than the motion explains.
struct StepFact {
  std::size_t frame = 0;           ///< number of the picture, from the first one of the session
  double local_s = 0.0;            ///< local time of the picture
  double frame_s = 0.0;            ///< local time since the picture before
  double now_s = 0.0;              ///< the client's estimate of server time
  double shown_s = 0.0;            ///< the shown instant
  double velocity_step_mps = 0.0;  ///< change of the drawn velocity beyond the motion's acceleration
  double position_step_m = 0.0;    ///< displacement beyond the drawn velocity
  double speed_mps = 0.0;          ///< speed of the motion
  double clock_rate = 1.0;         ///< server time per local time since the picture before
  double shown_rate = 1.0;         ///< shown time per local time since the picture before
  double clock_change_mps = 0.0;   ///< the part of the step that the change of clock_rate makes
  double delay_change_mps = 0.0;   ///< the part of the step that the change of shown_rate / clock_rate makes
  bool appeared = false;           ///< the first picture with the entity
  bool teleported = false;         ///< a teleport was reported
  bool changed_frame = false;      ///< the entity is in another frame than in the picture before
  bool fading = false;             ///< its motion is not confirmed any more
  bool owned = false;              ///< this client owns it
  bool predicted = false;          ///< this client's game predicts it
  EntityId in_frame{};             ///< the entity in whose frame it is; null: the world
};

/// Everything about one entity.
struct EntityFacts {
  EntityId id;
  std::string name;
  double threshold_m = 0.0;  ///< the archetype's threshold at the finest level of detail
  std::vector<MotionFact> motions;
  std::vector<OwnershipFact> ownership;
  std::vector<StepFact> steps;  ///< in order of time
};

/// A correction of predicted entities that the client's game has taken (Client::poll_correction()).
struct CorrectionFact {
  double local_s = 0.0;  ///< local time of the call
  Tick tick = 0;
  CorrectionCause cause = CorrectionCause::begins;  ///< as far as it was known one second later
  EntityId entity;                                  ///< of those in the correction, the one that was off most
  std::string name;
  bool had_result = false;  ///< the fields of CorrectionDebug
  double error_m = 0.0;
  double error_rad = 0.0;
  bool game_state_differs = false;
  Tick input_tick = 0;
  double input_late_s = 0.0;
  double lead_s = 0.0;         ///< how far the inputs were ahead of the server
  double shown_error_m = 0.0;  ///< the largest error that faded in a picture
  double faded_s = 0.0;        ///< time until the last picture with more than 1 mm of it; 0: nothing faded
  EntityId nearest{};          ///< the nearest other entity in the last picture; null: there was none
  std::string nearest_name;
  double nearest_m = 0.0;  ///< distance of their positions
};

/// A correction of the client's clock.
struct ClockFact {
  double local_s = 0.0;
  double by_s = 0.0;
};

/// A whole session.
struct SessionFacts {
  std::string version;                          ///< of Reckoner at the recording client
  std::string mode;                             ///< present, adaptive, delayed or ahead
  ClientId client{};                            ///< null: never admitted
  double tick_rate_hz = 60.0;                   ///< of the server
  BlendSettings blend{BlendCurve::cubic, 0.1};  ///< how the client blends
  bool shows_past = false;                      ///< the client shows a past instant
  double seconds = 0.0;                         ///< local time from the first to the last call
  double first_local_s = 0.0;                   ///< local time of the first call
  std::size_t frames = 0;                       ///< pictures
  std::optional<double> shown_since_s;          ///< local time of the first picture with a known clock
  bool truncated = false;                       ///< the recording ends without an end record
  std::optional<std::string> damage;            ///< the error at which reading stopped
  std::size_t differences = 0;  ///< calls in which this build behaved differently from the recording one
  std::vector<DatagramFact> datagrams;         ///< in order of arrival
  std::optional<ServerDecisions> decisions{};  ///< of the server in the same time; empty: not known
  std::vector<ClockFact> clock_steps;
  std::vector<CorrectionFact> corrections;  ///< in order of time
  std::vector<EntityFacts> entities;        ///< in order of first appearance
};

}  // namespace reckoner::harness
