// SPDX-License-Identifier: MIT
// A server with the C API that native players and browsers join.
#include "tests/programs/http.hpp"
#include "tests/programs/process.hpp"
#include "tests/web/web_world.hpp"

#include <array>
#include <cstring>
#include <fstream>

#include <reckoner_web.h>

namespace reckoner::test {
namespace {

class CWeb : public testing::Test {
 protected:
  CWeb() {
    reckoner_archetype_init(&car_, sizeof car_);
    reckoner_web_config_init(&web_, sizeof web_);
    web_.host = "127.0.0.1";
    reckoner_server_config_init(&config_, sizeof config_);
    config_.archetypes = &car_;
    config_.archetype_count = 1;
    config_.host = "127.0.0.1";
    config_.epoch_s = machine_s();
    config_.transport = "udp";
    config_.insecure = 1;
    config_.web = &web_;
  }
  ~CWeb() override { reckoner_server_destroy(server_); }

  reckoner_result create() { return reckoner_server_create(&config_, &server_, why_.data(), why_.size()); }

  /// Serves until this is true. Returns false if it was not within five seconds.
  bool serve_until(const std::function<bool(double)>& reached) {
    for (const double until_s = machine_s() + 5.0; machine_s() < until_s;) {
      const double now_s = machine_s();
      (void)reckoner_server_wait(server_, 0.002);
      (void)reckoner_server_receive(server_, now_s);
      std::uint32_t tick = 0;
      double due_s = 0.0;
      (void)reckoner_server_next_tick(server_, &tick, &due_s);
      if (due_s <= now_s) (void)reckoner_server_tick(server_, now_s);
      reckoner_server_event event{};
      event.struct_size = sizeof event;
      while (reckoner_server_poll_event(server_, &event) == RECKONER_OK) {
        if (event.kind == RECKONER_SERVER_EVENT_CLIENT_JOINED) joined_.push_back(event.client);
      }
      if (reached(now_s)) return true;
    }
    return false;
  }

  reckoner_archetype car_{};
  reckoner_web_config web_{};
  reckoner_server_config config_{};
  reckoner_server* server_ = nullptr;
  std::array<char, 400> why_{};
  std::vector<reckoner_client_id> joined_;
};

TEST_F(CWeb, NativePlayersAndBrowsersJoinOneServer) {
  const SecretKey key = SecretKey::make();
  std::array<std::uint8_t, 32> key_bytes{};
  const auto bytes = key.bytes();
  std::memcpy(key_bytes.data(), bytes.data(), key_bytes.size());
  config_.insecure = 0;
  config_.key = key_bytes.data();
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  const std::uint16_t udp = reckoner_server_port(server_);
  ASSERT_NE(reckoner_web_port(server_), 0);
  const auto token_for = [&](std::uint64_t id) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto unix_s =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
    ConnectGrant grant{.client_id = id, .expires_s = unix_s + 60};
    grant.servers = {{.host = IpAddress(0x7F000001), .port = udp}};
    return *issue_token(grant, key, 0);
  };
  const auto browser_token = *write_token(token_for(7));
  Browser browser(reckoner_web_port(server_), browser_token);
  NativePlayer native(udp, ClientSecurity{.token = token_for(8)});
  EXPECT_TRUE(serve_until([&](double now_s) {
    browser.update(now_s);
    native.client.update(now_s);
    return joined_.size() == 2;
  }));
  ASSERT_EQ(joined_.size(), 2u) << browser.client().refusal() << native.client.refusal();
  int browsers = 0;
  for (const reckoner_client_id client : joined_) {
    std::int32_t in_browser = -1;
    EXPECT_EQ(reckoner_web_has_client(server_, client, &in_browser), RECKONER_OK);
    std::uint64_t id = 0;
    EXPECT_EQ(reckoner_server_identity(server_, client, &id, nullptr), RECKONER_OK);
    EXPECT_EQ(id, in_browser == 1 ? 7u : 8u);
    browsers += in_browser;
  }
  EXPECT_EQ(browsers, 1);
  std::uint32_t peers = 0, connections = 0;
  EXPECT_EQ(reckoner_web_counts(server_, &peers, &connections), RECKONER_OK);
  EXPECT_EQ(peers, 1u);
  EXPECT_EQ(connections, 1u);

