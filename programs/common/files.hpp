// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Writes a file whole or not at all: beside it first, under another name, which takes its place once
/// everything is on the disk. What was there before stays if that fails, and the error says why. (A device or
/// a pipe is written to as it is.)
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view content);

}  // namespace reckoner::program
