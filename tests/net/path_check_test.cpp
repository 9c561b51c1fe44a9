// SPDX-License-Identifier: MIT
// Where a session's client is, in virtual time: it moves, others send copies of what it says from elsewhere,
// and it lies itself.
#include "path_world.hpp"

#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::kAway;
using test::kElsewhere;
using test::key_of;
using test::kFrameS;
using test::kHome;
using test::kNow;
using World = test::PathWorld;

void move(World& world, const ServerAddress& to) {
  world.speaks_from = to;
  world.hears_at = {key_of(to)};
}

TEST(PathCheck, WhoIsAtAnotherAddressIsFollowedAfterOneRoundTrip) {
  for (const double one_way_s : {0.001, 0.01, 0.05, 0.2, 0.5}) {
    World world(one_way_s);
    world.run(3.0);
    const double moved_s = world.now_s;
    move(world, kAway);
    world.run(4.0);
    EXPECT_EQ(world.address(), kAway) << one_way_s;
    EXPECT_EQ(world.moves, 1);
    // A gap between two datagrams, up, the probe down, the echo up, and a frame's gap until the next state.
    EXPECT_LE(world.longest_silence_s(moved_s), one_way_s + world.round_trip_s() + one_way_s + 2.5 * kFrameS);
    EXPECT_LE(world.said.size() - world.taken_in.size(), 1 + one_way_s / kFrameS)
        << "all but what is under way";
    world.expect_nobody_is_flooded();
  }
}

TEST(PathCheck, LostProbesAndEchoesAreRepeated) {
  for (const double loss : {0.1, 0.3, 0.5}) {
    World world;
    world.run(1.0);
    world.lost_up = world.lost_down = loss;
    for (int i = 0; i < 20; ++i) {
      move(world, {kAway.host, static_cast<std::uint16_t>(2000 + i)});
      world.run(8.0);
      EXPECT_EQ(world.address(), world.speaks_from) << loss << ' ' << i;
    }
    EXPECT_EQ(world.moves, 20);
  }
}

// The client itself lies, with every address there is: what a victim is sent is never more than was sent in
// its name, and the session stays where it is.
TEST(PathCheck, NobodyIsSentWhatHeDoesNotAskFor) {
  World world;
  std::mt19937 random(3);
  bool lies = false;
  world.on_the_way_up = [&](const Bytes&) {
    if (!lies) return;
    for (int i = 0; i < 3; ++i) {
      const bool again = random() % 2 == 0;
      const ServerAddress victim{again ? 0x0B0B0B0B : static_cast<std::uint32_t>(random() | 1u), 80};
      world.to_server(victim, world.sealed_by_client(Kind::state, random() % 3), 0.01);
    }
  };
  world.run(1.0);
  lies = true;
  world.run(60.0);
  EXPECT_EQ(world.address(), kHome);
  EXPECT_EQ(world.moves, 0);
  world.expect_nobody_is_flooded();
  EXPECT_LT(world.probes, 61 * 30) << "and there are few";
  EXPECT_LT(world.longest_silence_s(102.0), 3.0 * kFrameS);
  // The same with one victim, from which all comes: no other address is ever heard of again.
  world.on_the_way_up = nullptr;
  world.speaks_from = kElsewhere;
  world.run(60.0);
  EXPECT_EQ(world.address(), kHome);
  world.expect_nobody_is_flooded();
  EXPECT_LT(world.longest_silence_s(102.0), 3.0 * kFrameS) << "what is sent goes where it went";
}

struct Race {
  double ahead_s;
  bool forwards;  ///< what comes back to the attacker, to the client
  double loss;
};

class Racing : public testing::TestWithParam<Race> {};

