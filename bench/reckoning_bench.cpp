// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

Motion turning_car() {
  Motion motion;
  motion.state.velocity = {12.0f, -3.0f, 0.5f};
  motion.state.acceleration = {0.4f, 2.0f, 0.0f};
  motion.state.angular_velocity = {0.0f, 0.0f, 0.7f};
  return motion;
}

// The extrapolation. A client computes it once per entity and picture, and a server many times per tick.
void BM_Extrapolate(benchmark::State& run) {
  const Motion motion = turning_car();
  double time_s = 0.0;
  for ([[maybe_unused]] auto _ : run) {
    time_s += 1e-4;
    benchmark::DoNotOptimize(extrapolate(motion.state, time_s));
  }
}
BENCHMARK(BM_Extrapolate);

// A client's cost per entity and picture while a blend is in progress.
void BM_ShownWhileBlending(benchmark::State& run) {
  RemoteEntity entity(turning_car());
  Motion next = turning_car();
  next.time_s = 0.1;
  next.state.position = {1.0, 0.4, 0.0};
  entity.receive(next, 0.2, 1e6);
  double time_s = 0.2;
  for ([[maybe_unused]] auto _ : run) {
    time_s += 1e-4;
    benchmark::DoNotOptimize(entity.shown(time_s));
  }
}
BENCHMARK(BM_ShownWhileBlending);

// A client's cost per received update.
void BM_Receive(benchmark::State& run) {
  RemoteEntity entity(turning_car());
  Motion next = turning_car();
  for ([[maybe_unused]] auto _ : run) {
    next.time_s += 0.1;
    benchmark::DoNotOptimize(entity.receive(next, next.time_s + 0.08, 0.1));
  }
}
BENCHMARK(BM_Receive);

}  // namespace
}  // namespace reckoner
