// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reckoner::scenario {

/// If the text is UTF-16 (with a byte order mark, or with every second byte 0 at its start), returns it as
/// UTF-8. Returns nullopt for any other text. Unpaired surrogates become U+FFFD.
[[nodiscard]] std::optional<std::string> utf8_from_utf16(std::string_view text);

/// If the text is no table of rows and fields, returns a sentence that names its format and says how to make
/// a table of it: "this is JSON: ...". It recognises common formats by their first bytes, and other binary
/// files by a zero byte.
[[nodiscard]] std::optional<std::string> find_other_format(std::string_view text);

}  // namespace reckoner::scenario
