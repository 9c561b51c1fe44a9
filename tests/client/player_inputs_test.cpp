// SPDX-License-Identifier: MIT
#include "client/src/prediction/player_inputs.hpp"

#include "net/src/messages/input_batch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

constexpr TickClock kTicks{.epoch_s = 0.0, .tick_rate_hz = 60.0};
constexpr double kLeadS = 0.1;

std::array<std::byte, 1> keys(unsigned value) {
  return {static_cast<std::byte>(value)};
}

// A game that steps what is due, and a server that reads the sections.
struct Player {
  PlayerInputs inputs;
  double now_s = 10.0;
  std::vector<Tick> steps;
  std::map<Tick, Input> given;  // by the tick in which the game gave them
  std::map<Tick, Input> known;  // at the server
  unsigned next_key = 0;

  Player() { inputs.begin(); }

  void picture(double seconds) {
    now_s += seconds;
    inputs.advance(now_s, now_s, kLeadS, kTicks);
    while (const auto tick = inputs.due()) {
      const auto bytes = keys(++next_key);
      given[*tick] = Input(bytes);
      (void)inputs.step(bytes, now_s);
      steps.push_back(*tick);
    }
  }
  // Writes a section. Nullopt if there is nothing to write.
  std::optional<InputBatch> written(std::size_t most_bits = 8 * kMaxDatagramBytes) {
    std::array<std::byte, kMaxDatagramBytes> buffer;
    BitWriter writer{buffer};
    if (!inputs.write(writer, most_bits, 0)) {
      EXPECT_EQ(writer.bits_written(), 0u);
      return std::nullopt;
    }
    EXPECT_LE(writer.bits_written(), most_bits);
    BitReader reader{writer.finish()};
    InputBatch batch;
    const auto find = [this](Tick tick) -> const Input* {
      const auto found = known.find(tick);
      return found != known.end() ? &found->second : nullptr;
    };
    EXPECT_TRUE(read_inputs(reader, steps.back(), find, batch));
    EXPECT_TRUE(reader.finished());
    return batch;
  }
  void arrive(const InputBatch& batch) {
    for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
      const auto [place, is_new] = known.try_emplace(batch.oldest() + static_cast<Tick>(i), batch.inputs[i]);
      EXPECT_EQ(place->second, batch.inputs[i]) << "an input has changed";
    }
  }
};

TEST(PlayerInputs, EachTickComesOnce) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    Player player;
    for (int i = 0; i < 3000; ++i)
      player.picture(std::uniform_real_distribution(0.0, 0.05)(random));
    ASSERT_GT(player.steps.size(), 1000u);
    for (std::size_t i = 1; i < player.steps.size(); ++i)
      ASSERT_EQ(player.steps[i], player.steps[i - 1] + 1);
  }
}

TEST(PlayerInputs, AStallLeavesTicksOutAndNoneComesTwice) {
  Player player;
  for (int i = 0; i < 100; ++i)
    player.picture(1.0 / 60.0);
  const Tick before = player.steps.back();
  const Input last = player.given[before];
  player.picture(1.0);
  for (int i = 0; i < 100; ++i)
    player.picture(1.0 / 60.0);
  EXPECT_TRUE(std::ranges::is_sorted(player.steps));
  EXPECT_EQ(std::ranges::adjacent_find(player.steps), player.steps.end());
  const auto after = std::ranges::upper_bound(player.steps, before);
  EXPECT_GE(*after, before + 55);
  EXPECT_EQ(player.inputs.input(before + 5), last);  // as the server repeats it
  // The sections do not pretend to know the ticks between.
  EXPECT_GE(player.written()->oldest(), *after);
}

TEST(PlayerInputs, NothingIsDueWhileInterrupted) {
  Player player;
  for (int i = 0; i < 60; ++i)
    player.picture(1.0 / 60.0);
  const Tick before = player.steps.back();
  player.inputs.interrupt();
  EXPECT_FALSE(player.inputs.due());
  player.now_s += 2.0;
  player.picture(1.0 / 60.0);
  player.picture(1.0 / 60.0);
  EXPECT_GT(player.steps.back(), before + 100);
  EXPECT_LE(player.steps.size(), 64u);
}

