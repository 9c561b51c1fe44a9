// SPDX-License-Identifier: MIT
#include "server/src/session/byte_budget.hpp"

#include "link_model.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using harness::LinkOptions;

constexpr double kTickS = 1.0 / 60.0;

LinkModel slow_link(double rate_kbps, double latency_ms, double jitter_ms, std::uint64_t seed) {
  const LinkOptions up{.latency_ms = latency_ms, .jitter_ms = jitter_ms};
  LinkOptions down = up;
  down.rate_kbps = rate_kbps;
  down.queue_ms = 1000.0;
  return LinkModel{{.down = down, .up = up, .seed = seed}};
}

TEST(LinkBudget, UsesASlowLinkWithoutFillingItsQueue) {
  for (const double rate_kbps : {64.0, 128.0, 256.0, 512.0, 1000.0}) {
    for (const double latency_ms : {5.0, 40.0, 100.0, 300.0}) {
      for (const double jitter_ms : {0.0, 20.0}) {
        SCOPED_TRACE(testing::Message()
                     << rate_kbps << " kbit/s, " << latency_ms << " ms, jitter " << jitter_ms);
        double p95_s = 0.0;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          LinkModel model = slow_link(rate_kbps, latency_ms, jitter_ms, seed);
          model.run_to(2.0 + 4.0 * latency_ms / 1000.0);
          model.run_to(60.0);
          EXPECT_GT(model.utilisation(), 0.75);
          EXPECT_LT(model.queue_s(0.5), 0.08);
          p95_s += model.queue_s(0.95) / 3.0;
        }
        // Jitter hides part of the queue. A round trip of 0.6 s also delays the detection.
        EXPECT_LT(p95_s, latency_ms > 100.0 ? 0.2 : jitter_ms > 0.0 ? 0.17 : 0.15);
      }
    }
  }
}

// The main case, at several tick rates.
TEST(LinkBudget, KeepsTheQueueOfA64KbpsLinkShort) {
  for (const double tick_rate_hz : {20.0, 30.0, 60.0, 128.0}) {
    LinkModel model{{.down = {.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000},
                     .up = {.latency_ms = 40},
                     .tick_s = 1.0 / tick_rate_hz}};
    model.run_to(2.5);
    model.run_to(122.0);
    EXPECT_LT(model.queue_s(0.95), 0.15) << tick_rate_hz;
    EXPECT_GT(model.utilisation(), 0.85) << tick_rate_hz;
  }
}

TEST(LinkBudget, IgnoresJitterAndRandomLoss) {
  for (const char* name : {"lan", "broadband", "wifi", "intercity", "mobile", "stress"}) {
    for (const double demand : {5e3, 30e3, 100e3, 200e3}) {
      SCOPED_TRACE(testing::Message() << name << ", " << demand << " bytes/s");
      double postponed = 0.0;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const LinkOptions link = harness::find_network(name).value();
        LinkModel model{{.down = link, .up = link, .demand = demand, .seed = seed}};
        model.run_to(5.0);
        model.run_to(125.0);
        postponed += model.postponed() / 4.0;
      }
      EXPECT_LT(postponed, 0.04);
    }
  }
}

TEST(LinkBudget, LowersTheRateOnLossOnlyIfThatReducesLoss) {
  // The loss does not depend on the rate. The budget tries a lower rate once or twice, then ignores the loss.
  for (const double loss_percent : {20.0, 30.0, 40.0}) {
    const LinkOptions link{.latency_ms = 40, .jitter_ms = 5, .loss_percent = loss_percent};
    LinkModel model{{.down = link, .up = {.latency_ms = 40}, .demand = 50e3}};
    model.run_to(10.0);
    model.run_to(130.0);
    EXPECT_LT(model.postponed(), 0.25) << loss_percent;
  }
  // A link with a very short queue drops the excess.
  for (const double queue_ms : {20.0, 50.0}) {
    LinkModel model{
        {.down = {.latency_ms = 40, .rate_kbps = 512, .queue_ms = queue_ms}, .up = {.latency_ms = 40}}};
    model.run_to(10.0);
    model.run_to(130.0);
    EXPECT_LT(model.sent_rate(), 1.4 * 64e3) << queue_ms;
    EXPECT_GT(model.utilisation(), 0.8) << queue_ms;
  }
}

