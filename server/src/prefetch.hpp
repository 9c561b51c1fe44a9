// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace reckoner {

/// Asks for memory that will be needed in some hundred nanoseconds. Only ever makes things faster or slower.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#endif
}

/// The same for all of a range.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine)
    prefetch(static_cast<const char*>(begin) + at);
}

}  // namespace reckoner