  // What the WebSocket refuses is in the server's figures.
  Browser thief(reckoner_web_port(server_), browser_token);
  EXPECT_TRUE(serve_until([&](double now_s) {
    browser.update(now_s);
    native.client.update(now_s);
    thief.update(now_s);
    return thief.client().status() == ClientStatus::disconnected;
  }));
  std::uint64_t payloads = 0, datagrams = 0;
  EXPECT_EQ(reckoner_server_refused(server_, static_cast<std::uint32_t>(Refusal::token_reused), &payloads,
                                    &datagrams),
            RECKONER_OK);
  EXPECT_EQ(datagrams, 1u);
}

TEST_F(CWeb, OpensAPortForDataChannels) {
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  std::uint16_t port = 0;
  std::uint32_t open = 7;
  EXPECT_EQ(reckoner_web_channels(server_, &port, &open), RECKONER_OK);
  EXPECT_NE(port, 0);
  EXPECT_EQ(open, 0u);

  web_.channel_port = port;
  reckoner_server* second = nullptr;
  EXPECT_EQ(reckoner_server_create(&config_, &second, why_.data(), why_.size()), RECKONER_ERROR_NETWORK)
      << "the port is in use";
  reckoner_server_destroy(std::exchange(server_, nullptr));
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  EXPECT_EQ(reckoner_web_channels(server_, &port, nullptr), RECKONER_OK);
  EXPECT_EQ(port, web_.channel_port);
  reckoner_server_destroy(std::exchange(server_, nullptr));

  web_.data_channels = 0;
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  EXPECT_EQ(reckoner_web_channels(server_, &port, nullptr), RECKONER_OK);
  EXPECT_EQ(port, 0);
  reckoner_server_destroy(std::exchange(server_, nullptr));

  web_.channel_address = "game.example";
  EXPECT_EQ(create(), RECKONER_ERROR_ARGUMENT) << "it is no IP address";
}

// A program that was compiled before the members for channels were there.
TEST_F(CWeb, TakesTheSmallerStructOfEarlierPrograms) {
  web_.struct_size = offsetof(reckoner_web_config, channel_address);
  web_.channel_address = "nonsense";
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  std::uint16_t port = 0;
  EXPECT_EQ(reckoner_web_channels(server_, &port, nullptr), RECKONER_OK);
  EXPECT_NE(port, 0);
}

TEST_F(CWeb, TakesItsSettings) {
  const ScratchDir scratch;
  std::ofstream(scratch.file("game.html")) << "<p>game</p>";
  const std::string folder = scratch.path().string();
  const std::array<const char*, 1> origins{"https://game.example"};
  web_.folder = folder.c_str();
  web_.front_page = "game.html";
  web_.origins = origins.data();
  web_.origin_count = 1;
  ASSERT_EQ(create(), RECKONER_OK) << why_.data();
  const std::uint16_t port = reckoner_web_port(server_);
  EXPECT_EQ(http_get(port, "/").body, "<p>game</p>");
  EXPECT_TRUE(WebSocket(port).open("https://game.example"));
  EXPECT_FALSE(WebSocket(port).open("https://other.example"));
}

TEST_F(CWeb, SaysWhatIsWrong) {
  const auto fault = [&](reckoner_result expected) {
    EXPECT_EQ(create(), expected);
    EXPECT_EQ(server_, nullptr);
    return std::string(why_.data());
  };
  web_.max_peers = 0;
  EXPECT_NE(fault(RECKONER_ERROR_ARGUMENT).find("max_peers is 0"), std::string::npos) << why_.data();
  web_.max_peers = 64;
  web_.origin_count = 1;
  EXPECT_NE(fault(RECKONER_ERROR_ARGUMENT).find("origins is null"), std::string::npos);
  web_.origin_count = 0;
  web_.struct_size = 8;
  EXPECT_EQ(fault(RECKONER_ERROR_STRUCT), "");
  web_.struct_size = sizeof web_;
  web_.host = "192.0.2.1";
  EXPECT_NE(fault(RECKONER_ERROR_NETWORK).find("not of this machine"), std::string::npos) << why_.data();
  EXPECT_EQ(reckoner_web_has_client(nullptr, 1, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_web_port(nullptr), 0);
}

}  // namespace
}  // namespace reckoner::test
