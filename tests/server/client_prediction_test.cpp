// SPDX-License-Identifier: MIT
#include "server/src/prediction/client_prediction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr PredictionTolerance kTolerance{0.01f, 0.01f};

// A server's end, and a client whose results are those of `shown`.
struct Duet {
  ClientPrediction prediction;
  std::vector<EntityId> ids{{1, 0}, {2, 0}};
  std::vector<ExactState> truth{{.entity = ids[0]}, {.entity = ids[1]}};
  Tick tick = 1000;
  std::uint8_t corrected = 0;  // that the client has applied
  double error_m = 0.0;        // of the client's result for the second entity
  bool sends_inputs = true, sends_results = true, counts_right = true;
  std::size_t complete = 0;  // corrections that were written
  std::vector<CorrectionReason> reasons;

  Duet() {
    for (const EntityId id : ids)
      EXPECT_TRUE(prediction.add(id, kTolerance));
    for (ExactState& state : truth)
      state.tolerance = kTolerance;
  }

  // One tick: the client's section for it arrives, the server compares. `delivers`: the client applies what
  // is written.
  void run(bool delivers = true) {
    ++tick;
    if (sends_inputs) send();
    (void)prediction.inputs().take(tick, 12, prediction.stats());
    judge();
    const CorrectionPart* correction = prediction.correction();
    if (correction == nullptr) return;
    EXPECT_EQ(correction->total, correction->entities.size());
    reasons.push_back(correction->reason);
    const std::uint8_t number = correction->number;
    prediction.note_written(correction->entities.size());
    EXPECT_EQ(prediction.correction(), nullptr);
    ++complete;
    if (delivers) corrected = number;
  }
  void judge() { prediction.judge(tick, 1e-2 * tick, truth); }
  void send() {
    InputBatch batch;
    batch.newest = tick;
    batch.corrected = corrected;
    batch.inputs.assign(1, Input{});
    for (std::size_t i = 0; sends_results && i < truth.size(); ++i) {
      State own = truth[i].state;
      if (i == 1) own.position.x += error_m;
      batch.results.push_back(result_of(own, truth[i].game_state, kTolerance, tick));
    }
    if (!counts_right) batch.results.resize(kMaxPredicted);
    EXPECT_FALSE(prediction.accept(batch, tick, 0.5, 1e-2 * tick));
  }
  std::size_t in_ticks(int ticks, bool delivers = true) {
    const std::size_t before = complete;
    for (int i = 0; i < ticks; ++i)
      run(delivers);
    return complete - before;
  }
};

TEST(ClientPrediction, OneCorrectionBeginsAndNoneFollowsWhileTheClientIsRight) {
  Duet duet;
  EXPECT_EQ(duet.in_ticks(600), 1u);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::begins});
  EXPECT_EQ(duet.prediction.stats().mispredicted, 0u);
  EXPECT_GE(duet.prediction.stats().results, 598u);
  duet.error_m = 0.5 * kTolerance.position_m;
  EXPECT_EQ(duet.in_ticks(600), 0u);
}

TEST(ClientPrediction, ACorrectionIsRepeatedUntilAResultAgrees) {
  Duet duet;
  duet.in_ticks(10);
  duet.error_m = 0.1;
  EXPECT_EQ(duet.in_ticks(30, false), 10u);             // every third tick; all are lost
  EXPECT_EQ(duet.prediction.stats().mispredicted, 1u);  // what follows was computed before a correction
  EXPECT_EQ(duet.in_ticks(9), 3u);  // they arrive, but the client goes on to compute something else
  EXPECT_GT(duet.prediction.stats().mispredicted, 3u);
  duet.error_m = 0.0;
  EXPECT_LE(duet.in_ticks(3), 1u);
  EXPECT_EQ(duet.in_ticks(100), 0u);
  EXPECT_EQ(duet.prediction.stats().corrections, duet.complete);
}

// Results that were computed before the correction tell nothing about it: they neither agree nor disagree.
TEST(ClientPrediction, ResultsFromBeforeTheCorrectionAreNotCompared) {
  Duet duet;
  duet.in_ticks(10);
  duet.error_m = 0.1;
  duet.in_ticks(1, false);
  duet.error_m = 0.0;
  const std::uint64_t results = duet.prediction.stats().results;
  EXPECT_GE(duet.in_ticks(9, false), 3u);
  EXPECT_EQ(duet.prediction.stats().results, results);
  duet.in_ticks(3);
  EXPECT_EQ(duet.in_ticks(100), 0u);
}

TEST(ClientPrediction, AllEntitiesAreCorrectedTogether) {
  Duet duet;
  duet.in_ticks(10);
  duet.error_m = 0.1;
  ++duet.tick;
  duet.send();
  duet.judge();
  const CorrectionPart* correction = duet.prediction.correction();
  ASSERT_NE(correction, nullptr);
  EXPECT_EQ(correction->reason, CorrectionReason::differs);
  ASSERT_EQ(correction->entities.size(), 2u);
  EXPECT_EQ(correction->entities[0].entity, duet.ids[0]);
  EXPECT_EQ(correction->entities[1].entity, duet.ids[1]);
}

