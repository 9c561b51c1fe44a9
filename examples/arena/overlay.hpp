// SPDX-License-Identifier: MIT
#pragma once

#include "canvas.hpp"
#include "player.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <reckoner/net/network_dialer.hpp>

namespace arena {

/// The numbers and ghosts that F1 shows: what the link does, and why entities are drawn where they are.
class Overlay {
 public:
  /// `dialer` carries the player's connection. A second client, which joins through `truth_port` of this
  /// machine and so without the bad network, sees where everything really is; 0: no such client.
  Overlay(const reckoner::NetworkDialer& dialer, std::uint16_t truth_port)
      : dialer_(dialer), truth_port_(truth_port) {}

  void show(bool shown);
  [[nodiscard]] bool is_shown() const { return shown_; }
  /// Call once per frame; it counts bytes and receives the truth.
  void update(double local_s);
  void draw(Canvas& canvas, const Player& player, const std::string& network, double local_s,
            double frame_ms);

 private:
  struct Truth {
    Truth(std::uint16_t port);
    reckoner::NetworkDialer dialer;
    std::optional<reckoner::Client> client;
  };
  void draw_ghosts(Canvas& canvas, const Player& player);

  const reckoner::NetworkDialer& dialer_;
  std::uint16_t truth_port_;
  bool shown_ = false;
  std::unique_ptr<Truth> truth_;
  std::vector<reckoner::ShownEntity> true_entities_;
  double second_began_s_ = 0.0;
  reckoner::TransportStats before_;
  double down_per_s_ = 0.0, up_per_s_ = 0.0;  // bytes
  double mean_error_m_ = 0.0, worst_error_m_ = 0.0, mean_age_s_ = 0.0;
  int blending_ = 0, fading_ = 0, moving_ = 0;
};

}  // namespace arena
