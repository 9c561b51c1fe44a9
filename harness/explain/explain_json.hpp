// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"

#include <cmath>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The explained steps of a session as JSON (docs/explain.md).
[[nodiscard]] inline nlohmann::ordered_json explain_json(const SessionFacts& facts,
                                                         std::span<const ExplainedStep> steps) {
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
  return json;
}

}  // namespace reckoner::harness
