// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/options/options.hpp"

#include <string>

namespace reckoner::harness {

/// Prints one line to standard error, with the program's name before it, and returns `exit_code`.
inline int report_error(const std::string& message, int exit_code = program::kBadInput) {
  return program::fail("reckoner-harness", message, exit_code);
}

}  // namespace reckoner::harness
