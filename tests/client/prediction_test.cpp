// SPDX-License-Identifier: MIT
// A player's own body: the client's game steps it at once, the server's game decides, and corrections fade.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <glm/geometric.hpp>

namespace reckoner::test {
namespace {

// A car on a plane: keys turn it and accelerate it. Its step is deterministic.
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

constexpr double kTickS = 1.0 / 60.0;

// A server whose game steps one car for a client, and the client's game that predicts it.
struct Drive {
  World world;
  Car truth;
  EntityId id;
  ClientId player;
  Car own;
  bool is_mine = false;
  std::map<Tick, glm::dvec3> path;                       // the server's, by tick
  std::function<std::byte(double)> keys = [](double) { return std::byte{1}; };
  std::function<void(double)> disturb = [](double) {};   // changes `truth` before a step
  std::size_t corrections = 0, polled = 0;
  std::vector<double> errors_m;                          // of own states to the server's of the same tick
  std::vector<Tick> steps;
  struct Picture {
    double time_s, shown_s;
    State shown;
  };
  std::vector<Picture> pictures;

  explicit Drive(WorldConfig config, ClientConfig client = {}) : world(std::move(config)) {
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
    truth.step(input.bytes, kTickS);
    ASSERT_TRUE(server.move(id, truth.state()));
    ASSERT_TRUE(server.set_game_state(id, truth.bytes()));
    path[server.next_tick()] = truth.state().position;
  }

