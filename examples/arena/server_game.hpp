// SPDX-License-Identifier: MIT
#pragma once

#include "bot.hpp"
#include "messages.hpp"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/server/server.hpp>

namespace arena {

/// The game on the server. It knows no socket, no clock and no screen.
class ServerGame {
 public:
  struct FlyingBolt {
    reckoner::EntityId id, shooter;
    reckoner::State start;
    double start_s = 0.0, end_s = 0.0;
  };

  static reckoner::ServerConfig config();

  /// `server` must outlive the game.
  explicit ServerGame(reckoner::Server& server, std::uint32_t seed = 1);

  /// Handles everything that has arrived. Call it as often as data may arrive.
  void receive(double now_s);
  /// Runs the next tick.
  void tick(double now_s);

  [[nodiscard]] const std::vector<FlyingBolt>& bolts() const { return bolts_; }

 private:
  struct Fighter {
    std::string name;
    Body body;                    // bots and riders; players move their own
    std::optional<Bot> bot;       // set for a bot
    std::optional<Rider> rider;   // set for a rider on the platform
    reckoner::ClientId player{};  // set for a player's avatar
    std::int64_t health = 100, score = 0;
    double next_bolt_s = 0.0, next_beam_s = 0.0;
  };
  struct WaitingBeam {
    reckoner::ClientId player;
    Trigger trigger;
    double time_s = 0.0;  // when the player pulled the trigger, server time
  };

  void handle_event(const reckoner::ServerEvent& event);
  void handle_message(const reckoner::GameMessage& message);
  void welcome(reckoner::ClientId player, const std::string& name);
  void spawn_avatar(reckoner::ClientId player, const std::string& name, std::int64_t score);
  reckoner::State spawn_place();
  void handle_trigger(const reckoner::GameMessage& message, bool beam);
  void fire_bolt(reckoner::EntityId shooter, const reckoner::State& start, double time_s,
                 reckoner::ClientId player, std::uint32_t key);
  void fire_for_bots(double time_s);
  void move_fighters(double step_s);
  void move_doors();
  void move_bolts(double time_s);
  void judge_beams();
  [[nodiscard]] Verdict judge(const WaitingBeam& beam);
  void hurt(reckoner::EntityId id, reckoner::EntityId by, std::int64_t amount);
  void tell_all(const std::string& line);
  [[nodiscard]] glm::dvec3 place_of(reckoner::EntityId id) const {
    return server_.in_world(id).value_or(reckoner::State{}).position;
  }

  reckoner::Server& server_;
  std::mt19937 random_;
  reckoner::EntityId platform_;
  std::array<reckoner::EntityId, kDoors.size()> doors_;
  std::array<bool, kDoors.size()> open_{};
  std::map<reckoner::EntityId, Fighter> fighters_;
  std::map<reckoner::ClientId, reckoner::EntityId> avatars_;
  std::vector<FlyingBolt> bolts_;
  std::deque<WaitingBeam> beams_;
  std::vector<glm::dvec2> places_;  // of all fighters, in this tick
};

}  // namespace arena
