// SPDX-License-Identifier: MIT
#include "harness/arena/arena.hpp"

#include "harness/arena/arena_rules.hpp"
#include "harness/arena/arena_truth.hpp"
#include "harness/sim/link.hpp"
#include "tests/support/sanitizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

using Values = std::map<std::string, double>;

Values play(const char* network, PlayoutMode mode, const ArenaCalls& calls = {}, std::uint64_t seed = 1) {
  ArenaOptions options;
  options.seed = seed;
  options.links = {*find_network(network), *find_network(network)};
  options.mode = mode;
  options.calls = calls;
  options.seconds = 25.0;
  options.players = 4;
  options.bots = 24;
  Values values;
  for (const ArenaFigure& figure : run_arena(options))
    values[figure.key] = figure.value;
  return values;
}

TEST(Arena, PlayersSeeWhatTheDocumentsPromise) {
  for (const char* network : {"lan", "intercity"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      SCOPED_TRACE(std::string(network) + (mode == PlayoutMode::present ? " present" : " adaptive"));
      Values v = play(network, mode);
      EXPECT_EQ(v["below_floor_deepest_m"], 0.0);
      EXPECT_EQ(v["between_pads"], 0.0);
      EXPECT_LE(v["avatar_speed_most_mps"], 1.05 * kFighterMaxMps);
      EXPECT_LE(v["owners_corrected"], 1.0);
      EXPECT_LE(v["shot_after_message_p95_ms"], 30.0);
      EXPECT_LE(v["shot_never_drawn_percent"], 0.5);
      EXPECT_EQ(v["shot_past_wall_worst_ms"], 0.0);
      EXPECT_EQ(v["own_shot_p95_ms"], 0.0);
      // A single burst of losses may swallow the reports of many arrivals, so one run says little.
      const unsigned runs = test::seeds_to_run(4);
      double unknown_percent = v["rewind_unknown_percent"] / runs;
      for (std::uint64_t seed = 2; seed <= runs; ++seed)
        unknown_percent += play(network, mode, {}, seed)["rewind_unknown_percent"] / runs;
      if (!test::kSanitized) {
        EXPECT_LE(unknown_percent, 0.6);
      }
      EXPECT_LE(v["rewind_wrong_percent"], 0.02);
      EXPECT_LE(v["rewind_p99_m"], 0.01);
      EXPECT_EQ(v["grant_p95_ms"], 0.0);
      EXPECT_EQ(v["refused_moves"], 0.0);
      EXPECT_EQ(v["late_events"], 0.0);
      EXPECT_LE(v["clock_error_p95_ms"], 2.0);
      if (mode == PlayoutMode::adaptive) {
        EXPECT_LE(v["bot_error_p95_m"], 0.03);
      }
      EXPECT_GT(v["bytes_down_per_s"], 1000.0);
    }
  }
}

// Each call that the game can leave out is worth something. This also shows that the figures can be bad.
TEST(Arena, EveryCallMatters) {
  const Values with = play("intercity", PlayoutMode::present);
  ArenaCalls late_reads;
  late_reads.arrival_times = false;
  EXPECT_GT(play("lan", PlayoutMode::adaptive, late_reads)["clock_error_p95_ms"], 3.0);
  const auto without = [](bool ArenaCalls::*call) {
    ArenaCalls calls;
    calls.*call = false;
    if (!calls.short_lived) calls.prediction = false;
    return play("intercity", PlayoutMode::present, calls);
  };
  EXPECT_GT(without(&ArenaCalls::floors)["below_floor_deepest_m"], 0.5);
  EXPECT_GT(without(&ArenaCalls::prediction)["own_shot_p95_ms"], 150.0);
  // A shot and the report of what its player saw travel together, so few shots have to wait.
  ArenaCalls hasty;
  hasty.pending = false;
  double hasty_percent = 0.0, unknown_percent = 0.0;
  for (std::uint64_t seed = 1; seed <= test::seeds_to_run(4); ++seed) {
    hasty_percent += play("stress", PlayoutMode::present, hasty, seed)["rewind_unknown_percent"];
    unknown_percent += play("stress", PlayoutMode::present, {}, seed)["rewind_unknown_percent"];
  }
  if (!test::kSanitized) {
    EXPECT_GT(hasty_percent, unknown_percent);
  }
  Values ordinary = without(&ArenaCalls::short_lived);
  EXPECT_GT(ordinary["shot_past_wall_p95_ms"], 100.0);
  EXPECT_EQ(play("intercity", PlayoutMode::present), with) << "a run is deterministic";
}

