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

/// The value at the quantile `fraction` (0 to 1), interpolated between neighbours. The caller must sort the
/// values in ascending order. Returns 0 if `sorted` is empty.
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// The middle value. If the number of values is even, the larger of the two middle values. 0 if there are no
/// values.
[[nodiscard]] double upper_median(std::vector<double> values);

/// Traffic over one direction of a link. The counts are totals; the reports divide them by entity-seconds.
struct Traffic {
  std::uint64_t updates = 0;        ///< to the client: number of motions; to the server: number of datagrams
  std::uint64_t payload_bytes = 0;  ///< bytes passed to the transport
  std::uint64_t wire_bytes = 0;     ///< payload bytes plus the headers of ENet, UDP and IPv4
};

/// The number of shown poses that the errors include, and, for each reason, the number of poses that they
/// leave out.
struct PictureCounts {
  /// Poses that the run should have shown: one per picture and living entity, without the first 2 s of the
  /// run, the time that a spawn may take (Figures::missing_s) and gaps of the recording.
  std::uint64_t expected = 0;
  std::uint64_t shown = 0;  ///< expected poses that were shown
  std::uint64_t counted = 0;
  std::uint64_t run_start = 0;     ///< in the first 2 s of the run
  std::uint64_t entity_start = 0;  ///< in the first 0.3 s of an entity
  std::uint64_t teleport = 0;      ///< within 0.7 s after a declared teleport
  std::uint64_t gap = 0;           ///< while the recording has no sample for more than 0.25 s
  [[nodiscard]] std::uint64_t excluded() const { return run_start + entity_start + teleport + gap; }
};

/// How well a server reconstructs what a client saw (Server::pose_seen_by()). Each error is the distance
/// between the pose that the server finds and the pose that the client drew.
struct RewindFigures {
  /// Measured when a shot arrives, for all poses of the picture in which it was fired.
  Distribution seen_error_m;
  Distribution seen_late_error_m;  ///< measured for every picture, half a second after it was drawn
  std::uint64_t shots = 0;         ///< number of shots that arrived
  std::uint64_t poses = 0;         ///< number of poses that were compared in all of these pictures
  std::uint64_t unknown = 0;       ///< number of drawn poses for which the server finds nothing
};

/// How the server handled the motions that owners sent.
struct OwnedFigures {
  OwnershipStats server;
  std::uint64_t corrections = 0;                ///< corrections that the honest owner received
  std::optional<Distribution> rogue_speed_mps;  ///< shown speed of the cheater's entity, measured over 0.5 s
  /// Shown speed of the cheater's entity from one picture to the next.
  std::optional<Distribution> rogue_step_mps;
  /// Speed of the cheater's entity over 0.5 s, according to the motions that the server published.
  std::optional<Distribution> rogue_believed_mps;
  double rogue_limit_mps = 0.0;  ///< top speed of the archetype of the cheater's entity
};

/// Figures about entities in the frames of other entities; see FrameMetrics. The frame_..._error_m are errors
/// of entities in the frame of another entity, measured in that frame. The firm_..._error_m are errors of
/// entities in the world frame, without entities that serve as frames. "rest" means that the truth does not
/// move in its frame. "walk" means that the truth moves in its frame.
struct FrameFigures {
  double frame_s = 0.0;  ///< entity-seconds that entities spent in the frames of other entities
  Distribution frame_rest_error_m;
  Distribution frame_walk_error_m;
  Distribution firm_rest_error_m;
  Distribution firm_walk_error_m;
  std::uint64_t frame_changes = 0;
  /// The effect of a change of frame on the shown velocity. There is one sample whenever an entity that was
  /// shown in the world frame is next shown in another entity's frame, or vice versa. The sample is
  /// the excess of the shown velocity step over the true velocity step, minus this excess at the previous
  /// picture. It is at least 0.
  Distribution frame_switch_velocity_step_mps;
  /// Excess of the shown velocity step over the true velocity step, in the 1 s after a change of frame.
  Distribution frame_change_velocity_step_mps;
  Distribution other_velocity_step_mps;  ///< excess for entities that change their frames, at all other times
  /// Number of poses left out because the frame's entity was not shown.
  std::uint64_t without_frame = 0;
};

/// The figures of a run or of one of its entities. The names contain the units. "Beyond the truth" means
/// max(0, shown value - true value). Errors and steps leave out some pictures; see PictureCounts.
struct Figures {
  /// Distance between the shown pose and the truth at the time of the picture.
  Distribution now_error_m;
  /// Distance between the shown pose and the truth at the instant that the pose shows
  /// (ShownPose::shown_time_s).
  Distribution shown_error_m;
  std::optional<Distribution> angle_error_rad;  ///< nullopt if no entity has an orientation
  /// Like angle_error_rad, but measured against the truth at the shown instant. In present mode the two are
  /// equal.
  std::optional<Distribution> shown_angle_error_rad;
  /// RMS of an acceleration: the second difference over time of (shown position - true position at the shown
  /// instant).
  double excess_acceleration_mps2 = 0.0;
  /// Change of the shown velocity from one picture to the next, beyond the truth.
  Distribution velocity_step_mps;
  Distribution shown_change_mps;  ///< change of the shown velocity from one picture to the next
  Distribution true_change_mps;   ///< change of the true velocity between the same two shown instants
  /// Visible jerks per entity-second. A jerk is visible if the velocity step beyond the truth exceeds 7 % of
  /// the speed plus 0.1 m/s, or if the turn of the direction beyond the truth exceeds 1.8 degrees (De Bruyn
  /// and Orban 1988).
  double pops_per_s = 0.0;
  /// Entity-seconds in which an entity exists but is not shown. The first 0.3 s plus the one-way delay after
  /// its spawn do not count.
  double missing_s = 0.0;
  /// Entity-seconds in which an entity is shown but does not exist. The first 0.3 s plus the one-way delay
  /// after its despawn do not count.
  double ghost_s = 0.0;
  /// Entity-seconds in which entities exist in the whole run; the reports divide traffic by this.
  double entity_seconds = 0.0;
  double run_s = 0.0;         ///< length of the run, s; 0 in the figures of one entity and of real processes
  double tick_rate_hz = 0.0;  ///< ticks of the server per second; 0 where run_s is 0
  /// Time of the picture minus the shown instant, ms.
  Distribution delay_ms;
  std::uint64_t teleports = 0;
  /// Mean time until a teleport is settled (see Metrics); 0 without teleports.
  double teleport_settle_ms = 0.0;
  std::uint64_t between_teleport_frames = 0;   ///< number of poses shown between the two ends of a teleport
  std::optional<Distribution> clock_error_ms;  ///< nullopt if the client does not estimate server time
  std::optional<RewindFigures> seen;           ///< nullopt in a run without shots
  std::optional<OwnedFigures> owned;           ///< nullopt in a run in which no client owns entities
  PictureCounts frames;
  std::optional<FrameFigures> in_frames;  ///< nullopt if no entity is in the frame of another entity
  std::optional<Traffic> down;
  std::optional<Traffic> up;
  /// Only in the figures of one entity, whose share of the bytes is unknown.
  std::optional<std::uint64_t> updates;
};

/// Updates of the server per second and entity. 0 if the run did not count them.
[[nodiscard]] double updates_per_s(const Figures& figures);

/// Payload bits to the client, divided by the number of ticks and by the number of entities that exist in
/// each tick. Joining, spawns and repairs count, too. 0 if the traffic or the tick rate is unknown.
[[nodiscard]] double payload_bits_per_body_frame(const Figures& figures);

/// The figures as a JSON object. The names are part of the harness's interface and do not change.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace reckoner::harness
