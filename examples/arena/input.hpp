// SPDX-License-Identifier: MIT
#pragma once

#include "pilot.hpp"
#include "player.hpp"

#include <SDL2/SDL_events.h>

namespace arena {

/// Keyboard, mouse and game pads; and a script, which plays instead of a person.
class Input {
 public:
  /// What the player has done since the last call of read().
  struct Events {
    std::vector<std::string> keys;  // newly pressed
    std::string text;               // typed, between SDL_StartTextInput() and SDL_StopTextInput()
    std::string screenshot;         // file that the script wants
    bool quit = false;
  };

  explicit Input(std::vector<ScriptLine> script) : script_(std::move(script)) {}

  Events read(const Player& player, double now_s);
  /// The keys that are down. read() also aims: at the mouse, or where the script says.
  Pilot pilot;

 private:
  void play_script(const Player& player, double now_s, Events& events);
  void aim(const Player& player, const std::string& at);
  void move_stick(const SDL_ControllerAxisEvent& event);

  std::vector<ScriptLine> script_;
  std::size_t script_at_ = 0;
  std::optional<glm::dvec2> mouse_;  // where it points in the arena; empty while the player uses keys
  glm::dvec2 aim_stick_{0.0};
};

}  // namespace arena
