// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Describes one numeric setting of a configuration. Each configuration has a table with one row of this type
/// per setting. The range of a setting is written only in its row. The validator, the command line, the
/// configuration file and the tables in the documents read the row. The default of a setting is its value in
/// a default-constructed configuration.
template <class Config>
struct Setting {
  std::string_view name;     ///< name of the member in the configuration, for example interest.radius_m
  std::string_view option;   ///< name on the command line and in the file; empty: programs cannot set it
  std::string_view unit;     ///< for example Hz; empty for a count, a factor or a share
  double least;              ///< smallest valid value
  double most;               ///< largest valid value
  std::string_view zero;     ///< special meaning of 0, which is then valid; empty: 0 has no special meaning
  std::string_view meaning;  ///< one sentence without a full stop
  double (*get)(const Config&);
  void (*set)(Config&, double);  ///< the caller must pass a valid value
  bool is_whole;                 ///< true: an integer; false: a real number
};

namespace settings {

template <class Pointer>
struct MemberOf;
template <class Config, class Member>
struct MemberOf<Member Config::*> {
  using Class = Config;
};

// Returns the object at the end of a path, which consists of member pointers and may end with an array index.
template <auto First, auto... Rest, class Object>
constexpr auto& at_path(Object& object) {
  if constexpr (std::is_member_object_pointer_v<decltype(First)>) {
    if constexpr (sizeof...(Rest) == 0) {
      return object.*First;
    } else {
      return at_path<Rest...>(object.*First);
    }
  } else {
    static_assert(sizeof...(Rest) == 0);
    return object[static_cast<std::size_t>(First)];
  }
}

template <class Config, auto... Path>
double get(const Config& config) {
  return static_cast<double>(at_path<Path...>(config));
}

template <class Config, auto... Path>
void set(Config& config, double value) {
  auto& member = at_path<Path...>(config);
  member = static_cast<std::remove_reference_t<decltype(member)>>(value);
}

}  // namespace settings

/// Returns the row for the member at the end of a path of member pointers. Example of a path:
/// &ServerConfig::interest, &InterestConfig::radius_m.
template <auto First, auto... Rest>
[[nodiscard]] constexpr auto setting(std::string_view name, std::string_view option, std::string_view unit,
                                     double least, double most, std::string_view zero,
                                     std::string_view meaning) {
  using Config = typename settings::MemberOf<decltype(First)>::Class;
  using Member = std::remove_cvref_t<decltype(settings::at_path<First, Rest...>(std::declval<Config&>()))>;
  return Setting<Config>{name,
                         option,
                         unit,
                         least,
                         most,
                         zero,
                         meaning,
                         &settings::get<Config, First, Rest...>,
                         &settings::set<Config, First, Rest...>,
                         std::is_integral_v<Member>};
}

/// Returns the row with this name. The table must contain the name.
template <class Table>
[[nodiscard]] constexpr const auto& find_setting(const Table& table, std::string_view name) {
  std::size_t i = 0;
  while (table[i].name != name)
    ++i;
  return table[i];
}

/// Returns the shortest text from which a number can be read again.
[[nodiscard]] inline std::string shortest_text(double value) {
#if defined(__wasi__)
  // The tables of std::to_chars() would be a third of the module for browsers. There is one locale there.
  std::array<char, 32> scientific;
  int digits = 1;
  do
    std::snprintf(scientific.data(), scientific.size(), "%.*e", digits - 1, value);
  while (std::strtod(scientific.data(), nullptr) != value && digits++ < 17);
  const std::string_view found(scientific.data());
  const std::size_t exponent = found.find('e');
  if (exponent == std::string_view::npos) return std::string(found);  // no finite number
  std::array<char, 512> fixed;
  const int decimals = std::max(0, digits - 1 - std::atoi(scientific.data() + exponent + 1));
  const int length = std::snprintf(fixed.data(), fixed.size(), "%.*f", decimals, value);
  return std::string(length <= static_cast<int>(found.size()) ? fixed.data() : scientific.data());
#else
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
#endif
}

/// Returns the shortest text for a number, for example "0.25", "1000" or "1e6".
[[nodiscard]] inline std::string number_text(double value) {
  std::string text = shortest_text(value);
  for (const std::string_view filler : {"e+0", "e+", "e-0"}) {
    if (const auto at = text.find(filler); at != std::string::npos)
      text.replace(at, filler.size(), filler == "e-0" ? "e-" : "e");
  }
  return text;
}

/// Returns the range of valid values as text, for example "1 to 1000".
template <class Config>
[[nodiscard]] std::string range_text(const Setting<Config>& setting) {
  return number_text(setting.least) + " to " + number_text(setting.most);
}

/// Returns the meaning of a setting, and the special meaning of 0 if there is one, for help texts and
/// documents.
template <class Config>
[[nodiscard]] std::string meaning_text(const Setting<Config>& setting) {
  std::string text(setting.meaning);
  if (!setting.zero.empty()) text += "; 0: " + std::string(setting.zero);
  return text;
}

/// Checks a value. Returns nullopt if it is valid. Otherwise returns an error of one line, which contains
/// `name`, the value and the valid range. `name` is the setting's name that the user knows.
template <class Config>
[[nodiscard]] std::optional<Error> find_invalid(const Setting<Config>& setting, double value,
                                                std::string_view name) {
  // Comparisons with NaN are false, so NaN is invalid.
  if (value >= setting.least && value <= setting.most) return std::nullopt;
  if (value == 0.0 && !setting.zero.empty()) return std::nullopt;
  std::string text(name);
  text += " is " + number_text(value) + "; it must be from " + range_text(setting);
  if (!setting.unit.empty()) text += " " + std::string(setting.unit);
  if (setting.least > 0.0 && !setting.zero.empty()) text += ", or 0 (" + std::string(setting.zero) + ")";
  return Error{std::move(text)};
}

/// Returns an error for the first invalid value in a configuration, or nullopt if all are valid. In the
/// error, `prefix` stands before the name of the setting.
template <class Config>
[[nodiscard]] std::optional<Error> find_invalid(std::span<const std::type_identity_t<Setting<Config>>> table,
                                                const Config& config, std::string_view prefix = {}) {
  for (const Setting<Config>& setting : table) {
    auto error = find_invalid(setting, setting.get(config), std::string(prefix) + std::string(setting.name));
    if (error) return error;
  }
  return std::nullopt;
}

/// Returns the configuration if find_invalid_setting() accepts it. Otherwise prints the error and ends the
/// program.
template <class Config>
[[nodiscard]] Config require_valid(Config config) {
  if (const auto error = find_invalid_setting(config)) {
    std::fprintf(stderr, "reckoner: %s\n", error->message.c_str());
    std::abort();
  }
  return config;
}

}  // namespace reckoner
