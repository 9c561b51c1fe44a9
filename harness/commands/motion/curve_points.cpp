// SPDX-License-Identifier: MIT
#include "harness/commands/motion/curve_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct Row {
  std::size_t line = 0;
  std::vector<double> numbers;
};

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = s.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

// The text before the next `separator`. Removes it and the separator from `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return part;
}

std::optional<double> number_in(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  const auto commas = std::count(line.begin(), line.end(), ',');
  for (auto i = commas; i >= 0; --i)
    fields.push_back(trimmed(next_part(line, ',')));
  return fields;
}

Result<std::vector<Row>> read_rows(std::string_view text, std::size_t least, std::size_t most) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  std::vector<Row> rows;
  bool may_be_header = true;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(next_part(text, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = fields_of(line);
    const bool header = may_be_header && std::none_of(fields.begin(), fields.end(),
                                                      [](auto f) { return number_in(f).has_value(); });
    may_be_header = false;
    if (header) continue;
    Row row{number, {}};
    for (const std::string_view field : fields) {
      const auto value = number_in(field);
      if (!value || !std::isfinite(*value)) {
        return Error{fmt::format("line {}: '{}' is not a finite number", number, field)};
      }
      row.numbers.push_back(*value);
    }
    if (row.numbers.size() < least || row.numbers.size() > most) {
      return Error{fmt::format("line {}: expected {} to {} numbers, found {}", number, least, most,
                               row.numbers.size())};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<glm::dvec3>> read_points(std::string_view text) {
  const auto rows = read_rows(text, 1, 3);
  if (!rows) return Error{rows.error()};
  std::vector<glm::dvec3> points;
  for (const Row& row : *rows) {
    if (row.numbers.size() != rows->front().numbers.size()) {
      return Error{fmt::format("line {}: {} numbers, but the first point has {}", row.line,
                               row.numbers.size(), rows->front().numbers.size())};
    }
    glm::dvec3 point(0.0);
    for (std::size_t i = 0; i < row.numbers.size(); ++i)
      point[static_cast<int>(i)] = row.numbers[i];
    points.push_back(point);
  }
  return points;
}

Result<std::vector<TcbKey<glm::dvec3>>> read_keys(std::string_view text) {
  auto rows = read_rows(text, 4, 9);
  if (!rows) return Error{rows.error()};
  std::vector<TcbKey<glm::dvec3>> keys;
  for (Row& row : *rows) {
    auto& n = row.numbers;
    n.resize(9, 0.0);
    keys.push_back({n[0], {n[1], n[2], n[3]}, {n[4], n[5], n[6]}, n[7], n[8]});
  }
  return keys;
}

}  // namespace reckoner::harness
