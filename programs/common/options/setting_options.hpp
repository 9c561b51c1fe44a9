// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace reckoner::program {

/// True if 0 is a valid value although it is outside the range.
template <class Config>
[[nodiscard]] bool is_zero_apart(const Setting<Config>& setting) {
  return !setting.zero.empty() && setting.least > 0.0;
}

/// Returns a validator of values of a setting. `setting` must outlive the parsing. `name` is the option's
/// name in errors.
template <class Config>
[[nodiscard]] CLI::Validator setting_range(const Setting<Config>& setting, const std::string& name) {
  return CLI::Validator(
      [&setting, name](const std::string& text) {
        double value = 0.0;
        if (!CLI::detail::lexical_cast(text, value)) return std::string{};  // the conversion reports it
        const auto error = find_invalid(setting, value, name);
        return error ? error->message : std::string{};
      },
      "[" + range_text(setting) + (is_zero_apart(setting) ? " or 0]" : "]"));
}

/// Checks that an option's text is valid for the setting with this name in a table.
template <class Table>
[[nodiscard]] CLI::Validator range_in(const Table& table, std::string_view setting,
                                      const std::string& option) {
  return setting_range(find_setting(table, setting), option);
}

/// Adds the option of a setting, which sets the member of `config`. The help text, the range and the default
/// come from the setting's description and from `config`, which must outlive the parsing.
template <class Config>
CLI::Option* add_setting(CLI::App& app, const Setting<Config>& setting, Config& config) {
  const std::string name = "--" + std::string(setting.option);
  CLI::Option* option = nullptr;
  if (setting.is_whole) {
    option = app.add_option_function<std::uint64_t>(
        name, [&](const std::uint64_t& value) { setting.set(config, static_cast<double>(value)); },
        meaning_text(setting));
  } else {
    option = app.add_option_function<double>(
        name, [&](const double& value) { setting.set(config, value); }, meaning_text(setting));
  }
  option->check(setting_range(setting, name));
  if (const double value = setting.get(config); value != 0.0 || !is_zero_apart(setting))
    option->default_str(number_text(value));
  return option;
}

}  // namespace reckoner::program
