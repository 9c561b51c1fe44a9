// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Name and one-line description of a built-in scenario.
struct BuiltinInfo {
  std::string_view name;
  std::string_view description;
  std::size_t default_entities;
};

/// The generated scenarios: motion that is a pure function of (seed, entity, time).
[[nodiscard]] std::span<const BuiltinInfo> builtin_scenarios();

/// The scenes of colliding bodies (PhysicsSceneOptions). They end. Every build lists them, but only a build
/// with a physics engine can make them.
[[nodiscard]] std::span<const BuiltinInfo> physics_scenarios();

/// Creates a scenario of either list. `entities` 0 selects the scenario's default. A physics scene is
/// simulated as a whole before this function returns, which takes seconds. For an unknown name, the error
/// lists the known names. Fails for a physics scene in a build without a physics engine.
[[nodiscard]] Result<std::unique_ptr<Source>> make_builtin(std::string_view name, std::size_t entities = 0,
                                                           std::uint64_t seed = 1);

}  // namespace reckoner::scenario