  void client_step(double time_s) {
    Client& client = world.client(0);
    for (; polled < world.events(0).size(); ++polled) {
      const ClientEvent& event = world.events(0)[polled];
      if (event.kind == ClientEvent::Kind::prediction_began) is_mine = true;
      if (event.kind == ClientEvent::Kind::prediction_ended) is_mine = false;
    }
    if (const auto correction = client.poll_correction()) {
      ++corrections;
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
    own.step(step.input, kTickS);
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
      if (found != path.end() && tick * kTickS >= from_s)
        worst = std::max(worst, glm::distance(position, found->second));
    }
    return worst;
  }
};

std::byte weaving_keys(double time_s) {
  const int phase = static_cast<int>(time_s * 2.5) % 4;
  return static_cast<std::byte>(1 + (phase == 1 ? 2 : phase == 3 ? 4 : 0));
}

TEST(Prediction, NeedsNoCorrectionWithADeterministicStep) {
  Drive drive({.links = network("lan")});
  drive.keys = weaving_keys;
  drive.world.run_to(5.0);
  ASSERT_TRUE(drive.is_mine);
  const std::size_t first = drive.corrections;
  const PredictionStats before = *drive.world.server().prediction_stats(drive.player);
  drive.world.run_to(60.0);
  const PredictionStats after = *drive.world.server().prediction_stats(drive.player);
  EXPECT_EQ(drive.corrections, first);
  EXPECT_EQ(after.ticks_repeated, before.ticks_repeated);
  EXPECT_EQ(after.mispredicted, before.mispredicted);
  EXPECT_EQ(after.corrections, before.corrections);
  EXPECT_GT(after.results - before.results, 55u * 60u - 30u);
  EXPECT_EQ(drive.worst_error_m(5.0), 0.0);
  EXPECT_GT(drive.truth.fuel, 0.0f);
  EXPECT_EQ(drive.world.server().stats().refusals.total(), 0u);
  EXPECT_EQ(drive.world.client(0).stats().refusals.total(), 0u);
}

TEST(Prediction, StepsEachTickOnce) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(30.0);
  ASSERT_GT(drive.steps.size(), 1500u);
  for (std::size_t i = 1; i < drive.steps.size(); ++i)
    ASSERT_EQ(drive.steps[i], drive.steps[i - 1] + 1);
}

TEST(Prediction, InputsArriveInTimeWithAShortLead) {
  for (const char* name : {"lan", "intercity", "mobile"}) {
    Drive drive({.links = network(name)});
    drive.keys = weaving_keys;
    drive.world.run_to(20.0);
    const PredictionStats before = *drive.world.server().prediction_stats(drive.player);
    drive.world.run_to(140.0);
    const PredictionStats after = *drive.world.server().prediction_stats(drive.player);
    const double share = static_cast<double>(after.ticks_repeated - before.ticks_repeated) /
                         static_cast<double>(after.ticks - before.ticks);
    RecordProperty(std::string(name) + "_share", std::to_string(share));
    RecordProperty(std::string(name) + "_lead_s", std::to_string(drive.world.client(0).stats().input_lead_s));
    EXPECT_LT(share, 0.003) << name;
  }
}

// The largest step of what is shown between two pictures beyond its velocity, m, and the largest change of its
// velocity, m/s, from `from_s` on.
struct Steps {
  double position_m = 0.0;
  double velocity_mps = 0.0;
};
Steps steps_of(const std::vector<Drive::Picture>& pictures, double from_s) {
  Steps worst;
  std::optional<glm::dvec3> before;
  for (std::size_t i = 1; i < pictures.size(); ++i) {
    const Drive::Picture &a = pictures[i - 1], &b = pictures[i];
    if (a.time_s < from_s || b.shown_s <= a.shown_s) continue;
    const double dt = b.shown_s - a.shown_s;
    const glm::dvec3 moved = b.shown.position - a.shown.position;
    const glm::dvec3 mean = 0.5 * (glm::dvec3(a.shown.velocity) + glm::dvec3(b.shown.velocity));
    worst.position_m = std::max(worst.position_m, glm::length(moved - mean * dt));
    const glm::dvec3 velocity = moved / dt;
    if (before) worst.velocity_mps = std::max(worst.velocity_mps, glm::length(velocity - *before));
    before = velocity;
  }
  return worst;
}

// Something that only the server knows pushes the car.
void push_at(Drive& drive, double at_s, double by_m) {
  drive.disturb = [&drive, at_s, by_m, done = false](double time_s) mutable {
    if (done || time_s < at_s) return;
    done = true;
    drive.truth.y += by_m;
    drive.truth.speed *= 0.8;
  };
}

TEST(Prediction, ACorrectionFadesWithoutAJump) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(10.0);
  const Steps quiet = steps_of(drive.pictures, 5.0);
  const std::size_t before = drive.corrections;
  push_at(drive, 10.0, 0.3);
  drive.world.run_to(12.0);
  EXPECT_GT(drive.corrections, before);
  EXPECT_LE(drive.corrections, before + 2);
  const Steps corrected = steps_of(drive.pictures, 10.0);
  // The mean of two velocities is not exact while the car turns.
  EXPECT_LT(corrected.position_m, quiet.position_m + 0.005);
  // 0.3 m and some from the speed fade in 0.25 s: at most 6 e / T^2 in acceleration.
  EXPECT_LT(corrected.velocity_mps, quiet.velocity_mps + 1.6);
  // One round trip and the fade after the push, what is shown is right.
  for (const Drive::Picture& picture : drive.pictures) {
    const auto tick = static_cast<Tick>(picture.shown_s / kTickS);
    if (picture.time_s < 10.0 + 0.75 || !drive.path.contains(tick + 1)) continue;  // ahead of the server
    const double share = picture.shown_s / kTickS - tick;
    const glm::dvec3 truth = glm::mix(drive.path[tick], drive.path[tick + 1], share);
    EXPECT_LT(glm::distance(picture.shown.position, truth), 0.01) << picture.time_s;
  }
}

TEST(Prediction, BeginsAndEndsWithoutAJump) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(8.0);
  ASSERT_TRUE(drive.is_mine);
  ASSERT_TRUE(drive.world.server().stop_prediction(drive.id, drive.player));
  drive.world.run_to(10.0);
  EXPECT_FALSE(drive.is_mine);
  ASSERT_TRUE(drive.world.server().let_predict(drive.id, drive.player));
  drive.world.run_to(12.0);
  EXPECT_TRUE(drive.is_mine);
  double worst = 0.0;
  for (std::size_t i = 1; i < drive.pictures.size(); ++i) {
    if (drive.pictures[i].time_s < 5.0) continue;
    const double step = glm::distance(drive.pictures[i].shown.position, drive.pictures[i - 1].shown.position);
    worst = std::max(worst, step);
  }
  // It goes over from one instant to another, 0.16 s of 20 m/s, in the time of a blend.
  EXPECT_LT(worst, 20.0 / 60.0 * 3.0);
}

