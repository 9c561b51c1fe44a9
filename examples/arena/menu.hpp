// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"

#include <functional>
#include <string>
#include <vector>

namespace arena {

/// A line of the menu, and what happens if the player chooses it (1) or the value before (-1).
struct MenuItem {
  std::string label;
  std::function<void(int by)> choose;
};

/// The menu over the arena. The game goes on behind it.
class Menu {
 public:
  bool open = true;
  void press(const std::string& key, const std::vector<MenuItem>& items);
  void draw(Canvas& canvas, const std::vector<MenuItem>& items, const std::string& trouble) const;

 private:
  std::size_t at_ = 0;
};

}  // namespace arena
