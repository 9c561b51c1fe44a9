// SPDX-License-Identifier: MIT
#include "harness/commands/replay/explain_command.hpp"

#include "harness/commands/cli_options.hpp"
#include "harness/explain/collect_facts.hpp"
#include "harness/explain/explain.hpp"
#include "harness/explain/explain_corrections.hpp"
#include "harness/explain/explain_json.hpp"
#include "harness/explain/wording.hpp"
#include "harness/metrics/figures_text.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "scenario/trace/csv.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct ExplainArguments {
  std::string session;
  std::string json;
  std::string decisions;
  ExplainOptions options;
};

void print_explained(const SessionFacts& facts, const std::vector<ExplainedStep>& steps) {
  fmt::print("{:.1f} s in {} mode, recorded by Reckoner {}: {} frames, {} datagrams, {} entities\n",
             facts.seconds, facts.mode, facts.version, facts.frames, facts.datagrams.size(),
             facts.entities.size());
  if (facts.truncated) fmt::print("The file is truncated; the end of the session is missing.\n");
  if (facts.differences > 0) {
    fmt::print(
        "This build behaved differently from the recording one {} times, so it may have drawn other poses.\n",
        facts.differences);
  }
  if (steps.empty()) fmt::print("No step is large enough to be seen.\n");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ExplainedStep& step = steps[i];
    const std::string name = step.name.empty() ? std::string{} : fmt::format(" \"{}\"", step.name);
    fmt::print("\n{}. {:.2f} s, entity {}{}: {} ({})\n", i + 1, step.at_s, step.entity.index1, name,
               name_of(step.cause), step.known ? "known" : "inferred");
    fmt::print("   The drawn velocity changed by {:.2f} m/s in picture {}.\n", step.velocity_step_mps,
               step.frame);
    fmt::print("   {}\n", step.sentence);
  }
}

// All corrections by cause, and the largest ones.
void print_corrections(std::vector<ExplainedCorrection> corrections, std::size_t most) {
  if (corrections.empty()) return;
  std::string totals;
  const auto counts = count_causes(corrections);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0)
      totals += fmt::format("{}{} {}", totals.empty() ? "" : ", ", counts[i],
                            name_of(static_cast<CorrectionCause>(i)));
  }
  fmt::print("\n{} of predicted entities: {}\n",
             counted(static_cast<long long>(corrections.size()), "correction", "corrections"), totals);
  std::ranges::stable_sort(corrections, std::ranges::greater{}, &ExplainedCorrection::error_m);
  for (std::size_t i = 0; i < std::min(most, corrections.size()); ++i) {
    const ExplainedCorrection& correction = corrections[i];
    const std::string name =
        correction.name.empty() ? std::string{} : fmt::format(" \"{}\"", correction.name);
    fmt::print("\n{}. {:.2f} s, tick {}, entity {}{}: {} ({})\n   {}\n", i + 1, correction.at_s,
               correction.tick, correction.entity.index1, name, name_of(correction.cause),
               correction.known ? "known" : "inferred", correction.sentence);
  }
}

int run_explain(const ExplainArguments& arguments) {
  auto reader = program::SessionReader::open(arguments.session);
  if (!reader) return report_error(reader.error(), program::kBadInput);
  auto facts = collect_facts(*reader, {program::archetypes(), arguments.options.entity});
  if (!facts) return report_error(facts.error(), program::kBadInput);
  if (!arguments.decisions.empty()) {
    const auto text = scenario::read_text_file(arguments.decisions);
    if (!text) return report_error(text.error(), program::kBadInput);
    auto decisions = parse_decisions(*text, arguments.decisions);
    if (!decisions) return report_error(decisions.error(), program::kBadInput);
    facts->decisions = std::move(*decisions);
  }
  const auto steps = explain(*facts, arguments.options);
  const auto corrections = explain_corrections(*facts, arguments.options);
  print_explained(*facts, steps);
  print_corrections(corrections, arguments.options.worst);
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, explain_json(*facts, steps, corrections)))
      return report_error(wrong->message, program::kFailed);
  }
  if (facts->damage) return report_error(*facts->damage, program::kBadInput);
  return program::kOk;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand(
      "explain", "why did it jump? find the largest steps in a recorded session, and say what caused each");
  command->add_option("session", arguments->session, "recording of reckoner-client --record")->required();
  command->add_option("--entity", arguments->options.entity, "only this entity, by the number in the output");
  command
      ->add_option("--worst", arguments->options.worst,
                   "largest number of steps, and of corrections in the text")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option(
      "--decisions", arguments->decisions,
      "the file of reckoner-server --decisions of that time; causes at the server are then known");
  command->add_option("--json", arguments->json, "write the steps and their evidence to this file");
  command->footer(
      "Example:\n"
      "  reckoner-client --connect game.example:26000 --token alice.token --record strange.log\n"
      "  reckoner-harness explain strange.log\n"
      "Exit codes: 0 explained, 1 could not write the file, 2 bad input. A damaged recording is explained up "
      "to "
      "the damage.");
  command->callback([arguments, &exit_code] { exit_code = run_explain(*arguments); });
}

}  // namespace reckoner::harness
