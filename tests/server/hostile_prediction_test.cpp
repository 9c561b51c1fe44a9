// SPDX-License-Identifier: MIT
// Clients whose code is not ours, and whose player wants to drive further than an honest one.
#include "net/src/messages/input_batch.hpp"
#include "tests/support/forged_client.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>
#endif

namespace reckoner::test {
namespace {

constexpr double kTickS = 1.0 / 60.0;
constexpr double kStartS = 3.0, kEndS = 23.0;

// Memory in use, bytes; 0 if the system does not say.
std::size_t memory_in_use() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

// A car on a line. Full throttle is the best that a player can do.
struct Car {
  double x = 0.0, speed = 0.0;

  void step(std::span<const std::byte> input) {
    const bool gas = !input.empty() && (input[0] & std::byte{1}) != std::byte{0};
    speed = std::clamp(speed + (gas ? 12.0 : -4.0) * kTickS, 0.0, 20.0);
    x += speed * kTickS;
  }
  [[nodiscard]] State state() const {
    State s;
    s.position.x = x;
    s.velocity.x = static_cast<float>(speed);
    return s;
  }
};

Input keys(unsigned value) {
  return Input(std::array{static_cast<std::byte>(value)});
}

// A server with a car for an honest player and one for a cheater.
class Race {
 public:
  explicit Race(double repeat_input_s = 0.2) : world(config(repeat_input_s)), cheater(world) {
    world.add_client();
    cheater.join();
    for (std::size_t i = 0; i < cars.size(); ++i)
      ids[i] = *world.server().spawn(0, "car", cars[i].state());
    world.on_frame = [this](std::size_t, double, std::span<const ShownEntity>) { drive_honestly(); };
    world.before_tick = [this](double time_s) { tick(time_s); };
    world.run_to(1.0);
    for (const ClientId client : world.server().clients()) {
      const std::size_t car = client == cheater.id() ? 1 : 0;
      drivers[car] = client;
      EXPECT_TRUE(world.server().let_predict(ids[car], client));
    }
  }

  static WorldConfig config(double repeat_input_s) {
    WorldConfig config{.links = network("lan")};
    config.server.repeat_input_s = repeat_input_s;
    return config;
  }

  /// Calls `act` in each tick, with the server's next one.
  void run_to(double until_s, const std::function<void(Race&, Tick next)>& act) {
    while (world.now_s() < until_s) {
      act(*this, world.server().next_tick());
      cheater.service();
      world.run_to(world.now_s() + kTickS);
    }
  }
  void send(Tick newest, std::size_t count, unsigned key, std::vector<PredictedResult> results = {},
            std::uint8_t corrected = 0) {
    InputBatch batch;
    batch.newest = newest;
    batch.corrected = corrected;
    batch.inputs.assign(count, keys(key));
    batch.results = std::move(results);
    cheater.send_inputs(batch);
  }
  [[nodiscard]] PredictionStats stats() { return *world.server().prediction_stats(drivers[1]); }
  [[nodiscard]] const RefusalCounts& refusals() { return world.server().stats().refusals; }

  World world;
  ForgedClient cheater;
  std::array<Car, 2> cars;  // 0: the honest player's
  std::array<EntityId, 2> ids;
  std::array<ClientId, 2> drivers;
  std::size_t empty = 0;            // ticks without an input of the cheater, not even an earlier one
  std::size_t pressed = 0;          // ticks in which the cheater's throttle was open
  std::uint32_t most_repeated = 0;  // of inputs that were not empty

