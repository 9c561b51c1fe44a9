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

/// A built-in scenario's name and what it shows, one line.
struct BuiltinInfo {
  std::string_view name;
  std::string_view description;
  std::size_t default_entities;
};

[[nodiscard]] std::span<const BuiltinInfo> builtin_scenarios();

/// Makes a built-in scenario: endless simulated motion, a pure function of (seed, entity, time). `entities` 0
/// takes the scenario's default. The error of an unknown name lists the known ones.
[[nodiscard]] Result<std::unique_ptr<Source>> make_builtin(std::string_view name, std::size_t entities = 0,
                                                           std::uint64_t seed = 1);

}  // namespace reckoner::scenario
