// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <cstddef>
#include <memory>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Makes a large world from a small recording. The result has `count` entities, which all exist from the
/// start to the end of the recording. Each entity repeats the life of one entity of `recording` in a loop.
/// The copies of one entity begin at times that are spread evenly over its life. A copy teleports from the
/// end of the loop to its beginning. Fails if `count` is 0 or if the recording is endless.
[[nodiscard]] Result<std::unique_ptr<Source>> copies_of(std::unique_ptr<Source> recording, std::size_t count);

}  // namespace reckoner::scenario
