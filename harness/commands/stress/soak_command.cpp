// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/process/child_process.hpp"
#include "harness/report/progress_bar.hpp"
#include "harness/stress/soak/soak.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/system/standard_streams.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct SoakArguments {
  double minutes = 10.0;
  double virtual_minutes = 60.0;
  std::size_t clients = 200;
  std::uint64_t seed = 1;
  std::string json;
};

bool print_report(const char* what, const SoakReport& report) {
  end_progress();
  fmt::print("{}: {}\n", what, report.wrong.empty() ? "passed" : "FAILED");
  for (const auto& [name, value] : report.figures.items())
    fmt::print("  {:<40}{:>16}\n", name, value.dump());
  for (const std::string& wrong : report.wrong)
    fmt::print("  ! {}\n", wrong);
  std::fflush(stdout);
  return report.wrong.empty();
}

int run_soak_command(const SoakArguments& arguments, const std::filesystem::path& program) {
  program::catch_stop_signals();
  program::ignore_broken_pipes();
  bool good = true;
  nlohmann::ordered_json all;
  SoakOptions options{.clients = arguments.clients, .seed = arguments.seed};
  if (arguments.virtual_minutes > 0.0) {
    options.seconds = 60.0 * arguments.virtual_minutes;
    const SoakReport report =
        soak_in_virtual_time(options, [](double done) { show_progress("virtual time", done); });
    all["virtual"] = report.figures;
    good = print_report("in virtual time", report) && good;
  }
  if (arguments.minutes > 0.0) {
    options.seconds = 60.0 * arguments.minutes;
    options.entities = 100;
    const auto report =
        soak_in_real_time(options, program, [](double done) { show_progress("real time", done); });
    if (!report) return report_error(report.error(), program::kFailed);
    all["real"] = report->figures;
    good = print_report("in real time", *report) && good;
  }
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, all))
      return report_error(wrong->message, program::kFailed);
  }
  return good ? program::kOk : program::kFailed;
}

}  // namespace

void add_soak_command(CLI::App& app, int& exit_code, const char* argv0) {
  CLI::App* command = app.add_subcommand("soak",
                                         "run clients that join and leave at random over a faulty network "
                                         "for a long time, and check for leaks and errors");
  auto arguments = std::make_shared<SoakArguments>();
  const auto program = program_folder(argv0) / "reckoner-harness";
  command
      ->add_option("--minutes", arguments->minutes,
                   "minutes of the test with processes on this machine in real time; 0: skip")
      ->check(CLI::Range(0.0, 10'000.0));
  command
      ->add_option("--virtual-minutes", arguments->virtual_minutes,
                   "minutes of the test in virtual time; 0: skip")
      ->check(CLI::Range(0.0, 10'000.0));
  command->add_option("--clients", arguments->clients, "approximate number of clients at once")
      ->check(CLI::Range(9, 1000));
  command->add_option("--seed", arguments->seed, "seed of the random events");
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "Exit codes: 0 passed; 1 memory grew, a client stayed out, an entity was shown wrong, or a message was "
      "lost.\n"
      "Example:\n"
      "  reckoner-harness soak --minutes 10 --virtual-minutes 60");
  command->callback([arguments, program, &exit_code] { exit_code = run_soak_command(*arguments, program); });
  CLI::App* role = app.add_subcommand("soak-clients", "clients of soak")->group("");
  auto options = std::make_shared<SoakClientsOptions>();
  role->add_option("--connect", options->server);
  role->add_option("--key", options->key);
  role->add_option("--count", options->count);
  role->add_option("--seed", options->seed);
  role->add_option("--first-id", options->first_id);
  role->callback([options, &exit_code] { exit_code = run_soak_clients(*options); });
}

}  // namespace reckoner::harness