// Sections carry everything that is not acknowledged. So it costs nothing that most are lost.
TEST(PlayerInputs, ALostSectionCostsNothing) {
  std::mt19937 random(4);
  Player player;
  std::optional<Tick> newest;
  for (int i = 0; i < 3000; ++i) {
    player.picture(1.0 / 60.0);
    if (player.steps.empty()) continue;
    const auto batch = player.written();
    if (!batch || random() % 100 < 60) continue;
    player.arrive(*batch);
    newest = batch->newest;
    if (random() % 100 < 60) continue;  // the report is lost
    player.inputs.note_report({.newest = batch->newest}, kTicks);
  }
  ASSERT_TRUE(newest);
  std::size_t missing = 0;
  for (const auto& [tick, input] : player.given) {
    if (tick > *newest) continue;
    const auto found = player.known.find(tick);
    missing += found == player.known.end() || found->second != input ? 1 : 0;
  }
  EXPECT_EQ(missing, 0u);
}

TEST(PlayerInputs, ASectionHasAtMost64InputsAndTheNewestOnes) {
  Player player;
  for (int i = 0; i < 400; ++i)
    player.picture(1.0 / 60.0);
  const auto batch = player.written();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->inputs.size(), InputBatch::kMost);
  EXPECT_EQ(batch->newest, player.steps.back());
  EXPECT_FALSE(batch->has_base);
}

// After an outage over a path of small datagrams, all inputs would never fit again.
TEST(PlayerInputs, WhereTheRoomIsSmallTheNewestInputsAreWritten) {
  Player player;
  for (int i = 0; i < 120; ++i)
    player.picture(1.0 / 60.0);
  const std::size_t all_bits = [&] {
    std::array<std::byte, kMaxDatagramBytes> buffer;
    BitWriter writer{buffer};
    EXPECT_TRUE(player.inputs.write(writer, 8 * buffer.size(), 0));
    return writer.bits_written();
  }();
  std::size_t before = InputBatch::kMost;
  for (std::size_t room = all_bits - 1; room > all_bits / 16; room /= 2) {
    const auto batch = player.written(room);
    ASSERT_TRUE(batch) << room;
    EXPECT_EQ(batch->newest, player.steps.back());
    EXPECT_LT(batch->inputs.size(), before);
    before = batch->inputs.size();
    for (std::size_t i = 0; i < batch->inputs.size(); ++i)
      EXPECT_EQ(batch->inputs[i], player.given.at(batch->oldest() + static_cast<Tick>(i)));
    player.arrive(*batch);
  }
  EXPECT_LT(before, 10u);
}

TEST(PlayerInputs, NothingIsWrittenThatIsAcknowledgedOrDoesNotFit) {
  Player player;
  for (int i = 0; i < 30; ++i)
    player.picture(1.0 / 60.0);
  EXPECT_FALSE(player.written(40));
  const auto batch = player.written();
  ASSERT_TRUE(batch);
  player.arrive(*batch);
  player.inputs.note_report({.newest = batch->newest + 5}, kTicks);  // never sent
  EXPECT_TRUE(player.written());
  player.inputs.note_report({.newest = batch->newest}, kTicks);
  EXPECT_FALSE(player.written());
  player.inputs.note_report({.newest = batch->newest - 10}, kTicks);  // overtaken
  EXPECT_FALSE(player.written());
}

TEST(PlayerInputs, ADelayMovesInputsToLaterTicks) {
  Player player;
  player.inputs.configure(3, 1);
  for (int i = 0; i < 60; ++i)
    player.picture(1.0 / 60.0);
  const Tick tick = player.steps.back();
  EXPECT_EQ(player.inputs.input(tick), player.given[tick - 3]);
  const auto batch = player.written();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->newest, tick + 3);
  EXPECT_EQ(batch->inputs.back(), player.given[tick]);
  player.inputs.set_results(std::array{PredictedResult{}});
  EXPECT_EQ(player.written()->results_behind, 3);
}

TEST(PlayerInputs, SeveralInputsShareADatagram) {
  Player player;
  player.inputs.configure(0, 3);
  std::size_t datagrams = 0;
  for (int i = 0; i < 300; ++i) {
    player.picture(1.0 / 60.0);
    if (!player.inputs.any_due()) continue;
    ++datagrams;
    (void)player.written();
    EXPECT_FALSE(player.inputs.any_due());
  }
  EXPECT_NEAR(static_cast<double>(datagrams), static_cast<double>(player.steps.size()) / 3.0, 3.0);
}

}  // namespace
}  // namespace reckoner
