// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace reckoner::harness {

/// Draws a progress bar on standard error in place of the one before. `done` is 0 to 1; `what` names the
/// task. Does nothing if standard error is not a terminal.
void show_progress(const std::string& what, double done);

/// Removes the progress bar.
void end_progress();

}  // namespace reckoner::harness
