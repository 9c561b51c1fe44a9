// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// The machine's monotonic clock (CLOCK_MONOTONIC on Linux), s. The programs pass its time to the libraries.
[[nodiscard]] double monotonic_s();

/// Seconds since 1970 (UTC), for processes on several machines that need one clock. It is read once; from
/// then on it advances like monotonic_s(), so it never steps.
[[nodiscard]] double wall_s();

}  // namespace reckoner::program
