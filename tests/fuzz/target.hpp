// SPDX-License-Identifier: MIT
#pragma once

#include "choices.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

// What a fuzz target is: one .cpp file with these two functions. It is linked with libFuzzer (entry.cpp), or
// with a main() that runs every file of a corpus through it (replay.cpp).
namespace reckoner::fuzz {

/// Tries one input. Whatever it is, it must return: what is wrong aborts. The same input must do the same.
void run(std::span<const std::byte> input);

/// What a corpus begins with, made by the real encoders.
[[nodiscard]] std::vector<Bytes> seeds();

/// `what` was promised of every input.
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Choices that a fuzzer may begin with: `count` strings of up to `most` bytes.
inline void add_choices(std::vector<Bytes>& seeds, std::size_t count, std::size_t most, std::byte first) {
  std::mt19937_64 random{count * 1000 + most};
  for (std::size_t i = 0; i < count; ++i) {
    Bytes& seed = seeds.emplace_back(1 + most * (i + 1) / count);
    for (std::byte& each : seed)
      each = static_cast<std::byte>(random() & 0xff);
    seed.front() = first;
  }
}

/// `bytes` behind one that says what they are.
inline Bytes marked(std::byte first, std::span<const std::byte> bytes) {
  Bytes out{first};
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

// Most targets take the bytes as they would come from the network, or as choices that something valid is made
// by. The first byte says which.
inline constexpr std::byte kRaw{0};
inline constexpr std::byte kChoices{1};

}  // namespace reckoner::fuzz
