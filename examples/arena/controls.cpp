// SPDX-License-Identifier: MIT
#include "controls.hpp"

#include <algorithm>
#include <cmath>

namespace arena {
namespace {

constexpr double kWalkSteps = 127.0;
constexpr double kAimSteps = 65536.0 / (2.0 * std::numbers::pi);  // for each radian
enum Button : unsigned { kJump = 1, kDash = 2, kFirstWeapon = 4 };

std::byte walk_byte(double share) {
  return static_cast<std::byte>(std::lround(std::clamp(share, -1.0, 1.0) * kWalkSteps));
}
double walk_of(std::byte byte) {
  return static_cast<std::int8_t>(byte) / kWalkSteps;
}

}  // namespace

Controls turned(Controls controls, double turn_rad) {
  const glm::dvec2 x = direction_of(turn_rad), y{-x.y, x.x};
  controls.walk = controls.walk.x * x + controls.walk.y * y;
  controls.aim_rad += turn_rad;
  return controls;
}

InputBytes to_input(const Controls& controls) {
  const auto aim = static_cast<std::uint64_t>(std::llround(controls.aim_rad * kAimSteps));
  unsigned buttons = (controls.jump ? kJump : 0u) | (controls.dash ? kDash : 0u);
  for (std::size_t weapon = 0; weapon < kWeapons; ++weapon)
    buttons |= controls.fires[weapon] ? kFirstWeapon << weapon : 0u;
  return {walk_byte(controls.walk.x), walk_byte(controls.walk.y), static_cast<std::byte>(aim & 0xff),
          static_cast<std::byte>(aim >> 8 & 0xff), static_cast<std::byte>(buttons)};
}

Controls from_input(std::span<const std::byte> input, double aim_rad) {
  if (input.size() < InputBytes{}.size()) return {.aim_rad = aim_rad};
  const auto aim = std::to_integer<unsigned>(input[2]) | std::to_integer<unsigned>(input[3]) << 8;
  const auto buttons = std::to_integer<unsigned>(input[4]);
  Controls controls{.walk = {walk_of(input[0]), walk_of(input[1])},
                    .aim_rad = std::remainder(aim / kAimSteps, 2.0 * std::numbers::pi),
                    .jump = (buttons & kJump) != 0,
                    .dash = (buttons & kDash) != 0};
  for (std::size_t weapon = 0; weapon < kWeapons; ++weapon)
    controls.fires[weapon] = (buttons & kFirstWeapon << weapon) != 0;
  return controls;
}

}  // namespace arena
