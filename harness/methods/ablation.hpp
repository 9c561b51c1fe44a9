// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"

#include <span>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Reckoner without one of its parts, as a method of its own, to see what the part is worth.
struct Ablation {
  std::string_view name;  ///< of the method: "without-..."
  std::string_view part;  ///< what is switched off, for a person
};

/// One for each part.
[[nodiscard]] std::span<const Ablation> ablations();

/// True if the method is one of ablations().
[[nodiscard]] bool is_ablation(std::string_view method);

/// The same run by Reckoner without the part that the method names, which must be an ablation. Fails where
/// the part has no meaning: without threshold it sends evenly at the budget's rate, so there must be a
/// budget.
[[nodiscard]] Result<ReplayOptions> ablate(const ReplayOptions& options);

}  // namespace reckoner::harness
