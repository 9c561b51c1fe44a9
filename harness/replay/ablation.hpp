// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"

#include <span>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A method that is Reckoner with one part switched off. The comparison with the whole of Reckoner shows what
/// the part contributes.
struct Ablation {
  std::string_view name;  ///< name of the method: "without-..."
  std::string_view part;  ///< description of the part, for help texts and reports
};

/// All ablations, one for each part.
[[nodiscard]] std::span<const Ablation> ablations();

/// True if `method` is the name of one of ablations().
[[nodiscard]] bool is_ablation(std::string_view method);

/// Translates the ablation `options.method` into options that run Reckoner without the part. `options.method`
/// must be the name of an ablation. "without-threshold" publishes at a constant rate, the budget's updates
/// per second, and fails if `options` has no such budget.
[[nodiscard]] Result<ReplayOptions> ablate(const ReplayOptions& options);

}  // namespace reckoner::harness
