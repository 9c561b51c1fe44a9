// SPDX-License-Identifier: MIT
#include "server/src/publish/kind_priors.hpp"

#include <algorithm>

namespace reckoner {
namespace {

// Each entity is sampled once in this many ticks, which are one round.
constexpr std::size_t kTicks = 64;

// Weight of one round, or of one entity that ends, in the moving mean. Any value from 0.02 to 1 predicts the
// recorded traces equally well, to within one percent.
constexpr float kShare = 0.1f;

}  // namespace

void KindPriors::Mean::add(const std::optional<RateFit::Prior>& prior) {
  if (!prior) return;
  for (std::size_t i = 0; i < sum_.size(); ++i)
    sum_[i] += static_cast<double>((*prior)[i]);
  ++count_;
}

void KindPriors::Mean::end_round() {
  if (count_ == 0) return;
  RateFit::Prior mean{};
  for (std::size_t i = 0; i < sum_.size(); ++i)
    mean[i] = static_cast<float>(sum_[i] / count_);
  move_towards(mean);
  sum_.fill(0.0);
  count_ = 0;
}

void KindPriors::Mean::move_towards(const RateFit::Prior& prior) {
  if (!value_) {
    value_ = prior;
    return;
  }
  for (std::size_t i = 0; i < prior.size(); ++i)
    (*value_)[i] += kShare * (prior[i] - (*value_)[i]);
}

MotionFit::Priors KindPriors::of(std::size_t archetype) const {
  const Kind& kind = kinds_[archetype];
  return {kind.linear.value(), kind.angular.value()};
}

void KindPriors::run(const EntityTable& entities) {
  const auto awake = entities.awake().words();
  const std::size_t turn = next_turn_++ % kTicks;
  for (std::size_t w = turn * awake.size() / kTicks; w < (turn + 1) * awake.size() / kTicks; ++w) {
    SlotSet::for_each_in(awake[w], w, [&](std::uint32_t slot) {
      const Entity& entity = entities.slots()[slot];
      const MotionFit::Priors priors = entity.fit.priors();
      kinds_[entity.archetype].linear.add(priors.linear);
      kinds_[entity.archetype].angular.add(priors.angular);
    });
  }
  if (turn != kTicks - 1) return;
  for (Kind& kind : kinds_) {
    kind.linear.end_round();
    kind.angular.end_round();
  }
}

void KindPriors::ends(const Entity& entity) {
  const MotionFit::Priors priors = entity.fit.priors();
  if (priors.linear) kinds_[entity.archetype].linear.move_towards(*priors.linear);
  if (priors.angular) kinds_[entity.archetype].angular.move_towards(*priors.angular);
}

}  // namespace reckoner