TEST(ArenaTruth, DrawsNoLineAcrossAJump) {
  ArenaTruth truth;
  const EntityId id{1, 0};
  truth.note(id, 1.0, {0.0, 0.0, 0.0});
  truth.note(id, 2.0, {1.0, 0.0, 0.0});
  truth.note_jump(id, {3.0, {2.0, 0.0, 0.0}, {50.0, 0.0, 0.0}});
  truth.note(id, 3.0, {50.0, 0.0, 0.0});
  truth.note(id, 4.0, {51.0, 0.0, 0.0});
  EXPECT_FALSE(truth.at(id, 0.5));
  EXPECT_FALSE(truth.at(id, 4.5));
  EXPECT_FALSE(truth.at({2, 0}, 1.5));
  const auto x = [&](double time_s) { return truth.at(id, time_s)->x; };
  EXPECT_DOUBLE_EQ(x(1.25), 0.25);
  EXPECT_DOUBLE_EQ(x(2.9), 1.0);
  EXPECT_DOUBLE_EQ(x(3.0), 50.0);
  EXPECT_DOUBLE_EQ(x(3.5), 50.5);
  EXPECT_EQ(truth.last_jump(id, 2.9), nullptr);
  ASSERT_NE(truth.last_jump(id, 3.0), nullptr);
  EXPECT_EQ(truth.last_jump(id, 10.0)->to.x, 50.0);
}

TEST(Fighter, StaysInTheArenaAndOnTheGround) {
  for (const FighterStyle style : {FighterStyle::acrobat, FighterStyle::rider}) {
    double highest_m = 0.0;
    double fastest_mps = 0.0;
    for (std::uint64_t number = 0; number < 20; ++number) {
      Fighter fighter(style, 7, number);
      for (int i = 0; i < 60 * 60; ++i) {
        const glm::dvec3 before = fighter.state().position;
        fighter.step(1.0 / 60.0);
        const State& now = fighter.state();
        fastest_mps = std::max(fastest_mps, 60.0 * glm::distance(before, now.position));
        highest_m = std::max(highest_m, now.position.z);
        ASSERT_GE(now.position.z, 0.0);
        ASSERT_LT(std::max(std::abs(now.position.x), std::abs(now.position.y)), kArenaHalfSideM);
      }
    }
    EXPECT_LE(fastest_mps, kFighterMaxMps);
    EXPECT_EQ(highest_m > 1.0, style == FighterStyle::acrobat);
    EXPECT_EQ(fastest_mps > 10.0, style == FighterStyle::acrobat);
  }
}

TEST(ArenaRequest, RoundTrip) {
  const ArenaRequest request{ArenaRequest::Kind::beam, 7, 123'456, {1.5, -2.0, 0.25}, -3.0};
  const auto bytes = request.bytes();
  const auto parsed = ArenaRequest::parse(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->kind, ArenaRequest::Kind::beam);
  EXPECT_EQ(parsed->player, 7);
  EXPECT_EQ(parsed->number, 123'456u);
  EXPECT_EQ(parsed->position, request.position);
  EXPECT_EQ(parsed->heading, -3.0);
  EXPECT_FALSE(ArenaRequest::parse(std::span(bytes).first(bytes.size() - 1)));
}

}  // namespace
}  // namespace reckoner::harness
