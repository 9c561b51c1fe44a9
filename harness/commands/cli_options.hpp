// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay_arguments.hpp"
#include "harness/report/report_error.hpp"
#include "programs/common/options/options.hpp"

namespace CLI {
class App;
}

namespace reckoner::harness {

/// Adds the options of the network. `arguments` must exist until the command line is parsed.
void add_link_options(CLI::App& command, LinkArguments& arguments);

/// Adds the options of sender, client and rates. `arguments` must exist until the command line is parsed.
void add_run_options(CLI::App& command, RunArguments& arguments);

}  // namespace reckoner::harness
