// SPDX-License-Identifier: MIT
// Transports by name, as programs open them.
#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

ListenConfig insecure_server(std::string transport) {
  return {
      .host = test::loopback(), .max_peers = 4, .security = Insecure{}, .transport = std::move(transport)};
}

TEST(NetworkTransport, OpensTheDefaultAndTheNamedTransport) {
  std::vector<const char*> names{"udp"};
  if (test::loopback_ip().is_ipv4()) names.insert(names.end(), {"", "enet"});  // "" is enet without security
  for (const char* const name : names) {
    const auto server = NetworkTransport::listen(insecure_server(name));
    ASSERT_TRUE(server) << server.error();
    EXPECT_NE((*server)->port(), 0);
    EXPECT_FALSE((*server)->ticket());
    NetworkDialer dialer({.host = test::loopback(),
                          .port = (*server)->port(),
                          .security = Insecure{},
                          .transport = name,
                          .version = 3});
    ASSERT_TRUE(dialer.dial());
    bool connected = false;
    for (const double end_s = test::now_s() + test::kTimeoutS; !connected && test::now_s() < end_s;
         usleep(300)) {
      (*server)->service(0.0);
      while ((*server)->poll()) {
      }
      dialer.transport()->service(0.0);
      const auto event = dialer.transport()->poll();
      connected = event && event->kind == TransportEvent::Kind::connected;
    }
    EXPECT_TRUE(connected);
  }
}

TEST(NetworkTransport, NamesTheKnownTransportsWhenOneIsUnknown) {
  const auto server = NetworkTransport::listen(insecure_server("carrier pigeon"));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error(), "unknown transport 'carrier pigeon'; known: enet udp");
  EXPECT_FALSE(NetworkTransport::connect({.host = test::loopback(),
                                          .port = 1,
                                          .security = Insecure{},
                                          .transport = "carrier pigeon",
                                          .version = 3}));
  NetworkDialer dialer({.host = test::loopback(),
                        .port = 1,
                        .security = Insecure{},
                        .transport = "carrier pigeon",
                        .version = 3});
  EXPECT_FALSE(dialer.dial());
}

std::vector<std::string> all_transports() {
  std::vector<std::string> names{"udp"};
  if (test::loopback_ip().is_ipv4()) names.emplace_back("enet");
  return names;
}

TEST(NetworkTransport, ReportsAPortInUseAndUnknownHosts) {
  for (const std::string& name : all_transports()) {
    auto first = NetworkTransport::listen(insecure_server(name));
    ASSERT_TRUE(first) << first.error();
    ListenConfig config = insecure_server(name);
    config.port = (*first)->port();
    const auto second = NetworkTransport::listen(config);
    ASSERT_FALSE(second) << name;
    EXPECT_EQ(second.error(), "UDP port " + std::to_string(config.port) + " is in use");
    config.host = "no-such-host.invalid";
    EXPECT_FALSE(NetworkTransport::listen(config));
    config = insecure_server(name);
    config.max_peers = 0;
    EXPECT_FALSE(NetworkTransport::listen(config));
  }
}

TEST(NetworkTransport, MissingHostPortOrVersionFailsAtOnce) {
  for (const std::string& name : all_transports()) {
    EXPECT_FALSE(NetworkTransport::connect(
        {.host = "", .port = 4000, .security = Insecure{}, .transport = name, .version = 1}));
    EXPECT_FALSE(NetworkTransport::connect(
        {.host = test::loopback(), .port = 0, .security = Insecure{}, .transport = name, .version = 1}));
    EXPECT_FALSE(NetworkTransport::connect(
        {.host = test::loopback(), .port = 4000, .security = Insecure{}, .transport = name, .version = 0}));
  }
}

}  // namespace
}  // namespace reckoner
