// SPDX-License-Identifier: MIT
#include "harness/commands/motion/quantised_cubes.hpp"

#include "scenario/trace/output_file.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace reckoner::harness {
namespace {

constexpr double kStepsPerMetre = 512.0;
constexpr double kComponentSteps = 511.0;  // nine bits
constexpr double kMaxComponent = 1.0 / std::numbers::sqrt2;
constexpr std::size_t kFramesApart = 6;

void append(std::string& bytes, std::int32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(value) >> shift));
}

bool same_pose(QuantisedCube a, const QuantisedCube& b) {
  a.interacting = b.interacting;
  return a == b;
}

}  // namespace

QuantisedCube quantise(const glm::dvec3& position, const glm::dquat& orientation, bool interacting) {
  const std::array<double, 4> components{orientation.x, orientation.y, orientation.z, orientation.w};
  std::size_t largest = 0;
  for (std::size_t i = 1; i < components.size(); ++i) {
    if (std::abs(components[i]) > std::abs(components[largest])) largest = i;
  }
  const double sign = components[largest] < 0.0 ? -1.0 : 1.0;  // q and -q are one rotation
  std::array<std::int32_t, 3> others{};
  for (std::size_t i = 0, k = 0; i < components.size(); ++i) {
    if (i == largest) continue;
    const double share = 0.5 + 0.5 * sign * components[i] / kMaxComponent;
    others[k++] = static_cast<std::int32_t>(std::lround(std::clamp(share, 0.0, 1.0) * kComponentSteps));
  }
  const auto steps = [](double metres) {
    return static_cast<std::int32_t>(std::lround(metres * kStepsPerMetre));
  };
  return {.largest = static_cast<std::int32_t>(largest),
          .a = others[0],
          .b = others[1],
          .c = others[2],
          .x = steps(position.x),
          .y = steps(position.y),
          .z = steps(position.z),
          .interacting = interacting ? 1 : 0};
}

std::vector<QuantisedCube> quantise(const scenario::PhysicsRecording& recording) {
  std::vector<QuantisedCube> cubes;
  cubes.reserve(recording.interacting.size());
  const auto& entities = recording.motion.entities;
  for (std::size_t frame = 0; frame < entities.front().samples.size(); ++frame) {
    for (const scenario::Recording::Entity& entity : entities) {
      const scenario::TrackSample& sample = entity.samples[frame];
      cubes.push_back(quantise(sample.position, sample.orientation, recording.interacting[cubes.size()]));
    }
  }
  return cubes;
}

CubeChanges changes_of(std::span<const QuantisedCube> frames, std::size_t cubes) {
  CubeChanges changes;
  std::array<std::uint64_t, 3> xy{}, z{};
  std::uint64_t same_largest = 0;
  for (std::size_t i = kFramesApart * cubes; i < frames.size(); ++i) {
    const QuantisedCube& now = frames[i];
    const QuantisedCube& before = frames[i - kFramesApart * cubes];
    if (same_pose(now, before)) continue;
    ++changes.changed;
    same_largest += now.largest == before.largest ? 1 : 0;
    for (std::size_t k = 0; k < CubeChanges::kSteps.size(); ++k) {
      const auto within = [&](std::int32_t a, std::int32_t b) {
        return std::abs(a - b) <= CubeChanges::kSteps[k] ? 1u : 0u;
      };
      xy[k] += within(now.x, before.x) + within(now.y, before.y);
      z[k] += within(now.z, before.z);
    }
  }
  if (changes.changed == 0) return changes;
  const auto percent = [&](std::uint64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(changes.changed);
  };
  std::ranges::transform(xy, changes.within_xy_percent.begin(),
                         [&](std::uint64_t both) { return 0.5 * percent(both); });
  std::ranges::transform(z, changes.within_z_percent.begin(), percent);
  changes.same_largest_percent = percent(same_largest);
  return changes;
}

std::optional<Error> write_quantised_cubes(const std::string& path, std::span<const QuantisedCube> frames) {
  std::string bytes;
  bytes.reserve(frames.size() * 8 * sizeof(std::int32_t));
  for (const QuantisedCube& cube : frames) {
    for (const std::int32_t value :
         {cube.largest, cube.a, cube.b, cube.c, cube.x, cube.y, cube.z, cube.interacting})
      append(bytes, value);
  }
  return scenario::write_file(path, bytes);
}

}  // namespace reckoner::harness
