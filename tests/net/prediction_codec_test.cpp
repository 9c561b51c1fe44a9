// SPDX-License-Identifier: MIT
// The sections of inputs and of predictions: round trips, sizes, and what a reader refuses.
#include "net/src/messages/correction.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/predicted_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Buffer = std::array<std::byte, 8192>;

Input random_input(std::mt19937& random, std::size_t most = kMaxInputBytes) {
  std::array<std::byte, kMaxInputBytes> bytes{};
  const std::size_t size = random() % (most + 1);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(random());
  return Input(std::span(bytes).first(size));
}

// An input that resembles the one before, as those of held keys and of sticks do.
Input next_input(std::mt19937& random, const Input& before) {
  if (random() % 3 != 0) return before;
  if (random() % 4 == 0) return random_input(random);
  std::array<std::byte, kMaxInputBytes> bytes{};
  std::ranges::copy(before.bytes(), bytes.begin());
  if (!before.bytes().empty()) bytes[random() % before.bytes().size()] = static_cast<std::byte>(random());
  return Input(std::span(bytes).first(before.bytes().size()));
}

PredictedResult random_result(std::mt19937& random) {
  PredictedResult r;
  for (auto& part : r.position)
    part = static_cast<std::uint8_t>(random() % 128);
  for (auto& part : r.rotation)
    part = static_cast<std::uint8_t>(random() % 64);
  r.game_state = static_cast<std::uint8_t>(random() % 32);
  return r;
}

TEST(PredictionCodec, InputsComeBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    InputBatch batch;
    batch.newest = static_cast<Tick>(random() % 1'000'000 + 1000);
    batch.corrected = static_cast<std::uint8_t>(random());
    batch.seen_age_ms = static_cast<std::uint16_t>(random() % 4096);
    batch.has_base = random() % 2 == 0;
    const Input base = random_input(random);
    Input input = batch.has_base ? base : Input{};
    for (std::size_t i = random() % InputBatch::kMost + 1; i > 0; --i)
      batch.inputs.push_back(input = next_input(random, input));
    for (std::size_t i = random() % (kMaxPredicted + 1); i > 0; --i)
      batch.results.push_back(random_result(random));
    if (!batch.results.empty()) batch.results_behind = static_cast<std::uint8_t>(random() % 4);

    Buffer buffer;
    BitWriter writer{buffer};
    write_inputs(writer, batch, base);
    BitReader reader{writer.finish()};
    InputBatch back;
    const Tick near = batch.newest + static_cast<Tick>(random() % 30'000) - 15'000;
    ASSERT_TRUE(read_inputs(
        reader, near, [&](Tick tick) { return tick == batch.oldest() - 1 ? &base : nullptr; }, back));
    ASSERT_TRUE(reader.finished());
    EXPECT_EQ(back.newest, batch.newest);
    EXPECT_EQ(back.corrected, batch.corrected);
    EXPECT_EQ(back.seen_age_ms, batch.seen_age_ms);
    EXPECT_EQ(back.results_behind, batch.results_behind);
    EXPECT_EQ(back.inputs, batch.inputs);
    EXPECT_EQ(back.results, batch.results);
  }
}

// A key that is held costs a bit, whatever the size of the input is.
TEST(PredictionCodec, HeldKeysCostABit) {
  const auto bits = [](std::size_t count) {
    std::array<std::byte, 8> keys{std::byte{3}};
    InputBatch batch;
    batch.newest = 500;
    batch.has_base = true;
    batch.inputs.assign(count, Input(keys));
    Buffer buffer;
    BitWriter writer{buffer};
    write_inputs(writer, batch, Input(keys));
    return writer.bits_written();
  };
  EXPECT_EQ(bits(8) - bits(7), 1u);
  EXPECT_LE(bits(12), 65u);
}

TEST(PredictionCodec, ResultsOfAnEntityTake44Bits) {
  EXPECT_EQ(PredictedResult::kBits, 44u);
}

TEST(PredictionCodec, AMissingBaseIsNoError) {
  InputBatch batch;
  batch.newest = 500;
  batch.has_base = true;
  batch.inputs.assign(3, Input{});
  Buffer buffer;
  BitWriter writer{buffer};
  write_inputs(writer, batch, Input{});
  BitReader reader{writer.finish()};
  InputBatch back;
  EXPECT_FALSE(read_inputs(
      reader, 500, [](Tick) { return nullptr; }, back));
}

