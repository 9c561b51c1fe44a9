// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace reckoner::harness {

/// Adds the command explain, which explains the steps in a recording of reckoner-client --record. See
/// commands.hpp.
void add_explain_command(CLI::App& app, int& exit_code);
/// Adds the command explain-trials, which measures how often explain names the right cause.
void add_explain_trials_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