// Somebody who sees everything that the client sends is faster: of each datagram the server takes in the
// copy, from elsewhere, and the client's own is the repeated one.
TEST_P(Racing, MovesNothingAndStallsNothing) {
  const Race race = GetParam();
  World world(0.03);
  world.run(1.0);
  world.lost_up = world.lost_down = race.loss;
  world.on_the_way_up = [&](const Bytes& bytes) { world.to_server(kElsewhere, bytes, 0.03 - race.ahead_s); };
  if (race.forwards) {
    world.sent_elsewhere = [&](const ServerAddress& to, const Bytes& bytes) {
      if (to == kElsewhere) world.to_client(bytes, 0.03 - race.ahead_s);
    };
  }
  const double begun_s = world.now_s;
  world.run(60.0);
  EXPECT_EQ(world.address(), kHome);
  EXPECT_EQ(world.moves, 0);
  EXPECT_LT(world.longest_silence_s(begun_s), (race.loss > 0.0 ? 12.0 : 3.0) * kFrameS);
  EXPECT_LT(world.probes, 61 * 8);
  if (!race.forwards) world.expect_nobody_is_flooded();

  // And when the client really goes elsewhere, it is found, if not at once.
  world.on_the_way_up = nullptr;
  move(world, kAway);
  const double moved_s = world.now_s;
  world.run(5.0);
  EXPECT_EQ(world.address(), kAway);
  EXPECT_LT(world.longest_silence_s(moved_s), 2.5);
}

INSTANTIATE_TEST_SUITE_P(Of, Racing,
                         testing::Values(Race{0.001, false, 0.0}, Race{0.001, true, 0.0},
                                         Race{0.01, true, 0.0}, Race{0.02, true, 0.0}, Race{0.02, true, 0.1},
                                         Race{0.01, false, 0.2}),
                         [](const auto& tested) {
                           const Race& r = tested.param;
                           return std::to_string(static_cast<int>(r.ahead_s * 1000)) + "Ms" +
                                  (r.forwards ? "Forwarding" : "") + std::to_string(int(r.loss * 100)) +
                                  "Lost";
                         });

// Far faster than the client's own way: before anything of the client itself has come, all has been answered.
// Then it may hold the session for a moment, and once.
TEST(PathCheck, WhoIsMuchFasterIsFoundOut) {
  World world(0.2);
  world.run(2.0);
  world.on_the_way_up = [&](const Bytes& bytes) { world.to_server(kElsewhere, bytes, 0.01); };
  world.sent_elsewhere = [&](const ServerAddress&, const Bytes& bytes) { world.to_client(bytes, 0.01); };
  world.run(1.0);
  const int moves = world.moves;
  EXPECT_LE(moves, 2);
  world.run(60.0);
  EXPECT_EQ(world.address(), kHome);
  EXPECT_EQ(world.moves, moves);
}

// A phone that goes from one network to another may be reached in the first for a while: what counts is where
// it speaks from.
TEST(PathCheck, AnOldAddressThatIsHeardOfNoMoreIsLeftEvenIfItHears) {
  World world;
  world.run(2.0);
  world.speaks_from = kAway;
  world.hears_at = {key_of(kHome), key_of(kAway)};
  world.run(1.0);
  EXPECT_EQ(world.address(), kAway);
  EXPECT_EQ(world.moves, 1);
}

// Datagrams that were overtaken by the move do not count as a sign of life.
TEST(PathCheck, WhatWasUnderWayWhenItMovedDoesNotDelayIt) {
  World world;
  world.run(2.0);
  std::vector<Bytes> late;
  world.on_the_way_up = [&](const Bytes& bytes) { late.push_back(bytes); };
  world.lost_up = 1.0;
  world.run(0.1);
  world.lost_up = 0.0;
  world.on_the_way_up = nullptr;
  move(world, kAway);
  for (const Bytes& bytes : late)
    world.to_server(kHome, bytes, 0.08);
  const double moved_s = world.now_s;
  world.run(2.0);
  EXPECT_EQ(world.address(), kAway);
  EXPECT_LE(world.longest_silence_s(moved_s), 2.0 * world.round_trip_s() + 2.5 * kFrameS);
  EXPECT_EQ(world.taken_in.size(), world.said.size() - 1) << "and they are taken in";
}

// Somebody who has held one back and sends it from elsewhere brings nothing about, not even a probe.
TEST(PathCheck, WhatIsOldBeginsNothing) {
  World world;
  world.run(1.0);
  const Bytes held_back = world.sealed_by_client(Kind::state, 40);
  world.run(0.5);
  world.to_server(kElsewhere, held_back, 0.0);
  world.run(1.0);
  EXPECT_EQ(world.probes, 0);
  EXPECT_EQ(world.address(), kHome);
}