TEST(PredictionCodec, RandomBytesAreRefusedOrValid) {
  std::mt19937 random(2);
  const Input known;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random() % 120);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random());
    BitReader inputs{bytes};
    InputBatch batch;
    (void)read_inputs(
        inputs, 100, [&](Tick) { return &known; }, batch);
    EXPECT_LE(batch.inputs.size(), InputBatch::kMost);
    EXPECT_LE(batch.results.size(), kMaxPredicted);
    BitReader predictions{bytes};
    PredictionReport report;
    read_predictions(predictions, 100, report);
    if (predictions.failed() || !report.correction) continue;
    EXPECT_LE(report.correction->first + report.correction->entities.size(), report.correction->total);
    for (const ExactState& exact : report.correction->entities)
      EXPECT_TRUE(is_sane(exact.state));
  }
}

ExactState random_state(std::mt19937& random) {
  std::normal_distribution<double> normal;
  ExactState exact;
  exact.entity = {static_cast<std::uint32_t>(random() % kMaxEntities + 1),
                  static_cast<std::uint16_t>(random())};
  exact.state.position = {normal(random) * 1e3, normal(random), normal(random) * 1e-9};
  if (random() % 2 == 0) exact.state.velocity = {static_cast<float>(normal(random)), 0.0f, -0.0f};
  if (random() % 2 == 0) exact.state.angular_velocity = {0.0f, static_cast<float>(normal(random)), 0.0f};
  exact.state.orientation = glm::normalize(glm::quat(static_cast<float>(normal(random)), 1.0f, 0.5f, 0.0f));
  exact.teleports = static_cast<std::uint8_t>(random());
  exact.game_state.resize(random() % (kMaxGameStateBytes + 1));
  for (std::byte& byte : exact.game_state)
    byte = static_cast<std::byte>(random());
  return exact;
}

bool same_bits(const State& a, const State& b) {
  return std::memcmp(&a.position, &b.position, sizeof(a.position)) == 0 &&
         std::memcmp(&a.velocity, &b.velocity, sizeof(a.velocity)) == 0 &&
         std::memcmp(&a.angular_velocity, &b.angular_velocity, sizeof(a.angular_velocity)) == 0 &&
         std::memcmp(&a.orientation, &b.orientation, sizeof(a.orientation)) == 0;
}

TEST(PredictionCodec, ExactStatesKeepEveryBit) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    PredictionReport report;
    if (random() % 2 == 0) {
      report.inputs = InputReport{.newest = static_cast<Tick>(random() % 100'000 + 1000)};
      if (random() % 2 == 0) {
        report.inputs->early = static_cast<int>(random() % 128) - 64;
        report.inputs->timed = report.inputs->newest - random() % 128;
      }
    }
    if (!report.inputs || random() % 2 == 0) {
      CorrectionPart& part = report.correction.emplace();
      part.number = static_cast<std::uint8_t>(random());
      part.total = static_cast<std::uint8_t>(random() % (kMaxPredicted + 1));
      part.reason = static_cast<CorrectionReason>(random() % 4);
      part.first = static_cast<std::uint8_t>(part.total > 0 ? random() % part.total : 0);
      for (int i = part.first; i < part.total; ++i)
        part.entities.push_back(random_state(random));
      std::ranges::sort(part.entities, {}, [](const ExactState& exact) { return exact.entity.index1; });
    }
    Buffer buffer;
    BitWriter writer{buffer};
    write(writer, report);
    ASSERT_FALSE(writer.overflowed());
    BitReader reader{writer.finish()};
    PredictionReport back;
    read_predictions(reader, report.inputs ? report.inputs->newest + 100 : 0, back);
    ASSERT_TRUE(reader.finished());
    EXPECT_EQ(back.inputs, report.inputs);
    ASSERT_EQ(back.correction.has_value(), report.correction.has_value());
    if (!back.correction) continue;
    EXPECT_EQ(back.correction->number, report.correction->number);
    EXPECT_EQ(back.correction->total, report.correction->total);
    EXPECT_EQ(back.correction->first, report.correction->first);
    ASSERT_EQ(back.correction->entities.size(), report.correction->entities.size());
    for (std::size_t i = 0; i < back.correction->entities.size(); ++i) {
      const ExactState &a = back.correction->entities[i], &b = report.correction->entities[i];
      EXPECT_TRUE(same_bits(a.state, b.state));
      EXPECT_EQ(a.entity, b.entity);
      EXPECT_EQ(a.game_state, b.game_state);
      EXPECT_EQ(a.teleports, b.teleports);
    }
  }
}

