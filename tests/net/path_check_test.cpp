// SPDX-License-Identifier: MIT
// The address of a session's client, in virtual time: the client moves, attackers send copies of its
// datagrams from other addresses, and the client itself forges addresses.
#include "path_world.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::kAttacker;
using test::key_of;
using test::kFrameS;
using test::kNewAddress;
using test::kNow;
using test::kOldAddress;
using World = test::PathWorld;

void move(World& world, const SocketAddress& to) {
  world.sends_from = to;
  world.receives_at = {key_of(to)};
}

// The server waits for the old address as long as the new one took to answer, within 0.25 s and 1 s.
double patience_s(const World& world) {
  return std::clamp(world.round_trip_s() + kFrameS, 0.25, 1.0);
}

TEST(PathCheck, FollowsAnAddressChangeAfterOneRoundTripAndAWait) {
  for (const double one_way_s : {0.001, 0.01, 0.05, 0.2, 0.5}) {
    World world(one_way_s);
    world.run(3.0);
    const double moved_s = world.now_s;
    move(world, kNewAddress);
    world.run(4.0);
    EXPECT_EQ(world.address(), kNewAddress) << one_way_s;
    EXPECT_EQ(world.moves, 1);
    // The interval between two datagrams, the delay up, the probe down, the echo up, the wait, and one frame
    // until the next state.
    EXPECT_LE(world.longest_silence_s(moved_s),
              one_way_s + world.round_trip_s() + one_way_s + patience_s(world) + 3.5 * kFrameS);
    EXPECT_LE(world.said.size() - world.received_numbers.size(), 1 + one_way_s / kFrameS)
        << "all but what is in flight";
    world.expect_nobody_is_flooded();
  }
}

TEST(PathCheck, LostProbesAndEchoesAreRepeated) {
  for (const double loss : {0.1, 0.3, 0.5}) {
    World world;
    world.run(1.0);
    world.lost_up = world.lost_down = loss;
    for (int i = 0; i < 20; ++i) {
      move(world, {kNewAddress.host, static_cast<std::uint16_t>(2000 + i)});
      world.run(8.0);
      EXPECT_EQ(world.address(), world.sends_from) << loss << ' ' << i;
    }
    EXPECT_EQ(world.moves, 20);
  }
}

// The client itself forges all kinds of source addresses. A victim never receives more bytes than were sent
// in its name, and the session does not move.
TEST(PathCheck, ForgedSourceAddressesDoNotFloodVictims) {
  World world;
  std::mt19937 random(3);
  bool lies = false;
  world.on_client_datagram = [&](const Bytes&) {
    if (!lies) return;
    for (int i = 0; i < 3; ++i) {
      const bool again = random() % 2 == 0;
      const SocketAddress victim{again ? 0x0B0B0B0B : static_cast<std::uint32_t>(random() | 1u), 80};
      world.to_server(victim, world.sealed_by_client(Kind::datagram, random() % 3), 0.01);
    }
  };
  world.run(1.0);
  lies = true;
  world.run(60.0);
  EXPECT_EQ(world.address(), kOldAddress);
  EXPECT_EQ(world.moves, 0);
  world.expect_nobody_is_flooded();
  EXPECT_LT(world.probes, 61 * 30) << "and there are few";
  EXPECT_LT(world.longest_silence_s(102.0), 3.0 * kFrameS);
  // Now all datagrams come from one victim's address, and no other address is used again.
  world.on_client_datagram = nullptr;
  world.sends_from = kAttacker;
  world.run(60.0);
  EXPECT_EQ(world.address(), kOldAddress);
  world.expect_nobody_is_flooded();
  EXPECT_LT(world.longest_silence_s(102.0), 3.0 * kFrameS) << "the server still sends to the old address";
}

struct Race {
  double ahead_s;
  bool forwards;  ///< the attacker forwards the server's datagrams to the client
  double loss;
};

class FasterAttacker : public testing::TestWithParam<Race> {};

// An attacker sees everything that the client sends and is faster. The server receives the copy from another
// address first, and the client's own datagram is the duplicate.
TEST_P(FasterAttacker, NeitherMovesNorStallsTheSession) {
  const Race race = GetParam();
  World world(0.03);
  world.run(1.0);
  world.lost_up = world.lost_down = race.loss;
  world.on_client_datagram = [&](const Bytes& bytes) {
    world.to_server(kAttacker, bytes, 0.03 - race.ahead_s);
  };
  if (race.forwards) {
    world.on_other_address = [&](const SocketAddress& to, const Bytes& bytes) {
      if (to == kAttacker) world.to_client(bytes, 0.03 - race.ahead_s);
    };
  }
  const double begun_s = world.now_s;
  world.run(60.0);
  EXPECT_EQ(world.address(), kOldAddress);
  EXPECT_EQ(world.moves, 0);
  EXPECT_LT(world.longest_silence_s(begun_s), (race.loss > 0.0 ? 12.0 : 3.0) * kFrameS);
  EXPECT_LT(world.probes, 61 * 8);
  if (!race.forwards) world.expect_nobody_is_flooded();

  // When the client really changes its address, the session follows, though perhaps not at once.
  world.on_client_datagram = nullptr;
  move(world, kNewAddress);
  const double moved_s = world.now_s;
  world.run(5.0);
  EXPECT_EQ(world.address(), kNewAddress);
  EXPECT_LT(world.longest_silence_s(moved_s), 2.5);
}

