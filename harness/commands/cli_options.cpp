// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"

#include "net/src/config/archetype_settings.hpp"
#include "programs/common/options/blend_choice_options.hpp"
#include "programs/common/options/setting_options.hpp"
#include "server/src/server_settings.hpp"

#include <array>

#include <CLI/CLI.hpp>

namespace reckoner::harness {
namespace {

using program::range_in;

struct LinkOptionHelp {
  const char* name;
  const char* help;
};
constexpr std::array kLinkOptions{
    LinkOptionHelp{"latency-ms", "minimum delay in one direction, ms"},
    LinkOptionHelp{"jitter-ms", "additional delay: |N(0,1)| times this, drawn for each datagram, ms"},
    LinkOptionHelp{"loss", "datagrams lost, percent"},
    LinkOptionHelp{"burst", "mean number of consecutive losses; 1: losses are independent"},
    LinkOptionHelp{"duplicate", "datagrams that arrive twice, percent"},
    LinkOptionHelp{"rate-kbps", "rate limit, 1000 bits per second; 0: no limit"},
    LinkOptionHelp{"queue-ms", "drops datagrams that would wait longer than this for the rate limit, ms"},
};

void add_direction(CLI::App& command, LinkArguments& arguments, const LinkOptionHelp& option, bool up,
                   bool down) {
  const std::string prefix = up && down ? "--" : (up ? "--up-" : "--down-");
  const char* side = up && down ? "both directions" : (up ? "client to server" : "server to client");
  command
      .add_option_function<double>(
          prefix + option.name,
          [&arguments, option, up, down](double value) {
            arguments.changes.push_back({option.name, value, up, down});
          },
          up && down ? std::string(option.help)
                     : std::string("like the option for both directions, but only ") + side)
      ->group(up && down ? "Network, both directions" : "Network, one direction");
}

}  // namespace

void add_link_options(CLI::App& command, LinkArguments& arguments) {
  command.add_option("--network", arguments.network, "a named network: " + network_names())
      ->group("Network, both directions");
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, true, true);
  command.add_option("--link-script", arguments.script, "file with changes of the link at given times")
      ->group("Network, both directions");
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, true, false);
  for (const LinkOptionHelp& option : kLinkOptions)
    add_direction(command, arguments, option, false, true);
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  ReplayOptions& options = arguments.options;
  command.add_option("--tick-rate", options.tick_rate_hz, "ticks of the server per second")
      ->check(range_in(kServerSettings, "tick_rate_hz", "--tick-rate"));
  command.add_option("--frame-rate", options.frame_rate_hz, "frames of the client per second")
      ->check(range_in(program::kBlendSettings, "frame_rate_hz", "--frame-rate"));
  command.add_option("--seed", options.seed, "seed of the network's random numbers");
  auto* budget = command.add_option("--updates-per-second", options.budget.updates_per_second,
                                    "mean number of updates that the sender may send per entity");
  auto* threshold = command.add_option("--threshold-m", options.budget.threshold_m,
                                       "alternatively: send when the error of the clients would exceed this");
  auto* turn = command.add_option("--threshold-rad", options.budget.threshold_rad,
                                  "alternatively: send when the error in orientation would exceed this");
  auto* fixed = command.add_option("--fixed-rate", options.budget.fixed_rate_hz,
                                   "alternatively: send at even intervals at this rate");
  auto* bytes = command.add_option("--bytes-per-second", options.budget.bytes_per_second,
                                   "bytes that the server sends to the client at most, with headers");
  bytes->check(range_in(kServerSettings, "bytes_per_second", "--bytes-per-second"));
  command
      .add_option("--send-rate", options.budget.send_rate_hz,
                  "datagrams with motions per second to the client (default: in every tick)")
      ->check(range_in(kServerSettings, "send_rate_hz", "--send-rate"));
  budget->excludes(threshold)->excludes(turn)->excludes(fixed);
  fixed->excludes(threshold)->excludes(turn);
  for (CLI::Option* option : {budget, threshold, turn, fixed})
    option->check(CLI::PositiveNumber);
  budget->check(range_in(kServerSettings, "updates_per_second", "--updates-per-second"));
  fixed->check(range_in(kServerSettings, "fixed_rate_hz", "--fixed-rate"));
  threshold->check(range_in(kArchetypeSettings, "threshold_m", "--threshold-m"));
  turn->check(range_in(kArchetypeSettings, "threshold_rad", "--threshold-rad"));
  auto* shots = command.add_option(
      "--shots-per-second", options.shots_per_second,
      "the client fires shots, and the server reconstructs what it saw (default in scenario duel: 5)");
  shots->check(CLI::Range(0.0, 60.0));
  auto* owner = command.add_option("--owner-network", arguments.owner_network,
                                   "another client owns the entities and is connected over this named "
                                   "network (default in scenario owned: wifi)");
  auto* policy = command.add_option("--owner-policy", arguments.owner_policy,
                                    "handling of impossible motions: accept, correct or refuse");
  auto* cheat = command.add_option(
      "--cheat", options.cheat,
      "a third client owns an additional entity and cheats: none, speed, teleport, future or flood");
  policy->check(CLI::IsMember({"accept", "correct", "refuse"}));
  for (CLI::Option* option : {owner, policy, cheat})
    option->group("Entities that a client owns");
  auto* mode = command.add_option("--mode", arguments.mode, "present, adaptive, delayed:MS or ahead");
  const auto choice = program::add_blend_choice(command, arguments.blend);
  auto* blend = command.add_option("--blend-frames", options.blend_frames,
                                   "number of frames over which a correction is blended, instead of the "
                                   "profile's; 0: corrections jump");
  blend->check(range_in(program::kBlendSettings, "blend_frames", "--blend-frames"));
  auto* clock =
      command.add_option("--client-clock", arguments.client_clock,
                         "the clock that the game passes to the client: rate:R|stop:AT,FOR|step:AT,BY, "
                         "one or more parts, in seconds from the start of the run");
  auto* to = command.add_option("--switch-to", arguments.switch_to, "changes to this mode during the run");
  auto* at = command.add_option("--switch-at", arguments.switch_at,
                                "time of the change, s after the start of the run");
  to->needs(at)->delimiter(',');
  at->needs(to)->delimiter(',')->check(CLI::NonNegativeNumber);
  for (CLI::Option* option : {budget, threshold, turn, fixed, bytes})
    option->group("Sender");
  for (CLI::Option* option : {mode, choice[0], choice[1], blend, clock, to, at, shots})
    option->group("Client");
  arguments.options.links = {};
}

}  // namespace reckoner::harness
