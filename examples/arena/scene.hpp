// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"
#include "player.hpp"

namespace arena {

inline constexpr Color kDim{150, 158, 174}, kGood{98, 214, 128}, kBad{240, 96, 88},
    kTruthColor{255, 255, 255}, kMotionColor{255, 170, 60}, kBlendColor{255, 90, 90};

/// Draws the arena and everything in it as the player sees it; and beside it health, scores and chat.
void draw_scene(Canvas& canvas, const Player& player);

std::string mode_name(const reckoner::Client& client);

/// The numbers and ghosts that F1 shows: what the link does, and why entities are drawn where they are.
class Overlay {
 public:
  /// A second client, which joins through `truth_port` of this machine and so without the bad network, sees
  /// where everything really is; 0: no such client. `connection` must outlive the overlay.
  Overlay(const Connection& connection, std::uint16_t truth_port)
      : connection_(connection), truth_port_(truth_port) {}

  void toggle();
  /// Call once per picture; it counts bytes and receives the truth.
  void update(double local_s);
  /// Draws nothing while it is hidden.
  void draw(Canvas& canvas, const std::string& network, double frame_ms);

 private:
  struct Motions {  // of all fighters
    int fighters = 0, blending = 0, fading = 0, compared = 0;
    double age_sum_s = 0.0, error_sum_m = 0.0, worst_error_m = 0.0;
  };
  Motions draw_ghosts(Canvas& canvas);

  const Connection& connection_;
  std::uint16_t truth_port_;
  bool shown_ = false;
  std::unique_ptr<Connection> truth_;
  double second_began_s_ = 0.0;
  reckoner::TransportStats before_;
  double down_per_s_ = 0.0, up_per_s_ = 0.0;  // bytes
};

}  // namespace arena
