// SPDX-License-Identifier: MIT
// Who has a token gets in, and the server knows as whom.
#include "pair.hpp"

#include <chrono>
#include <cstring>
#include <string>

namespace reckoner::test {
namespace {

constexpr std::uint32_t kLocalhost = 0x7f000001;

TEST(CKeys, AreReadAsTheirFilesHoldThem) {
  std::uint8_t key[32], again[32];
  char text[65];
  ASSERT_EQ(reckoner_make_key(key), RECKONER_OK);
  ASSERT_EQ(reckoner_key_to_text(key, text), RECKONER_OK);
  EXPECT_EQ(std::strlen(text), 64u);
  ASSERT_EQ(reckoner_key_from_text((std::string(text) + "\n").c_str(), again), RECKONER_OK);
  EXPECT_EQ(std::memcmp(key, again, sizeof key), 0);
  text[63] = '\0';
  EXPECT_EQ(reckoner_key_from_text(text, again), RECKONER_ERROR_ARGUMENT);
}

// A server with a key, and what it takes to get a token for it.
struct Sealed {
  Pair pair;
  std::uint8_t key[32];
  std::uint8_t token[1024];

  Sealed() {
    EXPECT_EQ(reckoner_make_key(key), RECKONER_OK);
    pair.server_config.insecure = 0;
    pair.server_config.key = key;
    pair.server_config.game = 42;
    char why[200];
    EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why), RECKONER_OK) << why;
  }

  void issue(std::uint64_t client_id) {
    const reckoner_address address{kLocalhost, reckoner_server_port(pair.server), 0};
    const auto* user = reinterpret_cast<const std::uint8_t*>("alice");
    reckoner_grant grant;
    reckoner_grant_init(&grant, sizeof grant);
    grant.servers = &address;
    grant.server_count = 1;
    grant.client_id = client_id;
    grant.game = 42;
    grant.user_data = user;
    grant.user_data_size = 5;
    grant.expires_s = static_cast<std::uint64_t>(
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) + 60);
    EXPECT_EQ(reckoner_issue_token(&grant, key, token), RECKONER_OK);
  }

  void connect(bool with_token) {
    pair.client_config.insecure = with_token ? 0 : 1;
    pair.client_config.token = with_token ? token : nullptr;
    pair.client_config.game = 42;
    pair.client_config.port = reckoner_server_port(pair.server);
    char why[200];
    EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, why, sizeof why), RECKONER_OK) << why;
  }
};

TEST(CToken, LetsInAsWhomItSays) {
  Sealed sealed;
  sealed.issue(7001);
  sealed.connect(true);
  Pair& pair = sealed.pair;
  ASSERT_TRUE(
      pair.until([&] { return pair.peer != 0 && reckoner_client_status(pair.client) == RECKONER_JOINED; }));
  std::uint64_t client_id = 0;
  std::uint8_t user[256];
  ASSERT_EQ(reckoner_server_identity(pair.server, pair.peer, &client_id, user), RECKONER_OK);
  EXPECT_EQ(client_id, 7001u);
  EXPECT_EQ(std::memcmp(user, "alice", 6), 0);
  EXPECT_EQ(reckoner_server_identity(pair.server, pair.peer + 1, &client_id, nullptr),
            RECKONER_ERROR_UNKNOWN);
  std::uint8_t ticket[1024];
  EXPECT_EQ(reckoner_client_ticket(pair.client, ticket), RECKONER_OK);
}

TEST(CToken, WithoutOneNobodyGetsIn) {
  Sealed sealed;
  sealed.connect(false);
  Pair& pair = sealed.pair;
  pair.run(0.5);
  EXPECT_EQ(reckoner_client_status(pair.client), RECKONER_CONNECTING);
  EXPECT_EQ(pair.peer, 0u);
}

TEST(CToken, ThereIsNoneOnAnInsecureServer) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  std::uint64_t client_id = 1;
  EXPECT_EQ(reckoner_server_identity(pair.server, pair.peer, &client_id, nullptr), RECKONER_NOTHING);
  std::uint8_t ticket[1024];
  EXPECT_EQ(reckoner_client_ticket(pair.client, ticket), RECKONER_NOTHING);
}

}  // namespace
}  // namespace reckoner::test
