// SPDX-License-Identifier: MIT
#pragma once

#include "pilot.hpp"
#include "player.hpp"

#include <SDL2/SDL.h>

namespace arena {

/// Keyboard, mouse and game pads.
class Input {
 public:
  /// What the player has done since the last call of read().
  struct Events {
    std::vector<std::string> keys;  // newly pressed
    std::string text;               // typed, between SDL_StartTextInput() and SDL_StopTextInput()
    bool quit = false;
  };

  Events read(const Player& player);
  Pilot pilot;  ///< what the player presses, and where it aims, since the last call of read()

 private:
  [[nodiscard]] glm::dvec2 stick(SDL_GameControllerAxis x, SDL_GameControllerAxis y) const;

  std::optional<glm::dvec2> mouse_;    // where it points in the arena; empty while the player uses keys
  SDL_GameController* pad_ = nullptr;  // the newest one; SDL_Quit() closes it
};

}  // namespace arena
