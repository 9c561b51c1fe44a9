// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/replay/explain_command.hpp"
#include "harness/explain/trials/trials.hpp"
#include "harness/replay/compare.hpp"

#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct TrialArguments {
  std::size_t sessions = 400;
  std::size_t undisturbed = 100;
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  bool show_wrong = false;
  bool decisions = false;
};

void print_wrong_trial(const TrialResult& result) {
  const TrialPlan& plan = result.plan;
  fmt::print(
      "{}: {} {} at {:.3f} s for {:.3f} s, size {:.2f}, variant {}, threshold {:.2f}; {} {:.1f} m/s "
      "({:.1f})\n",
      plan.cause ? name_of(*plan.cause) : "nothing", plan.network, static_cast<int>(plan.playout.mode),
      plan.at_s, plan.lasts_s, plan.size, plan.variant ? 1 : 0, plan.threshold_m, result.entity,
      result.step_mps, result.undisturbed_mps);
  if (!result.found) return;
  fmt::print("  {:.2f} s {} {:.2f} m/s: {}: {}\n", result.found->at_s, result.found->name,
             result.found->velocity_step_mps, name_of(result.found->cause), result.found->sentence);
}

int run_explain_trials(const TrialArguments& arguments) {
  const std::size_t count = arguments.sessions + arguments.undisturbed;
  std::vector<TrialResult> results(count);
  for_each_parallel(count, arguments.threads, [&](std::size_t i) {
    const std::uint64_t seed = scenario::hash(arguments.seed, i);
    results[i] = i < arguments.sessions
                     ? run_trial(static_cast<Cause>(i % kInjectedCauses), seed, arguments.decisions)
                     : run_undisturbed_trial(seed, arguments.decisions);
  });
  if (arguments.show_wrong) {
    for (const TrialResult& result : results) {
      if (!result.right) print_wrong_trial(result);
    }
  }
  const TrialTable table = make_table(results);
  fmt::print("{}", table_text(table));
  std::size_t known = 0;
  for (const TrialResult& result : results)
    known += result.right && result.found && result.found->known ? 1 : 0;
  fmt::print("{} of the right answers are known, the others are inferred\n", known);
  const TrialTable::Row all = table.disturbed();
  const TrialTable::Row& calm = table.rows[kCauses];
  const bool well = 100 * all.right >= 95 * all.sessions && calm.right == calm.sessions;
  return well ? program::kOk : program::kFailed;
}

}  // namespace

void add_explain_trials_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<TrialArguments>();
  CLI::App* command = app.add_subcommand(
      "explain-trials",
      "disturb sessions with ten known causes, and count how often explain names the right cause");
  command->add_option("--sessions", arguments->sessions, "disturbed sessions, equally many of each cause")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  command->add_option("--undisturbed", arguments->undisturbed, "sessions without a disturbance")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "seed of all sessions")->capture_default_str();
  command->add_option("--threads", arguments->threads, "number of parallel sessions (default: one per core)");
  command->add_flag("--decisions", arguments->decisions, "explain with the decisions of the server");
  command->add_flag("--show-wrong", arguments->show_wrong, "print every session that was explained wrongly");
  command->footer(
      "Exit codes: 0 at least 95 % are right and no undisturbed session has an invented cause, 1 otherwise.");
  command->callback([arguments, &exit_code] { exit_code = run_explain_trials(*arguments); });
}

}  // namespace reckoner::harness
