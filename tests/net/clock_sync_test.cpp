// SPDX-License-Identifier: MIT
#include "net/src/link/clock_sync.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// Two clocks and the link between them, in virtual time.
class Exchange {
 public:
  double offset_s = 1234.5;  // server minus client at time 0
  double drift = 0.0;        // rate of the server's clock divided by that of the client, minus 1
  double up_s = 0.08;
  double down_s = 0.08;
  double jitter_s = 0.0;

  [[nodiscard]] double server_at(double local_s) const { return local_s * (1.0 + drift) + offset_s; }

  /// Runs from `from_s` to `to_s` with an exchange every 50 ms. Returns the largest error and rate.
  struct Worst {
    double error_s = 0.0;
    double rate = 0.0;
  };
  Worst run(ClockSync& clock, double from_s, double to_s) {
    Worst worst;
    double last = -1.0;
    for (double t = from_s; t < to_s; t += 0.05) {
      const double arrive_server = t + up_s + jitter();
      const double answer = arrive_server + 0.01;
      const double back = answer + down_s + jitter();
      clock.add_exchange(t, server_at(arrive_server), server_at(answer), back);
      // Like a client, reads the slewed clock at frame times.
      for (int k = 0; k < 3; ++k) {
        const double frame = t + 0.5 + k / 60.0;
        clock.advance(frame);
        const double now = clock.server_time_s(frame);
        worst.error_s = std::max(worst.error_s, std::abs(now - server_at(frame)));
        if (last >= 0.0)
          worst.rate = std::max(worst.rate, std::abs((now - last) / (frame - last_frame_) - 1.0));
        last = now;
        last_frame_ = frame;
      }
    }
    return worst;
  }

 private:
  double jitter() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const double u = (static_cast<double>(random_ >> 11) + 0.5) * 0x1p-53;
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const double v = static_cast<double>(random_ >> 11) * 0x1p-53;
    return jitter_s * std::abs(std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v));
  }
  std::uint64_t random_ = 99;
  double last_frame_ = 0.0;
};

TEST(ClockSync, IsExactOverASymmetricLinkWithoutJitter) {
  ClockSync clock;
  EXPECT_FALSE(clock.known());
  Exchange link;
  EXPECT_LT(link.run(clock, 0.0, 2.0).error_s, 1e-6);
  EXPECT_NEAR(*clock.round_trip_s(), 0.16, 1e-6);
}

TEST(ClockSync, StaysWithinEightMillisecondsUnderIntercityJitter) {
  ClockSync clock;
  Exchange link;
  link.jitter_s = 0.02;
  link.run(clock, 0.0, 2.0);
  EXPECT_LT(link.run(clock, 2.0, 62.0).error_s, 0.008);
}

TEST(ClockSync, FollowsDriftWithoutVisibleSpeed) {
  ClockSync clock;
  Exchange link;
  link.jitter_s = 0.02;
  link.drift = 50e-6;
  link.run(clock, 0.0, 2.0);
  const auto worst = link.run(clock, 2.0, 300.0);
  EXPECT_LT(worst.error_s, 0.008);
  EXPECT_LT(worst.rate, 0.0201);
}

// The local clock may stand below zero. Its bounds must expire there, too.
TEST(ClockSync, FollowsDriftBelowTimeZero) {
  for (const double begin_s : {-1e6, -5000.0, -350.0, -200.0}) {
    Exchange link;
    link.offset_s = 2e6;
    link.drift = 2e-4;
    ClockSync clock;
    (void)link.run(clock, begin_s, begin_s + 60.0);
    EXPECT_LT(link.run(clock, begin_s + 60.0, begin_s + 300.0).error_s, 0.004) << begin_s;
  }
}

TEST(ClockSync, HandlesALongerDelayInBothDirections) {
  ClockSync clock;
  Exchange link;
  link.jitter_s = 0.01;
  link.run(clock, 0.0, 20.0);
  link.up_s += 0.06;
  link.down_s += 0.06;
  const auto worst = link.run(clock, 20.0, 60.0);
  EXPECT_LT(worst.error_s, 0.012);
  EXPECT_LT(worst.rate, 0.0201);
}

TEST(ClockSync, HalfOfAOneWayDelayChangeRemainsAsError) {
  ClockSync clock;
  Exchange link;
  link.run(clock, 0.0, 20.0);
  link.up_s += 0.06;
  const auto worst = link.run(clock, 20.0, 60.0);
  EXPECT_NEAR(worst.error_s, 0.03, 0.002);
  EXPECT_LT(worst.rate, 0.0201);
}

TEST(ClockSync, StepsOnceWhenFarOff) {
  ClockSync clock;
  Exchange link;
  link.run(clock, 0.0, 2.0);
  // The server's clock was set. Older samples are wrong until they leave the window.
  link.offset_s += 5.0;
  int steps = 0;
  for (double t = 2.0; t < 20.0; t += 0.05) {
    clock.add_exchange(t, link.server_at(t + 0.08), link.server_at(t + 0.08), t + 0.16);
    if (clock.advance(t + 0.2)) ++steps;
  }
  EXPECT_GE(steps, 1);
  EXPECT_LE(steps, 2);  // first halfway, while old and new bounds coexist, then the rest
  EXPECT_NEAR(clock.server_time_s(21.0), link.server_at(21.0), 0.001);
}

TEST(ClockSync, IgnoresImpossibleSamples) {
  ClockSync clock;
  clock.add_exchange(10.0, 100.0, 101.0, 10.5);  // kept for longer than the whole round trip
  clock.advance(11.0);
  EXPECT_FALSE(clock.known());
  clock.add_exchange(10.0, std::nan(""), 101.0, 12.5);
  clock.add_exchange(10.0, 100.0, INFINITY, 12.5);
  clock.advance(13.0);
  EXPECT_FALSE(clock.known());
}

}  // namespace
}  // namespace reckoner
