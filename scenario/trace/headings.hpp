// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reckoner::scenario {

/// What a column of a table contains.
enum class ColumnRole {
  none,
  time,
  seconds,      ///< the whole seconds of a time whose rest is in another column
  nanoseconds,  ///< the rest of such a time
  date,         ///< the day of a time whose clock is in another column
  frame,        ///< the number of a frame
  id,
  x,
  y,
  z,
  qw,
  qx,
  qy,
  qz,
  yaw,
  pitch,
  roll,
  latitude,
  longitude,
};

/// A column as its heading describes it.
struct Heading {
  ColumnRole role = ColumnRole::none;
  std::string body{};    ///< the words that name the body in a table with columns for several bodies
  std::string unit{};    ///< lower-case, as written; empty if the heading names none
  int rank = 0;          ///< of two columns with the same role, the one with the lower rank is used
  bool compass = false;  ///< an angle that SUMO writes: clockwise from north
};

/// Reads a heading: case does not matter, and words may be separated by signs or by capitals. `parents` are
/// the cells above it in a table with several rows of headings.
[[nodiscard]] Heading read_heading(std::string_view text, const std::vector<std::string>& parents = {});

/// One body's columns: indices of fields. No value: the table has no such column.
struct BodyColumns {
  using Index = std::optional<std::size_t>;
  std::string name;
  std::array<Index, 3> position{};
  std::array<Index, 4> orientation{};  ///< w, x, y, z
  std::array<Index, 3> angles{};       ///< yaw, pitch, roll
  Index latitude{}, longitude{};
  bool has_axis_turns = false;  ///< rotations about axes whose order is unknown; they are not read
  bool compass = false;

  /// True if there is a position in at least two dimensions, or a latitude and a longitude.
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] bool has_quaternion() const;
};

/// Which columns of a table are read.
struct Layout {
  using Index = std::optional<std::size_t>;
  Index time{}, nanoseconds{}, date{}, id{};
  bool time_is_frame = false;
  bool time_is_row = false;  ///< the number of the row serves as the time
  std::vector<BodyColumns> bodies;
  std::string time_unit{}, position_unit{}, angle_unit{};  ///< of the headings; empty if they name none

  [[nodiscard]] bool has_time() const { return time.has_value() || time_is_row; }
  [[nodiscard]] bool is_complete() const { return has_time() && !bodies.empty(); }
};

/// Chooses the columns of a table from its headings. Bodies are complete.
[[nodiscard]] Layout layout_of(const std::vector<Heading>& headings);

/// True if the text names a unit of time, of length, or of angles: "mm", "[s]", "deg".
[[nodiscard]] bool is_unit(std::string_view text);

/// The text without brackets around it, in lower case.
[[nodiscard]] std::string bare_unit(std::string_view text);

}  // namespace reckoner::scenario
