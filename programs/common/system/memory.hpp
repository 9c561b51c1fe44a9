// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace reckoner::program {

/// What a program says when it lacks memory: what it needed the memory for, if that is known, how much it has
/// used, and how much it may use.
[[nodiscard]] std::string out_of_memory_text(const std::exception& error);

}  // namespace reckoner::program