TEST(Prediction, ATeleportJumps) {
  Drive drive({.links = network("lan")});
  drive.world.run_to(5.0);
  drive.disturb = [&](double time_s) {
    if (time_s < 5.5 || drive.truth.y > 50.0) return;
    drive.truth.y += 100.0;
    ASSERT_TRUE(drive.world.server().teleport(drive.id, drive.truth.state()));
  };
  drive.world.run_to(7.0);
  std::size_t jumps = 0, between = 0;
  for (std::size_t i = 1; i < drive.pictures.size(); ++i) {
    const double y = drive.pictures[i].shown.position.y, y_before = drive.pictures[i - 1].shown.position.y;
    jumps += y - y_before > 99.0 ? 1 : 0;
    between += y > 1.0 && y < 99.0 ? 1 : 0;
  }
  EXPECT_EQ(jumps, 1u);
  EXPECT_EQ(between, 0u);
}

// Keys take effect in the first picture after they change: nothing waits for the network.
TEST(Prediction, RespondsInTheSamePicture) {
  Drive drive({.links = network("mobile")});
  drive.keys = [](double time_s) { return time_s < 6.0 ? std::byte{0} : std::byte{1}; };
  drive.world.run_to(8.0);
  double pressed_s = 0.0, moved_s = 0.0;
  for (const Drive::Picture& picture : drive.pictures) {
    if (pressed_s == 0.0 && picture.time_s >= 6.0) pressed_s = picture.time_s;
    if (moved_s == 0.0 && picture.shown.position.x > 1e-4) moved_s = picture.time_s;
  }
  ASSERT_GT(moved_s, 0.0);
  // The test's game steps after the picture, so the next picture is the first that can show it.
  EXPECT_LE(moved_s - pressed_s, 2.0 / 60.0 + 1e-3);
}

TEST(Prediction, GoesOnAfterAResume) {
  Drive drive({.links = network("lan"), .script = ""});
  drive.keys = weaving_keys;
  drive.world.run_to(5.0);
  drive.world.suspend_client(0, 7.0);
  drive.world.run_to(12.0);
  const std::size_t before = drive.corrections;
  drive.world.run_to(20.0);
  EXPECT_EQ(drive.corrections, before);
  EXPECT_EQ(drive.worst_error_m(12.0), 0.0);
}

TEST(Prediction, FunctionsRefuseWhatIsWrong) {
  Drive drive({.links = network("lan")});
  drive.world.run_to(3.0);
  Server& server = drive.world.server();
  Client& client = drive.world.client(0);
  EXPECT_EQ(server.let_predict({}, drive.player).error(), CallError::unknown_entity);
  EXPECT_EQ(server.let_predict(drive.id, {}).error(), CallError::unknown_client);
  EXPECT_EQ(server.let_predict(drive.id, drive.player, {.position_m = 0.0}).error(), CallError::out_of_range);
  EXPECT_EQ(server.stop_prediction(drive.id, {}).error(), CallError::unknown_client);
  EXPECT_EQ(server.give(drive.id, drive.player).error(), CallError::predicted);
  const std::array<std::byte, kMaxGameStateBytes + 1> long_state{};
  EXPECT_EQ(server.set_game_state(drive.id, long_state).error(), CallError::data_too_long);
  EXPECT_EQ(server.set_game_state({}, {}).error(), CallError::unknown_entity);
  EXPECT_TRUE(server.input({}).bytes.empty());
  EXPECT_FALSE(server.prediction_stats({}));

  const Tick stepped = drive.steps.back();
  const State state;
  EXPECT_EQ(client.predict({}, stepped, state).error(), CallError::not_predicted);
  EXPECT_EQ(client.predict(drive.id, stepped + 1, state).error(), CallError::no_step);
  EXPECT_EQ(client.predict(drive.id, stepped - 300, state).error(), CallError::no_step);
  EXPECT_EQ(client.predict(drive.id, stepped, state, long_state).error(), CallError::data_too_long);
  State strange;
  strange.position.x = std::nan("");
  EXPECT_EQ(client.predict(drive.id, stepped, strange).error(), CallError::not_finite);
  const std::array<std::byte, kMaxInputBytes + 1> long_input{};
  EXPECT_FALSE(client.next_step(long_input));

  const EntityId given = *server.spawn(0, "own", {});
  drive.world.run_to(4.0);
  ASSERT_TRUE(server.give(given, drive.player));
  EXPECT_EQ(server.let_predict(given, drive.player).error(), CallError::owned);
  for (std::size_t i = 1; i < kMaxPredicted; ++i)
    EXPECT_TRUE(server.let_predict(*server.spawn(0, "more", {}), drive.player));
  EXPECT_EQ(server.let_predict(*server.spawn(0, "more", {}), drive.player).error(),
            CallError::too_many_predicted);
}

}  // namespace
}  // namespace reckoner::test
