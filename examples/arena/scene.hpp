// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"
#include "player.hpp"

namespace arena {

inline constexpr Color kDim{150, 158, 174}, kGood{98, 214, 128}, kBad{240, 96, 88};

/// Draws the arena and everything in it as the player sees it; and beside it health, scores and chat.
void draw_scene(Canvas& canvas, const Player& player);

}  // namespace arena
