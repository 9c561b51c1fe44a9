// SPDX-License-Identifier: MIT
#include "cli_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include <reckoner/scenario/builtin.hpp>
#include <reckoner/scenario/trace.hpp>

namespace reckoner::harness {
namespace {

struct LinkOptionHelp {
  const char* name;
  const char* help;
};
constexpr std::array kLinkOptions{
    LinkOptionHelp{"latency-ms", "least delay, one way"},
    LinkOptionHelp{"jitter-ms", "more delay: |N(0,1)| times this, drawn per datagram"},
    LinkOptionHelp{"loss", "datagrams lost, percent"},
    LinkOptionHelp{"burst", "mean number of losses in a row; 1: independent"},
    LinkOptionHelp{"duplicate", "datagrams that arrive twice, percent"},
    LinkOptionHelp{"rate-kbps", "1000 bits a second; 0: no limit"},
    LinkOptionHelp{"queue-ms", "a datagram that would wait longer for the rate is dropped"},
};

std::string scenario_names() {
  std::string names;
  for (const scenario::BuiltinInfo& info : scenario::builtin_scenarios()) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

std::string network_names() {
  std::string names;
  for (const NamedNetwork& network : named_networks()) {
    names += (names.empty() ? "" : ", ") + std::string(network.name);
  }
  return names;
}

void add_direction(CLI::App& command, LinkArguments& arguments, const LinkOptionHelp& option, bool up,
                   bool down) {
  const std::string prefix = up && down ? "--" : (up ? "--up-" : "--down-");
  const char* side = up && down ? "both ways" : (up ? "client to server" : "server to client");
  command
      .add_option_function<double>(
          prefix + option.name,
          [&arguments, option, up, down](double value) {
            arguments.changes.push_back({option.name, value, up, down});
          },
          up && down ? std::string(option.help) : std::string("the same, ") + side)
      ->group(up && down ? "Network, both ways" : "Network, one way");
}

}  // namespace

int complain(const std::string& message, int exit_code) {
  std::fprintf(stderr, "reckoner-harness: %s\n", message.c_str());
  return exit_code;
}

std::string SourceArguments::name() const {
  return trace.empty() ? scenario : std::filesystem::path(trace).stem().string();
}

void add_source_options(CLI::App& command, SourceArguments& arguments) {
  auto* trace =
      command.add_option("--trace", arguments.trace, "recorded motion: CSV of [id,]t,x,y,z[,qw,qx,qy,qz]");
  auto* scenario =
      command.add_option("--scenario", arguments.scenario, "built-in motion instead: " + scenario_names());
  trace->excludes(scenario);
  command.add_option("--entities", arguments.entities, "how many entities of a scenario; 0: its own number")
      ->needs(scenario);
  command.add_option("--entity", arguments.entity, "one id of the trace, `busiest`, or `all`")->needs(trace);
  command.add_option("--start", arguments.start_s, "s after the earliest sample")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--seconds", arguments.seconds, "length of the run; 0: to the end (30 s of a scenario)")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--teleport-mps", arguments.teleport_mps, "a step faster than this is a declared teleport")
      ->check(CLI::PositiveNumber);
  for (const char* name :
       {"--trace", "--scenario", "--entities", "--entity", "--start", "--seconds", "--teleport-mps"}) {
    command.get_option(name)->group("Motion");
  }
}

Result<std::unique_ptr<scenario::Source>> open_source(const SourceArguments& arguments) {
  if (arguments.trace.empty() && arguments.scenario.empty()) {
    return Error{"nothing to play: give --trace FILE or --scenario NAME (" + scenario_names() + ")"};
  }
  if (!arguments.scenario.empty()) return scenario::make_builtin(arguments.scenario, arguments.entities);
  scenario::TraceOptions options;
  options.teleport_mps = arguments.teleport_mps;
  options.entity = arguments.entity;
  options.start_s = arguments.start_s;
  options.seconds = arguments.seconds;
  return scenario::load_trace(arguments.trace, options);
}

std::string LinkArguments::name() const {
  if (!network.empty()) return changes.empty() && script.empty() ? network : network + " (changed)";
  return changes.empty() && script.empty() ? "perfect" : "custom";
}

void add_link_options(CLI::App& command, LinkArguments& arguments) {
  command.add_option("--network", arguments.network, "a named network: " + network_names())
      ->group("Network, both ways");
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, true, true);
  command.add_option("--link-script", arguments.script, "file with changes of the link at given times")
      ->group("Network, both ways");
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, true, false);
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, false, true);
}

