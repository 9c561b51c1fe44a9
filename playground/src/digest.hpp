// SPDX-License-Identifier: MIT
#pragma once

#include "playground/src/settings.hpp"

#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::playground {

/// Runs the settings and returns one line per method with a 64-bit hash (FNV-1a) of everything that its run
/// produced: the bits of every picture, every datagram of the packet log, and the text of the figures. The
/// lines are equal on platforms that compute the same bits.
[[nodiscard]] Result<std::string> digest(const Settings& settings, const std::string& recording);

}  // namespace reckoner::playground
