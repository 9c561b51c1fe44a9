// SPDX-License-Identifier: MIT
#pragma once

#include "harness/arena/arena.hpp"
#include "harness/arena/arena_rules.hpp"
#include "harness/arena/fighter.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// The arena's game on the server.
class ArenaServer {
 public:
  /// `transport` and `record` must outlive the server.
  ArenaServer(const ArenaOptions& options, Transport& transport, ArenaRecord& record);

  /// Runs the next tick at the true time `now_s`.
  void turn(double now_s);
  [[nodiscard]] const Server& server() const { return server_; }

 private:
  struct Body {
    EntityId id;
    Fighter fighter;
  };
  struct Avatar {
    EntityId id;
    double respawn_s = 0.0;
    double pad_s = -1e300;  // time of its last teleport
    std::uint64_t lives = 0;
  };
  struct Flying {
    std::size_t number = 0;  // of the projectile
    EntityId id;
    State start;
    double start_s = 0.0;
  };
  struct WaitingBeam {
    ClientId client;
    ArenaRequest request;
    double arrived_s = 0.0;
  };

  void spawn_bodies(double now_s);
  void handle_events(double now_s);
  void handle_messages(double now_s);
  void move_bots(double now_s);
  void move_platform(double now_s);
  void move_avatars(double now_s);
  void fire(const State& state, double now_s, std::size_t shooter, const ArenaRequest& request,
            ClientId client);
  void fire_for_bots(double now_s);
  void move_projectiles(double now_s);
  void judge_beams(double now_s);
  [[nodiscard]] EntityId find_hit(const Flying& shot, const glm::dvec3& at) const;
  void take_health(EntityId id);

  ArenaOptions options_;
  ArenaRecord& record_;
  Server server_;
  scenario::Random random_;
  std::vector<Body> bots_, riders_;
  EntityId platform_;
  std::map<ClientId, Avatar> avatars_;
  std::vector<Flying> flying_;
  std::deque<WaitingBeam> beams_;
  double bots_fire_s_ = 1.0;
};

}  // namespace reckoner::harness
