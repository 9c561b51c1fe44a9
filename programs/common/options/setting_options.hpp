// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace reckoner::program {

/// True if 0 is a valid value of the setting although 0 is outside the range.
template <class Config>
[[nodiscard]] bool is_zero_apart(const Setting<Config>& setting) {
  return !setting.zero.empty() && setting.least > 0.0;
}

/// Returns a validator for values of a setting. `setting` must exist until the command line is parsed. Errors
/// use `name` as the name of the option.
template <class Config>
[[nodiscard]] CLI::Validator setting_range(const Setting<Config>& setting, const std::string& name) {
  return CLI::Validator(
      [&setting, name](const std::string& text) {
        double value = 0.0;
        // No error here, because the conversion of CLI11 reports it.
        if (!CLI::detail::lexical_cast(text, value)) return std::string{};
        const auto error = find_invalid(setting, value, name);
        return error ? error->message : std::string{};
      },
      "[" + range_text(setting) + (is_zero_apart(setting) ? " or 0]" : "]"));
}

/// Returns a validator which checks that a text is a valid value of the setting called `setting` in `table`.
template <class Table>
[[nodiscard]] CLI::Validator range_in(const Table& table, std::string_view setting,
                                      const std::string& option) {
  return setting_range(find_setting(table, setting), option);
}

/// Adds the command-line option of a setting. The option sets the setting's member of `config`. The help text
/// and the range come from `setting`, the default comes from `config`. Both must exist until the command line
/// is parsed.
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
