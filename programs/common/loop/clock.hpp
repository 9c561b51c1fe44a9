// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// The machine's monotonic clock (CLOCK_MONOTONIC on Linux), s. The only clock of the programs. They
/// pass the time to the libraries.
[[nodiscard]] double monotonic_s();

}  // namespace reckoner::program
