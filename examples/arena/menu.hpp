// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"

#include <string>

namespace arena {

/// The menu over the arena. The game goes on behind it.
class Menu {
 public:
  enum Item { kPlay, kNetwork, kMode, kOverlay, kQuit, kItems };

  bool open = true;
  void move(int by) { at_ = (at_ + by + kItems) % kItems; }
  [[nodiscard]] Item item() const { return static_cast<Item>(at_); }
  void draw(Canvas& canvas, const std::string& name, const std::string& network, const std::string& mode,
            bool overlay, const std::string& trouble) const;

 private:
  int at_ = kPlay;
};

}  // namespace arena
