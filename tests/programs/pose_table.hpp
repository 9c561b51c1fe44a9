// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reckoner::test {

/// One row of a pose CSV: the columns this test needs, by name.
struct PoseRow {
  double frame_time_s = 0.0;
  double monotonic_s = 0.0;
  double position_m[3] = {};
};

/// A program's --rendered or --truth file. Read with nothing of the project's own, so as to check its form.
struct PoseTable {
  std::string header;
  std::map<std::string, std::vector<PoseRow>> entities;  ///< by id, in the file's order
};

/// Reads a pose CSV. Adds a test failure for every row that has not the header's columns, all of them finite
/// numbers but the id.
[[nodiscard]] PoseTable read_poses(const std::string& path);

/// Distances between what was shown and the truth of the same entity at the same monotonic instant (the truth
/// joined by straight lines), from `skip_s` after the entity's first shown row on. m, sorted.
[[nodiscard]] std::vector<double> same_time_errors(const PoseTable& shown, const PoseTable& truth,
                                                   double skip_s);

}  // namespace reckoner::test
