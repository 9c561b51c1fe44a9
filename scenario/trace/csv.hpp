// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// The length of a quaternion in a file may differ from 1 by at most this, because recorded numbers are
/// rounded.
inline constexpr double kUnitTolerance = 0.02;

/// Iterates over the records of a CSV text (RFC 4180: quoted fields, "" for a quote, LF or CRLF). Skips lines
/// that start with #, and white space at the end of the text. Any other empty line is a record with one empty
/// field. The text must outlive the cursor. Fields are valid as long as the text and the cursor exist.
class CsvCursor {
 public:
  enum class Step { record, end, bad_quoting };

  explicit CsvCursor(std::string_view text);

  /// Moves to the next record and returns its fields.
  [[nodiscard]] Step next(std::vector<std::string_view>& fields);

  /// Number of the line of the current record; the first line is 1. At the end, the number of the last line.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  bool read_plain_field(std::vector<std::string_view>& fields);
  std::optional<bool> read_quoted_field(std::vector<std::string_view>& fields);
  bool read_separator();
  void skip_comments();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  // The fields that contain "", with each "" replaced by a quote. A deque keeps views of its strings valid.
  std::deque<std::string> unescaped_;
};

/// Parses the whole text as a finite number from -1e12 to 1e12.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Formats text for an error message: quoted, at most 40 characters, control characters replaced by '?'.
[[nodiscard]] std::string shown(std::string_view text);

/// Formats an id as a CSV field, quoted only if necessary.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Returns the error "file:line: expected ..., found ...".
[[nodiscard]] Error expected(std::string_view file, std::size_t line, std::string_view what,
                             std::string_view found);

/// Size of the largest text file that read_text_file() reads, bytes. The limit is needed because a device
/// such as /dev/zero has no end.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

/// Reads a whole file as text. Fails if it cannot be read, is a directory, or is larger than `max_bytes`.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 std::size_t max_bytes = kMaxTextBytes);

}  // namespace reckoner::scenario
