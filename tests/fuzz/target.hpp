// SPDX-License-Identifier: MIT
#pragma once

#include "choices.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

// A fuzz target is one .cpp file with these two functions. It is linked with libFuzzer (entry.cpp), or with a
// main() that runs every file of a corpus (replay.cpp).
namespace reckoner::fuzz {

/// Tries one input. It must return for any input and abort if a check fails. It must be deterministic.
void run(std::span<const std::byte> input);

/// The initial corpus, made by the real encoders.
[[nodiscard]] std::vector<Bytes> seeds();

/// Aborts with `what` unless `condition`.
inline void check(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Adds initial choices: `count` strings of up to `most` bytes.
inline void add_choices(std::vector<Bytes>& seeds, std::size_t count, std::size_t most, std::byte first) {
  std::mt19937_64 random{count * 1000 + most};
  for (std::size_t i = 0; i < count; ++i) {
    Bytes& seed = seeds.emplace_back(1 + most * (i + 1) / count);
    for (std::byte& each : seed)
      each = static_cast<std::byte>(random() & 0xff);
    seed.front() = first;
  }
}

/// Puts `first`, the kind of the input, in front of `bytes`.
inline Bytes marked(std::byte first, std::span<const std::byte> bytes) {
  Bytes out{first};
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

// Most targets take either raw bytes as from the network, or choices from which valid data is made. The first
// byte selects one of these.
inline constexpr std::byte kRaw{0};
inline constexpr std::byte kChoices{1};

}  // namespace reckoner::fuzz
