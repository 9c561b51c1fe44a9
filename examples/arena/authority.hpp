// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace arena {

/// Who moves a player's avatar.
enum class Authority : std::uint32_t {
  own,        ///< the player's machine; the server only checks limits (Server::give())
  predicted,  ///< the server; the player's machine computes the same at once (Server::let_predict())
  server,     ///< the server; the player sees the own avatar like those of others
};

/// In the order of Authority.
inline constexpr std::array kAuthorityNames{"own", "predicted", "server"};

inline const char* name_of(Authority authority) {
  return kAuthorityNames[static_cast<std::size_t>(authority)];
}
/// Nullopt if the number, which comes from a stranger, names no authority.
inline std::optional<Authority> authority_of(std::uint32_t number) {
  return number < kAuthorityNames.size() ? std::optional(static_cast<Authority>(number)) : std::nullopt;
}
/// Nullopt if the name is unknown.
inline std::optional<Authority> authority_of(std::string_view name) {
  for (std::uint32_t i = 0; i < kAuthorityNames.size(); ++i) {
    if (kAuthorityNames[i] == name) return static_cast<Authority>(i);
  }
  return std::nullopt;
}

}  // namespace arena
