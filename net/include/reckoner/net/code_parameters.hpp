// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// What a residual is made of, as its prefix codes tell apart. Things that stand on floors move up and down
/// by other laws than they move along them.
enum class CodeField : std::uint8_t {
  position,  ///< horizontal
  height,
  velocity,  ///< horizontal
  climb,
  acceleration,  ///< horizontal
  lift,
  orientation,
  turn,  ///< angular velocity
};
inline constexpr std::size_t kCodeFields = 8;

/// The prefix codes of an archetype's residuals: fixed when a client joins, so that ready bit strings can be
/// shared by all clients.
struct CodeParameters {
  static constexpr std::uint8_t kMostOrder = 31;

  /// Golomb-Rice order of each field: numbers of about 2^order steps are cheapest.
  std::array<std::uint8_t, kCodeFields> order{6, 2, 6, 2, 5, 2, 4, 4};

  bool operator==(const CodeParameters&) const = default;
};

}  // namespace reckoner
