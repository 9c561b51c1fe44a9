// SPDX-License-Identifier: MIT
// A game pad that SDL simulates plays through the game's own input.
#include "examples/arena/input.hpp"

#include <numbers>

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(ArenaInput, PadsWalkAimDashAndFire) {
  SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS,
              "1");  // there is no window that could have the focus
  ASSERT_EQ(SDL_Init(SDL_INIT_GAMECONTROLLER), 0) << SDL_GetError();
  const int index = SDL_JoystickAttachVirtual(SDL_JOYSTICK_TYPE_GAMECONTROLLER, SDL_CONTROLLER_AXIS_MAX,
                                              SDL_CONTROLLER_BUTTON_MAX, 0);
  if (index < 0) GTEST_SKIP() << "this SDL has no virtual pads: " << SDL_GetError();
  SDL_Joystick* pad = SDL_JoystickOpen(index);
  const Connection connection("127.0.0.1", 9, "");  // it never connects
  Input input;
  input.read(connection.player);  // finds the pad
  EXPECT_EQ(input.pilot.controls().walk, glm::dvec2(0.0));

  SDL_JoystickSetVirtualAxis(pad, SDL_CONTROLLER_AXIS_LEFTX, SDL_JOYSTICK_AXIS_MAX);
  SDL_JoystickSetVirtualAxis(pad, SDL_CONTROLLER_AXIS_RIGHTY, SDL_JOYSTICK_AXIS_MIN);  // up
  for (const auto button :
       {SDL_CONTROLLER_BUTTON_X, SDL_CONTROLLER_BUTTON_RIGHTSHOULDER, SDL_CONTROLLER_BUTTON_START})
    SDL_JoystickSetVirtualButton(pad, button, SDL_PRESSED);
  const Input::Events pressed = input.read(connection.player);
  const Controls controls = input.pilot.controls();
  EXPECT_NEAR(controls.walk.x, 1.0, 1e-3);
  EXPECT_NEAR(controls.walk.y, 0.0, 1e-3);
  EXPECT_NEAR(controls.aim_rad, 0.5 * std::numbers::pi, 1e-3);
  EXPECT_TRUE(controls.dash);
  EXPECT_FALSE(controls.jump);
  EXPECT_TRUE(input.pilot.fires(kBoltGun));
  EXPECT_FALSE(input.pilot.fires(kBeamGun));
  EXPECT_EQ(std::count(pressed.keys.begin(), pressed.keys.end(), "Pad start"), 1);

  SDL_JoystickSetVirtualAxis(pad, SDL_CONTROLLER_AXIS_LEFTX,
                             SDL_JOYSTICK_AXIS_MAX / 10);  // not quite at rest
  SDL_JoystickSetVirtualButton(pad, SDL_CONTROLLER_BUTTON_X, SDL_RELEASED);
  EXPECT_TRUE(input.read(connection.player).keys.empty());
  EXPECT_EQ(input.pilot.controls().walk, glm::dvec2(0.0));
  EXPECT_FALSE(input.pilot.controls().dash);
  SDL_JoystickClose(pad);
  SDL_Quit();
}

}  // namespace
}  // namespace arena
