// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"
#include "harness/explain/explain_corrections.hpp"

#include <cmath>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The explained steps of a session as JSON (docs/explain.md).
[[nodiscard]] inline nlohmann::ordered_json explain_json(
    const SessionFacts& facts, std::span<const ExplainedStep> steps,
    std::span<const ExplainedCorrection> corrections = {}) {
  nlohmann::ordered_json json{{"version", facts.version},
                              {"mode", facts.mode},
                              {"client", facts.client.value},
                              {"seconds", facts.seconds},
                              {"frames", facts.frames},
                              {"datagrams", facts.datagrams.size()},
                              {"entities", facts.entities.size()},
                              {"truncated", facts.truncated},
                              {"differences", facts.differences},
                              {"steps", nlohmann::ordered_json::array()}};
  if (facts.damage) json["damage"] = *facts.damage;
  for (const ExplainedStep& step : steps) {
    nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
    for (const Evidence& item : step.evidence)
      evidence[std::string(item.name)] = item.value;
    json["steps"].push_back({{"entity", step.entity.index1},
                             {"generation", step.entity.generation},
                             {"name", step.name},
                             {"frame", step.frame},
                             {"at_s", step.at_s},
                             {"server_s", step.server_s},
                             {"velocity_step_mps", step.velocity_step_mps},
                             {"position_step_m", step.position_step_m},
                             {"correction_m", step.correction_m},
                             {"cause", name_of(step.cause)},
                             {"known", step.known},
                             {"sentence", step.sentence},
                             {"evidence", std::move(evidence)}});
  }
  json["corrections"] = nlohmann::ordered_json::array();
  for (const ExplainedCorrection& correction : corrections) {
    nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
    for (const Evidence& item : correction.evidence)
      evidence[std::string(item.name)] = item.value;
    json["corrections"].push_back({{"entity", correction.entity.index1},
                                   {"generation", correction.entity.generation},
                                   {"name", correction.name},
                                   {"at_s", correction.at_s},
                                   {"tick", correction.tick},
                                   {"error_m", correction.error_m},
                                   {"cause", name_of(correction.cause)},
                                   {"known", correction.known},
                                   {"sentence", correction.sentence},
                                   {"evidence", std::move(evidence)}});
  }
  json["correction_causes"] = nlohmann::ordered_json::object();
  const auto counts = count_causes(corrections);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0)
      json["correction_causes"][std::string(name_of(static_cast<CorrectionCause>(i)))] = counts[i];
  }
  return json;
}

}  // namespace reckoner::harness
