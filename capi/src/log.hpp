// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner.h>

#include <reckoner/net/log.hpp>

namespace reckoner::capi {

[[nodiscard]] constexpr bool is_log_level(std::int32_t level) {
  return level >= RECKONER_LOG_DEBUG && level <= RECKONER_LOG_ERROR;
}

/// A sink that passes records of `least` level or above to a C function. Empty if the function is null.
[[nodiscard]] LogSink log_sink(reckoner_log_function function, void* user, std::int32_t least);

}  // namespace reckoner::capi
