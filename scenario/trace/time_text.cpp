// SPDX-License-Identifier: MIT
#include "scenario/trace/time_text.hpp"

#include "scenario/trace/decimal.hpp"

#include <array>
#include <string>

namespace reckoner::scenario {
namespace {

constexpr double kDayS = 86'400.0;

// Reads a whole number of at most nine digits and removes it from the text.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && is_digit(text[digits]))
    value = 10 * value + (text[digits++] - '0');
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

// Days from 1970-01-01 to a date of the Gregorian calendar. A year begins in March here, so that the leap
// day is its last day.
double days_to(int year, int month, int day) {
  const int y = month <= 2 ? year - 1 : year;
  const int era = y / 400;
  const int year_of_era = y - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097.0 + day_of_era - 719'468.0;
}

// Reads a date and removes it. Nullopt if the text does not begin with one.
std::optional<double> take_date(std::string_view& text) {
  std::string_view rest = text;
  std::array<int, 3> parts{};
  char sign = '\0';
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) {
      if (rest.empty() || (rest[0] != '-' && rest[0] != '/' && rest[0] != '.')) return std::nullopt;
      if (i == 2 && rest[0] != sign) return std::nullopt;
      sign = rest[0];
      rest.remove_prefix(1);
    }
    const auto number = take_number(rest);
    if (!number) return std::nullopt;
    parts[i] = *number;
  }
  const bool year_first = parts[0] > 31;
  const int year = year_first ? parts[0] : parts[2];
  int month = year_first ? parts[1] : sign == '/' ? parts[0] : parts[1];
  int day = year_first ? parts[2] : sign == '/' ? parts[1] : parts[0];
  if (month > 12 && sign == '/') std::swap(month, day);
  if (year < 1900 || year > 3000 || month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  text = rest;
  return days_to(year, month, day);
}

std::optional<double> read_clock(std::string_view text) {
  const auto hours = take_number(text);
  if (!hours || text.empty() || text[0] != ':') return std::nullopt;
  text.remove_prefix(1);
  const auto minutes = take_number(text);
  if (!minutes || *minutes > 59) return std::nullopt;
  double seconds = 0.0;
  if (text.starts_with(':')) {
    text.remove_prefix(1);
    std::string digits;
    while (!text.empty() && (is_digit(text[0]) || text[0] == '.' || text[0] == ',')) {
      digits += text[0] == ',' ? '.' : text[0];
      text.remove_prefix(1);
    }
    const auto value = read_decimal(digits);
    if (!value || !(*value < 61.0)) return std::nullopt;
    seconds = *value;
  }
  // A time zone shifts all times equally. "PM" adds half a day.
  while (text.starts_with(' '))
    text.remove_prefix(1);
  double hour = *hours;
  if (text == "PM" || text == "pm") hour = *hours % 12 + 12;
  if (text == "AM" || text == "am") hour = *hours % 12;
  const bool zone = text.empty() || text == "Z" || text == "UTC" || text == "GMT" || text == "AM" ||
                    text == "am" || text == "PM" || text == "pm" || text[0] == '+' || text[0] == '-';
  if (!zone || *hours > 99'999) return std::nullopt;
  return hour * 3600.0 + *minutes * 60.0 + seconds;
}

}  // namespace

std::optional<double> read_time_text(std::string_view text) {
  const auto days = take_date(text);
  if (days) {
    if (text.empty()) return *days * kDayS;
    if (text[0] != 'T' && text[0] != ' ' && text[0] != '_') return std::nullopt;
    text.remove_prefix(1);
  }
  const auto clock = read_clock(text);
  if (!clock) return std::nullopt;
  return days ? *days * kDayS + *clock : *clock;
}

}  // namespace reckoner::scenario
