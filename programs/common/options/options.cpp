// SPDX-License-Identifier: MIT
#include "programs/common/options/options.hpp"

#include "programs/common/options/command_line_error.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <csignal>
#include <cstdio>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>

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

void add_source_options(CLI::App& app, SourceOptions& options, const std::string& columns) {
  auto* trace = app.add_option(
      "--trace", options.trace,
      "recorded motion, a CSV file [id,]t,x,y,z[,qw,qx,qy,qz] or a table that another tool wrote");
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
  app.add_option(
      columns, options.table.columns,
      "which columns of the trace to read, if their headings do not say it: numbers from 1 or "
      "headings, such as t=2,x=3,y=4,z=5,id=1 (also qw, qx, qy, qz, yaw, pitch, roll, lat, lon; t=row "
      "counts rows)");
  app.add_option(
      "--units", options.table.units,
      "units of the trace: t=s, ms, us, ns, min, h, day, a number of seconds or 25fps; x=m, cm, mm, "
      "km, ft, in or a number of metres; yaw=deg or rad; for example t=ms,x=cm");
  app.add_flag("--project", options.table.project,
               "play latitude and longitude as metres east and north of the first sample");
  const std::map<std::string, scenario::Recentre> recentres{{"auto", scenario::Recentre::automatic},
                                                            {"always", scenario::Recentre::always},
                                                            {"never", scenario::Recentre::never}};
  app.add_option(
         "--recentre", options.recentre,
         "move the middle of the trace to the origin: auto (if it lies beyond the world), always or never")
      ->transform(CLI::CheckedTransformer(recentres).description(""))
      ->type_name("TEXT")
      ->default_str("auto");
  app.add_option("--longest-gap", options.gap_s,
                 "nothing is measured between samples of the trace that are further apart than this, s")
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

std::string version_text(const std::string& program) {
  return program + " " RECKONER_VERSION ", wire version " + std::to_string(kProtocolVersion);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  want_finite_numbers(app);
  app.set_version_flag("--version", version_text(app.get_name()), "print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(app.get_name(), command_line_error(app, error));
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
