// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace reckoner::harness {

/// replay-log: plays back what reckoner-client --record wrote. As in commands.hpp.
void add_replay_log_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
