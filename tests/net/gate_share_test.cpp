// SPDX-License-Identifier: MIT
// Which limits a handshake counts against, and how many sessions are allowed. No client uses up another
// client's limits.
#include "gate_server.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::GateServer;
using test::kGame;
using test::token_of;

// An attacker has seen a response and sends it again with a forged source address, unchanged or changed.
// Other clients at that address are not affected, whether the original client is connected, has left or was
// refused.
TEST(GateShare, CopiedResponsesDoNotUseUpTheHandshakeLimit) {
  enum class Then { nothing, stands, leaves, comes_back, is_full };
  for (const Then then : {Then::nothing, Then::stands, Then::leaves, Then::comes_back, Then::is_full}) {
    GateServer house;
    const SocketAddress home{9, 1};
    std::vector<Ticket> inside;
    if (then == Then::is_full) {
      for (std::uint16_t i = 0; i < house.config.most_sessions_per_host; ++i)
        inside.push_back(*house.join(house.token(100u + i), {home.host, i}));
      house.pass(30);
    }
    ClientHandshake alice(house.token(1), kGame);
    ASSERT_TRUE(alice.receive(*house.ask(home, *alice.to_send(house.now_s))));
    const auto sent = alice.to_send(house.now_s);
    const Bytes seen(sent->begin(), sent->end());
    const auto answer = house.ask(home, seen);
    ASSERT_EQ(answer.has_value(), then != Then::is_full);
    if (answer) {
      ASSERT_TRUE(alice.receive(*answer));
    }
    if (then == Then::stands || then == Then::leaves) {
      EXPECT_TRUE(house.bind(alice));
    }
    if (then == Then::leaves) {
      house.gates[0].release(alice.session()->number, house.now_s);
      house.now_s += 3.0;
      house.gates[0].tidy(house.now_s, house.unix_s);
    }
    if (then == Then::comes_back) {
      EXPECT_TRUE(house.join(token_of(alice.session()->ticket), home));
    }
    const auto accepted = house.gates[0].counts().accepted;
    for (int i = 0; i < 5000; ++i) {
      Bytes copy = seen;
      if (i % 2 == 0) copy[60 + static_cast<std::size_t>(i) % 600] ^= std::byte{1};  // after the cookie
      const auto again = house.ask(home, copy);
      EXPECT_EQ(again.has_value(), i % 2 != 0 && then != Then::is_full) << i;
      if (again && (then == Then::nothing || then == Then::stands)) {
        ASSERT_EQ(*again, *answer);
      } else if (again) {
        ASSERT_EQ(again->size(), Refused::kBytes) << "the token was used";
      }
      if (i % 100 != 0) continue;
      house.now_s += 0.09;  // all rounds take less than five seconds
      house.gates[0].tidy(house.now_s, house.unix_s);
    }
    EXPECT_EQ(house.gates[0].counts().accepted, accepted) << "no handshake was computed twice";
    if (then == Then::is_full) {
      for (std::uint16_t i = 0; i < house.config.most_sessions_per_host; ++i)
        EXPECT_TRUE(house.join(token_of(inside[i]), {home.host, static_cast<std::uint16_t>(i + 50u)}));
    } else {
      for (std::uint16_t i = 0; i < 15; ++i)
        EXPECT_TRUE(house.join(house.token(50u + i), {home.host, static_cast<std::uint16_t>(100u + i)})) << i;
    }
  }
}

// Many hosts without a token return their cookies. They use up no other client's handshakes.
TEST(GateShare, HostsWithoutATokenDoNotUseUpTheHandshakeLimit) {
  GateConfig config;
  config.begun_per_second = 5.0;
  GateServer house(1, config);
  Response garbage;
  garbage.game = kGame;
  garbage.version = kProtocolVersion;
  garbage.expires_s = house.unix_s + 1000;
  for (std::uint32_t host = 1; host <= 3000; ++host) {
    const auto challenge = house.ask({host, 1}, write(Request{kGame, garbage.client, kProtocolVersion}));
    garbage.cookie = read_challenge(*challenge)->cookie;
    for (int i = 0; i < 3; ++i)
      EXPECT_FALSE(house.ask({host, 1}, write(garbage)));
    EXPECT_EQ(house.gates[0].refusal(), Refusal::wrong_token);
  }
  for (std::uint16_t i = 0; i < 5; ++i)
    EXPECT_TRUE(house.join(house.token(i), {1, i}));
  EXPECT_FALSE(house.join(house.token(5), {4000, 1})) << "genuine ones are limited";
  EXPECT_EQ(house.gates[0].refusal(), Refusal::handshake_limit);
}

// The count that limits the sessions of an address stays correct when sessions begin, end and move.
TEST(GateShare, SessionsOfAnAddressAreCountedCorrectly) {
  GateConfig config;
  config.most_sessions = 20;
  config.most_sessions_per_host = 4;
  config.handshakes_per_second = config.begun_per_second = 0.0;
  GateServer house(1, config);
  Gate& gate = house.gates[0];
  std::mt19937 random(17);
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> inside;  // session and host by client
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t who = random() % 30;
    const auto host = static_cast<std::uint32_t>(random() % 7);
    const auto found = inside.find(who);
    if (found != inside.end() && random() % 2 == 0) {
      const std::uint32_t number = found->second.first;
      if (random() % 2 == 0) {
        gate.move(*gate.find(number), {host, 5});
        found->second.second = host;
      } else {
        gate.release(number, house.now_s);
        house.now_s += 3.0;
        gate.tidy(house.now_s, house.unix_s);
        inside.erase(found);
      }
      continue;
    }
    const auto at_host = std::ranges::count_if(
        inside, [&](const auto& one) { return one.first != who && one.second.second == host; });
    const bool room = at_host < 4 && inside.size() - inside.count(who) < 20;
    ClientHandshake client(house.token(who), kGame);
    house.talk(client, {host, static_cast<std::uint16_t>(i)});
    ASSERT_EQ(client.session().has_value(), room) << i;
    if (!room) continue;
    ASSERT_TRUE(house.bind(client));
    house.end_replaced();
    inside[who] = {client.session()->number, host};
    ASSERT_EQ(gate.sessions(), inside.size());
    house.pass(1);
    house.gates[0].tidy(house.now_s, house.unix_s);
  }
}

}  // namespace
}  // namespace reckoner::secure
