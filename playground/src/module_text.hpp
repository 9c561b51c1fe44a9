// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace reckoner::playground {

/// Sets the text that pg_text() returns. succeed() returns 1, fail() returns 0.
int succeed(std::string text);
int fail(std::string text);

}  // namespace reckoner::playground
