// SPDX-License-Identifier: MIT
// Clients with a token are admitted, and the server knows their identity.
#include "pair.hpp"

#include <chrono>
#include <cstring>
#include <string>

namespace reckoner::test {
namespace {

constexpr std::uint32_t kLocalhost = 0x7f000001;

TEST(CKeys, RoundTripAsText) {
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

// A server with a key, and helpers to issue tokens for it.
struct SecureServer {
  Pair pair;
  std::uint8_t key[32];
  std::uint8_t token[1024];

  SecureServer() {
    EXPECT_EQ(reckoner_make_key(key), RECKONER_OK);
    pair.server_config.insecure = 0;
    pair.server_config.key = key;
    pair.server_config.game = 42;
    char why[200];
    EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why), RECKONER_OK) << why;
  }

  void issue(std::uint64_t client_id, std::uint64_t issued_ms = 0) {
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
    grant.issued_ms = issued_ms;
    EXPECT_EQ(reckoner_issue_token(&grant, key, token), RECKONER_OK);
  }

  std::uint64_t refused(const std::string& reason) {
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; reckoner_refusal_name(i) != nullptr; ++i) {
      if (reason != reckoner_refusal_name(i)) continue;
      EXPECT_EQ(reckoner_server_refused(pair.server, i, nullptr, &count), RECKONER_OK);
    }
    return count;
  }

  void connect(bool with_token, std::uint64_t game = 42) {
    pair.client_config.insecure = with_token ? 0 : 1;
    pair.client_config.token = with_token ? token : nullptr;
    pair.client_config.game = game;
    pair.client_config.port = reckoner_server_port(pair.server);
    char why[200];
    EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, why, sizeof why), RECKONER_OK) << why;
  }
};

