// SPDX-License-Identifier: MIT
#include "menu.hpp"

#include <array>

namespace arena {

void Menu::draw(Canvas& canvas, const std::string& name, const std::string& network, const std::string& mode,
                bool overlay, const std::string& trouble) const {
  constexpr int kX = 410, kY = 196;
  canvas.panel(0, 0, kWidthPx, kHeightPx, {8, 10, 14, 150});
  canvas.panel(kX, kY, 460, 400, {22, 26, 34, 240});
  canvas.panel(kX, kY, 460, 4, {98, 190, 255});
  canvas.text(kX + 34, kY + 28, "RECKONER ARENA", {}, true);
  const std::array<std::string, kItems> items{
      "Play as " + name, "Network   < " + network + " >", "Mode      < " + mode + " >",
      std::string("Overlay   < ") + (overlay ? "on" : "off") + " >", "Quit"};
  for (int i = 0; i < kItems; ++i) {
    const int y = kY + 92 + 34 * i;
    if (i == at_) canvas.panel(kX + 24, y - 7, 412, 30, {98, 190, 255, 50});
    canvas.text(kX + 40, y, items[static_cast<std::size_t>(i)], i == at_ ? Color{} : Color{170, 178, 194});
  }
  const std::array help{
      "W A S D  walk     Space  jump     Shift  dash", "J, left button   bolt    K, right button   beam",
      "Return  chat     F1  overlay     Esc  menu", "F2  network      F3  mode        or a game pad"};
  for (std::size_t i = 0; i < help.size(); ++i)
    canvas.text(kX + 34, kY + 282 + 20 * static_cast<int>(i), help[i], {130, 138, 154});
  canvas.text(kX + 34, kY + 372, trouble, {240, 96, 88});
}

}  // namespace arena