// A set may need several datagrams of a tick. In the next tick, what was not written is out of date.
TEST(ClientPrediction, ASetThatIsWrittenInPartsIsCompleteOrBeginsAgain) {
  Duet duet;
  const auto judge = [&] {
    ++duet.tick;
    duet.send();
    duet.judge();
  };
  judge();
  ASSERT_NE(duet.prediction.correction(), nullptr);
  const std::uint8_t first = duet.prediction.correction()->number;
  duet.prediction.note_written(1);
  ASSERT_NE(duet.prediction.correction(), nullptr);
  EXPECT_EQ(duet.prediction.written(), 1u);
  EXPECT_EQ(duet.prediction.stats().corrections, 0u);
  judge();
  ASSERT_NE(duet.prediction.correction(), nullptr);
  EXPECT_NE(duet.prediction.correction()->number, first);
  EXPECT_EQ(duet.prediction.written(), 0u);
  duet.prediction.note_written(1);
  duet.prediction.note_written(1);
  EXPECT_EQ(duet.prediction.correction(), nullptr);
  EXPECT_EQ(duet.prediction.stats().corrections, 1u);
}

TEST(ClientPrediction, AClientWithoutResultsIsCorrectedButNotOften) {
  for (const bool counts_right : {true, false}) {
    Duet duet;
    duet.in_ticks(10);
    duet.sends_results = counts_right ? false : true;
    duet.counts_right = counts_right;
    const std::size_t corrections = duet.in_ticks(300);
    EXPECT_GT(corrections, 5u);
    EXPECT_LE(corrections, 20u);
    duet.sends_results = duet.counts_right = true;
    duet.in_ticks(25);
    EXPECT_EQ(duet.in_ticks(100), 0u);
  }
}

TEST(ClientPrediction, AClientWithoutInputsIsNotCorrectedForLong) {
  Duet duet;
  duet.in_ticks(10);
  duet.sends_inputs = false;
  duet.in_ticks(100);  // 1 s
  EXPECT_LE(duet.in_ticks(1000), 1u);
  duet.sends_inputs = true;
  (void)duet.in_ticks(5);
  EXPECT_EQ(duet.in_ticks(100), 0u);
  duet.error_m = 0.1;
  EXPECT_GE(duet.in_ticks(5), 1u);
}

TEST(ClientPrediction, TheReasonSaysWhatHappened) {
  Duet duet;
  duet.in_ticks(10);
  duet.reasons.clear();
  duet.truth[0].teleports = 1;
  duet.in_ticks(5);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::teleported});
  duet.reasons.clear();
  ASSERT_TRUE(duet.prediction.remove(duet.ids[1]));
  const ExactState gone = duet.truth.back();
  duet.truth.pop_back();
  duet.in_ticks(5);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::begins});
  duet.reasons.clear();
  duet.truth.push_back(gone);
  ASSERT_TRUE(duet.prediction.add(duet.ids[1], kTolerance));
  duet.in_ticks(5);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::begins});
  duet.reasons.clear();
  // The input of a tick is missing, and the results for it come with a later section.
  duet.sends_inputs = false;
  duet.in_ticks(20);
  ASSERT_FALSE(duet.reasons.empty());
  EXPECT_EQ(duet.reasons[0], CorrectionReason::input_missing);
}

// A late input's results come with it, so a later result is the first that differs.
TEST(ClientPrediction, ALateInputIsTheReasonOfTheNextDifference) {
  Duet duet;
  duet.in_ticks(10);
  duet.reasons.clear();
  duet.sends_inputs = false;
  duet.in_ticks(1);
  duet.sends_inputs = true;
  duet.error_m = 0.1;
  duet.in_ticks(1);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::input_missing});
  duet.error_m = 0.0;
  duet.in_ticks(10);
  duet.reasons.clear();
  duet.error_m = 0.1;
  duet.in_ticks(1);
  EXPECT_EQ(duet.reasons, std::vector{CorrectionReason::differs});
}

// The end of the last prediction is sent until it has arrived, because no result can confirm it.
TEST(ClientPrediction, TheEndIsRepeatedUntilItHasArrived) {
  Duet duet;
  duet.in_ticks(10);
  for (const EntityId id : duet.ids)
    EXPECT_TRUE(duet.prediction.remove(id));
  EXPECT_FALSE(duet.prediction.remove(duet.ids[0]));
  duet.truth.clear();
  EXPECT_GE(duet.in_ticks(30), 4u);
  duet.prediction.note_arrived(static_cast<std::uint8_t>(duet.corrected));
  EXPECT_EQ(duet.in_ticks(30), 0u);
}

// While nothing can be written, the number stays: the client would take one that is far ahead for an old one.
TEST(ClientPrediction, OnlyWhatIsWrittenCounts) {
  Duet duet;
  duet.in_ticks(10);
  const auto number = [&] {
    ++duet.tick;
    duet.judge();
    const CorrectionPart* correction = duet.prediction.correction();
    return correction != nullptr ? int{correction->number} : -1;
  };
  duet.prediction.request_correction();
  const int first = number();
  EXPECT_EQ(first, duet.corrected + 1);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(number(), first);
  EXPECT_EQ(duet.prediction.correction()->entities.size(), 2u);
  duet.prediction.note_written(1);
  EXPECT_EQ(number(), first + 1);
  duet.corrected = static_cast<std::uint8_t>(first);  // an old one; the claim is not about this correction
  duet.send();
  EXPECT_EQ(number(), first + 1);
  duet.in_ticks(5);
  EXPECT_EQ(duet.in_ticks(100), 0u);
}

TEST(ClientPrediction, TheNumberOfEntitiesIsLimited) {
  ClientPrediction prediction;
  for (std::uint32_t i = 0; i < kMaxPredicted; ++i)
    EXPECT_TRUE(prediction.add({i + 1, 0}, kTolerance));
  EXPECT_FALSE(prediction.add({100, 0}, kTolerance));
  EXPECT_TRUE(prediction.add({3, 0}, kTolerance));  // it is one of them
  EXPECT_TRUE(prediction.predicts({3, 0}));
  EXPECT_FALSE(prediction.predicts({3, 1}));
}

}  // namespace
}  // namespace reckoner
