// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sodium.h>

namespace reckoner::fuzz {

namespace detail {

inline std::uint64_t drawn = 0;

inline void draw(void* out, std::size_t size) {
  unsigned char seed[randombytes_SEEDBYTES]{};
  const std::uint64_t number = ++drawn;
  std::memcpy(seed, &number, sizeof number);
  randombytes_buf_deterministic(out, size, seed);
}
inline std::uint32_t draw_number() {
  std::uint32_t number = 0;
  draw(&number, sizeof number);
  return number;
}
inline const char* name() {
  return "fixed";
}

}  // namespace detail

/// From now on, libsodium's random numbers are the same in every run, so that a fuzzer's findings can be
/// reproduced.
inline void fix_random() {
  static randombytes_implementation fixed{.implementation_name = &detail::name,
                                          .random = &detail::draw_number,
                                          .stir = nullptr,
                                          .uniform = nullptr,
                                          .buf = &detail::draw,
                                          .close = nullptr};
  [[maybe_unused]] static const int ready = (randombytes_set_implementation(&fixed), sodium_init());
  detail::drawn = 0;
}

}  // namespace reckoner::fuzz
