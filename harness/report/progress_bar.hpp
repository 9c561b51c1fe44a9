// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace reckoner::harness {

/// Shows on a terminal how much is `done`, 0 to 1, and `what` is being done, over what it showed before.
/// Nothing where standard error is not a terminal: in a file it would be noise.
void show_progress(const std::string& what, double done);

/// Takes it away.
void end_progress();

}  // namespace reckoner::harness
