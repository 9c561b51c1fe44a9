// SPDX-License-Identifier: MIT
#include "net/src/link/clock_change.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickS = 1.0 / 60.0;
constexpr double kToleranceS = 0.03;

// A link between two clocks, with a time stamp to the client in each tick and a time stamp back in every
// twelfth. All times are the remote clock's.
struct Link {
  double down_s = 0.08;
  double up_s = 0.08;
  double jitter_s = 0.0;
  double loss = 0.0;
  std::function<double(double time_s)> local = [](double time_s) { return time_s; };
  std::function<double(double time_s)> queue_s = [](double) { return 0.0; };  // towards the client

  explicit Link(std::uint64_t seed = 1) : random_(seed) {}

  struct Found {
    double time_s = 0.0;
    ClockChangeDetector::Change change;
  };
  // Runs the detector. Returns the first change.
  std::optional<Found> run(ClockChangeDetector& detector, double from_s, double to_s) {
    for (double t = from_s; t < to_s; t += kTickS, ++ticks_) {
      if (!lost()) {
        const double local_s = local(t + down_s + delay() + queue_s(t));
        detector.add_lower({t, local_s, t - local_s});
      }
      if (ticks_ % 12 == 0 && !lost()) {
        const double sent_s = t - up_s - delay();
        detector.add_upper({t, local(sent_s), t - local(sent_s)});
      }
      if (!detector.due()) continue;
      detector.set_round_trip(up_s + down_s);
      if (const auto change = detector.find(kToleranceS, kTickS)) return Found{t, *change};
    }
    return std::nullopt;
  }

 private:
  double delay() { return jitter_s * std::abs(normal_(random_)); }
  bool lost() { return uniform_(random_) < loss; }
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  int ticks_ = 0;
};

TEST(ClockChange, NoLinkLooksLikeAClock) {
  struct Kind {
    double jitter_s;
    double loss;
  };
  for (const Kind& kind : {Kind{0.0005, 0.0}, {0.005, 0.005}, {0.02, 0.02}, {0.04, 0.03}, {0.06, 0.1}}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Link link(seed);
      link.jitter_s = kind.jitter_s;
      link.loss = kind.loss;
      ClockChangeDetector detector;
      const auto found = link.run(detector, 0.0, 60.0);
      EXPECT_FALSE(found) << "jitter " << kind.jitter_s << ", seed " << seed << ", at " << found->time_s;
    }
  }
}

// A queue that fills and drains, a longer and a shorter route, in one or both directions.
TEST(ClockChange, NoChangeOfTheDelayLooksLikeAClock) {
  for (const double jitter_s : {0.0, 0.005, 0.02, 0.04}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      for (const double by_s : {0.3, 0.06, -0.06}) {
        for (const int directions : {1, 2, 3}) {
          Link link(seed);
          link.jitter_s = jitter_s;
          ClockChangeDetector detector;
          ASSERT_FALSE(link.run(detector, 0.0, 8.0));
          if ((directions & 1) != 0) link.down_s += by_s;
          if ((directions & 2) != 0) link.up_s += by_s;
          const auto found = link.run(detector, 8.0, 16.0);
          EXPECT_FALSE(found) << jitter_s << ", " << by_s << ", " << directions << ", seed " << seed;
        }
      }
      Link link(seed);
      link.jitter_s = jitter_s;
      link.queue_s = [](double time_s) { return 0.4 * std::abs(std::sin(0.7 * time_s)); };
      ClockChangeDetector detector;
      EXPECT_FALSE(link.run(detector, 0.0, 20.0)) << jitter_s << ", seed " << seed;
    }
  }
}

