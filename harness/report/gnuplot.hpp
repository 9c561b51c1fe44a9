// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Runs gnuplot and returns the SVG that it draws. `script_for` gets the path of the output file and returns
/// the gnuplot script. Fails if gnuplot is not installed or reports an error.
[[nodiscard]] Result<std::string> draw_svg(
    const std::function<std::string(const std::string& out)>& script_for);

}  // namespace reckoner::harness
