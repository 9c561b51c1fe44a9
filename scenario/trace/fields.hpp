// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reckoner::scenario {

/// How the fields of a table are written.
struct FieldStyle {
  char separator = ',';        ///< ' ': any number of blanks and tabs
  bool decimal_comma = false;  ///< 1,5 instead of 1.5
};

/// Guesses the style from the start of a text: the separator with which most fields are numbers.
[[nodiscard]] FieldStyle guess_style(std::string_view text);

/// Iterates over the rows of a table whose style is known. Fields have no white space at their ends; they may
/// be quoted, and "" in quotes is a quote. Rows end with LF, CR or CRLF. A comment is a row that starts with
/// #, % or //, and is returned as a row: it may contain the headings. The text must outlive the cursor.
/// Fields are valid as long as the text and the cursor exist.
class FieldCursor {
 public:
  FieldCursor(std::string_view text, FieldStyle style) : text_(text), style_(style) {}

  /// Moves to the next row, which may have no fields. Returns false at the end.
  bool next(std::vector<std::string_view>& fields);

  /// Number of the line in which the current row begins; the first line is 1.
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] bool is_comment() const { return comment_; }

 private:
  [[nodiscard]] bool at_row_end() const;
  std::string_view quoted_field();
  std::string_view plain_field();
  void end_row();

  std::string_view text_;
  FieldStyle style_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  bool comment_ = false;
  std::deque<std::string> unescaped_;
};

/// Removes blanks, tabs and no-break spaces at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The text with the capitals of ASCII in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Reads a number as tools write it: also with a plus sign, or with a decimal comma. Nullopt for any other
/// text, and for an infinite number or NaN.
[[nodiscard]] std::optional<double> read_number(std::string_view field, bool decimal_comma);

/// True for the texts with which tools mark a value that they do not have: nothing, NaN, NA, null, -.
[[nodiscard]] bool is_missing(std::string_view field);

}  // namespace reckoner::scenario