TEST(PredictionCodec, AStateThatIsNoneIsRefused) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto is_refused = [](const ExactState& exact) {
    PredictionReport report;
    report.correction = CorrectionPart{.total = 1, .entities = {exact}};
    Buffer buffer;
    BitWriter writer{buffer};
    write(writer, report);
    BitReader reader{writer.finish()};
    PredictionReport back;
    read_predictions(reader, 0, back);
    return reader.failed();
  };
  ExactState exact{.entity = {1, 0}};
  EXPECT_FALSE(is_refused(exact));
  exact.state.velocity.x = kNan;
  EXPECT_TRUE(is_refused(exact));
  exact = {.entity = {1, 0}};
  exact.state.orientation = {0.0f, 0.0f, 0.0f, 0.0f};
  EXPECT_TRUE(is_refused(exact));
  exact = {.entity = {1, 0}};
  exact.tolerance.position_m = 0.0f;
  EXPECT_TRUE(is_refused(exact));
}

// Whether `report` is refused when it is read.
bool is_refused(const PredictionReport& report) {
  Buffer buffer;
  BitWriter writer{buffer};
  write(writer, report);
  BitReader reader{writer.finish()};
  PredictionReport back;
  read_predictions(reader, 0, back);
  return reader.failed();
}

TEST(PredictionCodec, EntitiesInAnotherOrderAndTwiceAreRefused) {
  const ExactState first{.entity = {3, 0}}, second{.entity = {4, 0}}, later{.entity = {3, 1}};
  EXPECT_FALSE(is_refused({.correction = CorrectionPart{.total = 2, .entities = {first, second}}}));
  EXPECT_TRUE(is_refused({.correction = CorrectionPart{.total = 2, .entities = {second, first}}}));
  EXPECT_TRUE(is_refused({.correction = CorrectionPart{.total = 2, .entities = {first, first}}}));
  EXPECT_TRUE(is_refused({.correction = CorrectionPart{.total = 2, .entities = {first, later}}}));
}

// Every section has one encoding.
TEST(PredictionCodec, TheLongerFormOfAnInputIsRefused) {
  const auto is_read = [](unsigned size_before_bits, std::uint64_t size) {
    Buffer buffer;
    BitWriter writer{buffer};
    writer.write(500, 16);  // newest
    writer.write(0, 8);     // corrected
    writer.write(0, 12);    // seen_age_ms
    writer.write(0, 4);     // one input
    writer.write(1, 1);     // has_base
    writer.write(0, 1);     // not the same
    writer.write(size_before_bits, 1);
    if (size_before_bits == 0) writer.write(size, 7);
    const std::uint64_t bytes = size_before_bits == 1 ? 1 : size;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      writer.write(1, 1);  // changed
      writer.write(9, 8);
    }
    writer.write(0, 4);  // results
    BitReader reader{writer.finish()};
    InputBatch batch;
    const std::array before{std::byte{1}};
    const Input base{before};
    EXPECT_TRUE(read_inputs(
        reader, 500, [&](Tick) { return &base; }, batch));
    return reader.finished();
  };
  EXPECT_TRUE(is_read(1, 1));
  EXPECT_TRUE(is_read(0, 2));
  EXPECT_FALSE(is_read(0, 1));  // the size of the one before
}

TEST(PredictedResult, AgreesWithinTheToleranceAndNotBeyond) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> place(-1e4, 1e4), unit(-1.0, 1.0);
  for (int round = 0; round < 20'000; ++round) {
    State server;
    server.position = {place(random), place(random), place(random)};
    server.orientation =
        glm::normalize(glm::quat(static_cast<float>(unit(random)), static_cast<float>(unit(random)),
                                 static_cast<float>(unit(random)), 1.2f));
    const PredictionTolerance tolerance{0.02f, 0.01f};
    State client = server;
    if (random() % 2 == 0) client.orientation = -client.orientation;
    const int axis = static_cast<int>(random() % 3);
    const double share = unit(random) * 14.0;
    client.position[axis] += share * tolerance.position_m;
    const bool same = agrees(result_of(client, {}, tolerance, 7), server, {}, tolerance, 7);
    if (std::abs(share) < 0.74 || std::abs(share) > 1.26) {
      EXPECT_EQ(same, std::abs(share) < 1.0) << share;
    }
  }
}

TEST(PredictedResult, SeesOtherBytesOfTheGameSoon) {
  const PredictionTolerance tolerance;
  const State state;
  const std::array a{std::byte{1}, std::byte{2}}, b{std::byte{1}, std::byte{3}};
  int alike = 0;
  for (Tick tick = 0; tick < 3200; ++tick) {
    EXPECT_TRUE(agrees(result_of(state, a, tolerance, tick), state, a, tolerance, tick));
    alike += agrees(result_of(state, b, tolerance, tick), state, a, tolerance, tick) ? 1 : 0;
  }
  EXPECT_LT(alike, 200);  // one in 32 looks alike by chance, and not the same ones in a row
}

}  // namespace
}  // namespace reckoner::test
