// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reckoner::test {

/// One row of a pose CSV: the columns that the tests need, by name.
struct PoseRow {
  double frame_time_s = 0.0;
  double monotonic_s = 0.0;
  double position_m[3] = {};
};

/// A program's --rendered or --truth file. The reader uses no code of the project, so that it checks the
/// format.
struct PoseTable {
  std::string header;
  std::map<std::string, std::vector<PoseRow>> entities;  ///< rows by id, in the file's order
};

/// Reads a pose CSV. Adds a test failure for every row that does not match the header, or that has a value
/// that is not a finite number. The id may have any value.
[[nodiscard]] PoseTable read_poses(const std::string& path);

/// The rows with a monotonic time from `from_s` on and before `until_s`, without entities that have none.
[[nodiscard]] PoseTable within(const PoseTable& all, double from_s, double until_s);

/// Distances (m, sorted) between shown poses and the truth of the same entity at the same monotonic time,
/// without the first `skip_s` of each entity's shown rows. The truth is interpolated linearly.
[[nodiscard]] std::vector<double> same_time_errors(const PoseTable& shown, const PoseTable& truth,
                                                   double skip_s);

}  // namespace reckoner::test