TEST(LinkBudget, FollowsChangesOfTheLinkRate) {
  const LinkOptions slow{.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000};
  LinkModel model{{.down = slow, .up = {.latency_ms = 40}}};
  model.run_to(20.0);
  model.change({.latency_ms = 40});
  model.run_to(30.0);
  model.run_to(31.0);
  EXPECT_GT(model.sent_rate(), 240e3);
  model.change(slow);
  model.run_to(35.0);
  model.run_to(60.0);
  EXPECT_LT(model.queue_s(0.95), 0.15);
  EXPECT_GT(model.utilisation(), 0.7);
}

TEST(LinkBudget, LongerRouteIsNotMistakenForAQueue) {
  LinkOptions link{.latency_ms = 30, .jitter_ms = 5};
  LinkModel model{{.down = link, .up = link, .demand = 60e3}};
  model.run_to(20.0);
  link.latency_ms = 180.0;
  model.change(link);
  model.run_to(26.0);
  model.run_to(60.0);
  EXPECT_LT(model.postponed(), 0.01);
}

// A delay that jumps while the arrival rate stays the same is not a queue. Almost nothing may be postponed,
// except the data that is in flight until the new delay is known.
TEST(LinkBudget, DelayJumpAtAnUnchangedRateIsNotMistakenForAQueue) {
  for (const double to_ms : {300.0, 500.0, 995.0}) {
    for (const double jitter_ms : {0.0, 5.0, 20.0}) {
      for (const double demand : {10e3, 60e3}) {
        SCOPED_TRACE(testing::Message() << to_ms << " ms, jitter " << jitter_ms << ", " << demand);
        LinkOptions link{.latency_ms = 5, .jitter_ms = jitter_ms};
        LinkModel model{{.down = link, .up = link, .demand = demand}};
        model.run_to(20.0);
        link.latency_ms = to_ms;
        model.change(link);
        model.run_to(25.0);
        EXPECT_LT(model.postponed(), 0.25);
        model.run_to(40.0);
        EXPECT_LT(model.postponed(), 0.01);
        link.latency_ms = 5.0;
        model.change(link);
        model.run_to(45.0);
        EXPECT_LT(model.postponed(), 0.05);
      }
    }
  }
}

// A delay that jumps because the link became slow is a queue.
TEST(LinkBudget, DelayJumpOfASlowedLinkIsRecognisedAsAQueue) {
  for (const double rate_kbps : {16.0, 32.0, 64.0}) {
    SCOPED_TRACE(rate_kbps);
    const LinkOptions link{.latency_ms = 5};
    LinkModel model{{.down = link, .up = link, .demand = 60e3}};
    model.run_to(20.0);
    model.change({.latency_ms = 5, .rate_kbps = rate_kbps, .queue_ms = 2000.0});
    model.run_to(26.0);
    model.run_to(60.0);
    EXPECT_LT(model.queue_s(0.95), rate_kbps < 64.0 ? 0.6 : 0.2);
    EXPECT_GT(model.utilisation(), 0.6);
  }
}

TEST(LinkBudget, RecoversFromAnOutage) {
  const LinkOptions link{.latency_ms = 40, .jitter_ms = 5};
  LinkModel model{{.down = link, .up = link, .demand = 100e3}};
  model.run_to(10.0);
  model.silence_until(18.0);
  model.run_to(18.0);
  EXPECT_LT(model.budget().bytes_per_second(), 5e3);
  EXPECT_GE(model.lowest_rate(), ByteBudget::kMinBytesPerSecond);
  model.run_to(24.0);
  model.run_to(30.0);
  EXPECT_LT(model.postponed(), 0.01);
}

