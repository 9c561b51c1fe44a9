// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/motion_fit.hpp"
#include "reckoning/src/prediction/send_policy.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kTickRateHz = 60.0;
constexpr double kAheadS = 0.15;
constexpr std::size_t kEntities = 10'000;  // too many for any processor cache, as on a busy server

// Entities that weave, each differently. If `turning` is true, they face their direction of travel.
struct Crowd {
  Crowd(bool moving, bool turning) : states(kEntities), turns(turning) {
    for (std::size_t i = 0; i < kEntities; ++i) {
      fits.emplace_back(kTickRateHz);
      policies.emplace_back(SendPolicyConfig{kTickRateHz, 0.05, 0.05, 0.0, 0.0},
                            static_cast<std::uint32_t>(i));
    }
    for (int warm_up = 0; warm_up < 120; ++warm_up) {
      if (moving) move();
      for (std::size_t i = 0; i < kEntities; ++i)
        fits[i].observe(states[i]);
    }
  }

  void move() {
    ++tick;
    for (std::size_t i = 0; i < kEntities; ++i) {
      State& s = states[i];
      const double phase = 0.03 * static_cast<double>(tick % 10'000) + static_cast<double>(i);
      const glm::vec3 velocity{4.0 * std::cos(phase), 3.0 * std::sin(1.7 * phase), 0.1 * std::sin(phase)};
      s.acceleration = (velocity - s.velocity) * static_cast<float>(kTickRateHz);
      s.velocity = velocity;
      s.position += glm::dvec3{velocity} / kTickRateHz;
      if (!turns) continue;
      s.angular_velocity = {0.0f, 0.0f, static_cast<float>(std::cos(1.3 * phase))};
      const double half = 0.5 * std::sin(1.3 * phase);
      s.orientation = {static_cast<float>(std::cos(half)), 0.0f, 0.0f, static_cast<float>(std::sin(half))};
    }
  }

  std::vector<State> states;
  std::vector<MotionFit> fits;
  std::vector<SendPolicy> policies;
  std::uint32_t tick = 0;
  bool turns;
};

void per_entity(benchmark::State& run) {
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
  run.counters["bytes"] = static_cast<double>(sizeof(MotionFit));
}

// A server's cost per tick to learn from every moving entity.
void BM_ObserveMotion(benchmark::State& run) {
  Crowd crowd{true, run.range(0) != 0};
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    crowd.move();
    run.ResumeTiming();
    for (std::size_t i = 0; i < kEntities; ++i)
      crowd.fits[i].observe(crowd.states[i]);
  }
  per_entity(run);
}
BENCHMARK(BM_ObserveMotion)->ArgName("turning")->Arg(0)->Arg(1);

// A server's cost per tick for resting entities that are observed nevertheless.
void BM_ObserveRest(benchmark::State& run) {
  Crowd crowd{false, false};
  for ([[maybe_unused]] auto _ : run) {
    for (std::size_t i = 0; i < kEntities; ++i)
      crowd.fits[i].observe(crowd.states[i]);
  }
  per_entity(run);
}
BENCHMARK(BM_ObserveRest);

void BM_FittedMotion(benchmark::State& run) {
  Crowd crowd{true, run.range(0) != 0};
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    crowd.move();
    for (std::size_t i = 0; i < kEntities; ++i)
      crowd.fits[i].observe(crowd.states[i]);
    run.ResumeTiming();
    for (std::size_t i = 0; i < kEntities; ++i)
      benchmark::DoNotOptimize(crowd.fits[i].fitted(crowd.states[i]));
  }
  per_entity(run);
}
BENCHMARK(BM_FittedMotion)->ArgName("turning")->Arg(0)->Arg(1);

// A server's whole cost per tick to decide what to publish: learn, fit, compare with the published motion,
// publish.
void BM_DecideToPublish(benchmark::State& run) {
  Crowd crowd{true, run.range(0) != 0};
  std::vector<Motion> published(kEntities);
  std::size_t publishes = 0;
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    crowd.move();
    run.ResumeTiming();
    const double now_s = crowd.tick / kTickRateHz;
    for (std::size_t i = 0; i < kEntities; ++i) {
      crowd.fits[i].observe(crowd.states[i]);
      const State fitted = crowd.fits[i].fitted(crowd.states[i]);
      if (!crowd.policies[i].due({crowd.states[i], fitted, published[i], now_s, kAheadS}, crowd.tick))
        continue;
      published[i].state = fitted;
      published[i].time_s = now_s;
      crowd.policies[i].update_sent();
      ++publishes;
    }
  }
  per_entity(run);
  run.counters["publishes/s"] =
      static_cast<double>(publishes) * kTickRateHz / static_cast<double>(run.iterations() * kEntities);
}
BENCHMARK(BM_DecideToPublish)->ArgName("turning")->Arg(0)->Arg(1);

// The simplest dead reckoning: extrapolate the published motion once, compute its distance from the state
// (and its angle, if the entity turns), and publish the state itself if either exceeds the threshold.
void BM_DecideToPublishFloor(benchmark::State& run) {
  const bool turning = run.range(0) != 0;
  Crowd crowd{true, turning};
  std::vector<Motion> published(kEntities);
  std::size_t publishes = 0;
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    crowd.move();
    run.ResumeTiming();
    const double now_s = crowd.tick / kTickRateHz;
    for (std::size_t i = 0; i < kEntities; ++i) {
      const State& state = crowd.states[i];
      const State shown = extrapolate(published[i].state, now_s - published[i].time_s);
      const glm::dvec3 off = shown.position - state.position;
      bool due = glm::dot(off, off) > 0.05 * 0.05;
      // For an angle of 0.05 rad the dot product is cos(0.05 / 2).
      if (turning) due |= std::abs(glm::dot(shown.orientation, state.orientation)) < 0.99968752f;
      if (!due) continue;
      published[i].state = state;
      published[i].time_s = now_s;
      ++publishes;
    }
  }
  per_entity(run);
  run.counters["publishes/s"] =
      static_cast<double>(publishes) * kTickRateHz / static_cast<double>(run.iterations() * kEntities);
}
BENCHMARK(BM_DecideToPublishFloor)->ArgName("turning")->Arg(0)->Arg(1);

}  // namespace
}  // namespace reckoner
