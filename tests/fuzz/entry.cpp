// SPDX-License-Identifier: MIT
// libFuzzer's entry point of a target.
#include "target.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reckoner::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}
