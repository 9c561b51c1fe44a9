// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// How a recorded trace is read.
struct TraceOptions {
  double teleport_mps =
      100.0;  ///< a step of consecutive samples faster than this and longer than 1 m is a teleport
  std::string entity = "all";  ///< one id, `busiest` (the longest path), or `all`
  double start_s = 0.0;        ///< leave out what lies earlier, s after the earliest selected sample
  double seconds = 0.0;        ///< length from there; 0: to the end
};

/// Reads a trace: lines starting with # are comments, then a header `[id,]t,x,y,z[,qw,qx,qy,qz]`, then rows
/// (s, m, unit quaternion). Between samples the truth is the C1 cubic with three-point tangents on uneven
/// times; orientation likewise. Ids that all start at t = 0 play one after another, each 1 s after the last;
/// one that is chosen alone keeps its own clock. Without the id column the id is "0".
/// The error of a malformed file names file, line and what was expected.
[[nodiscard]] Result<std::unique_ptr<Source>> load_trace(const std::string& path,
                                                         const TraceOptions& options = {});

/// The same from text in memory; `name` stands for the path in errors.
[[nodiscard]] Result<std::unique_ptr<Source>> parse_trace(const std::string& text, const std::string& name,
                                                          const TraceOptions& options = {});

}  // namespace reckoner::scenario
