// SPDX-License-Identifier: MIT
#include "menu.hpp"

namespace arena {

void Menu::press(const std::string& key, const std::vector<MenuItem>& items) {
  if (key == "Up" || key == "Pad dpup") at_ = (at_ + items.size() - 1) % items.size();
  if (key == "Down" || key == "Pad dpdown") at_ = (at_ + 1) % items.size();
  if (key == "Left" || key == "Pad dpleft") items[at_].choose(-1);
  if (key == "Right" || key == "Pad dpright" || key == "Return" || key == "Pad a") items[at_].choose(1);
}

void Menu::draw(Canvas& canvas, const std::vector<MenuItem>& items, const std::string& trouble) const {
  constexpr int kX = 410, kY = 196;
  canvas.panel(0, 0, kWidthPx, kHeightPx, {8, 10, 14, 150});
  canvas.panel(kX, kY, 460, 400, {22, 26, 34, 240});
  canvas.panel(kX, kY, 460, 4, {98, 190, 255});
  canvas.text(kX + 34, kY + 28, "RECKONER ARENA", {}, true);
  int y = kY + 92;
  for (const MenuItem& item : items) {
    const bool here = &item == &items[at_];
    if (here) canvas.panel(kX + 24, y - 7, 412, 30, {98, 190, 255, 50});
    canvas.text(kX + 40, y, item.label, here ? Color{} : Color{170, 178, 194});
    y += 34;
  }
  y = kY + 282;
  for (const char* help :
       {"W A S D  walk     Space  jump     Shift  dash", "J, left button   bolt    K, right button   beam",
        "Return  chat     F1  overlay     Esc  menu", "F2  network      F3  mode        or a game pad"}) {
    canvas.text(kX + 34, y, help, {130, 138, 154});
    y += 20;
  }
  canvas.text(kX + 34, kY + 372, trouble, {240, 96, 88});
}

}  // namespace arena
