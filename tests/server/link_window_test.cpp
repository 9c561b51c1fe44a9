// SPDX-License-Identifier: MIT
#include "server/src/session/byte_budget.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(LinkWindow, IsEmptyAtFirst) {
  LinkWindow window;
  EXPECT_FALSE(window.advance(3.0));
  EXPECT_EQ(window.recent(5, 6).rounds, 0u);
  EXPECT_TRUE(std::isinf(window.base_s()));
  EXPECT_EQ(window.delivered_bytes_per_second(5), 0.0);
}

TEST(LinkWindow, SumsCompleteSlots) {
  LinkWindow window;
  window.advance(10.0);
  for (int i = 0; i < 4; ++i)
    window.acknowledged(10.02, 0.1 + 0.01 * i, 500, true);
  window.acknowledged(10.07, 0.2, 500, true);
  window.lost();
  EXPECT_EQ(window.recent(5, 0).acknowledged, 0u);  // the slot is not complete
  EXPECT_TRUE(window.advance(10.11));
  const LinkWindow::Summary all = window.recent(5, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(all.least_s), 0.1f);
  EXPECT_NEAR(all.mean_s, (0.10 + 0.11 + 0.12 + 0.13 + 0.2) / 5.0, 1e-6);
  EXPECT_EQ(all.rounds, 2u);
  EXPECT_EQ(all.acknowledged, 5u);
  EXPECT_NEAR(all.loss(), 1.0 / 6.0, 1e-12);
  EXPECT_DOUBLE_EQ(window.delivered_bytes_per_second(5), 2500.0 / 0.5);
}

TEST(LinkWindow, LooksFurtherBackForEnoughRoundTrips) {
  LinkWindow window;
  for (int slot = 0; slot < 19; ++slot) {
    window.advance(slot * 0.1 + 0.05);
    if (slot % 3 == 0) window.acknowledged(slot * 0.1 + 0.05, 0.5, 100, true);
  }
  window.advance(1.95);
  EXPECT_EQ(window.recent(2, 0).rounds, 1u);
  EXPECT_EQ(window.recent(2, 4).rounds, 4u);
  EXPECT_EQ(window.recent(2, 4).slots, 10u);
  EXPECT_EQ(window.recent(3, 0, 9).rounds, 1u);
  EXPECT_EQ(window.recent(2, 99).rounds, 7u);  // all rounds that exist
}

TEST(LinkWindow, ForgetsRoundTripsAfterTwoSecondsAndTheMinimumAfterTen) {
  LinkWindow window;
  window.advance(0.0);
  window.acknowledged(0.0, 0.05, 100, true);
  for (int slot = 1; slot <= 120; ++slot) {
    const double now_s = slot * 0.1 + 0.01;
    window.advance(now_s);
    if (slot < 90) {
      EXPECT_FLOAT_EQ(static_cast<float>(window.base_s()), 0.05f) << slot;
    }
    EXPECT_EQ(window.recent(19, 0).rounds, static_cast<std::size_t>(std::min(slot, 19))) << slot;
    window.acknowledged(now_s, 0.08, 100, true);
  }
  EXPECT_FLOAT_EQ(static_cast<float>(window.base_s()), 0.08f);
  window.advance(1e6);  // a long pause
  EXPECT_EQ(window.recent(19, 0).rounds, 0u);
  EXPECT_TRUE(std::isinf(window.base_s()));
}

TEST(LinkWindow, SentSinceInterpolatesWithinASlot) {
  LinkWindow window;
  for (int slot = 0; slot < 10; ++slot) {
    window.advance(slot * 0.1 + 0.001);
    window.sent(1000);
  }
  EXPECT_NEAR(window.sent_since(0.5), 5000.0, 1.0);
  EXPECT_NEAR(window.sent_since(0.55), 4500.0, 1.0);
  EXPECT_NEAR(window.sent_since(-9.0), 10'000.0, 1.0);
  EXPECT_EQ(window.sent_since(2.0), 0.0);
}

TEST(LinkWindow, RestartKeepsBytesAndTheMinimumRoundTrip) {
  LinkWindow window;
  window.advance(0.0);
  window.acknowledged(0.0, 0.05, 1000, true);
  window.acknowledged(0.0, 0.01, 1000, false);  // counts its bytes only
  window.lost();
  window.advance(0.15);
  window.restart();
  EXPECT_EQ(window.recent(19, 0).acknowledged + window.recent(19, 0).lost, 0u);
  EXPECT_DOUBLE_EQ(window.delivered_bytes_per_second(1), 20'000.0);
  EXPECT_FLOAT_EQ(static_cast<float>(window.base_s()), 0.05f);
  window.rebase(0.2);
  EXPECT_FLOAT_EQ(static_cast<float>(window.base_s()), 0.2f);
}

}  // namespace
}  // namespace reckoner
