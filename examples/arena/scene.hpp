// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"
#include "player.hpp"

namespace arena {

inline constexpr Color kDim{150, 158, 174}, kGood{98, 214, 128}, kBad{240, 96, 88};

/// Draws the arena and everything in it as the player sees it.
void draw_scene(Canvas& canvas, const Player& player);
/// Draws health, scores and chat beside the arena, and the line that the player is typing.
void draw_status(Canvas& canvas, const Player& player, const std::optional<std::string>& typing);

}  // namespace arena
