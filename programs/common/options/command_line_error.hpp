// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace reckoner::program {

/// One sentence that says what is wrong with a command line and how to mend it. For an unknown command or
/// option it names the most similar one. `error` is what CLI11 threw when `app` parsed the command line.
[[nodiscard]] std::string command_line_error(const CLI::App& app, const CLI::ParseError& error);

/// Removes a repeated name from an error of CLI11. Every such error begins with the name of the option, and
/// some repeat the name.
[[nodiscard]] std::string without_repeated_name(const std::string& error);

/// Makes all options for numbers refuse other text, NaN and infinity, also in subcommands. This is necessary
/// because the ranges of CLI11 accept NaN, and because its errors about other text do not say what is wrong.
/// Call it after all options have been added.
void want_finite_numbers(CLI::App& app);

}  // namespace reckoner::program
