// SPDX-License-Identifier: MIT
#include "harness/explain/explain.hpp"

#include "harness/explain/episodes.hpp"
#include "harness/explain/finding.hpp"
#include "harness/explain/link_history.hpp"

#include <utility>

namespace reckoner::harness {

std::vector<ExplainedStep> explain(const SessionFacts& facts, const ExplainOptions& options) {
  const LinkHistory link(facts.datagrams);
  std::vector<ExplainedStep> steps;
  for (const Episode& episode : find_episodes(facts, link, options)) {
    const Finding finding = find_cause(episode, facts, link);
    ExplainedStep step{.entity = episode.entity->id,
                       .name = episode.entity->name,
                       .frame = episode.peak.frame,
                       .at_s = episode.peak.local_s - facts.first_local_s,
                       .server_s = episode.peak.now_s,
                       .velocity_step_mps = episode.peak.velocity_step_mps,
                       .position_step_m = episode.peak.position_step_m,
                       .correction_m = finding.correction_m,
                       .cause = finding.cause,
                       .known = finding.known,
                       .sentence = finding.sentence,
                       .evidence = finding.evidence};
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace reckoner::harness
