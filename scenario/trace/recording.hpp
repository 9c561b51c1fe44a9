// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/table_options.hpp"
#include "scenario/trace/track.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// The parsed contents of a trace file.
struct Recording {
  struct Entity {
    std::string id;                    ///< "0" in a file without the id column
    std::vector<TrackSample> samples;  ///< at least one; times strictly increasing
  };
  std::vector<Entity> entities;  ///< in order of first appearance; at least one
  bool has_orientation = false;
  /// True: the file shows that its entities existed at the same time, even if all of them start at t = 0.
  bool has_one_clock = false;
  /// What the reader assumed and left out, a sentence each. Empty for a file in the project's own form.
  std::vector<std::string> remarks;
};

/// Parses the text of a trace (formats: load_trace()). Errors show `name` as the file. Rows of several ids
/// may come in any order. In the project's own form, the times of each id must increase.
[[nodiscard]] Result<Recording> read_recording(std::string_view text, std::string_view name,
                                               const TableOptions& options = {});

}  // namespace reckoner::scenario
