// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace reckoner {

/// Tells the processor to load the memory at `address` into its cache. Call it some hundred nanoseconds
/// before reading that memory. This affects only speed, never results. Does nothing on compilers without such
/// a hint.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#endif
}

/// Prefetches every cache line of the range of `bytes` bytes from `begin`.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);  // the range may lie outside of any object
  for (std::size_t at = 0; at < bytes; at += kLine)
    prefetch(reinterpret_cast<const void*>(first + at));
}

}  // namespace reckoner
