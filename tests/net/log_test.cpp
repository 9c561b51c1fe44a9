// SPDX-License-Identifier: MIT
// A transport's log entries and their format. A flood of datagrams must not flood the log.
#include "net/src/transport/refusal_log.hpp"
#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/log.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner::test {
namespace {

/// Keeps the log entries.
struct LogCapture {
  struct Line {
    LogLevel level;
    std::string event;
    std::string text;
  };
  std::vector<Line> lines;

  LogSink sink() {
    return [this](const LogRecord& record) {
      lines.push_back({record.level, std::string(record.event), text_of(record)});
    };
  }
  [[nodiscard]] std::size_t count(const std::string& event) const {
    std::size_t n = 0;
    for (const Line& line : lines)
      n += line.event == event ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const Line& line : lines)
      all += line.text + "\n";
    return all;
  }
};

/// The part of an address before the port: "127.0.0.1:" or "[::1]:".
std::string here() {
  const std::string address = loopback_address(1);
  return address.substr(0, address.size() - 1);
}

TEST(Log, LineContainsAllFields) {
  const LogField fields[] = {{"client", std::uint64_t{7}},      {"by_s", -0.25},
                             {"why", std::string_view("full")}, {"secure", false},
                             {"way", std::int64_t{-3}},         {"none", std::string_view("")}};
  EXPECT_EQ(text_of({LogLevel::info, "client refused", fields}),
            "client refused client=7 by_s=-0.25 why=full secure=false way=-3 none=\"\"");
  EXPECT_EQ(text_of({LogLevel::info, "quiet", {}}), "quiet");
}

// Names and reasons come from other machines. They must not end the line or look like other fields.
TEST(Log, TextCannotEndTheLineOrItsQuotes) {
  for (const std::string_view text :
       {"a b", "a=b", "a\"b", "a\\b", "a\nlevel=error", "\x1b[2J", "\x7f", "\t"}) {
    const LogField field{"why", text};
    const std::string line = text_of({LogLevel::info, "x", {&field, 1}});
    ASSERT_GT(line.size(), 7u);
    EXPECT_EQ(line.substr(0, 7), "x why=\"") << line;
    EXPECT_EQ(line.back(), '"');
    const std::string inside = line.substr(7, line.size() - 8);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      EXPECT_GE(static_cast<unsigned char>(inside[i]), 0x20) << line;
      EXPECT_NE(static_cast<unsigned char>(inside[i]), 0x7f) << line;
      if (inside[i] == '\\') {
        ++i;
      } else {
        EXPECT_NE(inside[i], '"') << line;
      }
    }
  }
}

TEST(Log, EmptySinkIsNotCalled) {
  say({}, LogLevel::error, "nobody listens");
  RefusalLog log;
  RefusalCounts counts;
  counts[Refusal::malformed] = 3;
  log.say({}, "refused", counts);
}

TEST(RefusalLog, LogsNewRefusalsByReasonOnceASecond) {
  LogCapture heard;
  RefusalLog log;
  RefusalCounts counts;
  std::size_t looks = 0;
  for (int tick = 0; tick < 10'240; ++tick) {
    ++counts[Refusal::malformed];
    counts[Refusal::repeated] += tick == 5000 ? 1 : 0;
    if (!log.due(tick / 1024.0)) continue;
    ++looks;
    log.say(heard.sink(), "refused", counts);
  }
  EXPECT_EQ(looks, 10u);
  ASSERT_EQ(heard.lines.size(), 11u);
  EXPECT_EQ(heard.lines[0].text, "refused reason=malformed count=1");
  EXPECT_EQ(heard.lines[1].text, "refused reason=malformed count=1024");
  EXPECT_EQ(heard.lines[1].level, LogLevel::warning);
  std::size_t debug = 0;
  for (const LogCapture::Line& line : heard.lines)
    debug += line.level == LogLevel::debug ? 1 : 0;
  EXPECT_EQ(debug, 1u) << "late datagrams are logged at debug level only";
  log.say(heard.sink(), "refused", counts);
  heard.lines.clear();
  log.say(heard.sink(), "refused", counts);
  EXPECT_TRUE(heard.lines.empty()) << "nothing new";
}

bool until(const std::function<bool()>& so, const std::vector<Transport*>& transports) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    for (Transport* transport : transports) {
      transport->service(0.0);
      while (transport->poll()) {
      }
    }
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

TEST(TransportLog, LogsPeersWithTheirAddress) {
  LogCapture heard, of_client;
  auto server = NetworkTransport::listen(
      {.host = test::loopback(), .security = Insecure{}, .log = heard.sink(), .transport = "udp"});
  ASSERT_TRUE(server);
  auto client = NetworkTransport::connect({.host = test::loopback(),
                                           .port = (*server)->port(),
                                           .security = Insecure{},
                                           .log = of_client.sink(),
                                           .transport = "udp"});
  ASSERT_TRUE(client);
  ASSERT_TRUE(
      until([&] { return heard.count("peer connected") > 0 && of_client.count("peer connected") > 0; },
            {server->get(), client->get()}));
  EXPECT_EQ(heard.lines[1].level, LogLevel::debug);
  EXPECT_NE(heard.lines[1].text.find(" address=" + here()), std::string::npos) << heard.lines[1].text;
  client->reset();
  ASSERT_TRUE(until([&] { return heard.count("peer disconnected") > 0; }, {server->get()}));
  EXPECT_EQ(heard.lines.size(), 3u);
}

