// SPDX-License-Identifier: MIT
// A thousand seeds of chaos on the simulated bus: processes pause and die, connections break in both
// directions, and the server of the bus restarts. Whatever happens, no two writers are accepted, no epoch
// decreases, and after the chaos every cell and every body has exactly one holder.
#include "cluster_world.hpp"
#include "tests/support/sanitizer.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using cluster::SimHub;

constexpr double kChaosStepS = 0.01;
constexpr std::size_t kBodies = 8;

struct Chaos {
  explicit Chaos(std::uint64_t seed)
      : config(small_world(20.0)),
        hub({}, seed),
        random(seed),
        witness_bus(hub),
        witness(config, witness_bus) {
    for (std::uint32_t i = 0; i < 3; ++i)
      start_simulator();
    simulators[0]->to_spawn = bodies(kBodies, config, seed);
  }

  void start_simulator() {
    ++number;
    simulators.push_back(
        std::make_unique<SimulatorProcess>(hub, config, "sim" + std::to_string(number), number));
  }
  [[nodiscard]] double share() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  [[nodiscard]] SimulatorProcess& any() { return *simulators[random() % simulators.size()]; }

  void run(double seconds) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += kChaosStepS) {
      hub.advance(now_s);
      for (auto& s : simulators)
        s->run(now_s);
      witness.run(now_s);
    }
  }

  // One fault, and its end.
  void fault() {
    const double lasts_s = 0.2 + 4.0 * share();
    switch (random() % 5) {
      case 0: {
        SimulatorProcess& paused = any();
        paused.paused = true;
        run(lasts_s);
        paused.paused = false;
        break;
      }
      case 1: {  // kill -9, and another process later
        simulators.erase(simulators.begin() + static_cast<std::ptrdiff_t>(random() % simulators.size()));
        run(lasts_s);
        start_simulator();
        break;
      }
      case 2:
      case 3: {
        SimulatorProcess& cut = any();
        hub.cut(cut.bus(), random() % 2 == 0 ? SimHub::Cut::lose : SimHub::Cut::delay, now_s);
        run(lasts_s);
        hub.cut(cut.bus(), SimHub::Cut::none, now_s);
        break;
      }
      default:
        hub.stop(now_s);
        run(lasts_s);
        hub.start(now_s);
        break;
    }
    run(2.0 * share());
  }

  // True if every cell and every body has exactly one holder. Something may be in flight at any instant.
  [[nodiscard]] bool is_sound() {
    std::map<EntityId, int> holders;
    std::size_t cells = 0;
    for (auto& s : simulators) {
      if (s->simulator() == nullptr) return false;
      for (const EntityId id : s->simulator()->held())
        ++holders[id];
      cells += s->simulator()->cell_count();
    }
    for (const auto& [id, times] : holders) {
      if (times != 1) return false;
    }
    return cells == config.columns * config.rows && holders.size() == kBodies;
  }

  void expect_sound() {
    for (int i = 0; i < 100 && !is_sound(); ++i)
      run(0.1);
    std::string state;
    for (auto& s : simulators) {
      ASSERT_EQ(s->error(), "");
      state += s->simulator() == nullptr
                   ? " none"
                   : " cells " + std::to_string(s->simulator()->cell_count()) + " bodies " +
                         std::to_string(s->simulator()->held_count()) + ";";
    }
    EXPECT_TRUE(is_sound()) << state;
    EXPECT_EQ(witness.faults(), std::vector<std::string>{});
  }

  ClusterConfig config;
  SimHub hub;
  std::mt19937_64 random;
  cluster::SimBus witness_bus;
  cluster::Witness witness;
  std::uint32_t number = 0;
  std::vector<std::unique_ptr<SimulatorProcess>> simulators;
  double now_s = 1000.0;
};

class ChaosTest : public ::testing::TestWithParam<std::uint64_t> {};

constexpr std::uint64_t kSeedsInOne = kSanitized ? 4 : 125;  // sanitizers take ten times as long

void run_seed(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Chaos chaos(seed);
  chaos.run(4.0);  // until there are checkpoints
  const int faults = 1 + static_cast<int>(chaos.random() % 3);
  for (int i = 0; i < faults; ++i)
    chaos.fault();
  chaos.run(9.0);
  chaos.expect_sound();
}

TEST_P(ChaosTest, NeverTwoWritersNeverAStuckCellNothingLost) {
  for (std::uint64_t seed = 1; seed <= kSeedsInOne && !HasFailure(); ++seed)
    run_seed(1000 * GetParam() + seed);
}

// Other seeds, for a long run: RECKONER_CHAOS_SEEDS="FIRST COUNT".
TEST(ChaosOfOtherSeedsTest, NothingLost) {
  const char* text = std::getenv("RECKONER_CHAOS_SEEDS");
  if (text == nullptr) GTEST_SKIP() << "RECKONER_CHAOS_SEEDS is not set";
  char* rest = nullptr;
  const std::uint64_t first = std::strtoull(text, &rest, 10);
  const std::uint64_t count = std::strtoull(rest, nullptr, 10);
  ASSERT_GT(count, 0u);
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    run_seed(seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChaosTest, ::testing::Range(std::uint64_t{0}, std::uint64_t{8}));

}  // namespace
}  // namespace reckoner::test
