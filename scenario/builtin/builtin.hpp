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

[[nodiscard]] std::span<const BuiltinInfo> builtin_scenarios();

/// Creates a built-in scenario: simulated motion that is a pure function of (seed, entity, time). `entities`
/// 0 selects the scenario's default. For an unknown name, the error lists the known names.
[[nodiscard]] Result<std::unique_ptr<Source>> make_builtin(std::string_view name, std::size_t entities = 0,
                                                           std::uint64_t seed = 1);

}  // namespace reckoner::scenario