INSTANTIATE_TEST_SUITE_P(Of, FasterAttacker,
                         testing::Values(Race{0.001, false, 0.0}, Race{0.001, true, 0.0},
                                         Race{0.01, true, 0.0}, Race{0.02, true, 0.0}, Race{0.02, true, 0.1},
                                         Race{0.01, false, 0.2}),
                         [](const auto& tested) {
                           const Race& r = tested.param;
                           return std::to_string(static_cast<int>(r.ahead_s * 1000)) + "Ms" +
                                  (r.forwards ? "Forwarding" : "") + std::to_string(int(r.loss * 100)) +
                                  "Lost";
                         });

// The attacker is much faster than the client's own route. It answers every probe before any datagram of the
// client arrives. Then it may occupy the session for a moment, and only once.
TEST(PathCheck, MuchFasterAttackerHoldsTheSessionOnlyOnce) {
  World world(0.2);
  world.run(2.0);
  world.on_client_datagram = [&](const Bytes& bytes) { world.to_server(kAttacker, bytes, 0.01); };
  world.on_other_address = [&](const SocketAddress&, const Bytes& bytes) { world.to_client(bytes, 0.01); };
  world.run(1.0);
  const int moves = world.moves;
  EXPECT_LE(moves, 2);
  world.run(60.0);
  EXPECT_EQ(world.address(), kOldAddress);
  EXPECT_EQ(world.moves, moves);
}

// An attacker forwards every copy and every probe on a faster path. The originals arrive later by `ahead_s`,
// and the attacker repeats this after the server has forgotten the previous check. Nothing goes to the
// attacker except probes.
TEST(PathCheck, DelayedOriginalsKeepTheSession) {
  for (const double ahead_s : {0.02, 0.1, 0.15}) {
    World world(0.16);
    world.run(2.0);
    std::size_t states_to_attacker = 0;
    for (int round = 0; round < 3; ++round) {
      world.on_client_datagram = [&](const Bytes& bytes) {
        world.to_server(kAttacker, bytes, 0.16 - ahead_s);
      };
      world.on_other_address = [&](const SocketAddress&, const Bytes& bytes) {
        if (bytes[0] == static_cast<std::byte>(Kind::datagram)) ++states_to_attacker;
        world.to_client(bytes, 0.16 - ahead_s);
      };
      world.run(2.0);
      world.on_client_datagram = nullptr;
      world.run(11.0);
    }
    EXPECT_EQ(world.moves, 0) << ahead_s;
    EXPECT_EQ(states_to_attacker, 0u) << ahead_s;
    EXPECT_EQ(world.address(), kOldAddress);
  }
}

// A phone that changes its network may stay reachable in the old one for a while. The session uses the
// address from which the phone sends.
TEST(PathCheck, LeavesAReachableOldAddressThatIsNotUsedAnyMore) {
  World world;
  world.run(2.0);
  world.sends_from = kNewAddress;
  world.receives_at = {key_of(kOldAddress), key_of(kNewAddress)};
  world.run(1.0);
  EXPECT_EQ(world.address(), kNewAddress);
  EXPECT_EQ(world.moves, 1);
}

// Datagrams from the old address that were overtaken by the move do not count as activity there.
TEST(PathCheck, DatagramsInFlightDoNotDelayTheMove) {
  World world;
  world.run(2.0);
  std::vector<Bytes> late;
  world.on_client_datagram = [&](const Bytes& bytes) { late.push_back(bytes); };
  world.lost_up = 1.0;
  world.run(0.1);
  world.lost_up = 0.0;
  world.on_client_datagram = nullptr;
  move(world, kNewAddress);
  for (const Bytes& bytes : late)
    world.to_server(kOldAddress, bytes, 0.08);
  const double moved_s = world.now_s;
  world.run(2.0);
  EXPECT_EQ(world.address(), kNewAddress);
  EXPECT_LE(world.longest_silence_s(moved_s), 2.0 * world.round_trip_s() + patience_s(world) + 3.5 * kFrameS);
  EXPECT_EQ(world.received_numbers.size(), world.said.size() - 1) << "and they are taken in";
}

// An attacker delays an old datagram and sends it from another address. This has no effect and does not
// even cause a probe.
TEST(PathCheck, OldDatagramsCauseNoProbe) {
  World world;
  world.run(1.0);
  const Bytes delayed = world.sealed_by_client(Kind::datagram, 40);
  world.run(0.5);
  world.to_server(kAttacker, delayed, 0.0);
  world.run(1.0);
  EXPECT_EQ(world.probes, 0);
  EXPECT_EQ(world.address(), kOldAddress);
}

