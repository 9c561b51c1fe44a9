// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/report/report_error.hpp"
#include "harness/sim/link_script.hpp"
#include "programs/common/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::harness {

/// For reports: the trace's name without folder and ending, or the scenario's.
[[nodiscard]] std::string name_of(const program::SourceOptions& source);

/// The network between the two sides.
struct LinkArguments {
  struct Change {
    std::string option;
    double value = 0.0;
    bool up = true;
    bool down = true;
  };
  std::string network;
  std::vector<Change> changes;
  std::string script;
  [[nodiscard]] std::string name() const;  ///< the network's, or "custom", or "perfect"
};
void add_link_options(CLI::App& command, LinkArguments& arguments);
[[nodiscard]] Result<LinkPair> links_of(const LinkArguments& arguments);
[[nodiscard]] Result<LinkScript> script_of(const LinkArguments& arguments);

/// Sender, client, method and rates, as replay and plot have them.
struct RunArguments {
  ReplayOptions options;
  std::string mode = "present";
  std::vector<std::string> switch_to;  // modes
  std::vector<double> switch_at;       // s, one for each of them
  std::string transport = "sim";
  std::string owner_network;
  std::string owner_policy = "correct";
};
void add_run_options(CLI::App& command, RunArguments& arguments);

/// Puts all of it together; the source's own start and length are already applied to a trace.
[[nodiscard]] Result<ReplayOptions> replay_options(const RunArguments& run,
                                                   const program::SourceOptions& source,
                                                   const LinkArguments& link);

}  // namespace reckoner::harness
