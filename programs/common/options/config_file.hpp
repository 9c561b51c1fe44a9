// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Adds the option --config. `path` must exist until the command line is parsed.
void add_config_option(CLI::App& app, std::string& path);

/// Reads a TOML file. Its keys are the long names of the program's options without the leading dashes. If a
/// name contains a dot, the part before the dot is a section of the file. Call this after the command line
/// was parsed. An option on the command line overrides the key with its name, and every key that it excludes.
/// Fails if the file is not TOML, a key is not an option, a value has the wrong type or range, or two keys
/// exclude each other. The error contains file, line and reason. After an error, some variables of the
/// options may have changed.
[[nodiscard]] std::optional<Error> apply_config_file(const std::string& path, CLI::App& app);

}  // namespace reckoner::program
