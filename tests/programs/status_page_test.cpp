// SPDX-License-Identifier: MIT
// What operators see of a running server: its log, its metrics, its health, and its shutdown.
#include "http.hpp"
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::test {
namespace {

/// The number that follows `words` in the program's output.
std::uint16_t port_after(const std::string& output, const std::string& words) {
  const std::size_t at = output.find(words);
  return at == std::string::npos ? std::uint16_t{0}
                                 : static_cast<std::uint16_t>(std::atoi(output.c_str() + at + words.size()));
}

/// The samples of a page in Prometheus' text format, by name with labels.
std::map<std::string, double> samples(const std::string& page) {
  std::map<std::string, double> all;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    EXPECT_NE(space, std::string::npos) << line;
    all[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
  }
  return all;
}

double sum_of(const std::map<std::string, double>& page, const std::string& name) {
  double sum = 0.0;
  for (const auto& [key, value] : page)
    sum += key.starts_with(name + "{") ? value : 0.0;
  return sum;
}

class ServerStatusPage : public testing::Test {
 protected:
  explicit ServerStatusPage(std::vector<std::string> more = {})
      : server_("reckoner-server", with({"--insecure", "--scenario", "crowd", "--entities", "20", "--port",
                                         "0", "--metrics-port", "0"},
                                        std::move(more))) {}
  void SetUp() override {
    ASSERT_TRUE(server_.wait_for("/metrics\n")) << server_.errors();
    port_ = port_after(server_.output(), "listening on port ");
    page_port_ = port_after(server_.output(), "metrics on http://127.0.0.1:");
    ASSERT_NE(page_port_, 0);
  }
  static std::vector<std::string> with(std::vector<std::string> some, std::vector<std::string> more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  Process server_;
  std::uint16_t port_ = 0;
  std::uint16_t page_port_ = 0;
};

TEST_F(ServerStatusPage, MetricsCountEvents) {
  const Finished client = run("reckoner-client", {"--insecure", "--connect", address(), "--seconds", "2"});
  ASSERT_EQ(client.exit_code, 0) << client.errors;
  EXPECT_EQ(run("reckoner-client", {"--insecure", "--connect", address(), "--seconds", "1"}).exit_code, 0);
  const HttpAnswer answer = http_get(page_port_, "/metrics");
  ASSERT_EQ(answer.code, 200);
  EXPECT_NE(answer.head.find("text/plain; version=0.0.4"), std::string::npos) << answer.head;
  auto page = samples(answer.body);
  EXPECT_EQ(page["reckoner_entities"], 20.0);
  EXPECT_EQ(page["reckoner_client_events_total{event=\"joined\"}"], 2.0);
  EXPECT_GT(page["reckoner_ticks_total"], 120.0);
  EXPECT_GT(page["reckoner_publishes_total{cause=\"first\"}"], 19.0);
  EXPECT_GT(page["reckoner_publishes_total{cause=\"due\"}"], 20.0);
  EXPECT_GT(page["reckoner_updates_sent_total{cause=\"publish\"}"], 20.0);
  EXPECT_GT(page["reckoner_wire_bytes_total{direction=\"sent\"}"], page["reckoner_state_bytes_sent_total"]);
  EXPECT_EQ(sum_of(page, "reckoner_sent_bytes_total"), page["reckoner_state_bytes_sent_total"]);
  EXPECT_GT(page["reckoner_sent_items_total{archetype=\"body\",content=\"spawn\"}"], 19.0);
  EXPECT_EQ(page["reckoner_sent_items_total{archetype=\"\",content=\"header\"}"],
            page["reckoner_state_datagrams_sent_total"]);
  EXPECT_EQ(page["reckoner_tick_duration_seconds_count"], page["reckoner_ticks_total"]);
  EXPECT_EQ(page["reckoner_tick_duration_seconds_bucket{le=\"+Inf\"}"], page["reckoner_ticks_total"]);
  EXPECT_EQ(page["reckoner_threshold_metres{quantile=\"0.5\"}"], 0.05);
  EXPECT_LE(page["reckoner_error_metres{quantile=\"0.5\"}"], 0.05);
  EXPECT_LE(page["reckoner_error_metres{quantile=\"0.5\"}"],
            page["reckoner_error_metres{quantile=\"0.99\"}"]);
  EXPECT_GT(page["reckoner_error_metres{quantile=\"1\"}"], 0.0);
  EXPECT_EQ(page.count("reckoner_payloads_refused_total{reason=\"unknown_entity\"}"), 1u);
  EXPECT_EQ(sum_of(page, "reckoner_datagrams_refused_total"), 0.0);
  EXPECT_EQ(sum_of(page, "reckoner_payloads_refused_total"), 0.0);
  EXPECT_EQ(page.count("reckoner_challenges_total"), 1u);
}

class FullServerStatusPage : public ServerStatusPage {
 protected:
  FullServerStatusPage() : ServerStatusPage({"--max-clients", "1"}) {}
};

TEST_F(FullServerStatusPage, RefusalsAreCounted) {
  Process first("reckoner-client", {"--insecure", "--connect", address()});
  ASSERT_TRUE(first.wait_for("joined"));
  EXPECT_EQ(run("reckoner-client", {"--insecure", "--connect", address(), "--seconds", "5"}).exit_code, 1);
  ASSERT_TRUE(server_.wait_for("client refused reason=")) << server_.errors();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the page is up to half a second old
  auto page = samples(http_get(page_port_, "/metrics").body);
  EXPECT_EQ(page["reckoner_client_events_total{event=\"refused\"}"], 1.0);
  EXPECT_EQ(page["reckoner_clients"], 1.0);
  EXPECT_GT(page["reckoner_client_round_trip_seconds{client=\"1\"}"], 0.0);
  EXPECT_GT(page["reckoner_client_budget_bytes_per_second{client=\"1\"}"], 1000.0);
  EXPECT_EQ(page.count("reckoner_client_loss_ratio{client=\"1\"}"), 1u);
  EXPECT_EQ(page.count("reckoner_client_loss_ratio{client=\"2\"}"), 0u);
}

TEST_F(ServerStatusPage, HealthIsOkWhileTheServerTicks) {
  const HttpAnswer well = http_get(page_port_, "/health");
  EXPECT_EQ(well.code, 200);
  EXPECT_EQ(well.body, "ok\n");
}

TEST_F(ServerStatusPage, OtherPathsAndMethodsAreRefused) {
  EXPECT_EQ(http_get(page_port_, "/").code, 404);
  EXPECT_EQ(http_get(page_port_, "/../../etc/passwd").code / 100, 4);
  EXPECT_EQ(http_get(page_port_, "/metrics/more").code, 404);
  EXPECT_EQ(http_exchange(page_port_, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").code,
            405);
  EXPECT_EQ(http_exchange(page_port_, "DELETE /health HTTP/1.1\r\nHost: x\r\n\r\n").code, 405);
  (void)http_exchange(page_port_, std::string(100'000, 'A'));
  (void)http_exchange(page_port_, std::string("\0\1\2\r\n\r\n", 7));
  EXPECT_EQ(http_get(page_port_, "/health").code, 200);
}

TEST_F(ServerStatusPage, IncompleteRequestsDoNotBlockOthers) {
  std::vector<HttpAnswer> answers;
  for (int i = 0; i < 3; ++i)
    answers.push_back(http_exchange(page_port_, "GET /metrics HTTP/1.1\r\n"));  // never completes its request
  EXPECT_EQ(http_get(page_port_, "/health").code, 200);
}

// Idle connections do not keep a monitor out.
TEST_F(ServerStatusPage, IdleConnectionsDoNotBlockHealth) {
  const IdleConnections idle(page_port_, 150);
  EXPECT_EQ(idle.count(), 150u);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(http_get(page_port_, "/health").code, 200);
    EXPECT_EQ(http_get(page_port_, "/metrics").code, 200);
  }
  // Without the limit on the time of a connection, they wait for minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(ServerStatusPage, TerminatedServerDisconnectsItsClientsAtOnce) {
  Process client("reckoner-client", {"--insecure", "--connect", address()});
  ASSERT_TRUE(client.wait_for("joined"));
  ASSERT_TRUE(client.wait_for("+ ")) << client.output();
  server_.send_signal(SIGTERM);
  EXPECT_EQ(server_.wait(1.5), 0) << "its page must not delay it\n" << server_.errors();
  EXPECT_EQ(client.wait(2.0), 0) << "it got the disconnect and did not wait for a timeout\n"
                                 << client.errors();
  EXPECT_NE(server_.errors().find("stopping on request clients=1"), std::string::npos) << server_.errors();
  EXPECT_EQ(server_.errors().find("did not confirm"), std::string::npos) << server_.errors();
}

class JsonServerLog : public ServerStatusPage {
 protected:
  JsonServerLog() : ServerStatusPage({"--log-format", "json", "--log-level", "info"}) {}
};

TEST_F(JsonServerLog, EveryLineOfTheLogIsAnObject) {
  EXPECT_EQ(run("reckoner-client", {"--insecure", "--connect", address(), "--seconds", "1"}).exit_code, 0);
  server_.send_signal(SIGTERM);
  ASSERT_EQ(server_.wait(5.0), 0);
  std::istringstream lines(server_.errors());
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    for (const char* key : {"time", "level", "program", "event"})
      EXPECT_TRUE(json.contains(key) && json[key].is_string()) << line;
    EXPECT_EQ(json["time"].get<std::string>().back(), 'Z');
    events.push_back(json["event"]);
    if (json["event"] == "client joined") {
      EXPECT_EQ(json["client"], 1);
    }
    if (json["event"] == "listening") {
      EXPECT_EQ(json["port"], port_);
    }
  }
  for (const char* event : {"listening", "client joined", "client left", "stopping on request"})
    EXPECT_NE(std::find(events.begin(), events.end(), event), events.end()) << event << "\n"
                                                                            << server_.errors();
}

TEST(Log, LevelHidesLowerEntries) {
  const auto errors_at = [](const std::string& level) {
    return run("reckoner-server",
               {"--insecure", "--scenario", "orbit", "--port", "0", "--seconds", "0.2", "--log-level", level})
        .errors;
  };
  EXPECT_NE(errors_at("info").find("listening"), std::string::npos);
  EXPECT_EQ(errors_at("warning").find("listening"), std::string::npos);
  EXPECT_NE(errors_at("warning").find("insecure"), std::string::npos);
  EXPECT_EQ(errors_at("error"), "");
  EXPECT_EQ(errors_at("off"), "");
}

TEST(MetricsPort, InUseIsRefused) {
  Process first("reckoner-server",
                {"--insecure", "--scenario", "orbit", "--port", "0", "--metrics-port", "0"});
  ASSERT_TRUE(first.wait_for("/metrics\n"));
  const std::string taken = std::to_string(port_after(first.output(), "metrics on http://127.0.0.1:"));
  const Finished second = run("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", "0",
                                                  "--metrics-port", taken, "--seconds", "1"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.errors.find(taken), std::string::npos) << second.errors;
}

}  // namespace
}  // namespace reckoner::test
