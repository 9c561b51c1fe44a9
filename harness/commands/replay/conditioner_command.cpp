// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/conditioner/conditioner.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/system/standard_streams.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct ConditionerArguments {
  LinkArguments link;
  std::uint16_t listen_port = 0;
  std::string to;
  std::uint64_t seed = 1;
  double seconds = 0.0;
  bool control = false;
};

/// Reads lines from standard input without waiting for them. A line changes the links of a conditioner, with
/// the words of a LinkScript line after the time: `network=mobile` or `down loss=20`.
class ControlInput {
 public:
  void apply_to(Conditioner& conditioner) {
    std::array<char, 256> bytes;
    while (!ended_) {
      const int count = program::read_waiting_input(bytes);
      if (count < 0) return;
      ended_ = count == 0;
      for (const char letter : std::span(bytes).first(static_cast<std::size_t>(count)))
        add(letter, conditioner);
    }
  }

 private:
  void add(char letter, Conditioner& conditioner) {
    if (letter != '\n') {
      if (line_.size() < kMostLetters) line_ += letter;
      return;
    }
    LinkPair links = conditioner.links();
    auto change = LinkScript::parse("0 " + std::exchange(line_, {}));
    std::optional<Error> wrong;
    if (!change) {
      wrong = Error{change.error()};
    } else if (change->advance(0.0, links)) {
      wrong = conditioner.set_links(links);
    }
    if (wrong) fmt::print(stderr, "control: {}\n", wrong->message);
  }

  static constexpr std::size_t kMostLetters = 200;
  std::string line_;
  bool ended_ = false;
};

void print_direction(const char* name, const ConditionerCounters& counters) {
  fmt::print("  {:<5} {} received, {} forwarded, {} lost, {} duplicated, {} errors\n", name,
             counters.received, counters.forwarded, counters.lost, counters.duplicated, counters.send_errors);
}

int run_conditioner(const ConditionerArguments& arguments) {
  ConditionerOptions options;
  options.listen_port = arguments.listen_port;
  options.seed = arguments.seed;
  const auto to = program::parse_host_port(arguments.to);
  if (!to) return report_error("--to " + to.error());
  options.to_host = to->host;
  options.to_port = to->port;
  const auto links = links_of(arguments.link);
  if (!links) return report_error(links.error(), program::kBadInput);
  auto script = script_of(arguments.link);
  if (!script) return report_error(script.error(), program::kBadInput);
  options.links = *links;
  options.script = std::move(*script);
  program::catch_stop_signals();
  auto conditioner = Conditioner::open(std::move(options));
  if (!conditioner) return report_error(conditioner.error(), program::kFailed);
  fmt::print("listening on port {}\n", conditioner->port());
  std::fflush(stdout);
  ControlInput control;
  const auto stop = [&] {
    if (arguments.control) control.apply_to(*conditioner);
    return program::stop_requested();
  };
  conditioner->run(stop,
                   arguments.seconds > 0.0 ? arguments.seconds : std::numeric_limits<double>::infinity());
  const ConditionerStats& stats = conditioner->stats();
  fmt::print("{} over {}: {} clients\n", arguments.to, arguments.link.name(), stats.clients);
  print_direction("up", stats.up);
  print_direction("down", stats.down);
  return 0;
}

}  // namespace

void add_conditioner_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("conditioner", "a UDP relay that simulates a bad network between two real programs");
  auto arguments = std::make_shared<ConditionerArguments>();
  command
      ->add_option("--listen", arguments->listen_port, "UDP port that clients connect to; 0: any free port")
      ->check(CLI::Range(0, 65'535))
      ->required();
  command->add_option("--to", arguments->to, "HOST:PORT of the server")->required();
  command->add_option("--seed", arguments->seed, "of the network's randomness");
  command
      ->add_option("--seconds", arguments->seconds,
                   "stop after this many seconds; 0: run until SIGINT or SIGTERM")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--control", arguments->control,
                    "read changes of the link from standard input, one a line, such as network=mobile");
  add_link_options(*command, arguments->link);
  command->footer(
      "Example: a server on port 7777, and clients that connect to 7778 instead:\n"
      "  reckoner-harness conditioner --listen 7778 --to 127.0.0.1:7777 --network intercity");
  command->callback([arguments, &exit_code] { exit_code = run_conditioner(*arguments); });
}

}  // namespace reckoner::harness
