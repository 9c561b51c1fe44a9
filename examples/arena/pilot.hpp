// SPDX-License-Identifier: MIT
#pragma once

#include "controls.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace arena {

/// The keys that a player presses, by SDL's names of keys, and what they mean. A game pad moves `stick`.
struct Pilot {
  std::set<std::string> pressed;
  glm::dvec2 stick{0.0};
  std::optional<double> aim_rad;  // of the mouse or a pad; empty: the player faces where it walks
  double last_aim_rad = 0.0;

  [[nodiscard]] bool presses(std::initializer_list<const char*> keys) const {
    return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return pressed.contains(key); });
  }
  [[nodiscard]] bool fires(Weapon weapon) const {
    return weapon == kBoltGun ? presses({"J", "Mouse 1", "Pad rightshoulder"})
                              : presses({"K", "Mouse 3", "Pad leftshoulder"});
  }

  Controls controls() {
    Controls out{.walk = stick};
    out.walk.x += presses({"D", "Right"}) - presses({"A", "Left"});
    out.walk.y += presses({"W", "Up"}) - presses({"S", "Down"});
    out.jump = presses({"Space", "Pad a"});
    out.dash = presses({"Left Shift", "Pad x"});
    if (out.walk != glm::dvec2(0.0)) last_aim_rad = heading_of(out.walk);
    if (aim_rad) last_aim_rad = *aim_rad;
    out.aim_rad = last_aim_rad;
    out.fires = {fires(kBoltGun), fires(kBeamGun)};
    return out;
  }
};

}  // namespace arena
