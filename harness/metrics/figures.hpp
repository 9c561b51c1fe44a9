// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/server/ownership.hpp>

namespace reckoner::harness {

/// What is said about a set of errors. Percentiles interpolate linearly between order statistics.
struct Distribution {
  std::size_t count = 0;
  double mean = 0.0;
  double rms = 0.0;
  double p50 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
  double max = 0.0;
};

/// Describes `samples`; all zeros if there are none.
[[nodiscard]] Distribution describe(std::vector<double> samples);

/// The value below which `fraction` (0 to 1) of the ascending `sorted` lies; 0 if empty.
[[nodiscard]] double percentile(std::span<const double> sorted, double fraction);

/// What went over one direction of a link. Counts are totals; the figures divide them by entity-seconds.
struct Traffic {
  std::uint64_t updates = 0;        ///< motions (down), datagrams (up)
  std::uint64_t payload_bytes = 0;  ///< as handed to the transport
  std::uint64_t wire_bytes = 0;     ///< with ENet's, UDP's and IPv4's headers
};

/// Shown frames of entities, and why some of them are left out of the errors.
struct FrameCounts {
  std::uint64_t counted = 0;
  std::uint64_t run_start = 0;     ///< in the run's first 2 s
  std::uint64_t entity_start = 0;  ///< in an entity's first 0.3 s
  std::uint64_t teleport = 0;      ///< within 0.7 s after a declared teleport
  std::uint64_t gap = 0;           ///< where nothing was recorded for more than 0.25 s
  [[nodiscard]] std::uint64_t excluded() const { return run_start + entity_start + teleport + gap; }
};

/// What a server finds out of what a client saw (Server::pose_seen_by()), against what the client drew.
struct SeenFigures {
  Distribution seen_error_m;       ///< when a shot arrives: of everything drawn in the frame it was fired in
  Distribution seen_late_error_m;  ///< of every frame, half a second later
  std::uint64_t shots = 0;         ///< that arrived
  std::uint64_t poses = 0;         ///< drawn in all these frames
  std::uint64_t unknown = 0;       ///< of them, those that the server knows nothing of
};

/// What became of what owners said.
struct OwnedFigures {
  OwnershipStats server;
  std::uint64_t corrections = 0;                   ///< that the honest owner was told of
  std::optional<Distribution> rogue_speed_mps;     ///< at which others saw the entity of one who cheats
  std::optional<Distribution> rogue_step_mps;      ///< the same from one drawn frame to the next
  std::optional<Distribution> rogue_believed_mps;  ///< at which the server had it, by what it published
  double rogue_limit_mps = 0.0;                    ///< the top speed of its archetype
};

/// What entities that live in the frames of others add (frame_metrics.hpp). Errors are in those frames:
/// "rest" of those that stand still there, "walk" of the others; "firm" of those in the world's frame that
/// nobody lives in.
struct FrameFigures {
  double frame_s = 0.0;  ///< entity-seconds in the frames of others
  Distribution frame_rest_error_m;
  Distribution frame_walk_error_m;
  Distribution firm_rest_error_m;
  Distribution firm_walk_error_m;
  std::uint64_t frame_changes = 0;
  /// In the frame in which it is shown in another entity's frame for the first time, or in that no more:
  /// beyond the truth's, and beyond the one before. What a change of frame adds.
  Distribution frame_switch_velocity_step_mps;
  Distribution frame_change_velocity_step_mps;  ///< beyond the truth's, in the second after a change of frame
  Distribution other_velocity_step_mps;         ///< of the same entities at other times
  std::uint64_t without_frame = 0;              ///< poses in the frame of what was not shown itself: left out
};

/// The figures of a run or of one of its entities (EVALUATION.md, Figures). Units are in the names.
struct Figures {
  Distribution now_error_m;
  Distribution shown_error_m;
  std::optional<Distribution> angle_error_rad;  ///< nothing if no entity has an orientation
  /// The same against the truth at the instant that is shown; equal to it in present mode.
  std::optional<Distribution> shown_angle_error_rad;
  double excess_acceleration_mps2 = 0.0;
  Distribution velocity_step_mps;
  double pops_per_s = 0.0;
  double missing_s = 0.0;
  double ghost_s = 0.0;
  double entity_seconds = 0.0;  ///< of truth, over the whole run: what traffic is divided by
  Distribution delay_ms;
  std::uint64_t teleports = 0;
  double teleport_settle_ms = 0.0;             ///< mean; 0 without teleports
  std::uint64_t between_teleport_frames = 0;   ///< poses shown between the two ends of a teleport
  std::optional<Distribution> clock_error_ms;  ///< of a run with a clock to estimate
  std::optional<SeenFigures> seen;             ///< of a run with shots
  std::optional<OwnedFigures> owned;           ///< of a run whose entities a client owns
  FrameCounts frames;
  std::optional<FrameFigures> in_frames;  ///< of a run with frames to live in
  std::optional<Traffic> down;
  std::optional<Traffic> up;
  std::optional<std::uint64_t> updates;  ///< of one entity, whose share of the bytes nobody knows
};

/// The figures as a JSON object under the contract's names, one member per line of EVALUATION.md's table.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace reckoner::harness
