// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"

#include <optional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The figures of a run count only if at least this share of the expected poses was shown.
inline constexpr double kLeastShownShare = 0.95;

/// Returns why the figures of a run do not count: too few of the expected poses were shown, or no pose was
/// measured. nullopt if they count. `reason` is what the method knows about hidden entities
/// (Method::hidden_reason()); it may be empty.
[[nodiscard]] std::optional<Error> find_unshown(const Figures& run, const std::string& reason = {});

}  // namespace reckoner::harness
