// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace reckoner::scenario {

/// What a user says about a table that its headings do not.
struct TableOptions {
  /// Which column is which, such as `t=2,x=3,y=Pos Y`: numbers from 1, or headings. The names are t, id, x,
  /// y, z, qw, qx, qy, qz, yaw, pitch, roll, lat and lon. `t=row` counts the rows. Empty: the headings say
  /// it.
  std::string columns{};
  std::string units{};   ///< see parse_units(); empty: the headings' or guessed ones
  bool project = false;  ///< play latitude and longitude as metres east and north of the first sample
};

}  // namespace reckoner::scenario
