// SPDX-License-Identifier: MIT
#include "programs/common/options/options.hpp"

#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner::program {
namespace {

std::string scenario_help() {
  std::string help = "built-in motion:";
  for (const auto infos : {scenario::builtin_scenarios(), scenario::physics_scenarios()}) {
    for (const scenario::BuiltinInfo& info : infos)
      help += "\n  " + std::string(info.name) + ": " + std::string(info.description);
  }
  return help;
}

}  // namespace

void want_finite_numbers(CLI::App& app) {
  static const CLI::Validator finite(
      [](const std::string& text) {
        double value = 0.0;
        const bool is_one = CLI::detail::lexical_cast(text, value);
        return is_one && !std::isfinite(value) ? text + " is not finite" : std::string{};
      },
      "");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_name().starts_with("FLOAT")) option->check(finite);
  }
  for (CLI::App* command : app.get_subcommands(nullptr))
    want_finite_numbers(*command);
}

void add_source_options(CLI::App& app, SourceOptions& options) {
  auto* trace =
      app.add_option("--trace", options.trace, "recorded motion, a CSV file [id,]t,x,y,z[,qw,qx,qy,qz]");
  auto* scenario = app.add_option("--scenario", options.scenario, scenario_help());
  trace->excludes(scenario);
  app.add_option(
         "--entities", options.entities,
         "number of entities (default: depends on the scenario); a trace is played in as many copies, each "
         "from another time on")
      ->check(CLI::Range(1, 65'536));
  app.add_option("--entity", options.entity, "which entity of the trace to play: its id, busiest or all")
      ->capture_default_str();
  const std::map<std::string, scenario::Timeline> timelines{{"auto", scenario::Timeline::automatic},
                                                            {"together", scenario::Timeline::together},
                                                            {"successive", scenario::Timeline::successive}};
  app.add_option(
         "--timeline", options.timeline,
         "when the entities of the trace are played: together (at their recorded times), successive (one "
         "after another) or auto (successive if all start at t = 0)")
      ->transform(CLI::CheckedTransformer(timelines).description(""))
      ->type_name("TEXT")
      ->default_str("auto");
  app.add_option("--start", options.start_s, "skip this time at the beginning of the trace, s")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long to run, s (default: to the end)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--teleport-mps", options.teleport_mps,
                 "a step of the trace that is faster than this is a teleport, m/s")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

Result<HostAndPort> parse_host_port(std::string_view text) {
  const auto split = split_host_port(text);
  if (!split || split->port == 0) {
    return Error{"'" + std::string(text) +
                 "' is no address: expected HOST:PORT or [IPV6]:PORT with a port of 1 to 65535"};
  }
  return *split;
}

std::string without_repeated_name(const std::string& error) {
  const auto colon = error.find(": ");
  if (colon == std::string::npos) return error;
  const std::string_view rest = std::string_view(error).substr(colon + 2);
  return std::string(rest.starts_with(std::string_view(error).substr(0, colon)) ? rest : error);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  want_finite_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(app.get_name(), without_repeated_name(error.what()) + " (see --help)");
  }
  return std::nullopt;
}

void let_large_files_fail() {
#ifdef SIGXFSZ
  (void)std::signal(SIGXFSZ, SIG_IGN);
#endif
}

int fail(std::string_view name, std::string_view message, int code) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(message.size()), message.data());
  return code;
}

}  // namespace reckoner::program
