// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves/tcb.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Points x[,y[,z]], one a line, all with as many numbers; axes that are missing are 0. A first line without
/// any number is a header; blank lines and # comments are skipped. Fails, with the line, on anything else.
[[nodiscard]] Result<std::vector<glm::dvec3>> read_points(std::string_view text);

/// Keys t,x,y,z,tension,continuity,bias,ease_to,ease_from, one a line; from tension on, what is missing is 0.
[[nodiscard]] Result<std::vector<TcbKey<glm::dvec3>>> read_keys(std::string_view text);

}  // namespace reckoner::harness
