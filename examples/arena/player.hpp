// SPDX-License-Identifier: MIT
#pragma once

#include "messages.hpp"
#include "predictor.hpp"

#include <deque>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace arena {

/// A beam on the screen, and what the server says about it.
struct DrawnBeam {
  glm::dvec2 from, to;
  double left_s = 0.0;  // how long it is still drawn
};
struct DrawnVerdict {
  Verdict verdict;
  double left_s = 0.0;
};

/// The game on a player's machine. It knows no socket, no clock and no screen.
class Player {
 public:
  static reckoner::ClientConfig config(const reckoner::PlayoutConfig& playout = {}) {
    return {.archetypes = archetypes(), .playout = playout};
  }

  /// `client` must outlive the player. A player without a name has no avatar and only watches.
  Player(reckoner::Client& client, std::string name, Authority authority = Authority::predicted)
      : client_(client), name_(std::move(name)), authority_(authority) {}

  /// Runs a picture: receives, moves the avatar, fires, and computes what to draw.
  void frame(double local_s, const Controls& controls);
  /// Asks the server for another authority. The game goes on meanwhile.
  void set_authority(Authority authority);
  /// The one that this player has asked for last.
  [[nodiscard]] Authority authority() const { return authority_; }
  /// What the player has seen itself fire in the last frame().
  [[nodiscard]] std::span<const Shot> shots() const { return shots_; }
  void say(const std::string& text);

  [[nodiscard]] reckoner::Client& client() const { return client_; }
  [[nodiscard]] std::span<const reckoner::ShownEntity> shown() const { return shown_; }
  [[nodiscard]] const reckoner::ShownEntity* find(reckoner::EntityId id) const;
  [[nodiscard]] reckoner::EntityId avatar() const { return avatar_; }
  /// Whether the avatar moves on this machine at once: it is owned or predicted.
  [[nodiscard]] bool moves_at_once() const { return owned_ || predictor_.avatar(); }
  [[nodiscard]] const Predictor& predictor() const { return predictor_; }
  [[nodiscard]] const InputNews& inputs() const { return inputs_; }
  /// The avatar as this player sees it, in the world.
  [[nodiscard]] std::optional<reckoner::State> avatar_state() const;
  [[nodiscard]] std::size_t kind(reckoner::EntityId id) const;
  [[nodiscard]] std::int64_t number(reckoner::EntityId id, std::size_t field) const;
  [[nodiscard]] const OpenDoors& open_doors() const { return open_; }
  [[nodiscard]] const std::deque<std::string>& chat() const { return chat_; }
  [[nodiscard]] const std::vector<DrawnBeam>& beams() const { return drawn_beams_; }
  [[nodiscard]] const std::vector<DrawnVerdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] bool has_joined() const { return client_.status() == reckoner::ClientStatus::joined; }

 private:
  void handle_event(const reckoner::ClientEvent& event);
  void handle_message(const reckoner::GameMessage& message);
  void show();
  void update_doors();
  void move_owned(double step_s, const Controls& controls);
  void fire_owned(double aim_rad);
  void draw_shot(const Shot& shot);

  reckoner::Client& client_;
  std::string name_;
  Authority authority_;
  reckoner::EntityId avatar_, platform_;
  std::optional<Body> owned_;  // the avatar, while this player's machine moves it
  Predictor predictor_{client_};
  double last_frame_s_ = 0.0;
  std::uint32_t own_shots_ = 0x8000'0000u;  // keys of shots; other ones are ticks
  std::vector<Shot> shots_;
  InputNews inputs_;
  OpenDoors open_{};
  std::vector<reckoner::ShownEntity> shown_;
  std::deque<std::string> chat_;
  std::vector<DrawnBeam> drawn_beams_;
  std::vector<DrawnVerdict> verdicts_;
};

/// A player's connection to the server: socket, client and game. Not movable, because each refers to the one
/// before.
struct Connection {
  Connection(const std::string& host, std::uint16_t port, std::string name,
             Authority authority = Authority::predicted)
      : dialer({.host = host, .port = port, .security = reckoner::Insecure{}}),
        client(std::move(*reckoner::Client::create(Player::config(), dialer))),
        player(client, std::move(name), authority) {}
  Connection(const Connection&) = delete;

  reckoner::NetworkDialer dialer;
  reckoner::Client client;
  Player player;
};

}  // namespace arena
