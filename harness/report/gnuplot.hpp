// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Runs gnuplot on the script that `script_for` makes for an output path, and returns the SVG that it drew.
/// Fails if there is no gnuplot, or it complains.
[[nodiscard]] Result<std::string> draw_svg(
    const std::function<std::string(const std::string& out)>& script_for);

}  // namespace reckoner::harness