TEST(PathCheck, FollowsFromAddressToAddressAndBack) {
  World world;
  world.run(1.0);
  for (int i = 0; i < 30; ++i) {
    const ServerAddress at[] = {kAway, kElsewhere, kHome};
    move(world, at[i % 3]);
    const double moved_s = world.now_s;
    world.run(4.0);
    EXPECT_EQ(world.address(), at[i % 3]) << i;
    EXPECT_LT(world.longest_silence_s(moved_s), 0.3) << i;
  }
  // Before it is even proven, it is somewhere else again.
  for (int i = 0; i < 10; ++i) {
    move(world, {kAway.host, static_cast<std::uint16_t>(3000 + i)});
    world.run(0.05);
  }
  const double moved_s = world.now_s;
  world.run(2.0);
  EXPECT_EQ(world.address(), world.speaks_from);
  EXPECT_LT(world.longest_silence_s(moved_s), 1.0);
}

TEST(PathCheck, WhoSpeaksFromTwoAddressesAtOnceStaysAtOne) {
  World world;
  world.run(1.0);
  world.hears_at.insert(key_of(kAway));
  int frame = 0;
  world.on_the_way_up = [&](const Bytes&) { world.speaks_from = ++frame % 2 == 0 ? kHome : kAway; };
  world.run(30.0);
  EXPECT_LE(world.moves, 1);
  EXPECT_LT(world.longest_silence_s(101.0), 3.0 * kFrameS);
  EXPECT_LT(world.probes, 31 * 4);
}

// Only the one who was sent it, at the address that it was sent to, and in time.
TEST(PathCheck, ANumberIsGoodForOneSessionAndAddressAndNotForLong) {
  const PathNumbers numbers, others;
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    const double now_s = std::uniform_real_distribution<double>(-100.0, 1e6)(random);
    const std::uint32_t session = static_cast<std::uint32_t>(random());
    auto number = numbers.make(session, kAway, now_s);
    EXPECT_TRUE(numbers.good(number, session, kAway, now_s));
    EXPECT_TRUE(numbers.good(number, session, kAway, now_s + PathNumbers::kGoodS));
    EXPECT_FALSE(numbers.good(number, session, kAway, now_s + 2.0 * PathNumbers::kGoodS));
    EXPECT_FALSE(numbers.good(number, session + 1, kAway, now_s));
    EXPECT_FALSE(numbers.good(number, session, {kAway.host, 1001}, now_s));
    EXPECT_FALSE(numbers.good(number, session, {kAway.host + 1, kAway.port}, now_s));
    EXPECT_FALSE(others.good(number, session, kAway, now_s));
    EXPECT_FALSE(numbers.good(std::span(number).first(7), session, kAway, now_s));
    number[random() % number.size()] ^= static_cast<std::byte>(1u << random() % 8);
    EXPECT_FALSE(numbers.good(number, session, kAway, now_s));
  }
}

// What is no answer, or one that another address was asked for, is refused and changes nothing.
TEST(PathCheck, WrongAnswersAreRefused) {
  World world;
  world.run(0.5);
  const auto says = [&](const ServerAddress& from, const Bytes& bytes) {
    return world.server().arrive(from, bytes, world.now_s, kNow);
  };
  for (const std::size_t bytes : {0u, 7u, 9u, 300u})
    EXPECT_EQ(says(kAway, world.sealed_by_client(Kind::echo, bytes)).refusal, Refusal::malformed);
  EXPECT_EQ(says(kAway, world.sealed_by_client(Kind::echo, 8)).refusal, Refusal::wrong_cookie);
  EXPECT_EQ(says(kAway, world.sealed_by_client(Kind::probe, 8)).refusal, Refusal::malformed);
  EXPECT_EQ(world.address(), kHome);
  // One that somebody at kElsewhere was sent is no use at kAway, and at home no sign of anything.
  world.sent_elsewhere = [&](const ServerAddress& to, const Bytes& bytes) {
    if (to == kElsewhere) world.to_client(bytes, 0.0);  // who sends it on from where it is
  };
  std::vector<Bytes> echoes;
  world.on_the_way_up = [&](const Bytes& bytes) {
    if (bytes[0] == static_cast<std::byte>(Kind::echo)) echoes.push_back(bytes);
  };
  world.to_server(kElsewhere, world.sealed_by_client(Kind::state, 20), 0.0);
  world.run(1.0);
  ASSERT_FALSE(echoes.empty());
  EXPECT_EQ(world.address(), kHome);
  EXPECT_EQ(world.moves, 0);
}

}  // namespace
}  // namespace reckoner::secure