 private:
  void drive_honestly() {
    Client& client = world.client(0);
    (void)client.poll_correction();
    while (client.next_step(keys(1).bytes())) {
    }
  }
  void tick(double time_s) {
    Server& server = world.server();
    for (std::size_t i = 0; i < cars.size(); ++i) {
      const PlayerInput input = server.input(drivers[i]);
      if (time_s >= kStartS) cars[i].step(input.bytes);
      (void)server.move(ids[i], cars[i].state());
      if (i == 0 || time_s < kStartS) continue;
      empty += input.bytes.empty() ? 1 : 0;
      pressed += !input.bytes.empty() && input.bytes[0] == std::byte{1} ? 1 : 0;
      if (!input.bytes.empty()) most_repeated = std::max(most_repeated, input.repeated);
    }
  }
};

struct Try {
  const char* name;
  std::function<void(Race&, Tick next)> act;
  /// Called at the end: that the server has counted what it refused.
  std::function<void(Race&)> counted;
};
void PrintTo(const Try& what, std::ostream* out) {
  *out << what.name;
}

std::vector<PredictedResult> random_results(std::mt19937& random) {
  std::vector<PredictedResult> results(random() % (kMaxPredicted + 1));
  for (PredictedResult& result : results) {
    for (auto& part : result.position)
      part = static_cast<std::uint8_t>(random() % 128);
    for (auto& part : result.rotation)
      part = static_cast<std::uint8_t>(random() % 64);
    result.game_state = static_cast<std::uint8_t>(random() % 32);
  }
  return results;
}

// What a cheater may try. All hold the throttle open as often as they can.
std::vector<Try> tries() {
  const auto none = [](Race&) {};
  return {
      {"HonestInputs", [](Race& race, Tick next) { race.send(next + 6, 8, 1); },
       [](Race& race) { EXPECT_EQ(race.stats().inputs_refused + race.stats().ticks_repeated, 0u); }},
      {"FloodFarAhead",
       [](Race& race, Tick next) {
         for (const Tick ahead : {64u, 65u, 200u, 1000u, 30'000u})
           race.send(next + ahead, InputBatch::kMost, 1);
       },
       [](Race& race) {
         EXPECT_GT(race.stats().inputs_refused, 1000u * InputBatch::kMost);
         EXPECT_GT(race.refusals()[Refusal::from_future], 1000u);
       }},
      {"TwentyCopies",
       [](Race& race, Tick next) {
         for (int i = 0; i < 20; ++i)
           race.send(next + 6, 8, 1);
       },
       [](Race& race) { EXPECT_EQ(race.stats().ticks_repeated, 0u); }},
      {"ChangedInputs",
       [](Race& race, Tick next) {
         race.send(next + 8, 1, 0);  // before the others, which may overtake it in the network
         for (int i = 0; i < 5; ++i)
           race.send(next + 6, 20, 1);
       },
       [](Race& race) { EXPECT_EQ(race.pressed, 0u) << "an input has changed after it had arrived"; }},
      {"FalseResults",
       [random = std::mt19937{5}](Race& race, Tick next) mutable {
         race.send(next + 6, 8, 1, random_results(random), static_cast<std::uint8_t>(random()));
       },
       [](Race& race) { EXPECT_GT(race.stats().corrections, 100u); }},
      {"LongPastTicks",
       [](Race& race, Tick next) {
         race.send(next - 2, 64, 1);
         race.send(next - 200, 64, 1);
       },
       [](Race& race) {
         EXPECT_GT(race.stats().inputs_late, 1000u);
         EXPECT_GT(race.refusals()[Refusal::too_old], 1000u);
         EXPECT_EQ(race.pressed, 0u);
         EXPECT_GT(race.empty, 1000u);
       }},
      {"WithheldInputs",
       [](Race& race, Tick next) {
         if (next % 120 < 30) race.send(next + 6, 8, 1);
       },
       [](Race& race) {
         EXPECT_GT(race.empty, 500u);
         EXPECT_LE(race.most_repeated, 12u);
       }},
      {"OneInputAndNoMore",
       [](Race& race, Tick next) {
         if (race.world.now_s() < kStartS) race.send(next + 6, 8, 1);
       },
       [](Race& race) { EXPECT_LE(race.pressed, 8u + 12u); }},
      {"DelayedInputs", [](Race& race, Tick next) { race.send(next - 20, 8, 1); },
       [](Race& race) { EXPECT_EQ(race.pressed, 0u); }},
      // It stops its link for half a second, and then sends everything at once.
      {"InBursts",
       [](Race& race, Tick next) {
         if (next % 30 == 0) race.send(next + 1, 32, 1);
       },
       [](Race& race) { EXPECT_GT(race.stats().inputs_late, 500u); }},
      {"LongInputs",
       [random = std::mt19937{6}](Race& race, Tick next) mutable {
         InputBatch batch;
         batch.newest = next + 6;
         for (int i = 0; i < 12; ++i) {
           std::array<std::byte, kMaxInputBytes> bytes;
           for (std::byte& byte : bytes)
             byte = static_cast<std::byte>(random());
           bytes[0] = std::byte{1};
           batch.inputs.emplace_back(bytes);
         }
         race.cheater.send_inputs(batch);
       },
       none},
      // The base is an input that the server never got.
      {"MissingBase",
       [](Race& race, Tick next) {
         InputBatch batch;
         batch.newest = next + 300;
         batch.has_base = true;
         batch.inputs.assign(1, keys(1));
         race.cheater.send_inputs(batch, keys(1));
       },
       [](Race& race) {
         EXPECT_GT(race.refusals()[Refusal::unknown_baseline], 1000u);
         EXPECT_EQ(race.pressed, 0u);
       }},
  };
}

class HostilePredictionTry : public ::testing::TestWithParam<Try> {};

TEST_P(HostilePredictionTry, GainsNoDistance) {
  Race race;
  race.run_to(kStartS + 2.0, GetParam().act);
  const std::size_t before = memory_in_use();
  race.run_to(kEndS, GetParam().act);
  const std::size_t after = memory_in_use();
  GetParam().counted(race);
  const double honest_m = race.cars[0].x, cheater_m = race.cars[1].x;
  RecordProperty("honest_m", std::to_string(honest_m));
  RecordProperty("cheater_m", std::to_string(cheater_m));
  EXPECT_GT(honest_m, 20.0 * (kEndS - kStartS) * 0.9);
  EXPECT_LE(cheater_m, honest_m + 1e-9);
  // A server that kept all that a flood sends would need 30 MB. The test itself keeps numbers of datagrams.
  EXPECT_LT(after, before + 3'000'000u) << "memory grows with what the cheater sends";
  // The honest player beside the cheater has no disadvantage.
  EXPECT_EQ(race.world.server().prediction_stats(race.drivers[0])->inputs_refused, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, HostilePredictionTry, ::testing::ValuesIn(tries()),
                         [](const auto& tried) { return std::string(tried.param.name); });

// A client that does not predict an entity cannot move it, nor be corrected about it.
TEST(HostilePrediction, ResultsForEntitiesOfOthersHaveNoEffect) {
  Race race;
  ASSERT_TRUE(race.world.server().stop_prediction(race.ids[1], race.drivers[1]));
  std::mt19937 random(7);
  race.run_to(kStartS, [](Race& r, Tick next) { r.send(next + 6, 8, 1); });
  const PredictionStats before = race.stats();
  race.run_to(kEndS, [&](Race& r, Tick next) {
    r.send(next + 6, 8, 1, random_results(random), static_cast<std::uint8_t>(random()));
  });
  EXPECT_EQ(race.stats().results, before.results);
  EXPECT_LE(race.stats().corrections, before.corrections + 2);
}

TEST(HostilePrediction, AGameChoosesHowLongAnInputIsRepeated) {
  for (const double repeat_s : {0.0, 0.1, 0.5}) {
    Race race(repeat_s);
    race.run_to(kStartS + 1.0, [](Race& r, Tick next) { r.send(next + 6, 8, 1); });
    race.run_to(kStartS + 3.0, [](Race&, Tick) {});
    EXPECT_EQ(race.most_repeated, static_cast<std::uint32_t>(repeat_s * 60.0)) << repeat_s;
    EXPECT_GT(race.empty, 60u);
  }
}

}  // namespace
}  // namespace reckoner::test