TEST(CToken, AdmitsAClientWithItsIdentity) {
  SecureServer sealed;
  sealed.issue(7001);
  sealed.connect(true);
  Pair& pair = sealed.pair;
  ASSERT_TRUE(pair.until(
      [&] { return pair.peer != 0 && reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; }));
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

// The server decides which addresses tokens must name: its host, its configured addresses, or any.
TEST(CToken, IsValidForTheServersItNames) {
  SecureServer sealed;
  const auto why_not = [&](auto change) {
    reckoner_server_config config = sealed.pair.server_config;
    change(config);
    reckoner_server* server = nullptr;
    char why[200] = "";
    const auto result = reckoner_server_create(&config, &server, why, sizeof why);
    reckoner_server_destroy(server);
    EXPECT_EQ(result, why[0] == '\0' ? RECKONER_OK : RECKONER_ERROR_ARGUMENT);
    return std::string(why);
  };
  const reckoner_address other{0x0a090909, 1, 0};
  EXPECT_EQ(why_not([](auto&) {}), "");
  EXPECT_NE(why_not([](auto& c) { c.host = nullptr; }).find("every address"), std::string::npos);
  EXPECT_EQ(why_not([](auto& c) { c.host = nullptr, c.any_server = 1; }), "");
  EXPECT_EQ(why_not([&](auto& c) { c.host = nullptr, c.addresses = &other, c.address_count = 1; }), "");
  EXPECT_NE(why_not([](auto& c) { c.ticket_s = -1.0; }).find("ticket_s"), std::string::npos);
  EXPECT_NE(why_not([](auto& c) { c.handshakes_per_second = -1.0; }).find("handshakes"), std::string::npos);

  // The token has the right key, but tokens must name this server by another address.
  sealed.issue(7001);
  Pair& pair = sealed.pair;
  reckoner_server_config config = pair.server_config;
  config.port = reckoner_server_port(pair.server);
  config.addresses = &other;
  config.address_count = 1;
  reckoner_server_destroy(pair.server);
  ASSERT_EQ(reckoner_server_create(&config, &pair.server, nullptr, 0), RECKONER_OK);
  sealed.connect(true);
  EXPECT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
  EXPECT_STREQ(reckoner_client_refusal(pair.client), "the server accepts only tokens that name its address");
  EXPECT_GT(sealed.refused("wrong_token"), 0u);
}

// The backend and the server have different keys, a usual mistake at a first start.
TEST(CToken, AnotherKeyIsReportedSoonAndClearly) {
  SecureServer sealed;
  ASSERT_EQ(reckoner_make_key(sealed.key), RECKONER_OK);  // from now on, tokens are issued with another one
  sealed.issue(7001);
  for (const std::int32_t reconnects : {0, 1}) {
    sealed.pair.client_config.reconnects = reconnects;
    sealed.connect(true);
    Pair& pair = sealed.pair;
    const double begin_s = pair.now_s();
    EXPECT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
    EXPECT_LT(pair.now_s() - begin_s, 3.0) << "before, 5 s";
    const std::string why = reckoner_client_refusal(pair.client);
    EXPECT_EQ(why.find("does not answer"), std::string::npos) << why;
    EXPECT_NE(why.find("key"), std::string::npos) << why;
    reckoner_client_destroy(pair.client);
    pair.client = nullptr;
  }
  EXPECT_GT(sealed.refused("wrong_token"), 0u);
}

// A kick is about the player: its ticket and a token that it kept back become invalid.
TEST(CToken, KickedPlayerNeedsANewerToken) {
  SecureServer sealed;
  Pair& pair = sealed.pair;
  const auto joined = [&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; };
  const auto leave = [&] {
    reckoner_client_destroy(pair.client);
    pair.client = nullptr;
  };
  sealed.issue(7008);
  std::uint8_t kept_back[1024], ticket[1024];
  std::memcpy(kept_back, sealed.token, sizeof kept_back);
  sealed.issue(7008);
  sealed.connect(true);
  ASSERT_TRUE(pair.until(joined));
  ASSERT_EQ(reckoner_client_ticket(pair.client, ticket), RECKONER_OK);
  std::size_t ended = 9;
  EXPECT_EQ(reckoner_server_kick_player(pair.server, 7008, std::string(256, 'x').c_str(), &ended),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(ended, 0u);
  EXPECT_EQ(reckoner_server_kick_player(pair.server, 7008, "cheating", &ended), RECKONER_OK);
  EXPECT_EQ(ended, 1u);
  EXPECT_EQ(reckoner_server_kick_player(pair.server, 7008, nullptr, nullptr), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
  EXPECT_STREQ(reckoner_client_refusal(pair.client), "kicked by the server: cheating");
  for (const std::uint8_t* old : {kept_back, ticket}) {
    leave();
    std::memcpy(sealed.token, old, sizeof sealed.token);
    sealed.connect(true);
    EXPECT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
    EXPECT_NE(std::string(reckoner_client_refusal(pair.client)).find("kick"), std::string::npos);
  }
  leave();
  sealed.issue(7008);
  sealed.connect(true);
  EXPECT_TRUE(pair.until(joined));
}

// Tokens and servers name only addresses that one host can have.
TEST(CToken, CannotNameAddressesOfNoHost) {
  SecureServer sealed;
  std::uint8_t token[1024];
  const auto issues = [&](const reckoner_address& address, const char* more) {
    reckoner_grant grant;
    reckoner_grant_init(&grant, sizeof grant);
    grant.servers = &address;
    grant.server_count = 1;
    grant.expires_s = 2'000'000'000;
    grant.more_servers = more;
    return reckoner_issue_token(&grant, sealed.key, token);
  };
  EXPECT_EQ(issues({0x0a090909, 1, 0}, "[2001:db8::5]:4000"), RECKONER_OK);
  for (const std::uint32_t host : {0u, 0xe0000001u, 0xffffffffu})
    EXPECT_EQ(issues({host, 1, 0}, nullptr), RECKONER_ERROR_ARGUMENT) << host;
  EXPECT_EQ(issues({0x0a090909, 0, 0}, nullptr), RECKONER_ERROR_ARGUMENT);
  for (const char* more : {"[::]:4000", "[ff02::1]:4000"})
    EXPECT_EQ(issues({0x0a090909, 1, 0}, more), RECKONER_ERROR_ARGUMENT) << more;
  reckoner_server_config config = sealed.pair.server_config;
  config.more_addresses = "[::]";
  reckoner_server* server = nullptr;
  char why[200] = "";
  EXPECT_EQ(reckoner_server_create(&config, &server, why, sizeof why), RECKONER_ERROR_ARGUMENT);
  EXPECT_NE(std::string(why).find("::"), std::string::npos) << why;
}

// The issue time decides, not the time at which the token is created or shown.
TEST(CToken, OlderTokenIsRefusedAfterANewerOne) {
  for (const bool older : {true, false}) {
    SecureServer sealed;
    Pair& pair = sealed.pair;
    sealed.issue(7003, 5000);
    sealed.connect(true);
    const auto joined = [&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; };
    ASSERT_TRUE(pair.until(joined));
    reckoner_client_destroy(pair.client);
    pair.client = nullptr;
    sealed.issue(7003, older ? 4999 : 0);
    sealed.connect(true);
    EXPECT_TRUE(pair.until([&] { return joined() || sealed.refused("token_reused") > 0; }));
    EXPECT_EQ(joined(), !older);
  }
}

// A client learns at once what is wrong with its token.
TEST(CToken, RefusedClientKnowsTheReason) {
  SecureServer sealed;
  Pair& pair = sealed.pair;
  const auto refusal = [&] {
    EXPECT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
    const std::string text = reckoner_client_refusal(pair.client);
    reckoner_client_destroy(pair.client);
    pair.client = nullptr;
    return text;
  };
  sealed.issue(7005);
  sealed.connect(true);
  ASSERT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; }));
  reckoner_client_destroy(pair.client);
  pair.client = nullptr;
  sealed.connect(true);
  EXPECT_NE(refusal().find("used before"), std::string::npos);
  sealed.issue(7006);
  sealed.connect(true, 43);
  EXPECT_NE(refusal().find("another game"), std::string::npos);
  EXPECT_GT(sealed.refused("wrong_game"), 0u);
}

