// SPDX-License-Identifier: MIT
#include "input.hpp"

#include "canvas.hpp"

#include <cstdlib>

#include <SDL2/SDL.h>
#include <glm/geometric.hpp>

namespace arena {

Input::Events Input::read(const Player& player, double now_s) {
  Events out;
  play_script(player, now_s, out);
  const auto set = [&](const std::string& key, bool down) {
    if (!down) return (void)pilot.held.erase(key);
    pilot.held.insert(key);
    out.keys.push_back(key);
  };
  for (SDL_Event event; SDL_PollEvent(&event) != 0;) {
    switch (event.type) {
      case SDL_QUIT:
        out.quit = true;
        break;
      case SDL_KEYDOWN:
      case SDL_KEYUP:
        if (event.key.repeat == 0 || event.key.keysym.sym == SDLK_BACKSPACE)
          set(SDL_GetKeyName(event.key.keysym.sym), event.type == SDL_KEYDOWN);
        break;
      case SDL_TEXTINPUT:
        out.text += event.text.text;
        break;
      case SDL_MOUSEMOTION:
        mouse_ = Canvas::world(event.motion.x, event.motion.y);
        break;
      case SDL_MOUSEBUTTONDOWN:
      case SDL_MOUSEBUTTONUP:
        set("Mouse " + std::to_string(event.button.button), event.type == SDL_MOUSEBUTTONDOWN);
        break;
      case SDL_CONTROLLERDEVICEADDED:
        SDL_GameControllerOpen(event.cdevice.which);
        break;
      case SDL_CONTROLLERBUTTONDOWN:
      case SDL_CONTROLLERBUTTONUP:
        if (const char* name = SDL_GameControllerGetStringForButton(
                static_cast<SDL_GameControllerButton>(event.cbutton.button)))
          set(std::string("Pad ") + name, event.type == SDL_CONTROLLERBUTTONDOWN);
        break;
      case SDL_CONTROLLERAXISMOTION:
        move_stick(event.caxis);
        break;
      default:
        break;
    }
  }
  if (const auto at = player.avatar_state(); at && mouse_)
    pilot.aim_rad = heading_of(*mouse_ - glm::dvec2(at->position));
  return out;
}

// The left stick walks, the right one aims. In the middle, they rest a little off zero.
void Input::move_stick(const SDL_ControllerAxisEvent& event) {
  static constexpr double kRest = 0.2;
  const bool left = event.axis <= SDL_CONTROLLER_AXIS_LEFTY;
  if (event.axis > SDL_CONTROLLER_AXIS_RIGHTY) return;
  glm::dvec2& stick = left ? pilot.stick : aim_stick_;
  const double value = std::abs(event.value) / 32767.0 < kRest ? 0.0 : event.value / 32767.0;
  (event.axis % 2 == 0 ? stick.x : stick.y) = event.axis % 2 == 0 ? value : -value;
  if (!left && glm::length(stick) > 0.4) mouse_.reset(), pilot.aim_rad = heading_of(stick);
}

// Lines such as `2.5 press F1`, at most one a frame, so that on a slow machine each one still has its own
// picture. Keys go through SDL's queue, like those of a person.
void Input::play_script(const Player& player, double now_s, Events& events) {
  if (script_at_ >= script_.size() || script_[script_at_].time_s > now_s) return;
  const auto& [time_s, verb, words] = script_[script_at_++];
  SDL_Event event{};
  event.key.keysym.sym = SDL_GetKeyFromName(words.c_str());
  for (const Uint32 type : {SDL_KEYDOWN, SDL_KEYUP}) {
    event.type = type;
    if (verb == "tap" || verb == (type == SDL_KEYDOWN ? "press" : "release")) SDL_PushEvent(&event);
  }
  if (verb == "aim") aim(player, words);
  if (verb == "type") events.text = words;
  if (verb == "screenshot") events.screenshot = words;
  events.quit = verb == "quit";
}

// At an angle in degrees, or at the `nearest` fighter.
void Input::aim(const Player& player, const std::string& at) {
  mouse_.reset();
  pilot.aim_rad = std::atof(at.c_str()) * std::numbers::pi / 180.0;
  const auto own = player.avatar_state();
  double nearest_m = at == "nearest" && own ? 1e9 : 0.0;
  for (const reckoner::ShownEntity& entity : player.shown()) {
    if (!is_fighter(player.kind(entity.id)) || entity.id == player.avatar()) continue;
    const double away_m = own ? glm::distance(entity.shown.position, own->position) : 0.0;
    if (away_m >= nearest_m) continue;
    nearest_m = away_m;
    pilot.aim_rad = heading_of(glm::dvec2(entity.shown.position - own->position));
  }
}

}  // namespace arena
