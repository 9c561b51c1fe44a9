// SPDX-License-Identifier: MIT
// A client of the C API reconnects by itself if configured.
#include "pair.hpp"

#include <cmath>

namespace reckoner::test {
namespace {

TEST(CReconnect, RestartedServerIsJoinedAgain) {
  Pair pair;
  pair.client_config.reconnects = 1;
  pair.client_config.reconnect_first_wait_s = 0.1;
  ASSERT_TRUE(pair.start());
  const reckoner_state state = at(1.0, 2.0, 3.0);
  reckoner_entity first = 0, second = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "first", &state, 0, &first), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, first); }));
  double lost_s = 1.0;
  ASSERT_EQ(reckoner_client_lost_for(pair.client, &lost_s), RECKONER_OK);
  EXPECT_EQ(lost_s, 0.0);

  pair.server_config.port = reckoner_server_port(pair.server);
  reckoner_server_destroy(pair.server);
  pair.server = nullptr;
  char why[200] = "";
  ASSERT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why), RECKONER_OK) << why;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "other", &state, 0, &second), RECKONER_OK);
  second = 0;  // the first spawn gets the old entity's id, this one another
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "second", &state, 0, &second), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_LOST, 0); }));
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, second); }));
  EXPECT_TRUE(pair.had(RECKONER_CLIENT_EVENT_RESTARTED, 0)) << "a restarted server has a new world";
  EXPECT_EQ(reckoner_client_status(pair.client), RECKONER_STATUS_JOINED);
  reckoner_client_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(reckoner_client_get_stats(pair.client, &stats), RECKONER_OK);
  EXPECT_GE(stats.connections_lost, 1u);
  EXPECT_GT(stats.wire_datagrams_received, 0u);
}

TEST(CReconnect, InvalidWaitsAreRefused) {
  const auto refused = [](auto spoil) {
    Pair pair;
    pair.client_config.port = 1;
    pair.client_config.reconnects = 1;
    spoil(pair.client_config);
    return reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0) == RECKONER_ERROR_ARGUMENT;
  };
  EXPECT_FALSE(refused([](reckoner_client_config&) {}));
  EXPECT_TRUE(refused([](reckoner_client_config& c) { c.reconnect_growth = 0.5; }));
  EXPECT_TRUE(refused([](reckoner_client_config& c) { c.reconnect_jitter = 1.5; }));
  EXPECT_TRUE(refused([](reckoner_client_config& c) { c.reconnect_give_up_s = std::nan(""); }));
  EXPECT_TRUE(refused([](reckoner_client_config& c) { c.reconnect_silence_s = -1.0; }));

  Pair pair;
  pair.client_config.port = 1;
  ASSERT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_OK);
  const std::uint8_t token[1024] = {};
  EXPECT_EQ(reckoner_client_set_token(pair.client, token), RECKONER_ERROR_REFUSED);
}

}  // namespace
}  // namespace reckoner::test
