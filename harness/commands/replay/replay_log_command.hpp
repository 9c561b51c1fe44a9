// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace reckoner::harness {

/// Adds the command replay-log, which plays back a recording of reckoner-client --record. See commands.hpp.
void add_replay_log_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
