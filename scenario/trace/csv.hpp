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

/// How far the length of a quaternion in a file may be from 1: recorded numbers are rounded.
inline constexpr double kUnitTolerance = 0.02;

/// A walk over the records of a CSV text (RFC 4180: quoted fields, "" for a quote, LF or CRLF). Lines that
/// start with # are skipped, and so is white space at the end of the text; an empty line elsewhere is a
/// record of one empty field. The text must outlive the cursor, and the fields it gives live as long as both.
class CsvCursor {
 public:
  enum class Step { record, end, bad_quoting };

  explicit CsvCursor(std::string_view text);

  /// Moves to the next record and gives its fields.
  [[nodiscard]] Step next(std::vector<std::string_view>& fields);

  /// Line of the record last given, from 1; the last line once the end is reached.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  bool take_plain(std::vector<std::string_view>& fields);
  std::optional<bool> take_quoted(std::vector<std::string_view>& fields);
  bool take_separator();
  void skip_comments();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  std::deque<std::string>
      unescaped_;  // fields that had "" in them; a deque, so that they stay where they are
};

/// The text as a finite number no larger than 1e12 either way, all of it and nothing else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Found text as an error message shows it: quoted, cut to 40 characters, control characters as '?'.
[[nodiscard]] std::string shown(std::string_view text);

/// An id as a CSV field: quoted only if it must be.
[[nodiscard]] std::string csv_field(std::string_view text);

/// "file:line: expected ..., found ..."
[[nodiscard]] Error expected(std::string_view file, std::size_t line, std::string_view what,
                             std::string_view found);

/// A whole file as text.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

}  // namespace reckoner::scenario
