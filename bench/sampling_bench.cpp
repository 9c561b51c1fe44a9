// SPDX-License-Identifier: MIT
// A client's cost per picture to compute all shown poses. The floor is a memcpy that reads and writes the
// same number of bytes, because no program can show entities without touching them.
#include "reckoning/src/blend/motion_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>
#include <glm/geometric.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kEntities = 100'000;

// Bytes per entity that sampling reads and writes. For a position: reads time stamp, position, velocity and
// acceleration; writes the position. For an orientation: reads orientation and angular velocity; writes the
// orientation. For blends: reads the index and the blend of one entity in ten.
constexpr std::size_t kPositionBytes = sizeof(double) * (1 + 3 + 3) + sizeof(float) * (3 + 3);
constexpr std::size_t kOrientationBytes = sizeof(float) * (4 + 3 + 4);
constexpr std::size_t kBlendBytes = (sizeof(Blend) + 8) / 10;

// Pseudo-random numbers, equal in every run.
struct Draw {
  double x = 0.5;
  double operator()(double size) {
    x = std::fmod(x + 0.61803398874989484820, 1.0);
    return size * (2.0 * x - 1.0);
  }
  glm::dvec3 vector(double size) {
    const double a = (*this)(size), b = (*this)(size), c = (*this)(size);
    return {a, b, c};
  }
};

MotionBatch crowd(bool blending) {
  MotionBatch batch;
  std::vector<Motion> motions;
  Draw draw;
  for (std::size_t i = 0; i < kEntities; ++i) {
    Motion motion;
    motion.time_s = 100.0 + draw(0.1);
    motion.state.position = draw.vector(1000.0);
    motion.state.velocity = glm::vec3{draw.vector(10.0)};
    motion.state.acceleration = glm::vec3{draw.vector(10.0)};
    motion.state.angular_velocity = glm::vec3{draw.vector(3.0)};
    motion.state.orientation = glm::normalize(glm::quat{1.0f, glm::vec3{draw.vector(1.0)}});
    batch.push_back(motion);
    motions.push_back(motion);
  }
  // Blends are in random order, like the arrival of updates.
  constexpr std::size_t kStride = 61'803;  // coprime to the number of entities
  for (std::size_t i = 0; blending && i < kEntities / 10; ++i) {
    const std::size_t index = i * kStride % kEntities;
    const State& state = motions[index].state;
    State shown = state;
    shown.position += draw.vector(0.5);
    shown.orientation = glm::normalize(shown.orientation * glm::quat{1.0f, glm::vec3{draw.vector(0.1)}});
    batch.set(index, motions[index], Blend{shown, state, 100.1, 1e6});
  }
  return batch;
}

// Copies half of the bytes, because a copy reads each byte once and writes it once.
void copy_like(benchmark::State& run, std::size_t bytes_each) {
  const std::size_t bytes = kEntities * bytes_each / 2;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  for ([[maybe_unused]] auto _ : run) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
}

void BM_SamplePositions(benchmark::State& run) {
  const MotionBatch batch = crowd(false);
  std::vector<glm::dvec3> positions(batch.size());
  for ([[maybe_unused]] auto _ : run) {
    batch.sample(100.2, positions);
    benchmark::DoNotOptimize(positions.data());
    benchmark::ClobberMemory();
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
}
BENCHMARK(BM_SamplePositions)->Unit(benchmark::kMicrosecond);

void BM_SamplePositionsFloor(benchmark::State& run) {
  copy_like(run, kPositionBytes);
}
BENCHMARK(BM_SamplePositionsFloor)->Unit(benchmark::kMicrosecond);

void BM_SamplePoses(benchmark::State& run) {
  const MotionBatch batch = crowd(true);
  std::vector<glm::dvec3> positions(batch.size());
  std::vector<glm::quat> orientations(batch.size());
  for ([[maybe_unused]] auto _ : run) {
    batch.sample(100.2, positions, orientations);
    benchmark::DoNotOptimize(positions.data());
    benchmark::DoNotOptimize(orientations.data());
    benchmark::ClobberMemory();
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
}
BENCHMARK(BM_SamplePoses)->Unit(benchmark::kMicrosecond);

void BM_SamplePosesFloor(benchmark::State& run) {
  copy_like(run, kPositionBytes + kOrientationBytes + kBlendBytes);
}
BENCHMARK(BM_SamplePosesFloor)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
