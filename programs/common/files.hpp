// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Writes a file atomically: writes a temporary file in the same folder and renames it. If that fails, the
/// old file is unchanged. If `path` is a device or a pipe, writes to it directly.
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view content);

}  // namespace reckoner::program
