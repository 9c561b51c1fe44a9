// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"
#include "scenario/trace/recording.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// When the entities of a trace are played.
enum class Timeline : std::uint8_t {
  automatic,   ///< successive if all ids start at t = 0, otherwise together
  together,    ///< at their recorded times
  successive,  ///< one after another, with a pause of 1 s after each
};

/// When a recording is moved so that its middle is at the origin.
enum class Recentre : std::uint8_t {
  automatic,  ///< if it does not fit into the world
  always,
  never,
};

/// Positions further from the origin than this do not fit into the world of an archetype with the default
/// Archetype::world_size_m.
inline constexpr double kWorldM = 100'000.0;

/// How to read a recorded trace.
struct TraceOptions {
  /// A step between two samples is a teleport if it is faster than this, m/s, and longer than 1 m.
  double teleport_mps = 100.0;
  std::string entity = "all";               ///< one id, `busiest` (the entity with the longest path) or `all`
  double start_s = 0.0;                     ///< time to skip after the earliest selected sample, s
  double seconds = 0.0;                     ///< length of the part to play after that, s; 0: to the end
  Timeline timeline = Timeline::automatic;  ///< if `entity` is `all`
  TableOptions table{};                     ///< for files of other tools
  Recentre recentre = Recentre::automatic;
  /// Between samples that are further apart than this, s, the motion is unknown (Source::in_gap()).
  double gap_s = 0.25;
};

/// Reads a trace file. The project's own form: lines that start with # are comments; the other lines are a
/// header `[id,]t,x,y,z[,qw,qx,qy,qz]` and rows (s, m, unit quaternion). Without the id column the id is "0".
/// Any other table is read as read_table() says. Source::remarks() says what was assumed.
///
/// Between samples, position and orientation follow C1 cubics with three-point tangents for uneven times (see
/// Track). TraceOptions::timeline says when the entities are played. If only one entity is selected, it keeps
/// its recorded times. Names longer than 64 bytes are shortened, because clients receive no longer ones. For
/// a malformed file, the error names the file, the line and what was expected.
[[nodiscard]] Result<std::unique_ptr<Source>> load_trace(const std::string& path,
                                                         const TraceOptions& options = {});

/// Reads a trace from text in memory. Errors show `name` as the path.
[[nodiscard]] Result<std::unique_ptr<Source>> parse_trace(const std::string& text, const std::string& name,
                                                          const TraceOptions& options = {});

/// Plays a recording that is in memory already. Errors show `name` as the path.
[[nodiscard]] Result<std::unique_ptr<Source>> play_recording(Recording recording, const std::string& name,
                                                             const TraceOptions& options = {});

}  // namespace reckoner::scenario