// A client without a host connects to the servers of its token.
TEST(CToken, ProvidesTheServerAddress) {
  SecureServer sealed;
  sealed.issue(7002);
  Pair& pair = sealed.pair;
  pair.client_config.insecure = 0;
  pair.client_config.token = sealed.token;
  pair.client_config.game = 42;
  pair.client_config.host = nullptr;
  EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_ERROR_ARGUMENT)
      << "a client without reconnect needs a single server";
  pair.client_config.reconnects = 1;
  ASSERT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; }));
}

// A client that was closed joins again, without a new token from the backend.
TEST(CToken, TicketLetsAClientJoinAgain) {
  SecureServer sealed;
  sealed.issue(7004);
  sealed.connect(true);
  Pair& pair = sealed.pair;
  const auto joined = [&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; };
  ASSERT_TRUE(pair.until(joined));
  ASSERT_EQ(reckoner_client_ticket(pair.client, sealed.token), RECKONER_OK);
  reckoner_client_destroy(pair.client);
  pair.client = nullptr;
  sealed.connect(true);
  EXPECT_TRUE(pair.until(joined));
}

TEST(CToken, ClientWithoutOneIsRefused) {
  SecureServer sealed;
  sealed.connect(false);
  Pair& pair = sealed.pair;
  // Without a token and without a name, the client uses ENet, which the server recognises.
  pair.run(0.5);
  EXPECT_NE(reckoner_client_status(pair.client), RECKONER_STATUS_JOINED);
  EXPECT_EQ(pair.peer, 0u);
}

TEST(CTransport, TheNameDecidesAtBothEnds) {
  for (const char* const name : {"udp", "enet"}) {
    Pair pair;
    pair.server_config.transport = pair.client_config.transport = name;
    EXPECT_TRUE(pair.start()) << name;
  }
  Pair apart;
  apart.server_config.transport = "udp";
  apart.client_config.transport = "enet";
  char why[300] = "";
  ASSERT_EQ(reckoner_server_create(&apart.server_config, &apart.server, why, sizeof why), RECKONER_OK);
  apart.client_config.port = reckoner_server_port(apart.server);
  ASSERT_EQ(reckoner_client_create(&apart.client_config, &apart.client, why, sizeof why), RECKONER_OK);
  EXPECT_TRUE(
      apart.until([&] { return reckoner_client_status(apart.client) != RECKONER_STATUS_CONNECTING; }));
  EXPECT_EQ(apart.peer, 0u);
  Pair unknown;
  unknown.server_config.transport = unknown.client_config.transport = "pigeon";
  EXPECT_EQ(reckoner_server_create(&unknown.server_config, &unknown.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_NE(std::string(why).find("pigeon"), std::string::npos) << why;
  unknown.client_config.port = 4000;
  EXPECT_NE(reckoner_client_create(&unknown.client_config, &unknown.client, why, sizeof why), RECKONER_OK);
  EXPECT_NE(std::string(why).find("pigeon"), std::string::npos) << why;
}

TEST(CToken, InsecureServerHasNoIdentities) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  std::uint64_t client_id = 1;
  EXPECT_EQ(reckoner_server_identity(pair.server, pair.peer, &client_id, nullptr), RECKONER_NOTHING);
  std::uint8_t ticket[1024];
  EXPECT_EQ(reckoner_client_ticket(pair.client, ticket), RECKONER_NOTHING);
}

}  // namespace
}  // namespace reckoner::test
