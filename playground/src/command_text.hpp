// SPDX-License-Identifier: MIT
#pragma once

#include "playground/src/settings.hpp"

#include <string>

namespace reckoner::playground {

/// The command line, without a program's folder, that produces the figures of these settings: it starts with
/// "reckoner-harness compare". Words are quoted for a POSIX shell where necessary.
[[nodiscard]] std::string command_line(const Settings& settings);

/// C++ code that gives a game's server and client the configuration of these settings.
[[nodiscard]] std::string cpp_configuration(const Settings& settings);

}  // namespace reckoner::playground
