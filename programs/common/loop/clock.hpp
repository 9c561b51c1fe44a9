// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// The machine's monotonic clock (CLOCK_MONOTONIC on Linux), s. The programs use no other clock and pass its
/// time to the libraries.
[[nodiscard]] double monotonic_s();

}  // namespace reckoner::program
