// SPDX-License-Identifier: MIT
#include "harness/metrics/measure.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

using scenario::PoseRow;

constexpr double kServerMinusMonotonicS = -480.0;  // the server's clock started long after the machine's

PoseRow row(double monotonic_s, double x, double clock_error_s = 0.0, bool rendered = false) {
  PoseRow result;
  result.frame_time_s = monotonic_s + kServerMinusMonotonicS + clock_error_s;
  result.id = "it";
  result.pose.position = {x, 0.0, 0.0};
  result.monotonic_s = monotonic_s;
  if (rendered) result.shown_time_s = result.frame_time_s;
  return result;
}

// Motion at 2 m/s for ten seconds, from 500 s on, with one row per tick.
std::vector<PoseRow> straight_truth() {
  std::vector<PoseRow> rows;
  for (int k = 0; k <= 600; ++k)
    rows.push_back(row(500.0 + k / 60.0, 2.0 * k / 60.0));
  return rows;
}

TEST(Measure, ClockErrorCausesSameTimeError) {
  const auto truth = straight_truth();
  std::vector<PoseRow> rendered;
  for (int k = 0; k < 500; ++k) {
    const double t = 500.5 + k / 60.0 + 0.003;   // between ticks
    const double x = 2.0 * (t - 500.0 + 0.005);  // perfect motion, clock 5 ms ahead
    rendered.push_back(row(t, x, 0.005, true));
  }
  const auto figures = measure(truth, rendered);
  ASSERT_TRUE(figures) << figures.error();
  EXPECT_NEAR(figures->now_error_m.p95, 0.010, 1e-6);
  EXPECT_NEAR(figures->velocity_step_mps.max, 0.0, 1e-6);
  ASSERT_TRUE(figures->clock_error_ms.has_value());
  EXPECT_NEAR(figures->clock_error_ms->p95, 5.0, 1e-6);
  EXPECT_EQ(figures->missing_s, 0.0);
}

TEST(Measure, BufferedPoseIsComparedWithItsShownTime) {
  const auto truth = straight_truth();
  std::vector<PoseRow> rendered;
  for (int k = 0; k < 500; ++k) {
    const double t = 501.0 + k / 60.0;
    PoseRow shown = row(t, 2.0 * (t - 500.0 - 0.2), 0.0, true);
    shown.shown_time_s = shown.frame_time_s - 0.2;
    rendered.push_back(shown);
  }
  const auto figures = measure(truth, rendered);
  ASSERT_TRUE(figures) << figures.error();
  EXPECT_NEAR(figures->now_error_m.p95, 0.4, 1e-6);
  EXPECT_NEAR(figures->shown_error_m.max, 0.0, 1e-6);
  EXPECT_NEAR(figures->delay_ms.mean, 200.0, 1e-3);
}

TEST(Measure, FramesWithoutTheEntityCountAsMissing) {
  const auto truth = straight_truth();
  std::vector<PoseRow> rendered;
  for (int k = 0; k < 540; ++k) {
    if (k >= 300 && k < 360) continue;  // a second without a row
    const double t = 500.5 + k / 60.0;
    rendered.push_back(row(t, 2.0 * (t - 500.0), 0.0, true));
  }
  const auto figures = measure(truth, rendered);
  ASSERT_TRUE(figures) << figures.error();
  EXPECT_NEAR(figures->missing_s, 1.0, 0.05);
}

TEST(Measure, TeleportIsDetectedInTheTruth) {
  std::vector<PoseRow> truth;
  for (int k = 0; k <= 600; ++k)
    truth.push_back(row(500.0 + k / 60.0, k < 300 ? 0.0 : 50.0));
  std::vector<PoseRow> snapped;
  std::vector<PoseRow> blended;
  for (int k = 0; k <= 590; ++k) {
    const double t = 500.0 + k / 60.0;
    snapped.push_back(row(t, k < 306 ? 0.0 : 50.0, 0.0, true));
    blended.push_back(row(t, k < 306 ? 0.0 : (k < 316 ? 5.0 * (k - 306) : 50.0), 0.0, true));
  }
  const auto good = measure(truth, snapped);
  ASSERT_TRUE(good) << good.error();
  EXPECT_EQ(good->teleports, 1u);
  EXPECT_EQ(good->between_teleport_frames, 0u);
  EXPECT_NEAR(good->teleport_settle_ms, 100.0, 1.0);
  const auto bad = measure(truth, blended);
  ASSERT_TRUE(bad) << bad.error();
  EXPECT_GT(bad->between_teleport_frames, 0u);
}

TEST(Measure, ReportsInvalidInput) {
  const auto truth = straight_truth();
  auto no_clock = truth;
  for (PoseRow& r : no_clock)
    r.monotonic_s.reset();
  EXPECT_FALSE(measure(no_clock, truth));
  EXPECT_FALSE(measure(truth, no_clock));
  EXPECT_FALSE(measure(truth, {}));
  EXPECT_FALSE(measure({}, truth));
  auto strangers = truth;
  for (PoseRow& r : strangers)
    r.id = "somebody else";
  EXPECT_FALSE(measure(truth, strangers));
  EXPECT_FALSE(measure_files("no/such/truth.csv", "no/such/shown.csv"));
}

}  // namespace
}  // namespace reckoner::harness
