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
  // GCC takes a function without side effects for superfluous and removes its calls, even if it prefetches.
  asm volatile("");
#endif
}

/// Prefetches every cache line of the range of `bytes` bytes from `begin`.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);  // the range may lie outside of any object
  for (std::uintptr_t line = first / kLine * kLine; line < first + bytes; line += kLine)
    prefetch(reinterpret_cast<const void*>(line));
}

}  // namespace reckoner
