// SPDX-License-Identifier: MIT
#include "client/src/playout/session_clock.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

WelcomeMessage welcome(Tick tick) {
  WelcomeMessage message;
  message.tick_rate_hz = 50.0;
  message.epoch_s = 10.0;
  message.tick = tick;
  return message;
}

// Exchanges a stamp with a server whose clock is `ahead_s` ahead. A datagram takes 20 ms.
void exchange(SessionClock& clock, double local_s, double ahead_s) {
  const double sent_s = local_s - 0.04;
  const double answered_s = local_s + ahead_s - 0.02;
  const auto tick = static_cast<Tick>((answered_s - 10.0) * 50.0 + 0.5);
  const auto since_arrival =
      static_cast<std::int32_t>((clock.time_of(tick) - (sent_s + ahead_s + 0.02)) / kStampUnitS + 0.5);
  clock.note_datagram(tick, Echo{SessionClock::stamp_at(sent_s), since_arrival}, local_s, local_s);
  clock.note_tick(tick);
  clock.advance(local_s);
}

TEST(SessionClock, ConvertsTicksToServerTime) {
  SessionClock clock;
  clock.begin(welcome(100), 0.0);
  EXPECT_DOUBLE_EQ(clock.time_of(100), 12.0);
  EXPECT_DOUBLE_EQ(clock.tick_clock().epoch_s, 10.0);
  EXPECT_DOUBLE_EQ(clock.tick_clock().tick_rate_hz, 50.0);
}

TEST(SessionClock, BoundsTheTicksOfDatagrams) {
  SessionClock clock;
  clock.begin(welcome(70'000), 0.0);
  EXPECT_EQ(clock.unwrap(static_cast<std::uint16_t>(69'990)), 69'990u);
  EXPECT_EQ(clock.unwrap(static_cast<std::uint16_t>(70'010)), 70'010u);
  EXPECT_FALSE(clock.is_too_old(70'000 - 100));  // 2 s
  EXPECT_TRUE(clock.is_too_old(70'000 - 101));
  EXPECT_FALSE(clock.is_far_ahead(70'000 + 3000));  // 60 s
  EXPECT_TRUE(clock.is_far_ahead(70'000 + 3001));
  clock.note_tick(70'001);
  clock.note_tick(70'000);
  EXPECT_FALSE(clock.is_far_ahead(70'000 + 3001));
  EXPECT_TRUE(clock.is_far_ahead(std::numeric_limits<Tick>::max()));
  EXPECT_FALSE(SessionClock::is_valid_tick(std::numeric_limits<Tick>::max()));
}

TEST(SessionClock, IsReadyAfterThreeExchanges) {
  SessionClock clock;
  clock.begin(welcome(0), 0.0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(clock.ready());
    exchange(clock, 1.0 + 0.1 * i, 100.0);
    EXPECT_TRUE(clock.known());
  }
  EXPECT_TRUE(clock.ready());
  EXPECT_NEAR(clock.server_time_s(1.2), 101.2, 1e-3);
  EXPECT_NEAR(clock.round_trip_s().value_or(0.0), 0.04, 1e-3);
}

TEST(SessionClock, SettlesAfterTheWelcomeAndAfterAResume) {
  SessionClock clock;
  clock.begin(welcome(0), 5.0);
  EXPECT_TRUE(clock.settles(5.9));
  EXPECT_FALSE(clock.settles(6.1));
  clock.resume(500, 20.0);
  EXPECT_TRUE(clock.settles(20.9));
  EXPECT_FALSE(clock.settles(21.1));
  EXPECT_FALSE(clock.is_far_ahead(500 + 3000));
}

TEST(SessionClock, DoesNotLearnFromABacklog) {
  SessionClock clock;
  clock.begin(welcome(0), 0.0);
  clock.set_backlog(true);
  EXPECT_FALSE(clock.is_backlog());  // the clock is not known yet
  for (int i = 0; i < 3; ++i)
    exchange(clock, 1.0 + 0.1 * i, 100.0);
  for (int i = 0; i <= 20; ++i)
    clock.advance(1.2 + 0.1 * i);
  const double before_s = clock.server_time_s(3.2);
  clock.set_backlog(true);
  EXPECT_TRUE(clock.is_backlog());
  // Sent at server time 102.0, and received 1.2 s later.
  const auto tick = static_cast<Tick>((102.0 - 10.0) * 50.0 + 0.5);
  EXPECT_NEAR(clock.waited_s(tick, 3.2), 103.2 - 102.0 - 0.02, 1e-3);
  clock.note_datagram(tick, std::nullopt, 3.2, 3.2);
  clock.note_tick(tick);
  EXPECT_NEAR(clock.arrival_s(3.2), 102.0, 1e-9);
  EXPECT_DOUBLE_EQ(clock.server_time_s(3.2), before_s);
  clock.set_backlog(false);
  EXPECT_DOUBLE_EQ(clock.waited_s(tick, 3.2), 0.0);
}

TEST(SessionClock, StampsWrapAndMayBeOfNegativeTimes) {
  constexpr std::uint32_t kStamps = 1u << kStampBits;
  EXPECT_EQ(SessionClock::stamp_at(0.00015), 1u);
  EXPECT_EQ(SessionClock::stamp_at(-0.00005), kStamps - 1);
  EXPECT_EQ(SessionClock::stamp_at(kStamps * kStampUnitS + 0.00015), 1u);
}

}  // namespace
}  // namespace reckoner
