// SPDX-License-Identifier: MIT
#include "harness/explain/trials/trial.hpp"

#include "harness/explain/collect_facts.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

// A step belongs to the disturbance until this long after its end, s.
constexpr double kEffectS = 1.2;
constexpr int kMostDraws = 40;

// The largest change of the drawn velocity in a stretch of time, from the drawn positions alone.
struct Largest {
  double mps = 0.0;
  double time_s = 0.0;
  double local_s = 0.0;
  double speed_mps = 0.0;  // drawn speed before it
};

Largest largest_step(const std::vector<DrawnPose>& drawn, double from_s, double to_s) {
  Largest largest;
  for (std::size_t i = 2; i < drawn.size(); ++i) {
    if (drawn[i].time_s < from_s || drawn[i].time_s > to_s) continue;
    const double first_s = drawn[i - 1].local_s - drawn[i - 2].local_s;
    const double second_s = drawn[i].local_s - drawn[i - 1].local_s;
    if (first_s <= 0.0 || second_s <= 0.0) continue;
    const glm::dvec3 before = (drawn[i - 1].position - drawn[i - 2].position) / first_s;
    const glm::dvec3 after = (drawn[i].position - drawn[i - 1].position) / second_s;
    const double step_mps = glm::length(after - before);
    if (step_mps > largest.mps) largest = {step_mps, drawn[i].time_s, drawn[i].local_s, glm::length(before)};
  }
  return largest;
}

std::vector<ExplainedStep> explained(const PlayedTrial& played, bool with_decisions) {
  auto reader = program::SessionReader::read(played.session, "trial");
  if (!reader) return {};
  auto facts = collect_facts(*reader, {program::archetypes(), {}});
  if (!facts) return {};
  if (with_decisions) facts->decisions = played.decisions;
  constexpr std::size_t kMany = 2'000;
  return explain(*facts, {.worst = kMany});
}

// Where the session with the disturbance differs most from the one without.
struct Effect {
  std::string entity;
  Largest step;
  double undisturbed_mps = 0.0;
};

std::optional<Effect> effect_of(const TrialPlan& plan, const PlayedTrial& disturbed,
                                const PlayedTrial& calm) {
  std::optional<Effect> most;
  const bool is_instant = plan.cause == Cause::teleport || plan.cause == Cause::owner_correction;
  const double lasts_s = is_instant ? 0.0 : plan.lasts_s;
  // After a frame change, the entity also moves with every later correction of the frame.
  const double after_s = plan.cause == Cause::threshold      ? 2.7
                         : plan.cause == Cause::frame_change ? 0.25 + 3e-3 * plan.link.latency_ms
                                                             : kEffectS;
  const double to_s = plan.at_s + lasts_s + after_s;
  for (const auto& [name, drawn] : disturbed.drawn) {
    if (name == "ship") continue;
    const auto twin = calm.drawn.find(name);
    if (twin == calm.drawn.end()) continue;
    if (plan.cause == Cause::late_spawn) {
      const bool late = drawn.front().time_s > twin->second.front().time_s + 0.05;
      const double moved_m = glm::distance(drawn.front().position, twin->second.front().position);
      if (name == "body 0" && late && moved_m > 0.3)
        return Effect{name, {moved_m * 60.0, drawn.front().time_s, drawn.front().local_s}, 0.0};
      continue;
    }
    const Largest step = largest_step(drawn, plan.at_s, to_s);
    const double calm_mps = largest_step(twin->second, plan.at_s, to_s).mps;
    // Visible beyond the change of velocity that the undisturbed session has there, too.
    const bool visible = step.mps - calm_mps > 0.2 + 0.07 * step.speed_mps && step.mps > 2.0 * calm_mps;
    if (visible &&
        (!most || step.mps / std::max(0.1, calm_mps) > most->step.mps / std::max(0.1, most->undisturbed_mps)))
      most = Effect{name, step, calm_mps};
  }
  return most;
}

}  // namespace

TrialResult run_trial(Cause cause, std::uint64_t seed, bool with_decisions) {
  TrialResult result;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    result.plan = draw_plan(cause, scenario::hash(seed, draw));
    const PlayedTrial disturbed = play_trial(result.plan, true);
    const PlayedTrial calm = play_trial(result.plan, false);
    const auto effect = effect_of(result.plan, disturbed, calm);
    if (!effect) {
      ++result.redraws;
      continue;
    }
    result.entity = effect->entity;
    result.step_mps = effect->step.mps;
    result.undisturbed_mps = effect->undisturbed_mps;
    result.steps = explained(disturbed, with_decisions);
    constexpr double kFirstLocalS = 1000.0 + 0.3 / 60.0;
    const double at_s = effect->step.local_s - kFirstLocalS;
    for (const ExplainedStep& step : result.steps) {
      const bool same = step.name == effect->entity && std::abs(step.at_s - at_s) < 0.1;
      if (same && !result.found) result.found = step;
    }
    result.right = result.found && result.found->cause == cause;
    result.worst_is_right = !result.steps.empty() && result.steps.front().cause == cause;
    return result;
  }
  return result;
}

TrialResult run_undisturbed_trial(std::uint64_t seed, bool with_decisions) {
  TrialResult result;
  result.plan = draw_plan({}, seed);
  result.steps = explained(play_trial(result.plan, false), with_decisions);
  const auto wrong = std::find_if(result.steps.begin(), result.steps.end(), [](const ExplainedStep& step) {
    return step.cause != Cause::threshold && step.cause != Cause::motion;
  });
  result.right = wrong == result.steps.end();
  if (!result.right) result.found = *wrong;
  return result;
}

}  // namespace reckoner::harness
