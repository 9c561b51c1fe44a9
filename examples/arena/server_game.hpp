// SPDX-License-Identifier: MIT
#pragma once

#include "bot.hpp"
#include "messages.hpp"
#include "step.hpp"

#include <deque>
#include <map>
#include <set>

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

  /// Beams are judged by what the shooter saw, up to a second ago.
  static reckoner::ServerConfig config() {
    return {.tick_rate_hz = kTickHz, .archetypes = archetypes(), .rewind_s = 1.0};
  }

  /// `server` must outlive the game.
  explicit ServerGame(reckoner::Server& server, std::uint32_t seed = 1);

  /// Handles everything that has arrived. Call it as often as data may arrive.
  void receive(double now_s);
  /// Runs the next tick.
  void tick(double now_s);

  [[nodiscard]] const std::vector<FlyingBolt>& bolts() const { return bolts_; }
  [[nodiscard]] reckoner::EntityId ball() const { return ball_id_; }
  /// The ball rolls from here with `mps`.
  void kick_off(const glm::dvec2& at, const glm::dvec2& mps);
  /// The player's avatar; null if there is none.
  [[nodiscard]] reckoner::EntityId avatar(reckoner::ClientId player) const;

 private:
  struct Fighter {
    Kind kind;
    std::string name;
    Body body;
    Bot bot;                    // steers bots and riders
    reckoner::ClientId player;  // of an avatar
    Authority authority = Authority::server;
    double seen_s = 0.0;  // the picture that the player saw when making the input of this tick, server time
    std::array<double, kWeapons>
        next_shot_s{};  // of a player who moves the avatar: earlier shots are refused
  };
  struct Seat {  // what a player keeps from avatar to avatar
    std::string name;
    std::int64_t score = 0;
    Authority authority = Authority::predicted;
  };
  struct WaitingBeam {
    reckoner::ClientId player;
    Shot shot;
    double time_s = 0.0;  // when the player pulled the trigger, server time
  };

  void handle_message(const reckoner::GameMessage& message);
  void forget(reckoner::ClientId player);
  // Null if the world is full.
  reckoner::EntityId spawn_fighter(Kind kind, const std::string& name, const reckoner::State& state);
  [[nodiscard]] bool spawn_avatar(reckoner::ClientId player, const Seat& seat);
  void spawn_waiting();
  void change_authority(reckoner::ClientId player, Authority authority);
  void authorize(reckoner::EntityId avatar, Fighter& fighter);
  reckoner::State spawn_place();
  void handle_shot(reckoner::ClientId player, const Shot& shot, double time_s);
  void shoot(reckoner::ClientId player, const Shot& shot, const glm::dvec3& at, double time_s);
  void fire_bolt(reckoner::EntityId shooter, const reckoner::State& start, double time_s,
                 reckoner::ClientId player = {}, std::uint32_t key = 0);
  void fire_for_bots(double time_s);
  void step_all(double time_s);
  [[nodiscard]] std::optional<Controls> controls_of(reckoner::EntityId id, Fighter& fighter,
                                                    const Stage& stage);
  void publish(reckoner::EntityId id, Fighter& fighter, const Stage& stage);
  void predict_ball();
  void move_doors();
  void report_inputs();
  void move_bolts(double time_s);
  void judge_beams();
  [[nodiscard]] Verdict judge(const WaitingBeam& beam);
  void hurt(reckoner::EntityId id, reckoner::EntityId by, std::int64_t amount);
  void announce(const std::string& line);
  [[nodiscard]] std::int64_t number(reckoner::EntityId id, FighterField field) const;
  [[nodiscard]] glm::dvec3 place_of(reckoner::EntityId id) const {
    return server_.in_world(id).value_or(reckoner::State{}).position;
  }

  reckoner::Server& server_;
  std::mt19937 random_;
  reckoner::EntityId platform_;
  std::array<reckoner::EntityId, kDoors.size()> doors_;
  OpenDoors open_{};
  std::map<reckoner::EntityId, Fighter> fighters_;
  std::map<reckoner::ClientId, reckoner::EntityId> avatars_;
  std::map<reckoner::ClientId, Seat> waiting_;  // players without an avatar: the world is full
  reckoner::EntityId ball_id_;
  reckoner::State ball_;
  std::set<reckoner::ClientId> ball_players_;  // those who predict the ball
  std::vector<FlyingBolt> bolts_;
  std::deque<WaitingBeam> beams_;
  std::vector<glm::dvec2> places_;  // of all fighters before this tick
  std::vector<Actor> actors_;
};

}  // namespace arena
