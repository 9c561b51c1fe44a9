// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"
#include "harness/prediction/football_options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness::football {

// Messages of a client, by their first byte.
inline constexpr std::byte kHello{1};     ///< the index of its car
inline constexpr std::byte kKeyMessage{2};  ///< 8 bytes of keys and a number that counts their changes, 2 bytes

/// The game on the server, and what has happened in it.
class FootballServer {
 public:
  FootballServer(const FootballOptions& options, Transport& transport);

  void receive(double time_s) { server_.receive(time_s); }
  [[nodiscard]] double next_tick_s() const { return server_.tick_time_s(server_.next_tick()); }
  void tick(double time_s);

  [[nodiscard]] EntityId id(std::size_t body) const { return ids_[body]; }
  [[nodiscard]] Server& server() { return server_; }
  [[nodiscard]] ClientId client(std::size_t car) const { return clients_[car]; }

  /// The state of a body at a server time; nullopt if that has not happened.
  [[nodiscard]] std::optional<State> truth(std::size_t body, double time_s) const;
  /// True if `a` and `b` touched within `within_s` of the tick.
  [[nodiscard]] bool touched(std::size_t a, std::size_t b, Tick tick, double within_s) const;
  /// True if a kick-off lies between the two times.
  [[nodiscard]] bool kicked_off(double from_s, double to_s) const;
  /// The first tick that used the keys of a message with this number; nullopt if there is none.
  [[nodiscard]] std::optional<Tick> used(std::size_t car, std::uint16_t number) const;
  [[nodiscard]] std::size_t goals() const { return kick_offs_s_.size(); }
  [[nodiscard]] double tick_s(Tick tick) const { return tick / options_.tick_rate_hz; }
  /// Time of the last tick.
  [[nodiscard]] double end_s() const { return (static_cast<double>(states_.size()) - 1.0) / options_.tick_rate_hz; }

 private:
  void welcome();
  [[nodiscard]] std::optional<Keys> keys(std::size_t car);

  struct Messages {
    Keys keys;
    std::uint16_t number = 0;
    std::vector<std::pair<std::uint16_t, Tick>> used;  // each number when it was used first
  };

  FootballOptions options_;
  Server server_;
  World world_;
  std::array<EntityId, kBodies> ids_;
  std::array<ClientId, kCars> clients_;
  std::array<Messages, kCars> messages_;
  std::vector<std::array<State, kBodies>> states_;  // index: tick
  std::vector<Contacts> contacts_;                  // index: tick
  std::vector<double> kick_offs_s_;
};

/// What server and clients agree on.
[[nodiscard]] std::vector<Archetype> football_archetypes();

}  // namespace reckoner::harness::football
