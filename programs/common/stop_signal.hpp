// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// From now on SIGINT and SIGTERM no longer end the program but make stop_requested() true.
void catch_stop_signals();

[[nodiscard]] bool stop_requested();

}  // namespace reckoner::program