TEST(PathCheck, FollowsRepeatedAddressChanges) {
  World world;
  world.run(1.0);
  for (int i = 0; i < 30; ++i) {
    const SocketAddress at[] = {kNewAddress, kAttacker, kOldAddress};
    move(world, at[i % 3]);
    const double moved_s = world.now_s;
    world.run(4.0);
    EXPECT_EQ(world.address(), at[i % 3]) << i;
    EXPECT_LT(world.longest_silence_s(moved_s), 0.5) << i;
  }
  // The address changes again before the previous one was verified.
  for (int i = 0; i < 10; ++i) {
    move(world, {kNewAddress.host, static_cast<std::uint16_t>(3000 + i)});
    world.run(0.05);
  }
  const double moved_s = world.now_s;
  world.run(2.0);
  EXPECT_EQ(world.address(), world.sends_from);
  EXPECT_LT(world.longest_silence_s(moved_s), 1.0);
}

TEST(PathCheck, AlternatingBetweenTwoAddressesDoesNotMoveTheSession) {
  World world;
  world.run(1.0);
  world.receives_at.insert(key_of(kNewAddress));
  int frame = 0;
  world.on_client_datagram = [&](const Bytes&) {
    world.sends_from = ++frame % 2 == 0 ? kOldAddress : kNewAddress;
  };
  world.run(30.0);
  EXPECT_LE(world.moves, 1);
  EXPECT_LT(world.longest_silence_s(101.0), 3.0 * kFrameS);
  EXPECT_LT(world.probes, 31 * 4);
}

// A number is valid only for the session and the address that it was sent to, and for a limited time.
TEST(PathCheck, NumberIsValidForOneSessionAndAddressAndExpires) {
  const PathNumbers numbers, others;
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    const double now_s = std::uniform_real_distribution<double>(-100.0, 1e6)(random);
    const std::uint32_t session = static_cast<std::uint32_t>(random());
    auto number = numbers.make(session, kNewAddress, now_s);
    EXPECT_TRUE(numbers.good(number, session, kNewAddress, now_s));
    EXPECT_TRUE(numbers.good(number, session, kNewAddress, now_s + PathNumbers::kGoodS));
    EXPECT_FALSE(numbers.good(number, session, kNewAddress, now_s + 2.0 * PathNumbers::kGoodS));
    EXPECT_FALSE(numbers.good(number, session + 1, kNewAddress, now_s));
    EXPECT_FALSE(numbers.good(number, session, {kNewAddress.host, 1001}, now_s));
    EXPECT_FALSE(
        numbers.good(number, session, {IpAddress(kNewAddress.host.ipv4() + 1), kNewAddress.port}, now_s));
    EXPECT_FALSE(others.good(number, session, kNewAddress, now_s));
    EXPECT_FALSE(numbers.good(std::span(number).first(7), session, kNewAddress, now_s));
    number[random() % number.size()] ^= static_cast<std::byte>(1u << random() % 8);
    EXPECT_FALSE(numbers.good(number, session, kNewAddress, now_s));
  }
}

// Malformed answers, and answers to a probe for another address, are refused and change nothing.
TEST(PathCheck, WrongAnswersAreRefused) {
  World world;
  world.run(0.5);
  const auto says = [&](const SocketAddress& from, const Bytes& bytes) {
    return world.server().arrive(from, bytes, world.now_s, kNow);
  };
  for (const std::size_t bytes : {0u, 7u, 9u, 300u})
    EXPECT_EQ(says(kNewAddress, world.sealed_by_client(Kind::echo, bytes)).refusal, Refusal::malformed);
  EXPECT_EQ(says(kNewAddress, world.sealed_by_client(Kind::echo, 8)).refusal, Refusal::wrong_cookie);
  EXPECT_EQ(says(kNewAddress, world.sealed_by_client(Kind::probe, 8)).refusal, Refusal::malformed);
  EXPECT_EQ(world.address(), kOldAddress);
  // A number that was sent to kAttacker is not valid at kNewAddress, and it proves nothing about the client's
  // own address.
  world.on_other_address = [&](const SocketAddress& to, const Bytes& bytes) {
    if (to == kAttacker) world.to_client(bytes, 0.0);  // the attacker forwards it from its own address
  };
  std::vector<Bytes> echoes;
  world.on_client_datagram = [&](const Bytes& bytes) {
    if (bytes[0] == static_cast<std::byte>(Kind::echo)) echoes.push_back(bytes);
  };
  world.to_server(kAttacker, world.sealed_by_client(Kind::datagram, 20), 0.0);
  world.run(1.0);
  ASSERT_FALSE(echoes.empty());
  EXPECT_EQ(world.address(), kOldAddress);
  EXPECT_EQ(world.moves, 0);
}

}  // namespace
}  // namespace reckoner::secure
