// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/report/report_error.hpp"
#include "harness/sim/link_script.hpp"
#include "programs/common/options/options.hpp"

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

/// Name of the source in reports: the name of the trace without folder and extension, or the name of the
/// scenario.
[[nodiscard]] std::string name_of(const program::SourceOptions& source);

/// The options of the network between the two sides.
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
  [[nodiscard]] std::string name() const;  ///< name of the network, "custom" or "perfect", for reports
};
void add_link_options(CLI::App& command, LinkArguments& arguments);
[[nodiscard]] Result<LinkPair> links_of(const LinkArguments& arguments);
[[nodiscard]] Result<LinkScript> script_of(const LinkArguments& arguments);

/// The options of sender, client and rates that several commands share.
struct RunArguments {
  ReplayOptions options;
  std::string mode = "present";
  std::vector<std::string> switch_to;  // modes
  std::vector<double> switch_at;       // s, one for each element of switch_to
  std::string transport = "sim";
  std::string owner_network;
  std::string owner_policy = "correct";
};
void add_run_options(CLI::App& command, RunArguments& arguments);

/// Combines the options of a run, its source and its link. Fails if an option is invalid. A trace is assumed
/// to be cut to its start already.
[[nodiscard]] Result<ReplayOptions> replay_options(const RunArguments& run,
                                                   const program::SourceOptions& source,
                                                   const LinkArguments& link);

}  // namespace reckoner::harness
