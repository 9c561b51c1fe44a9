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

/// Reads a TOML file whose keys are the long names of the program's options, without the dashes (what comes
/// before a dot is a section), after the command line was parsed: what was given there wins, also over what
/// excludes it. Fails, with file, line and reason, on what is no TOML, a key that is no option, a value of
/// another type or out of its range, and two keys that exclude each other. The options' variables may have
/// been changed then.
[[nodiscard]] std::optional<Error> apply_config_file(const std::string& path, CLI::App& app);

}  // namespace reckoner::program
