// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"
#include "harness/prediction/football_options.hpp"
#include "harness/prediction/football_truth.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness::football {

// Messages of a client, by their first byte.
inline constexpr std::byte kHello{1};  ///< the index of its car
inline constexpr std::byte kKeyMessage{
    2};  ///< 8 bytes of keys and a number that counts their changes, 2 bytes

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

  /// What has happened so far.
  [[nodiscard]] const FootballTruth& truth() const { return truth_; }
  /// The first tick that used the keys of a message with this number; nullopt if there is none.
  [[nodiscard]] std::optional<Tick> used(std::size_t car, std::uint16_t number) const;

 private:
  void welcome();
  [[nodiscard]] std::optional<Keys> keys(std::size_t car);
  void show_keys(const Inputs& inputs);

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
  FootballTruth truth_;
};

/// What server and clients agree on. With OthersAt::stepped, cars have kKeysFields fields with their keys.
[[nodiscard]] std::vector<Archetype> football_archetypes(const FootballOptions& options);

inline constexpr std::size_t kKeysFields = 3;
/// Keys as values of the fields of a car: buttons, throttle and steering.
[[nodiscard]] std::array<std::int64_t, kKeysFields> field_values(const Keys& keys);
/// The keys with these values, null: unknown; nullopt if one is unknown.
[[nodiscard]] std::optional<Keys> keys_of(const std::array<const FieldValue*, kKeysFields>& fields);

}  // namespace reckoner::harness::football
