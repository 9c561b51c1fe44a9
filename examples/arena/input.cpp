// SPDX-License-Identifier: MIT
#include "input.hpp"

#include "canvas.hpp"

namespace arena {

Input::Events Input::read(const Player& player) {
  Events out;
  const auto set = [&](const std::string& key, bool down) {
    if (!down) return (void)pilot.pressed.erase(key);
    pilot.pressed.insert(key);
    out.keys.push_back(key);
  };
  for (SDL_Event event; SDL_PollEvent(&event) != 0;) {
    const Uint32 type = event.type;
    if (type == SDL_QUIT) out.quit = true;
    if (type == SDL_TEXTINPUT) out.text += event.text.text;
    if (type == SDL_MOUSEMOTION) mouse_ = Canvas::world(event.motion.x, event.motion.y);
    if (type == SDL_CONTROLLERDEVICEADDED) pad_ = SDL_GameControllerOpen(event.cdevice.which);
    if (type == SDL_MOUSEBUTTONDOWN || type == SDL_MOUSEBUTTONUP)
      set("Mouse " + std::to_string(event.button.button), type == SDL_MOUSEBUTTONDOWN);
    if (type == SDL_KEYDOWN || type == SDL_KEYUP) {
      const SDL_Keycode key = event.key.keysym.sym;
      if (event.key.repeat == 0 || key == SDLK_BACKSPACE) set(SDL_GetKeyName(key), type == SDL_KEYDOWN);
    }
    if (type == SDL_CONTROLLERBUTTONDOWN || type == SDL_CONTROLLERBUTTONUP) {
      const auto button = static_cast<SDL_GameControllerButton>(event.cbutton.button);
      set(std::string("Pad ") + SDL_GameControllerGetStringForButton(button),
          type == SDL_CONTROLLERBUTTONDOWN);
    }
  }
  pilot.stick = stick(SDL_CONTROLLER_AXIS_LEFTX, SDL_CONTROLLER_AXIS_LEFTY);
  const glm::dvec2 aim = stick(SDL_CONTROLLER_AXIS_RIGHTX, SDL_CONTROLLER_AXIS_RIGHTY);
  if (aim != glm::dvec2(0.0)) mouse_.reset(), pilot.aim_rad = heading_of(aim);
  if (const auto at = player.avatar_state(); at && mouse_)
    pilot.aim_rad = heading_of(*mouse_ - glm::dvec2(at->position));
  return out;
}

// Where a stick of the pad points: up to 1 along each axis. Zero near the middle, where sticks do not rest
// exactly.
glm::dvec2 Input::stick(SDL_GameControllerAxis x, SDL_GameControllerAxis y) const {
  const glm::dvec2 at(SDL_GameControllerGetAxis(pad_, x), -SDL_GameControllerGetAxis(pad_, y));
  return glm::length(at) < 0.25 * SDL_JOYSTICK_AXIS_MAX ? glm::dvec2(0.0)
                                                        : at / double{SDL_JOYSTICK_AXIS_MAX};
}

}  // namespace arena
