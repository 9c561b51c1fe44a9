// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner.h>

#include <reckoner/net/log.hpp>

namespace reckoner::capi {

[[nodiscard]] constexpr bool is_log_level(std::int32_t level) {
  return level >= RECKONER_LOG_DEBUG && level <= RECKONER_LOG_ERROR;
}

/// Hands what is said at a level or above to a function of C's. Empty for null.
[[nodiscard]] LogSink log_sink(reckoner_log_function function, void* user, std::int32_t least);

}  // namespace reckoner::capi
