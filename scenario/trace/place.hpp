// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"
#include "scenario/trace/trace.hpp"

#include <optional>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Moves a recording so that the middle of its samples is at the origin, and adds a remark. Fails if the
/// recording does not fit into the world afterwards; the error names the entity, the time and the coordinate.
/// With Recentre::never, nothing is moved and nothing is refused.
[[nodiscard]] std::optional<Error> recentre(Recording& recording, const std::string& name, Recentre when);

/// Shortens names that are longer than clients receive, keeps them apart, and adds a remark.
void shorten_names(Recording& recording);

}  // namespace reckoner::scenario
