// SPDX-License-Identifier: MIT
#pragma once

#include "harness/arena/arena.hpp"
#include "harness/arena/fighter.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {

/// A player of the arena: the game on a client, and what the client draws.
class ArenaPlayer {
 public:
  /// `transport` and `record` must outlive the player.
  ArenaPlayer(const ArenaOptions& options, std::size_t index, Transport& transport, ArenaRecord& record);

  /// Runs a picture at the true server time `now_s`.
  void turn(double now_s);
  /// Adds the figures that are known at the end of the run to the record.
  void finish();

 private:
  // What the player saw of a projectile.
  struct SeenProjectile {
    std::optional<double> message_s;
    std::optional<double> drawn_s;
    double last_instant_s = -1e300;
  };
  struct OwnShot {
    double fired_s = 0.0;
    bool drawn = false;
  };
  struct Place {
    double frame_s = 0.0;
    glm::dvec3 position{0.0};
  };

  void handle_events(double now_s);
  void handle_messages(double now_s);
  void move_avatar(double now_s);
  void shoot(double now_s);
  void fire_beam(double now_s, std::span<const ShownEntity> shown);
  void measure(double now_s, std::span<const ShownEntity> shown);
  void measure_fighter(const ShownEntity& entity, const EntityInfo& info, double now_s);
  void measure_projectile(const ShownEntity& entity, const EntityInfo& info, double now_s);
  void note_own_shot(std::uint32_t key, double now_s);
  SeenProjectile& seen(std::size_t number);
  [[nodiscard]] double instant_s(const ShownEntity& entity, double now_s) const;

  ArenaOptions options_;
  std::size_t index_;
  double clock_offset_s_;
  ArenaRecord& record_;
  Transport& transport_;
  Client client_;
  Fighter fighter_;
  EntityId avatar_;
  std::optional<double> given_s_;  // since when the avatar may be moved; nullopt once it was moved
  double last_turn_s_ = 0.0;
  double next_shot_s_, next_beam_s_;
  std::uint32_t shots_ = 0;
  std::map<std::uint32_t, OwnShot> own_shots_;         // by key
  std::map<EntityId, std::uint32_t> predicted_shots_;  // keys
  std::set<EntityId> spawned_;
  std::vector<SeenProjectile> projectiles_;
  std::map<EntityId, Place> places_;  // of avatars, in the picture before
  std::uint64_t bytes_before_down_ = 0, bytes_before_up_ = 0;
};

}  // namespace reckoner::harness
