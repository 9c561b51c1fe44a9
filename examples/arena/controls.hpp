// SPDX-License-Identifier: MIT
#pragma once

#include "rules.hpp"

#include <cstddef>

namespace arena {

/// What a player or a bot wants to do.
struct Controls {
  glm::dvec2 walk{0.0};  ///< direction in the world; longer than 1 counts as 1
  double aim_rad = 0.0;
  bool jump = false;
  bool dash = false;
  std::array<bool, kWeapons> fires{};
};

/// These controls with directions in something that is turned by `-turn_rad`.
Controls turned(Controls controls, double turn_rad);

/// The controls of one tick as the input that a client sends (Client::next_step()).
using InputBytes = std::array<std::byte, 5>;
/// Rounds to what a player can feel, so that an input stays the same while nothing changes, which costs a
/// bit.
InputBytes to_input(const Controls& controls);
/// The opposite. Any bytes are valid, because inputs come from strangers; with less than an input's bytes,
/// the player does nothing and looks to `aim_rad`.
Controls from_input(std::span<const std::byte> input, double aim_rad);

}  // namespace arena
