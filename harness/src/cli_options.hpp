// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <reckoner/client/playout.hpp>
#include <reckoner/harness/link_script.hpp>
#include <reckoner/harness/replay.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/scenario/source.hpp>

namespace reckoner::harness {

/// Exit codes of every command.
inline constexpr int kExitFailed = 1;  ///< it ran, and something went wrong
inline constexpr int kExitUsage = 2;   ///< options or input that cannot be used

/// Prints one line to stderr and returns `exit_code`.
int complain(const std::string& message, int exit_code);

/// Which motion to play.
struct SourceArguments {
  std::string trace;
  std::string scenario;
  std::size_t entities = 0;
  std::string entity = "all";
  double start_s = 0.0;
  double seconds = 0.0;
  double teleport_mps = 100.0;
  [[nodiscard]] std::string name()
      const;  ///< for reports: the file's name without folder and ending, or the scenario's
};
void add_source_options(CLI::App& command, SourceArguments& arguments);
[[nodiscard]] Result<std::unique_ptr<scenario::Source>> open_source(const SourceArguments& arguments);

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
  std::string transport = "sim";
};
void add_run_options(CLI::App& command, RunArguments& arguments);

/// present, adaptive or delayed:MS; the rest of `playout` stays as it is.
[[nodiscard]] std::optional<Error> parse_mode(std::string_view text, PlayoutConfig& playout);

/// Puts all of it together; the source's own start and length are already applied to a trace.
[[nodiscard]] Result<ReplayOptions> replay_options(const RunArguments& run, const SourceArguments& source,
                                                   const LinkArguments& link);

}  // namespace reckoner::harness
