// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// After this call, SIGINT, SIGTERM and Ctrl+Break no longer end the program. Instead, stop_requested()
/// returns true.
void catch_stop_signals();

[[nodiscard]] bool stop_requested();

}  // namespace reckoner::program