// A server must state its security. No default admits everybody.
static_assert(!std::is_default_constructible_v<ListenConfig>);
static_assert(!std::is_default_constructible_v<OrInsecure<ServerSecurity>>);
static_assert(std::is_constructible_v<NetworkDialer, ConnectConfig>);
static_assert(!std::is_default_constructible_v<ConnectConfig>);
template <class Host>
concept ConnectsWithoutAWord = requires(Host host) {
  NetworkTransport::connect({.host = host, .port = 1});
};
static_assert(!ConnectsWithoutAWord<const char*>);

// A server that requires tokens logs no warning.
TEST(TransportLog, WarnsOfAnInsecureServer) {
  LogCapture heard;
  auto open = NetworkTransport::listen(
      {.host = test::loopback(), .security = Insecure{}, .log = heard.sink(), .transport = "udp"});
  ASSERT_TRUE(open);
  ASSERT_EQ(heard.lines.size(), 1u);
  EXPECT_EQ(heard.lines[0].level, LogLevel::warning);
  EXPECT_EQ(heard.lines[0].event, "insecure: anyone can join, and nothing is encrypted");
  EXPECT_NE(heard.lines[0].text.find("port="), std::string::npos) << heard.lines[0].text;

  heard.lines.clear();
  ServerSecurity security{.key = SecretKey::make()};
  EXPECT_TRUE(
      NetworkTransport::listen({.host = test::loopback(), .security = security, .log = heard.sink()}));
  EXPECT_TRUE(heard.lines.empty());
  security.any_server = true;
  EXPECT_TRUE(
      NetworkTransport::listen({.host = test::loopback(), .security = security, .log = heard.sink()}));
  ASSERT_EQ(heard.lines.size(), 1u);
  EXPECT_EQ(heard.lines[0].event, "tokens for any server are accepted");
}

TEST(TransportLog, LogsAMissingAnswer) {
  LogCapture heard;
  auto nobody = NetworkTransport::listen({.host = test::loopback(),
                                          .security = Insecure{},
                                          .transport = "udp"});  // owns the port, is never serviced
  ASSERT_TRUE(nobody);
  auto client = NetworkTransport::connect({.host = test::loopback(),
                                           .port = (*nobody)->port(),
                                           .security = Insecure{},
                                           .log = heard.sink(),
                                           .transport = "udp"});
  ASSERT_TRUE(client);
  ASSERT_TRUE(until([&] { return heard.count("no answer") > 0; }, {client->get()})) << heard.text();
  EXPECT_EQ(heard.lines.back().level, LogLevel::warning);
}

// Clients without a token at a server that requires one are counted and logged once a second. If too many
// clients share one address, that address is logged, but not for each attempt.
TEST(TransportLog, LogsTheAddressOfRefusedClients) {
  LogCapture heard;
  const SecretKey key = SecretKey::make();
  auto server = NetworkTransport::listen({.host = test::loopback(),
                                          .security = ServerSecurity{.key = key, .peers_per_address = 2},
                                          .log = heard.sink()});
  ASSERT_TRUE(server);
  std::vector<std::unique_ptr<NetworkTransport>> clients;
  std::vector<Transport*> all{server->get()};
  for (std::uint64_t id = 1; id <= 5; ++id) {
    ConnectGrant grant{.client_id = id, .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), (*server)->port()}};
    auto client = NetworkTransport::connect({.host = test::loopback(),
                                             .port = (*server)->port(),
                                             .security = ClientSecurity{*issue_token(grant, key, 0)}});
    ASSERT_TRUE(client);
    clients.push_back(std::move(*client));
    all.push_back(clients.back().get());
  }
  const auto refused = [&] { return (*server)->stats().refusals[Refusal::handshake_limit]; };
  const double begin_s = now_s();
  ASSERT_TRUE(until([&] { return refused() >= 6; }, all));
  const auto lines = heard.count("client refused: too many from its address, or in total");
  EXPECT_GE(lines, 1u);
  EXPECT_LE(static_cast<double>(lines), now_s() - begin_s + 1.0) << "once a second";
  for (const LogCapture::Line& line : heard.lines) {
    if (!line.event.starts_with("client turned away")) continue;
    EXPECT_EQ(line.level, LogLevel::warning);
    EXPECT_NE(line.text.find(" address=" + here()), std::string::npos) << line.text;
  }
}

TEST(TransportLog, SumsRefusalsAtTheGate) {
  LogCapture heard;
  auto key = SecretKey::make();
  auto server = NetworkTransport::listen(
      {.host = test::loopback(), .security = ServerSecurity{.key = std::move(key)}, .log = heard.sink()});
  ASSERT_TRUE(server);
  std::vector<std::unique_ptr<NetworkTransport>> strangers;
  std::vector<Transport*> all{server->get()};
  for (int i = 0; i < 20; ++i) {
    auto stranger = NetworkTransport::connect(
        {.host = test::loopback(), .port = (*server)->port(), .security = Insecure{}, .transport = "udp"});
    ASSERT_TRUE(stranger);
    strangers.push_back(std::move(*stranger));
    all.push_back(strangers.back().get());
  }
  ASSERT_TRUE(until([&] { return (*server)->stats().refused >= 20 && !heard.lines.empty(); }, all));
  for (const LogCapture::Line& line : heard.lines) {
    EXPECT_EQ(line.event, "datagrams refused");
    EXPECT_EQ(line.level, LogLevel::warning);
  }
  EXPECT_LE(heard.lines.size(), 4u) << "not a line for each";
}

}  // namespace
}  // namespace reckoner::test
