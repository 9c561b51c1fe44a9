// SPDX-License-Identifier: MIT
#include "harness/explain/explain_corrections.hpp"

#include "harness/explain/wording.hpp"

namespace reckoner::harness {
namespace {

std::string late_input(const CorrectionFact& fact, const char* why) {
  return "The input of tick " + std::to_string(fact.input_tick) + " came at least " +
         milliseconds(fact.input_late_s) + " after its tick, " + why;
}

std::string cause_sentence(const CorrectionFact& fact) {
  switch (fact.cause) {
    case CorrectionCause::begins:
      return "The client began to predict other entities, or its session resumed.";
    case CorrectionCause::teleported:
      return "The server's game teleported a predicted entity.";
    case CorrectionCause::input_missing:
      return "The server had no input for a tick in time, or no results to compare.";
    case CorrectionCause::input_late:
      return late_input(fact, "because the client had sent it too late for the usual transit.");
    case CorrectionCause::input_lost:
      return late_input(fact, "although the client had sent it in time: its datagram was lost or held up.");
    case CorrectionCause::game_state:
      return "Positions and rotations agreed, and only the bytes of the game differed.";
    case CorrectionCause::small_difference:
      return "The result was off by little: a step that is not deterministic drifts like this, and a light "
             "touch "
             "looks alike.";
    case CorrectionCause::differs:
      break;
  }
  std::string text =
      "The server's game computed something else: a contact, another player's action, or another step.";
  if (fact.nearest) {
    const std::string name =
        fact.nearest_name.empty() ? std::to_string(fact.nearest.index1) : '"' + fact.nearest_name + '"';
    text += " The nearest entity was " + name + ", " + metres(fact.nearest_m) + " away.";
  }
  return text;
}

bool is_known(CorrectionCause cause) {
  return cause == CorrectionCause::begins || cause == CorrectionCause::teleported ||
         cause == CorrectionCause::input_missing || cause == CorrectionCause::game_state;
}

std::vector<Evidence> evidence_of(const CorrectionFact& fact) {
  std::vector<Evidence> evidence{{"lead_s", fact.lead_s}};
  if (fact.had_result) {
    evidence.push_back({"error_m", fact.error_m});
    evidence.push_back({"error_rad", fact.error_rad});
    evidence.push_back({"game_state_differs", fact.game_state_differs ? 1.0 : 0.0});
  }
  if (fact.faded_s > 0.0) {
    evidence.push_back({"shown_error_m", fact.shown_error_m});
    evidence.push_back({"faded_s", fact.faded_s});
  }
  if (fact.input_late_s > 0.0) {
    evidence.push_back({"input_tick", static_cast<double>(fact.input_tick)});
    evidence.push_back({"input_late_s", fact.input_late_s});
  }
  if (fact.nearest) evidence.push_back({"nearest_m", fact.nearest_m});
  return evidence;
}

}  // namespace

std::string sentence_of(const CorrectionFact& fact) {
  std::string text = cause_sentence(fact);
  if (fact.had_result && fact.cause != CorrectionCause::game_state)
    text += " The client's result was off by " + metres(fact.error_m) + " and " +
            number(fact.error_rad, 3, "rad") + '.';
  if (fact.faded_s > 0.0) text += " The error faded in " + milliseconds(fact.faded_s) + '.';
  return text;
}

std::vector<ExplainedCorrection> explain_corrections(const SessionFacts& facts,
                                                     const ExplainOptions& options) {
  std::vector<ExplainedCorrection> corrections;
  for (const CorrectionFact& fact : facts.corrections) {
    if (options.entity && fact.entity.index1 != *options.entity) continue;
    corrections.push_back({.entity = fact.entity,
                           .name = fact.name,
                           .at_s = fact.local_s - facts.first_local_s,
                           .tick = fact.tick,
                           .error_m = fact.error_m,
                           .cause = fact.cause,
                           .known = is_known(fact.cause),
                           .sentence = sentence_of(fact),
                           .evidence = evidence_of(fact)});
  }
  return corrections;
}

std::array<std::size_t, kCorrectionCauses> count_causes(std::span<const ExplainedCorrection> corrections) {
  std::array<std::size_t, kCorrectionCauses> counts{};
  for (const ExplainedCorrection& correction : corrections)
    ++counts[static_cast<std::size_t>(correction.cause)];
  return counts;
}

}  // namespace reckoner::harness
