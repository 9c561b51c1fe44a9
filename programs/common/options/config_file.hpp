// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Adds --config. `path` must outlive the parsing.
void add_config_option(CLI::App& app, std::string& path);

/// Reads a TOML file. Its keys are the long names of the program's options without the dashes; the part of a
/// name before a dot is a section. Call it after the command line was parsed: options on the command line
/// win, also over options in the file that they exclude. The error contains file, line and reason: the file
/// is not TOML, a key is not an option, a value has the wrong type or range, or two keys exclude each other.
/// After an error, some variables of the options may have changed.
[[nodiscard]] std::optional<Error> apply_config_file(const std::string& path, CLI::App& app);

}  // namespace reckoner::program
