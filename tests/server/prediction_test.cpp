// SPDX-License-Identifier: MIT
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr float kSpeedMps = 60.0f;

State muzzle() {
  State s;
  s.position = {1.0, 0.0, 1.5};
  s.velocity = {kSpeedMps, 0.0f, 0.0f};
  return s;
}

// A player fires four times a second. Its client shows each shot at once and sends a message with the shot's
// key and time. The server spawns the shot where the player's shot is, but refuses every fifth one and
// ignores every seventh one.
class Duel {
 public:
  Duel(const std::string& links, PlayoutMode mode, bool sampled, std::uint64_t seed) : world_(config(seed)) {
    sampled_ = sampled;
    ClientConfig client;
    client.archetypes = config(seed).server.archetypes;
    client.playout.mode = mode;
    world_.add_client(client, {.offset_s = 77.0}, network(links));
    world_.before_tick = [this](double now_s) { judge(now_s); };
    world_.on_frame = [this](std::size_t, double, std::span<const ShownEntity> shown) { play(shown); };
    world_.run_to(30.0);
    stops_ = true;
    world_.run_to(34.0);
  }

  struct Shot {
    EntityId predicted;
    double fired_s = 0.0;
    std::size_t frames = 0;  // frames that showed either entity
    std::size_t gaps = 0;    // frames between them that showed neither
    std::size_t twice = 0;   // frames that showed both
    double step_m = 0.0;     // largest difference of a step to the step of the shot's speed
    std::optional<glm::dvec3> last{};
    std::optional<EntityId> real{};
    bool failed = false;
    bool over = false;
  };
  std::vector<Shot> shots;
  World& world() { return world_; }

 private:
  static WorldConfig config(std::uint64_t seed) {
    WorldConfig config;
    config.seed = seed;
    config.server.archetypes[0].max_speed_mps = 200.0;
    return config;
  }

  void judge(double now_s) {
    Server& server = world_.server();
    while (const auto message = server.poll_message()) {
      std::uint32_t key = 0;
      std::memcpy(&key, message->payload.data(), sizeof key);
      if (key % 5 == 4) {
        EXPECT_TRUE(server.refuse_prediction(message->sender, key));
      } else if (key % 7 != 6) {
        State state = muzzle();
        state.position.x += (now_s - *message->time_s) * kSpeedMps;
        EXPECT_TRUE(server.spawn_short_lived(
            0, state, {.end_s = *message->time_s + 1.0, .predicted_by = message->sender, .prediction = key}));
      }
    }
  }

  void play(std::span<const ShownEntity> shown) {
    Client& client = world_.client(0);
    for (; handled_ < world_.events(0).size(); ++handled_) {
      const ClientEvent& event = world_.events(0)[handled_];
      for (Shot& shot : shots) {
        if (event.kind == ClientEvent::Kind::spawned && event.predicted == shot.predicted)
          shot.real = event.entity;
        if (event.kind == ClientEvent::Kind::prediction_failed && event.entity == shot.predicted)
          shot.failed = true;
        if (event.kind == ClientEvent::Kind::despawned && event.entity == shot.real) shot.over = true;
      }
    }
    for (Shot& shot : shots)
      follow(shot, shown);
    if (++frames_ % 15 != 0 || stops_) return;
    const auto time_s = client.server_time_s();
    if (!time_s) return;
    const auto key = static_cast<std::uint32_t>(shots.size());
    const EntityId predicted = *client.predict_spawn(0, muzzle(), key);
    EXPECT_NE(client.info(predicted), nullptr);
    EXPECT_TRUE(client.send(std::as_bytes(std::span{&key, 1}), Delivery::reliable, time_s));
    shots.push_back({.predicted = predicted, .fired_s = *time_s});
  }

  static void follow(Shot& shot, std::span<const ShownEntity> shown) {
    if (shot.failed || shot.over) return;
    std::vector<glm::dvec3> positions;
    for (const ShownEntity& entity : shown) {
      if (entity.id == shot.predicted || entity.id == shot.real) positions.push_back(entity.shown.position);
    }
    shot.gaps += positions.empty() ? 1 : 0;
    shot.twice += positions.size() > 1 ? 1 : 0;
    ++shot.frames;
    if (positions.empty()) return;
    if (shot.last)
      shot.step_m =
          std::max(shot.step_m, std::abs(glm::distance(positions.front(), *shot.last) - kSpeedMps / 60.0));
    shot.last = positions.front();
  }

  World world_;
  bool sampled_ = false;
  bool stops_ = false;
  std::size_t frames_ = 0;
  std::size_t handled_ = 0;
};

void expect_continuous(const std::string& links, PlayoutMode mode, double most_step_m) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Duel duel(links, mode, false, seed);
    EXPECT_GT(duel.shots.size(), 90u);
    std::size_t replaced = 0;
    for (std::size_t key = 0; key < duel.shots.size(); ++key) {
      const Duel::Shot& shot = duel.shots[key];
      const bool refused = key % 5 == 4 || key % 7 == 6;
      EXPECT_EQ(shot.failed, refused) << links << " shot " << key;
      EXPECT_EQ(shot.real.has_value(), !refused) << links << " shot " << key;
      EXPECT_EQ(shot.gaps, 0u) << links << " shot " << key;
      EXPECT_EQ(shot.twice, 0u) << links << " shot " << key;
      EXPECT_LT(shot.step_m, most_step_m) << links << " shot " << key << " seed " << seed;
      replaced += shot.real ? 1 : 0;
    }
    EXPECT_GT(replaced, 50u);
    EXPECT_EQ(duel.world().client(0).stats().malformed, 0u);
  }
}

// The player's own shot is there in the frame after the trigger, and goes over into the server's without a
// gap, a double or a jump. A step between pictures is 1 m long at 60 m/s.
TEST(Prediction, ServersEntityContinuesThePredictedOne) {
  expect_continuous("lan", PlayoutMode::present, 0.3);
  expect_continuous("intercity", PlayoutMode::present, 0.3);
  expect_continuous("lan", PlayoutMode::adaptive, 1.0);
  expect_continuous("intercity", PlayoutMode::adaptive, 1.0);
}

TEST(Prediction, IsRefusedWithoutAClockAndBeyondTheLimit) {
  World world(WorldConfig{});
  world.add_client();
  Client& client = world.client(0);
  EXPECT_FALSE(client.predict_spawn(0, {}, 1));
  world.run_to(1.0);
  (void)world.updated(0);
  EXPECT_EQ(client.predict_spawn(3, {}, 1).error(), CallError::unknown_archetype);
  State fast;
  fast.velocity.x = 1e6f;
  EXPECT_EQ(client.predict_spawn(0, fast, 1).error(), CallError::too_fast);
  for (const double patience_s : {-1.0, 61.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(client.predict_spawn(0, {}, 1, patience_s).error(), CallError::out_of_range) << patience_s;
  for (std::uint32_t key = 0; key < 64; ++key)
    EXPECT_TRUE(client.predict_spawn(0, {}, key));
  EXPECT_EQ(client.predict_spawn(0, {}, 64).error(), CallError::world_full);
  world.run_to(3.0);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::prediction_failed), 64u);
  EXPECT_TRUE(world.shown(0).empty());
}

}  // namespace
}  // namespace reckoner::test
