// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Writes a new file that only this user can read; on Windows, the access rights of its folder apply. Fails
/// if the file exists. A file that could not be written completely is removed.
[[nodiscard]] std::optional<Error> write_private_file(const std::string& path, std::string_view content);

}  // namespace reckoner::program
