// SPDX-License-Identifier: MIT
#include "scenario/trace/fields.hpp"

#include "scenario/trace/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kStyleRows = 100;  // rows from which the style is guessed
constexpr std::size_t kStyleBytes = 200'000;
constexpr std::size_t kLongestNumber = 64;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// How well a style fits: the share of rows that have the most frequent number of fields, times the share of
// their fields that are numbers. 0 if rows have fewer than three fields.
double fitness(std::string_view text, FieldStyle style) {
  struct Rows {
    double rows = 0.0, fields = 0.0, numbers = 0.0;
  };
  std::map<std::size_t, Rows> by_size;
  FieldCursor cursor(text, style);
  std::vector<std::string_view> fields;
  double all = 0.0;
  for (std::size_t row = 0; row < kStyleRows && cursor.next(fields); ++row) {
    if (cursor.is_comment() || fields.empty()) continue;
    Rows& rows = by_size[fields.size()];
    ++rows.rows;
    ++all;
    for (const std::string_view field : fields) {
      ++rows.fields;
      if (read_number(field, style.decimal_comma)) ++rows.numbers;
    }
  }
  double best = 0.0;
  for (const auto& [size, rows] : by_size) {
    if (size >= 3) best = std::max(best, rows.rows / all * (0.1 + rows.numbers / rows.fields));
  }
  return best;
}

}  // namespace

FieldStyle guess_style(std::string_view text) {
  text = text.substr(0, kStyleBytes);
  for (const std::string_view start : {"sep=", "SEP=", "\"sep="}) {  // Excel
    if (text.starts_with(start) && text.size() > start.size())
      return {text[start.size()], text[start.size()] != ',' && fitness(text, {text[start.size()], true}) >
                                                                   fitness(text, {text[start.size()]})};
  }
  FieldStyle best;
  double best_fitness = 0.0;
  for (const char separator : {';', '\t', '|', ',', ' '}) {
    for (const bool decimal_comma : {false, true}) {
      if (separator == ',' && decimal_comma) continue;
      const double value = fitness(text, {separator, decimal_comma});
      if (value > best_fitness * 1.001) best = {separator, decimal_comma}, best_fitness = value;
    }
  }
  return best;
}

bool FieldCursor::at_row_end() const {
  return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
}

void FieldCursor::end_row() {
  if (at_ >= text_.size()) return;
  if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
  ++at_;
  ++next_line_;
}

bool FieldCursor::next(std::vector<std::string_view>& fields) {
  fields.clear();
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  const auto skip_blanks = [this] {
    while (at_ < text_.size() && is_blank(text_[at_]) && text_[at_] != style_.separator)
      ++at_;
  };
  const auto skip_separating_blanks = [this] {
    while (at_ < text_.size() && is_blank(text_[at_]))
      ++at_;
  };
  skip_blanks();
  const std::string_view rest = text_.substr(at_);
  comment_ = rest.starts_with('#') || rest.starts_with('%') || rest.starts_with("//");
  while (comment_ && at_ < text_.size() && (text_[at_] == '#' || text_[at_] == '%' || text_[at_] == '/'))
    ++at_;
  for (;;) {
    style_.separator == ' ' ? skip_separating_blanks() : skip_blanks();
    if (style_.separator == ' ' && at_row_end()) break;
    if (at_row_end() && fields.empty()) break;
    fields.push_back(!at_row_end() && text_[at_] == '"' ? quoted_field() : plain_field());
    if (at_row_end()) break;
    ++at_;  // the separator
  }
  end_row();
  return true;
}

std::string_view FieldCursor::plain_field() {
  const std::size_t begin = at_;
  while (!at_row_end() && text_[at_] != style_.separator && !(style_.separator == ' ' && text_[at_] == '\t'))
    ++at_;
  return trimmed(text_.substr(begin, at_ - begin));
}

// Reads a field in quotes. A field whose quotes do not match is read as a plain one.
std::string_view FieldCursor::quoted_field() {
  const std::size_t begin = at_ + 1;
  std::size_t end = begin;
  std::size_t lines = 0;
  bool has_quotes = false;
  for (;; ++end) {
    if (end >= text_.size()) return plain_field();
    if (text_[end] == '\n') ++lines;
    if (text_[end] != '"') continue;
    if (end + 1 >= text_.size() || text_[end + 1] != '"') break;
    has_quotes = true;
    ++end;
  }
  std::size_t after = end + 1;
  while (after < text_.size() && is_blank(text_[after]) && text_[after] != style_.separator &&
         style_.separator != ' ')
    ++after;
  const bool ends = after >= text_.size() || text_[after] == '\n' || text_[after] == '\r' ||
                    text_[after] == style_.separator || (style_.separator == ' ' && text_[after] == '\t');
  if (!ends) return plain_field();
  next_line_ += lines;
  at_ = after;
  const std::string_view field = text_.substr(begin, end - begin);
  if (!has_quotes) return trimmed(field);
  std::string& copy = unescaped_.emplace_back();
  for (std::size_t i = 0; i < field.size(); ++i) {
    copy += field[i];
    if (field[i] == '"') ++i;
  }
  return trimmed(copy);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
  for (;;) {
    if (!text.empty() && (is_blank(text.front()) || text.front() == '\r')) {
      text.remove_prefix(1);
    } else if (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) {
      text.remove_suffix(1);
    } else if (text.starts_with(kNoBreakSpace)) {
      text.remove_prefix(2);
    } else if (text.ends_with(kNoBreakSpace)) {
      text.remove_suffix(2);
    } else {
      return text;
    }
  }
}

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text)
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::optional<double> read_number(std::string_view field, bool decimal_comma) {
  if (field.empty() || field.size() > kLongestNumber) return std::nullopt;
  if (field.front() == '+') {
    field.remove_prefix(1);
    if (field.starts_with('-')) return std::nullopt;
  }
  std::optional<double> value;
  if (decimal_comma) {
    if (field.find('.') != std::string_view::npos) return std::nullopt;
    std::string copy(field);
    std::ranges::replace(copy, ',', '.');
    value = read_decimal(copy);
  } else {
    value = read_decimal(field);
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool is_missing(std::string_view field) {
  if (field.size() > 9) return false;
  const std::string lower = lower_case(field);
  for (const std::string_view mark : {"", "nan", "-nan", "na", "n/a", "#n/a", "null", "none", "-", "nil",
                                      "-nan(ind)", "inf", "-inf", "\\n"}) {
    if (lower == mark) return true;
  }
  return false;
}

}  // namespace reckoner::scenario
