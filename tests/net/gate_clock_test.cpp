// SPDX-License-Identifier: MIT
// How long used tokens are remembered, with a correct and with a wrong wall clock.
#include "gate_server.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::GateServer;
using test::kNow;
using test::kServer;

// The server starts with a wall clock that is hours behind, or at 1970. Once the clock is correct, the tokens
// used meanwhile stay in the table no longer than usual.
TEST(GateClock, SlowWallClockDoesNotKeepEntriesLonger) {
  for (const std::uint64_t behind_s : {0u, 20'000u, 86'400u, 1'799'000'000u}) {
    GateConfig config;
    config.tokens = {.most = 50, .most_per_client = 256};
    config.handshakes_per_second = 0.0;
    config.most_sessions = config.most_sessions_per_host = 1000;
    GateServer house(1, config);
    const auto joins = [&](std::uint64_t client) {
      const std::uint64_t right_s = kNow + static_cast<std::uint64_t>(house.now_s - 100.0);
      ConnectGrant grant{.client_id = client, .expires_s = right_s + 30, .servers = {kServer}};
      grant.issued_ms = right_s * 1000;
      return house.join(*issue_token(grant, house.config.key, test::kGame)).has_value();
    };
    house.unix_s -= behind_s;
    for (std::uint64_t i = 0; i < 50; ++i)
      ASSERT_TRUE(joins(i)) << behind_s;
    EXPECT_FALSE(joins(1000)) << "the table is full";
    house.pass(60);
    house.unix_s += behind_s;
    house.pass(7200);
    for (int i = 0; i < 100; ++i)
      house.gates[0].tidy(house.now_s, house.unix_s);
    EXPECT_EQ(house.config.used->size(), 0u) << behind_s;
    EXPECT_TRUE(joins(1000)) << behind_s;
  }
}

// A token that is valid for days is checked again and again, and stays used for that time.
TEST(GateClock, TokenValidForDaysStaysUsed) {
  GateServer house;
  ConnectGrant grant{.client_id = 1, .expires_s = house.unix_s + 200'000, .servers = {kServer}};
  grant.issued_ms = house.unix_s * 1000;
  const ConnectToken token = *issue_token(grant, house.config.key, test::kGame);
  ASSERT_TRUE(house.join(token));
  for (int i = 0; i < 199'000; i += 100) {
    house.pass(100);
    house.gates[0].tidy(house.now_s, house.unix_s);
    ASSERT_EQ(house.config.used->size(), 1u) << i;
  }
  EXPECT_FALSE(house.join(token, {2, 2}));
  EXPECT_EQ(house.gates[0].refusal(), Refusal::token_reused);
  house.pass(10'000);
  house.gates[0].tidy(house.now_s, house.unix_s);
  EXPECT_EQ(house.config.used->size(), 0u);
}

}  // namespace
}  // namespace reckoner::secure
