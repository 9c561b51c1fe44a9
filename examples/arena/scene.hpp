// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"
#include "player.hpp"

namespace arena {

/// The colour of a fighter: players have bright ones, each its own.
Color color_of(const reckoner::Client& client, reckoner::EntityId id);
/// Draws the arena and everything in it as the player sees it.
void draw_scene(Canvas& canvas, const Player& player);
/// Draws health, scores and chat beside the arena.
void draw_status(Canvas& canvas, const Player& player, const std::string& typing);

}  // namespace arena
