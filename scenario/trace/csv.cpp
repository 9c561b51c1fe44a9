// SPDX-License-Identifier: MIT
#include "scenario/trace/csv.hpp"

#include "scenario/trace/decimal.hpp"
#include "scenario/trace/memory.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

namespace reckoner::scenario {
namespace {

constexpr double kLargestNumber = 1e12;
constexpr std::size_t kShownCharacters = 40;

}  // namespace

CsvCursor::CsvCursor(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  const std::size_t last = text_.find_last_not_of(" \t\r\n");
  text_ = text_.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

CsvCursor::Step CsvCursor::next(std::vector<std::string_view>& fields) {
  fields.clear();
  skip_comments();
  line_ = next_line_;
  if (at_ >= text_.size()) return Step::end;
  for (;;) {
    bool more = false;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::optional<bool> taken = read_quoted_field(fields);
      if (!taken) return Step::bad_quoting;
      more = *taken;
    } else {
      more = read_plain_field(fields);
    }
    if (!more) break;
  }
  return Step::record;
}

void CsvCursor::skip_comments() {
  while (at_ < text_.size() && text_[at_] == '#') {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++next_line_;
  }
}

// Reads an unquoted field and the separator after it. Returns true if another field follows on the line.
bool CsvCursor::read_plain_field(std::vector<std::string_view>& fields) {
  std::size_t end = at_;
  while (end < text_.size() && text_[end] != ',' && text_[end] != '\n')
    ++end;
  std::string_view field = text_.substr(at_, end - at_);
  const bool line_ends = end == text_.size() || text_[end] == '\n';
  if (line_ends && field.ends_with('\r')) field.remove_suffix(1);
  fields.push_back(field);
  at_ = end;
  return read_separator();
}

// Reads a quoted field and the separator after it. Returns true if another field follows on the line, and
// nullopt if the quotes do not match.
std::optional<bool> CsvCursor::read_quoted_field(std::vector<std::string_view>& fields) {
  const std::size_t begin = at_ + 1;
  std::size_t end = begin;
  bool has_quotes = false;
  for (;; ++end) {
    if (end >= text_.size()) return std::nullopt;
    if (text_[end] == '\n') ++next_line_;
    if (text_[end] != '"') continue;
    if (end + 1 >= text_.size() || text_[end + 1] != '"') break;
    has_quotes = true;
    ++end;
  }
  std::string_view field = text_.substr(begin, end - begin);
  if (has_quotes) {
    std::string& copy = unescaped_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      copy += field[i];
      if (field[i] == '"') ++i;
    }
    field = copy;
  }
  fields.push_back(field);
  at_ = end + 1;
  if (text_.substr(at_).starts_with("\r\n")) ++at_;
  if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') return std::nullopt;
  return read_separator();
}

bool CsvCursor::read_separator() {
  if (at_ >= text_.size()) return false;
  const bool comma = text_[at_] == ',';
  if (!comma) ++next_line_;
  ++at_;
  return comma;
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<double> value = read_decimal(text);
  if (!value || !(std::abs(*value) <= kLargestNumber)) return std::nullopt;  // also catches NaN
  return value;
}

std::string shown(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, kShownCharacters)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  result += text.size() > kShownCharacters ? "...'" : "'";
  return result;
}

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#');
  if (plain) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') result += '"';
  }
  return result += '"';
}

Error expected(std::string_view file, std::size_t line, std::string_view what, std::string_view found) {
  std::string message(file);
  message += ':' + std::to_string(line) + ": expected ";
  message += what;
  message += ", found ";
  message += found;
  return {std::move(message)};
}

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  const auto failure = [&path] {
    return Error{path + ": cannot be read: " + std::generic_category().message(errno)};
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) return failure();
  std::string text;
  const auto read = [&]() -> Result<std::string> {
    char buffer[1 << 16];
    for (;;) {
      const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
      text.append(buffer, count);
      if (text.size() > max_bytes)
        return Error{path + ": is larger than " + std::to_string(max_bytes) + " bytes"};
      if (count < sizeof buffer) break;
    }
    if (std::ferror(file.get()) != 0) return failure();
    return std::move(text);
  };
  return naming_the_file(path, read);
}

}  // namespace reckoner::scenario
