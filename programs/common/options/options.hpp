// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <reckoner/client/playout.hpp>
#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Exit codes of the programs.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;    ///< something went wrong while running
inline constexpr int kBadInput = 2;  ///< invalid options or files

/// Options for the source of motion.
struct SourceOptions {
  std::string trace;
  std::string scenario;
  std::size_t entities = 0;  ///< of a scenario; 0: its default
  std::string entity = "all";
  double start_s = 0.0;
  double seconds = 0.0;  ///< 0: to the end of the trace; scenarios are endless
  double teleport_mps = 100.0;
  std::uint64_t seed = 1;
};

/// Adds --trace, --scenario, --entities, --entity, --start, --seconds and --teleport-mps. `options` must
/// outlive the parsing.
void add_source_options(CLI::App& app, SourceOptions& options);

/// Opens the source that the options name. Exactly one of trace and scenario must be given.
[[nodiscard]] Result<std::unique_ptr<scenario::Source>> open_source(const SourceOptions& options);

/// Sets the mode in `playout` from the text `present`, `adaptive` or `delayed:MS`. Returns an error for any
/// other text and for an invalid delay.
[[nodiscard]] std::optional<Error> parse_mode(std::string_view text, PlayoutConfig& playout);

/// An address as HOST:PORT.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text);

/// Makes all options for numbers refuse NaN and infinity, including those of subcommands. The ranges of CLI11
/// accept NaN. Call it after all options have been added.
void want_finite_numbers(CLI::App& app);

/// An error of CLI11 begins with the option's name. Some errors repeat the name; this removes the repetition.
[[nodiscard]] std::string without_repeated_name(const std::string& error);

/// Parses the command line. Prints the help text or an error if necessary, and then returns the exit code.
/// Returns nullopt if the program should go on. Numbers must be finite, also those that apply_config_file()
/// sets later.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Prints "NAME: MESSAGE" to standard error and returns `code`.
int fail(std::string_view name, std::string_view message, int code = kBadInput);

/// Runs a program. If there is not enough memory, prints an error and returns kFailed.
template <class Run>
int run_in_memory(std::string_view name, Run run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(name, "out of memory", kFailed);
}

}  // namespace reckoner::program
