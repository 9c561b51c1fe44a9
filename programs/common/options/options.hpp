// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/options/source_options.hpp"
#include "programs/common/system/memory.hpp"

#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Exit codes of the programs.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;    ///< an error happened while the program ran
inline constexpr int kBadInput = 2;  ///< invalid options or files

/// Adds the options --trace, --scenario, --entities, --entity, --timeline, --start, --seconds,
/// --teleport-mps,
/// --units, --project, --recentre, --longest-gap, and one for the columns of a trace, whose name is
/// `columns`. `options` must exist until the command line is parsed.
void add_source_options(CLI::App& app, SourceOptions& options, const std::string& columns = "--columns");

/// Splits HOST:PORT or [IPV6]:PORT. The port is required.
[[nodiscard]] Result<HostAndPort> parse_host_port(std::string_view text);

/// What --version prints: the name of the program, its version and that of the wire.
[[nodiscard]] std::string version_text(const std::string& program);

/// Adds --version, and parses the command line. If the user asks for help or the version, or an option is
/// wrong, prints the text or an error and returns the exit code. Otherwise returns nullopt, and the program
/// should go on. NaN and infinity are errors, also if apply_config_file() sets them later.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Prints "NAME: MESSAGE" to standard error and returns `code`.
int fail(std::string_view name, std::string_view message, int code = kBadInput);

/// Makes a write beyond the limit of a file's size fail with an error, which the programs report. By default
/// the system ends the process.
void let_large_files_fail();

/// Runs a program. If there is not enough memory, prints what needed how much, and returns kFailed.
template <class Run>
int run_in_memory(std::string_view name, Run run) {
  let_large_files_fail();
  try {
    return run();
  } catch (const std::bad_alloc& error) {
    return fail(name, out_of_memory_text(error), kFailed);
  } catch (const std::length_error& error) {
    return fail(name, out_of_memory_text(error), kFailed);
  }
}

}  // namespace reckoner::program