TEST(LinkBudget, NeverExceedsTheConfiguredBudget) {
  // On a fast link the configured budget is the limit, even if there is more to send.
  LinkModel model{{.down = {.latency_ms = 5}, .up = {.latency_ms = 5}, .most = 40e3}};
  model.run_to(5.0);
  model.run_to(20.0);
  EXPECT_LE(model.highest_rate(), 40e3);
  EXPECT_NEAR(model.sent_rate(), 40e3, 0.02 * 40e3);
  // A configured budget below the minimum rate still applies.
  ByteBudget tiny{300.0, kTickS};
  EXPECT_DOUBLE_EQ(tiny.bytes_per_second(), 300.0);
  // Without a configured budget, the link is the limit.
  LinkModel unlimited{{.down = {.latency_ms = 5}, .up = {.latency_ms = 5}, .demand = 2e6, .most = 0.0}};
  unlimited.run_to(10.0);
  unlimited.run_to(15.0);
  EXPECT_LT(unlimited.postponed(), 0.01);
}

TEST(LinkBudget, AccumulatesAQuarterOfASecondAtMost) {
  ByteBudget budget{256e3, kTickS};
  budget.advance(0.0);
  budget.advance(100.0);
  EXPECT_LE(budget.available(), 0.25 * budget.bytes_per_second());
  EXPECT_TRUE(budget.affordable());
  budget.spend(100'000, 100.0);
  EXPECT_LT(budget.available(), 0.0);
  EXPECT_FALSE(budget.affordable());
  budget.advance(99.0);  // a clock that goes back adds nothing
  EXPECT_LT(budget.available(), 0.0);
  ByteBudget slow{1000.0, kTickS};
  slow.advance(0.0);
  slow.advance(100.0);
  EXPECT_NEAR(slow.available(), 1240.0, 1.0);  // one datagram
}

// Whatever a client acknowledges, the rate is a number between the minimum and the configured budget.
TEST(LinkBudget, StaysWithinItsBoundsWhateverTheClientAcknowledges) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (int lie = 0; lie < 8; ++lie) {
    ByteBudget budget{100e3, kTickS};
    std::vector<double> sent;
    for (int tick = 1; tick < 60 * 60; ++tick) {
      const double now_s = tick * kTickS;
      while (budget.affordable()) {
        budget.spend(1240, now_s);
        sent.push_back(now_s);
      }
      const double at_s = sent.empty() ? 0.0 : sent.back();
      switch (lie) {
        case 0:
          break;  // never acknowledged
        case 1:
          budget.acknowledged(at_s, now_s, 0.0, 1240);
          break;  // acknowledged at once
        case 2:
          budget.acknowledged(at_s, now_s, nan, 1240);
          break;
        case 3:
          budget.acknowledged(at_s, now_s, 1e300, 1240);
          break;  // claims a long wait before the acknowledgement
        case 4:
          budget.acknowledged(at_s, now_s, -1e300, 1240);
          break;
        case 5:
          budget.acknowledged(now_s + 5.0, now_s, 0.0, 1240);
          break;  // acknowledged before it was sent
        case 6:
          budget.acknowledged(nan, infinity, nan, 1240);
          break;
        case 7:  // acknowledges everything at once, once a second
          if (tick % 60 == 0) {
            for (const double s : sent)
              budget.acknowledged(s, now_s, 0.0, 1240);
            sent.clear();
          }
          break;
      }
      budget.lost(nan, now_s, 1240);
      budget.advance(now_s);
      ASSERT_GE(budget.bytes_per_second(), ByteBudget::kMinBytesPerSecond) << lie;
      ASSERT_LE(budget.bytes_per_second(), 100e3) << lie;
      ASSERT_LE(budget.available(), 25e3) << lie;
      ASSERT_GE(budget.available(), -200e3) << lie;
    }
    if (lie == 0) {
      EXPECT_NEAR(budget.bytes_per_second(), ByteBudget::kMinBytesPerSecond, 1.0);
    }
    if (lie == 1) {
      EXPECT_NEAR(budget.bytes_per_second(), 100e3, 1.0);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
