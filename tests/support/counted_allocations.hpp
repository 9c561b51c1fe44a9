// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

namespace reckoner::test {

// A program that links counted_allocations.cpp counts its allocations. It needs a program of its own.

extern std::atomic<std::size_t> allocations;  ///< number of allocations while `counting` was true
extern std::atomic<bool> counting;            ///< true: allocations count

}  // namespace reckoner::test
