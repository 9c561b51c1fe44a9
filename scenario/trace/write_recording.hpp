// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"

#include <optional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Writes a trace file that load_trace() reads, one entity after another. Every number has the fewest digits
/// from which reading makes the same bits. Fails if the file cannot be written; then the file may exist in
/// part.
[[nodiscard]] std::optional<Error> write_recording(const std::string& path, const Recording& recording);

}  // namespace reckoner::scenario
