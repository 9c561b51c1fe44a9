// SPDX-License-Identifier: MIT
// Files as public tools write them, generated from one motion whose positions are known.
#pragma once

#include "scenario/trace/trace.hpp"

#include <optional>
#include <string>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner::scenario::test {

/// A kind of file, and what should happen if someone opens it.
struct ForeignFile {
  std::string kind;
  std::string text;
  /// Part of the sentence that says what to do. Empty: the file is played as it is.
  std::string mend{};
  /// What the sentence asks for. With them the file is played. Nullopt: it is no table.
  std::optional<TraceOptions> mended{};
  std::size_t entities = 1;
  double rate_hz = 20.0;
  bool flat = false;       ///< without z
  bool oriented = false;   ///< the file has the yaw of motion_yaw()
  double within_m = 0.01;  ///< rounding of the file
};

/// The motion of entity `k`. Others are beside the first one.
[[nodiscard]] glm::dvec3 motion_at(double time_s, int k = 0);
/// Yaw of every entity, rad, counterclockwise from x.
[[nodiscard]] double motion_yaw(double time_s);

inline constexpr int kForeignRows = 60;

[[nodiscard]] std::vector<ForeignFile> foreign_files();

}  // namespace reckoner::scenario::test
