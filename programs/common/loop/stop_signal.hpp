// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// From now on, SIGINT and SIGTERM make stop_requested() true instead of ending the program.
void catch_stop_signals();

[[nodiscard]] bool stop_requested();

}  // namespace reckoner::program
