// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The text of Archetype::codes for these rules: "codes-1", then offset and slope of each field of a
/// residual.
[[nodiscard]] RECKONER_NET_API std::string codes_text(std::span<const OrderRule, kCodeFields> orders);

/// The rules in a text of codes_text(). Nullopt if the text is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<std::array<OrderRule, kCodeFields>> read_codes(
    std::string_view text);

}  // namespace reckoner