TEST(ClockChange, AnotherRateIsFoundWithinASecond) {
  for (const double rate : {0.25, 0.5, 0.75, 0.83, 0.9, 0.95, 1.05, 1.2, 2.0, 4.0}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Link link(seed);
      link.down_s = link.up_s = 0.002;
      link.jitter_s = 0.0005;
      link.local = [rate](double time_s) { return time_s < 10.0 ? time_s : 10.0 + (time_s - 10.0) * rate; };
      ClockChangeDetector detector;
      ASSERT_FALSE(link.run(detector, 0.0, 10.0));
      const auto found = link.run(detector, 10.0, 13.0);
      ASSERT_TRUE(found) << rate;
      EXPECT_LT(found->time_s, 11.0) << rate;
      if (found->change.drift == 0.0) continue;  // too early to know the rate
      EXPECT_NEAR(1.0 - found->change.drift, rate, 0.3 * std::abs(rate - 1.0) + 0.01) << rate;
      EXPECT_NEAR(found->change.since_s, 10.0, 0.2) << rate;
    }
  }
}

TEST(ClockChange, AStepIsNoRate) {
  for (const double by_s : {-20.0, -1.0, -0.2, -0.06, 0.06, 0.2, 1.0, 20.0}) {
    for (const double jitter_s : {0.0005, 0.005}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Link link(seed);
        link.down_s = link.up_s = 0.02;
        link.jitter_s = jitter_s;
        link.local = [by_s](double time_s) { return time_s < 10.0 ? time_s : time_s + by_s; };
        ClockChangeDetector detector;
        ASSERT_FALSE(link.run(detector, 0.0, 9.9));
        const auto found = link.run(detector, 9.9, 13.0);
        ASSERT_TRUE(found) << by_s;
        EXPECT_LT(found->time_s, 11.0) << by_s;
        // So small a step may look like a growth for a moment (ClientRate.AnyStepIsFollowedWithinASecond).
        if (std::abs(by_s) < 0.5) continue;
        EXPECT_EQ(found->change.drift, 0.0) << by_s << ", seed " << seed;
        // A datagram's delay, and the distance of two bounds.
        EXPECT_NEAR(found->change.since_s, 10.0, 0.2) << by_s;
      }
    }
  }
}

TEST(ClockChange, BoundsOfACorrectedClockAreFlat) {
  Link link;
  link.local = [](double time_s) { return 0.5 * time_s; };
  ClockChangeDetector detector;
  for (int i = 0; i < 60; ++i) {
    const double t = i * kTickS;
    detector.add_lower({t, link.local(t), t - link.local(t)});
  }
  detector.rescale(2.0, 0.5);
  ClockChangeDetector::Bounds lower, upper;
  detector.collect(lower, upper);
  ASSERT_GT(lower.count, 10u);
  EXPECT_EQ(upper.count, 0u);
  for (const auto& bound : lower.all())
    EXPECT_NEAR(bound.offset_s, 0.5, 1e-9);
  detector.forget_before(0.5);
  detector.collect(lower, upper);
  EXPECT_GE(lower.items[0].remote_s, 0.5);
}

TEST(ClockChange, SurvivesAbsurdBounds) {
  ClockChangeDetector detector;
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  for (const double wrong : {std::nan(""), kEndless, -kEndless, 1e300, -1e300, 1e15, -1e15}) {
    detector.add_lower({wrong, 0.0, wrong});
    detector.add_upper({wrong, 0.0, wrong});
    detector.add_lower({1.0, wrong, wrong});
    (void)detector.find(kToleranceS, kTickS);
  }
}

TEST(ClockChange, TheNewestLowerBoundMayBeMissing) {
  ClockChangeDetector detector;
  EXPECT_FALSE(detector.newest_lower_s());
  detector.add_lower({.remote_s = -3.0, .local_s = 1.0, .offset_s = -4.0});
  detector.add_lower({.remote_s = -2.0, .local_s = 2.0, .offset_s = -4.0});
  EXPECT_EQ(detector.newest_lower_s(), -2.0);
  detector.forget_before(0.0);
  EXPECT_FALSE(detector.newest_lower_s());
}

}  // namespace
}  // namespace reckoner
