// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Parses points x[,y[,z]], one per line. All must have the same number of coordinates; missing ones are 0. A
/// first line without any number is a header. Blank lines and # comments are skipped. Errors name the line.
[[nodiscard]] Result<std::vector<glm::dvec3>> read_points(std::string_view text);

/// Parses keys t,x,y,z[,tension,continuity,bias,ease_to,ease_from], one per line. Missing values are 0.
/// Headers, blank lines, comments and errors are handled as by read_points().
[[nodiscard]] Result<std::vector<TcbKey<glm::dvec3>>> read_keys(std::string_view text);

}  // namespace reckoner::harness
