// SPDX-License-Identifier: MIT
#include "harness/explain/episodes.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {
namespace {

// Smaller steps of an entity this close to a larger one belong to it, s.
constexpr double kEpisodeS = 0.35;
// What happened this close to the largest step may be its cause, s.
constexpr double kTogetherS = 0.12;
constexpr double kFrameChangeS = 0.3;  // a blend into a frame is gentle, so it lasts longer

// Smaller changes of velocity are not seen (De Bruyn and Orban 1988, as in the harness's count of pops).
constexpr double kVisibleMps = 0.1;
constexpr double kVisibleShare = 0.07;

// A spawn is late if the datagram with it was in flight for much longer than others at that time.
constexpr double kLateSpawnS = 0.06;

// How late the entity appeared in this picture, s; 0: in time.
double late_spawn_s(const EntityFacts& entity, const StepFact& step, const LinkHistory& link) {
  const MotionFact* spawn = nullptr;
  for (const MotionFact& motion : entity.motions) {
    if (motion.local_s > step.local_s) break;
    if (motion.fresh) spawn = &motion;
  }
  if (spawn == nullptr) return 0.0;
  const double late_s = link.lateness_s(spawn->sent_s, spawn->local_s);
  return late_s > std::max(kLateSpawnS, link.late_limit_s()) ? late_s : 0.0;
}

// A step that may be the peak of an episode.
struct Candidate {
  const EntityFacts* entity = nullptr;
  std::size_t step = 0;
  double size_mps = 0.0;
  double late_s = 0.0;  // late spawn
};

void find_in(const EntityFacts& entity, const SessionFacts& facts, const LinkHistory& link,
             const ExplainOptions& options, std::vector<Candidate>& candidates) {
  const double from_s = facts.shown_since_s.value_or(facts.first_local_s) + options.skip_s;
  constexpr double kNewS = 0.3;  // a new entity settles
  double appeared_s = -1e300;
  for (std::size_t i = 0; i < entity.steps.size(); ++i) {
    const StepFact& step = entity.steps[i];
    if (step.appeared) appeared_s = step.local_s;
    if (step.local_s < from_s) continue;
    if (!step.appeared) {
      const bool settles = step.local_s < appeared_s + kNewS && !step.teleported;
      const double visible_mps = kVisibleMps + kVisibleShare * step.speed_mps;
      if (!settles && (step.velocity_step_mps > visible_mps || step.teleported))
        candidates.push_back({&entity, i, step.velocity_step_mps, 0.0});
      continue;
    }
    // An entity that pops up away from where it began looks like a jump within one picture.
    const double late_s = late_spawn_s(entity, step, link);
    const double size_mps = late_s * step.speed_mps * facts.tick_rate_hz;
    if (late_s > 0.0 && size_mps > kVisibleMps) candidates.push_back({&entity, i, size_mps, late_s});
  }
}

Episode make_episode(const Candidate& candidate) {
  const EntityFacts& entity = *candidate.entity;
  Episode episode{&entity, entity.steps[candidate.step], candidate.size_mps, candidate.late_s};
  if (candidate.late_s > 0.0) {
    episode.peak.position_step_m = candidate.late_s * episode.peak.speed_mps;
    episode.peak.velocity_step_mps = candidate.size_mps;
    return episode;
  }
  const double at_s = episode.peak.local_s;
  std::size_t first = candidate.step;
  while (first > 0 && entity.steps[first - 1].local_s > at_s - kFrameChangeS)
    --first;
  for (std::size_t i = first; i < entity.steps.size() && entity.steps[i].local_s < at_s + kTogetherS; ++i) {
    const StepFact& step = entity.steps[i];
    episode.changed_frame = episode.changed_frame || (step.changed_frame && step.local_s <= at_s);
    if (step.local_s < at_s - kTogetherS) continue;
    episode.teleported = episode.teleported || (step.teleported && step.local_s <= at_s);
    episode.owned = episode.owned || step.owned;
    episode.fading = episode.fading || step.fading;
  }
  return episode;
}

}  // namespace

std::vector<Episode> find_episodes(const SessionFacts& facts, const LinkHistory& link,
                                   const ExplainOptions& options) {
  std::vector<Candidate> candidates;
  for (const EntityFacts& entity : facts.entities) {
    if (!options.entity || entity.id.index1 == *options.entity)
      find_in(entity, facts, link, options, candidates);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.size_mps > b.size_mps; });
  std::vector<Episode> episodes;
  for (const Candidate& candidate : candidates) {
    if (episodes.size() == options.worst) break;
    const double at_s = candidate.entity->steps[candidate.step].local_s;
    const bool belongs = std::any_of(episodes.begin(), episodes.end(), [&](const Episode& episode) {
      return episode.entity == candidate.entity && std::abs(episode.peak.local_s - at_s) < kEpisodeS;
    });
    if (!belongs) episodes.push_back(make_episode(candidate));
  }
  return episodes;
}

}  // namespace reckoner::harness
