// SPDX-License-Identifier: MIT
#include "harness/commands/motion/quantised_cubes.hpp"

#include "scenario/builtin/physics/physics_scenes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <numbers>
#include <vector>

namespace reckoner::harness {
namespace {

constexpr double kStepsPerMetre = 512.0;
constexpr double kComponentSteps = 511.0;  // nine bits
constexpr double kMaxComponent = 1.0 / std::numbers::sqrt2;

void append(std::vector<char>& bytes, std::int32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(value) >> shift));
}

}  // namespace

QuantisedCube quantise(const Pose& pose, bool interacting) {
  const glm::dquat q(pose.orientation);
  const std::array<double, 4> components{q.x, q.y, q.z, q.w};
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
          .x = steps(pose.position.x),
          .y = steps(pose.position.y),
          .z = steps(pose.position.z),
          .interacting = interacting ? 1 : 0};
}

std::optional<Error> write_quantised_cubes(const std::string& path, std::uint64_t seed) {
  std::vector<bool> interacting;
  const auto recording = scenario::record_cubes_scene(seed, interacting);
  if (!recording) return Error{recording.error()};
  std::vector<char> bytes;
  const std::size_t frames = recording->entities.front().samples.size();
  bytes.reserve(frames * recording->entities.size() * 8 * sizeof(std::int32_t));
  std::size_t next = 0;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (const scenario::Recording::Entity& entity : recording->entities) {
      const scenario::TrackSample& sample = entity.samples[frame];
      const QuantisedCube cube =
          quantise({sample.position, glm::quat(sample.orientation)}, interacting[next++]);
      for (const std::int32_t value :
           {cube.largest, cube.a, cube.b, cube.c, cube.x, cube.y, cube.z, cube.interacting})
        append(bytes, value);
    }
  }
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Error{"cannot write " + path};
  return std::nullopt;
}

}  // namespace reckoner::harness
