// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Prints the figures as a few indented lines of text.
void print_figures(const Figures& figures);

/// Prints the bits of the updates by field, and their entropy, as indented lines of text.
void print_figures(const CodingFigures& figures);

/// Writes `json` to a file. The error names the file.
[[nodiscard]] std::optional<Error> write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace reckoner::harness
