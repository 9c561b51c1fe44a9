// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// Statistics of a set of samples. Percentiles interpolate linearly between order statistics.
struct Distribution {
  std::size_t count = 0;
  double mean = 0.0;
  double rms = 0.0;
  double p50 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
  double max = 0.0;
};

/// The statistics of `samples`. All zero if `samples` is empty.
[[nodiscard]] Distribution describe(std::vector<double> samples);

/// The value at the quantile `fraction` (0 to 1) of `sorted`, which must be ascending, interpolated between
/// neighbours. 0 if it is empty.
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// The middle value; of an even number of values, the larger of the two in the middle. 0 if there are none.
[[nodiscard]] double upper_median(std::vector<double> values);

/// Traffic over one direction of a link. The counts are totals; the reports divide them by entity-seconds.
struct Traffic {
  std::uint64_t updates = 0;        ///< motions (to the client) or datagrams (to the server)
  std::uint64_t payload_bytes = 0;  ///< bytes passed to the transport
  std::uint64_t wire_bytes = 0;     ///< including the headers of ENet, UDP and IPv4
};

/// Number of shown poses that the errors include, and of those they leave out, by reason.
struct FrameCounts {
  std::uint64_t counted = 0;
  std::uint64_t run_start = 0;     ///< in the first 2 s of the run
  std::uint64_t entity_start = 0;  ///< in the first 0.3 s of an entity
  std::uint64_t teleport = 0;      ///< within 0.7 s after a declared teleport
  std::uint64_t gap = 0;           ///< where the recording has no sample for more than 0.25 s
  [[nodiscard]] std::uint64_t excluded() const { return run_start + entity_start + teleport + gap; }
};

/// How well a server reconstructs what a client saw (Server::pose_seen_by()): distances between the poses
/// that the server finds and those that the client drew.
struct RewindFigures {
  Distribution seen_error_m;       ///< when a shot arrives, for all poses of the frame in which it was fired
  Distribution seen_late_error_m;  ///< for every frame, half a second after it was drawn
  std::uint64_t shots = 0;         ///< number of shots that arrived
  std::uint64_t poses = 0;         ///< number of poses drawn in these frames
  std::uint64_t unknown = 0;       ///< number of these poses for which the server finds nothing
};

/// How the server handled the motions that owners sent.
struct OwnedFigures {
  OwnershipStats server;
  std::uint64_t corrections = 0;                ///< corrections that the honest owner received
  std::optional<Distribution> rogue_speed_mps;  ///< shown speed of the cheating owner's entity, over 0.5 s
  std::optional<Distribution> rogue_step_mps;   ///< shown speed of that entity from frame to frame
  /// Its speed over 0.5 s according to the motions that the server published.
  std::optional<Distribution> rogue_believed_mps;
  double rogue_limit_mps = 0.0;  ///< top speed of its archetype
};

/// Figures about entities in the frames of other entities; see FrameMetrics. "frame" errors are those of
/// entities in another entity's frame, measured in that frame. "firm" errors are those of entities in the
/// world frame that are not frames themselves. "rest" means that the truth does not move in its frame; "walk"
/// means that it moves.
struct FrameFigures {
  double frame_s = 0.0;  ///< entity-seconds in the frames of other entities
  Distribution frame_rest_error_m;
  Distribution frame_walk_error_m;
  Distribution firm_rest_error_m;
  Distribution firm_walk_error_m;
  std::uint64_t frame_changes = 0;
  /// The effect of a change of frame on the shown velocity. Sampled in each frame in which an entity is first
  /// shown in another entity's frame, or first shown outside it. The sample is the velocity step beyond the
  /// truth's, minus that of the frame before; at least 0.
  Distribution frame_switch_velocity_step_mps;
  /// Velocity steps beyond the truth's in the 1 s after a change of frame.
  Distribution frame_change_velocity_step_mps;
  Distribution other_velocity_step_mps;  ///< velocity steps of these entities at other times
  /// Number of poses left out because the frame's entity was not shown.
  std::uint64_t without_frame = 0;
};

/// The figures of a run or of one of its entities. The names contain the units. "Beyond the truth's" means
/// max(0, shown - truth). Errors and steps leave out some frames; see FrameCounts.
struct Figures {
  /// Distance between the shown pose and the truth at the time of the frame.
  Distribution now_error_m;
  /// Distance between the shown pose and the truth at the instant that the pose shows
  /// (ShownPose::shown_time_s).
  Distribution shown_error_m;
  std::optional<Distribution> angle_error_rad;  ///< nullopt if no entity has an orientation
  /// As angle_error_rad, but against the truth at the shown instant. Both are equal in present mode.
  std::optional<Distribution> shown_angle_error_rad;
  /// RMS of the second difference over time of the shown position minus the truth at the shown instant.
  double excess_acceleration_mps2 = 0.0;
  /// Change of the shown velocity from one frame to the next, beyond the truth's.
  Distribution velocity_step_mps;
  /// Visible jerks per entity-second: the velocity step exceeds 7 % of the speed plus 0.1 m/s, or the
  /// direction turns by more than 1.8 degrees, each beyond the truth's (De Bruyn and Orban 1988).
  double pops_per_s = 0.0;
  /// Entity-seconds of truth without a shown pose, later than 0.3 s plus the one-way delay after the spawn.
  double missing_s = 0.0;
  /// Entity-seconds of shown poses without truth, later than 0.3 s plus the one-way delay after the despawn.
  double ghost_s = 0.0;
  double entity_seconds = 0.0;  ///< entity-seconds of truth in the whole run; traffic is divided by this
  /// Time of the frame minus the shown instant.
  Distribution delay_ms;
  std::uint64_t teleports = 0;
  double teleport_settle_ms = 0.0;             ///< mean; 0 without teleports
  std::uint64_t between_teleport_frames = 0;   ///< number of poses shown between the two ends of a teleport
  std::optional<Distribution> clock_error_ms;  ///< only if the client estimates server time
  std::optional<RewindFigures> seen;           ///< only of a run with shots
  std::optional<OwnedFigures> owned;           ///< only of a run in which a client owns entities
  FrameCounts frames;
  std::optional<FrameFigures> in_frames;  ///< only if entities are in the frames of others
  std::optional<Traffic> down;
  std::optional<Traffic> up;
  std::optional<std::uint64_t> updates;  ///< only of one entity; its share of the bytes is unknown
};

/// Updates of the server per second and entity. 0 if the run did not count them.
[[nodiscard]] double updates_per_s(const Figures& figures);

/// The figures as a JSON object. The names are part of the harness's interface and do not change.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace reckoner::harness
