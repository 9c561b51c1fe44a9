// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {

/// A car on a plane: keys turn it and accelerate it. Its step is deterministic.
struct Car {
  double x = 0.0, y = 0.0, heading = 0.0, speed = 0.0;
  float fuel = 1.0f;

  void step(std::span<const std::byte> input, double dt) {
    const auto keys = input.empty() ? 0u : std::to_integer<unsigned>(input[0]);
    const double throttle = (keys & 1u) != 0 ? 12.0 : -4.0;
    const double turn = (keys & 2u) != 0 ? 1.5 : (keys & 4u) != 0 ? -1.5 : 0.0;
    speed = std::clamp(speed + throttle * dt, 0.0, 20.0);
    heading += turn * dt * std::min(1.0, speed / 4.0);
    x += speed * std::cos(heading) * dt;
    y += speed * std::sin(heading) * dt;
    fuel = static_cast<float>(fuel - 1e-4 * speed * dt);
  }
  [[nodiscard]] State state() const {
    State s;
    s.position = {x, y, 0.0};
    s.velocity = glm::vec3(glm::dvec3{speed * std::cos(heading), speed * std::sin(heading), 0.0});
    s.orientation = glm::quat(glm::angleAxis(heading, glm::dvec3{0.0, 0.0, 1.0}));
    return s;
  }
  // What the state does not contain.
  [[nodiscard]] std::array<std::byte, sizeof(double) * 3 + sizeof(float)> bytes() const {
    std::array<std::byte, sizeof(double) * 3 + sizeof(float)> out{};
    const std::array numbers{heading, speed, 0.0};
    std::memcpy(out.data(), numbers.data(), sizeof(numbers));
    std::memcpy(out.data() + sizeof(numbers), &fuel, sizeof(fuel));
    return out;
  }
  void restore(const State& s, std::span<const std::byte> bytes) {
    std::array<double, 3> numbers{};
    std::memcpy(numbers.data(), bytes.data(), sizeof(numbers));
    std::memcpy(&fuel, bytes.data() + sizeof(numbers), sizeof(fuel));
    x = s.position.x;
    y = s.position.y;
    heading = numbers[0];
    speed = numbers[1];
  }
};

inline constexpr double kTickS = 1.0 / 60.0;  ///< unless the server's configuration says otherwise

/// A server whose game steps one car for a client, and the client's game that predicts it.
struct Drive {
  double tick_s;
  World world;
  Car truth;
  EntityId id;
  ClientId player;
  Car own;
  bool is_mine = false;
  std::map<Tick, glm::dvec3> path;  // the server's, by tick
  std::function<std::byte(double)> keys = [](double) { return std::byte{1}; };
  std::function<void(double)> disturb = [](double) {};                // changes `truth` before a step
  std::function<bool(double)> stalls = [](double) { return false; };  // the client's game stands still
  std::size_t corrections = 0, polled = 0;
  std::vector<double> errors_m;  // of own states to the server's of the same tick
  std::vector<Tick> steps;
  std::map<Tick, CorrectionReason> corrected_ticks;
  struct Picture {
    double time_s, shown_s;
    State shown;
  };
  std::vector<Picture> pictures;

  explicit Drive(WorldConfig config, ClientConfig client = {})
      : tick_s(1.0 / config.server.tick_rate_hz), world(std::move(config)) {
    world.add_client(std::move(client));
    id = *world.server().spawn(0, "car", truth.state());
    world.before_tick = [this](double time_s) { server_step(time_s); };
    world.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      picture(time_s, shown);
    };
  }

  void server_step(double time_s) {
    Server& server = world.server();
    if (!player && !server.clients().empty()) {
      player = server.clients()[0];
      ASSERT_TRUE(server.let_predict(id, player));
    }
    const PlayerInput input = server.input(player);
    disturb(time_s);
    truth.step(input.bytes, tick_s);
    ASSERT_TRUE(server.move(id, truth.state()));
    ASSERT_TRUE(server.set_game_state(id, truth.bytes()));
    path[server.next_tick()] = truth.state().position;
  }

  void client_step(double time_s) {
    if (stalls(time_s)) return;
    Client& client = world.client(0);
    for (; polled < world.events(0).size(); ++polled) {
      const ClientEvent& event = world.events(0)[polled];
      if (event.kind == ClientEvent::Kind::prediction_began) is_mine = true;
      if (event.kind == ClientEvent::Kind::prediction_ended) is_mine = false;
    }
    if (const auto correction = client.poll_correction()) {
      ++corrections;
      corrected_ticks[correction->tick] = correction->reason;
      for (const CorrectedEntity& entity : correction->entities)
        own.restore(entity.state, entity.game_state);
      for (const PredictionStep& step : correction->steps)
        predict(step);
    }
    const std::array input{keys(time_s)};
    while (const auto step = client.next_step(input)) {
      steps.push_back(step->tick);
      if (is_mine) predict(*step);
    }
  }
  void predict(const PredictionStep& step) {
    own.step(step.input, tick_s);
    EXPECT_TRUE(world.client(0).predict(id, step.tick, own.state(), own.bytes()));
    results[step.tick] = own.state().position;
  }
  std::map<Tick, glm::dvec3> results;

  // The world has drawn a picture; the game steps after the next update.
  void picture(double time_s, std::span<const ShownEntity> shown) {
    client_step(time_s);
    for (const ShownEntity& entity : shown) {
      if (entity.id == id) pictures.push_back({time_s, entity.shown_time_s, entity.shown});
    }
  }

  [[nodiscard]] double worst_error_m(double from_s) const {
    double worst = 0.0;
    for (const auto& [tick, position] : results) {
      const auto found = path.find(tick);
      if (found != path.end() && tick * tick_s >= from_s)
        worst = std::max(worst, glm::distance(position, found->second));
    }
    return worst;
  }
};

/// Full throttle, and turns to both sides.
inline std::byte weaving_keys(double time_s) {
  const int phase = static_cast<int>(time_s * 2.5) % 4;
  return static_cast<std::byte>(1 + (phase == 1 ? 2 : phase == 3 ? 4 : 0));
}

}  // namespace reckoner::test
