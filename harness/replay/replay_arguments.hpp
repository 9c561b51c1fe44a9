// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/sim/link_script.hpp"
#include "programs/common/options/blend_options.hpp"
#include "programs/common/options/source_options.hpp"

#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Name of the source in reports: the name of the trace without folder and extension, or the name of the
/// scenario.
[[nodiscard]] std::string name_of(const program::SourceOptions& source);

/// The names of all named networks, separated by commas.
[[nodiscard]] std::string network_names();

/// The options of the network between the two sides.
struct LinkArguments {
  /// One option, for example {"latency-ms", 80.0}, and the directions to which it applies.
  struct Change {
    std::string option;
    double value = 0.0;
    bool up = true;
    bool down = true;
  };
  std::string network;                     ///< name of a named network; empty: a perfect one
  std::vector<Change> changes;             ///< options for one direction override options for both
  std::string script;                      ///< path of a link script; empty: none
  [[nodiscard]] std::string name() const;  ///< name of the network, "custom" or "perfect", for reports
};
[[nodiscard]] Result<LinkPair> links_of(const LinkArguments& arguments);
[[nodiscard]] Result<LinkScript> script_of(const LinkArguments& arguments);

/// The options of sender, client and rates that several commands share.
struct RunArguments {
  ReplayOptions options;
  std::string mode = "present";
  program::BlendChoice blend;
  std::vector<std::string> switch_to;  // modes
  std::vector<double> switch_at;       // s, one for each element of switch_to
  std::string transport = "sim";
  std::string client_clock;  // for ClientClock::parse(); empty: a clock like the server's
  std::string owner_network;
  std::string owner_policy = "correct";
};

/// Combines the options of a run, its source and its link. Fails if an option is invalid. A trace is assumed
/// to be cut to its start already.
[[nodiscard]] Result<ReplayOptions> replay_options(const RunArguments& run,
                                                   const program::SourceOptions& source,
                                                   const LinkArguments& link);

}  // namespace reckoner::harness
