// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "net/src/codec/coding_statistics.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Prints the figures for a person, a few indented lines.
void print_figures(const Figures& figures);

/// What updates are made of, likewise.
void print_figures(const CodingFigures& figures);

/// Writes a JSON file; the error names it.
[[nodiscard]] std::optional<Error> write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace reckoner::harness
