// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::test {

/// True if the test is built with a sanitizer that replaces the allocator or keeps variables elsewhere
/// (address, thread or memory). Such a program needs more memory than any limit of a test, and runs up to ten
/// times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

/// How many of `all` seeds a test runs: all of them, because figures need them, but one in a build with a
/// sanitizer. There a run takes ten times as long, and a second run of a long scenario executes no other
/// code.
[[nodiscard]] constexpr unsigned seeds_to_run(unsigned all) {
  return kSanitized ? 1 : all;
}

}  // namespace reckoner::test
