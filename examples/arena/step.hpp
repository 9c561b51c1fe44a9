// SPDX-License-Identifier: MIT
#pragma once

#include "body.hpp"

namespace arena {

/// A body in a step.
struct Actor {
  Body* body = nullptr;
  std::optional<Controls> controls;  ///< nullopt: its player's machine moves it; it only pushes the ball
};

/// What one tick does to bodies and to the ball that they push. Server and players run this same function:
/// the server with all bodies, a player with the own one. It uses nothing but its arguments, so that both get
/// the same numbers. A null `ball` is left out.
void step(std::span<const Actor> actors, reckoner::State* ball, const Stage& stage, double step_s);

}  // namespace arena