Result<LinkPair> links_of(const LinkArguments& arguments) {
  LinkPair links;
  if (!arguments.network.empty()) {
    const auto named = find_network(arguments.network);
    if (!named) {
      return Error{"there is no network " + arguments.network + "; there are " + network_names()};
    }
    links = {*named, *named};
  }
  // What is said of one direction wins over what is said of both, in whatever order.
  for (const bool one_way : {false, true}) {
    for (const LinkArguments::Change& change : arguments.changes) {
      if (one_way != (change.up != change.down)) continue;
      for (LinkOptions* side : {change.up ? &links.up : nullptr, change.down ? &links.down : nullptr}) {
        if (!side) continue;
        if (const auto wrong = set_option(*side, change.option, change.value)) return *wrong;
      }
    }
  }
  for (const LinkOptions& side : {links.up, links.down}) {
    if (const auto wrong = check(side)) return *wrong;
  }
  return links;
}

Result<LinkScript> script_of(const LinkArguments& arguments) {
  if (arguments.script.empty()) return LinkScript{};
  return LinkScript::load(arguments.script);
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  ReplayOptions& options = arguments.options;
  const auto rate = CLI::Range(1.0, 1000.0);
  command.add_option("--tick-rate", options.tick_rate_hz, "of the server, per second")->check(rate);
  command.add_option("--frame-rate", options.frame_rate_hz, "of the client, per second")->check(rate);
  command.add_option("--seed", options.seed, "of the network's randomness");
  auto* budget = command.add_option("--updates-per-second", options.budget.updates_per_second,
                                    "what the sender may spend per entity, on average");
  auto* threshold = command.add_option("--threshold-m", options.budget.threshold_m,
                                       "or: send when clients would be off by more than this");
  auto* turn =
      command.add_option("--threshold-rad", options.budget.threshold_rad, "the same for orientation");
  auto* fixed =
      command.add_option("--fixed-rate", options.budget.fixed_rate_hz, "or: send evenly at this rate");
  budget->excludes(threshold)->excludes(turn)->excludes(fixed);
  fixed->excludes(threshold)->excludes(turn);
  for (CLI::Option* option : {budget, threshold, turn, fixed})
    option->check(CLI::PositiveNumber);
  auto* mode = command.add_option("--mode", arguments.mode, "present, adaptive or delayed:MS");
  auto* blend = command.add_option("--blend-frames", options.playout.blend_frames,
                                   "frames that a correction takes; 0 snaps");
  blend->check(CLI::Range(0.0, 600.0));
  for (CLI::Option* option : {budget, threshold, turn, fixed})
    option->group("What the sender spends");
  for (CLI::Option* option : {mode, blend})
    option->group("What the client shows");
  arguments.options.links = {};
}

std::optional<Error> parse_mode(std::string_view text, PlayoutConfig& playout) {
  if (text == "present") {
    playout.mode = PlayoutMode::present;
    return std::nullopt;
  }
  if (text == "adaptive") {
    playout.mode = PlayoutMode::adaptive;
    return std::nullopt;
  }
  constexpr std::string_view kDelayed = "delayed:";
  double delay_ms = -1.0;
  if (text.substr(0, kDelayed.size()) == kDelayed) {
    const std::string_view number = text.substr(kDelayed.size());
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), delay_ms);
    if (status != std::errc{} || end != number.data() + number.size()) delay_ms = -1.0;
  }
  if (!(delay_ms >= 0.0 && delay_ms <= 2000.0)) {
    return Error{"--mode " + std::string(text) +
                 ": expected present, adaptive or delayed:MS with 0 to 2000 ms"};
  }
  playout.mode = PlayoutMode::delayed;
  playout.delay_s = 0.001 * delay_ms;
  return std::nullopt;
}

Result<ReplayOptions> replay_options(const RunArguments& run, const SourceArguments& source,
                                     const LinkArguments& link) {
  ReplayOptions options = run.options;
  if (run.transport != "sim") {
    return Error{"--transport " + run.transport + ": not in this version, which has sim only"};
  }
  if (const auto wrong = parse_mode(run.mode, options.playout)) return *wrong;
  auto links = links_of(link);
  if (!links) return Error{links.error()};
  auto script = script_of(link);
  if (!script) return Error{script.error()};
  options.links = *links;
  options.link_script = std::move(*script);
  options.seconds = source.seconds;
  // A trace was cut when it was read; a scenario goes on for ever.
  options.start_s = source.trace.empty() ? source.start_s : 0.0;
  // Between samples a recording may be twice as fast as from sample to sample.
  options.max_speed_mps = std::max(options.max_speed_mps, 2.0 * source.teleport_mps);
  return options;
}

}  // namespace reckoner::harness
