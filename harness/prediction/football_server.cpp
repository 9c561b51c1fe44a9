// SPDX-License-Identifier: MIT
#include "harness/prediction/football_server.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace reckoner::harness::football {
namespace {

ServerConfig server_config(const FootballOptions& options) {
  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.send_rate_hz = options.send_rate_hz;
  config.archetypes = football_archetypes(options);
  return config;
}

}  // namespace

std::vector<Archetype> football_archetypes(const FootballOptions& options) {
  std::vector<Archetype> all(2);
  all[0].name = "car";
  if (options.others_at == OthersAt::stepped && options.approach == Approach::prediction) {
    all[0].fields = {{"buttons", IntegerField{.least = 0, .most = 7, .initial = 0}},
                     {"throttle", IntegerField{.least = -127, .most = 127, .initial = 0}},
                     {"steer", IntegerField{.least = -127, .most = 127, .initial = 0}}};
  }
  all[1].name = "ball";
  all[1].has_orientation = false;
  return all;
}

std::array<std::int64_t, kKeysFields> field_values(const Keys& keys) {
  return {keys.buttons, keys.throttle, keys.steer};
}

std::optional<Keys> keys_of(const std::array<const FieldValue*, kKeysFields>& fields) {
  std::array<std::int64_t, kKeysFields> values{};
  for (std::size_t i = 0; i < kKeysFields; ++i) {
    const auto* value = fields[i] != nullptr ? std::get_if<std::int64_t>(fields[i]) : nullptr;
    if (value == nullptr) return std::nullopt;
    values[i] = *value;
  }
  return Keys{static_cast<std::uint8_t>(values[0]), static_cast<std::int8_t>(values[1]),
              static_cast<std::int8_t>(values[2])};
}

FootballServer::FootballServer(const FootballOptions& options, Transport& transport)
    : options_(options),
      server_(std::move(*Server::create(server_config(options), transport))),
      truth_(options.tick_rate_hz) {
  world_.has_contacts = options.has_contacts;
  world_.kick_off();
  for (std::size_t i = 0; i < kBodies; ++i) {
    const bool is_ball = i == kBall;
    ids_[i] = *server_.spawn(is_ball ? 1 : 0, is_ball ? "ball" : "car" + std::to_string(i),
                             world_.bodies[i].state());
  }
}

void FootballServer::welcome() {
  while (const auto message = server_.poll_message()) {
    const auto bytes = message->payload;
    if (bytes.size() == 2 && bytes[0] == kHello) {
      const auto car = std::to_integer<std::size_t>(bytes[1]);
      if (car >= kCars || clients_[car]) continue;
      clients_[car] = message->sender;
      // A hit changes a car's velocity by up to 60 m/s in a tick.
      OwnershipRules owner;
      owner.max_acceleration_mps2 = 5000.0;
      if (options_.approach == Approach::ownership) (void)server_.give(ids_[car], message->sender, owner);
      if (options_.approach == Approach::prediction)
        (void)server_.let_predict(ids_[car], message->sender, options_.rules);
      if (options_.approach == Approach::prediction && options_.predicts_ball)
        (void)server_.let_predict(ids_[kBall], message->sender, options_.rules);
    } else if (bytes.size() == 3 + Keys::kBytes && bytes[0] == kKeyMessage) {
      const auto car = std::ranges::find(clients_, message->sender) - clients_.begin();
      if (car >= static_cast<std::ptrdiff_t>(kCars)) continue;
      Messages& known = messages_[static_cast<std::size_t>(car)];
      const auto number = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[1]) |
                                                     std::to_integer<unsigned>(bytes[2]) << 8);
      if (static_cast<std::int16_t>(number - known.number) < 0) continue;
      known.number = number;
      known.keys = Keys::from(bytes.subspan(3));
    }
  }
}

// What a player does in the next tick; null: its own game steps the car.
std::optional<Keys> FootballServer::keys(std::size_t car) {
  if (options_.approach == Approach::prediction)
    return clients_[car] ? Keys::from(server_.input(clients_[car]).bytes) : Keys{};
  if (options_.approach == Approach::ownership && server_.owner(ids_[car])) return std::nullopt;
  Messages& known = messages_[car];
  if (known.used.empty() || known.used.back().first != known.number)
    known.used.emplace_back(known.number, server_.next_tick());
  return known.keys;
}

// Tells the other players what each player holds.
void FootballServer::show_keys(const Inputs& inputs) {
  if (options_.others_at != OthersAt::stepped || options_.approach != Approach::prediction) return;
  for (std::size_t car = 0; car < kCars; ++car) {
    const auto values = field_values(inputs[car].value_or(Keys{}));
    for (std::size_t i = 0; i < kKeysFields; ++i)
      (void)server_.set_field(ids_[car], i, values[i]);
  }
}

void FootballServer::tick(double time_s) {
  server_.receive(time_s);
  welcome();
  while (server_.poll_event()) {
  }
  Inputs inputs;
  std::array<bool, kCars> owned{};
  for (std::size_t i = 0; i < kCars; ++i) {
    inputs[i] = keys(i);
    owned[i] = !inputs[i].has_value();
    if (owned[i]) world_.bodies[i].follow(*server_.state(ids_[i]));
  }
  show_keys(inputs);
  const World before = world_;
  Contacts contacts = world_.step(inputs, 1.0 / options_.tick_rate_hz);
  for (std::size_t i = 0; i < kCars; ++i) {
    if (owned[i]) world_.bodies[i] = before.bodies[i];
  }
  const bool goal = world_.is_goal();
  if (goal) {
    world_.kick_off();
    truth_.note_kick_off(time_s);
    contacts = {};
  }
  std::array<State, kBodies> states;
  for (std::size_t i = 0; i < kBodies; ++i) {
    states[i] = world_.bodies[i].state();
    if (goal) {
      (void)server_.teleport(ids_[i], states[i]);
    } else if (i == kBall || !owned[i]) {
      (void)server_.move(ids_[i], states[i]);
    }
    (void)server_.set_game_state(ids_[i], world_.bodies[i].bytes());
  }
  truth_.note(server_.next_tick(), states, contacts);
  server_.tick(time_s);
}

std::optional<Tick> FootballServer::used(std::size_t car, std::uint16_t number) const {
  for (const auto& [used, tick] : messages_[car].used) {
    if (static_cast<std::int16_t>(used - number) >= 0) return tick;
  }
  return std::nullopt;
}

}  // namespace reckoner::harness::football
