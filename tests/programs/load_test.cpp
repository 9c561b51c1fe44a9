// SPDX-License-Identifier: MIT
// A short load run: real processes, real sockets, and consistent figures.
#include "process.hpp"

#include <csignal>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::test {
namespace {

TEST(Load, SmallRunGivesConsistentFigures) {
  constexpr double kClients = 4.0, kEntities = 20.0, kTicks = 120.0;
  const ScratchDir dir;
  const std::string path = dir.file("load.json");
  const Finished load = run("reckoner-harness",
                            {"load", "--clients", "4", "--entities", "20", "--seconds", "2", "--warmup-s",
                             "1", "--processes", "2", "--json", path},
                            100.0);
  ASSERT_EQ(load.exit_code, 0) << load.output << load.errors;
  EXPECT_NE(load.output.find("plain ENet"), std::string::npos) << load.output;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(json.is_object());

  const auto& server = json["reckoner"];
  const auto& plain = json["plain_enet"];
  const auto& saw = json["clients_saw"];
  for (const auto& each : {server, plain}) {
    EXPECT_EQ(each["ticks"], kTicks);
    EXPECT_GT(each["cpu_s"].get<double>(), 0.0);
    EXPECT_LT(each["cpu_s"].get<double>(), 2.0);
    EXPECT_GT(each["peak_memory_mb"].get<double>(), 1.0);
    EXPECT_LT(each["peak_memory_mb"].get<double>(), 300.0);
    EXPECT_LE(each["late_ms_p99"].get<double>(), each["late_ms_max"].get<double>());
  }
  EXPECT_EQ(server["clients_joined"], kClients);
  EXPECT_EQ(server["clients_left"], 0);
  EXPECT_EQ(server["malformed"], 0);
  // Each entity is published several times a second, but not in every tick.
  const double publishes = server["publishes"].get<double>();
  EXPECT_GT(publishes, kEntities * 2.0);
  EXPECT_LT(publishes, kEntities * kTicks / 2.0);
  // Every client receives and applies all updates, except updates in flight at the beginning or the end of
  // the interval.
  EXPECT_NEAR(server["updates_sent"].get<double>(), kClients * publishes, 0.1 * kClients * publishes);
  EXPECT_NEAR(saw["updates_applied"].get<double>(), server["updates_sent"].get<double>(),
              0.2 * server["updates_sent"].get<double>());
  EXPECT_NEAR(saw["seen"].get<double>(), kEntities, 1e-6);
  EXPECT_GT(saw["error_m_p95"].get<double>(), 1e-4);
  EXPECT_LT(saw["error_m_p95"].get<double>(), 0.5) << "roamers go 2 m/s: half a metre is a wrong clock";
  // The plain server sends the payloads that Reckoner's server sent, plus ENet's own data.
  EXPECT_NEAR(plain["payload_bytes"].get<double>(), server["payload_bytes"].get<double>(),
              0.1 * server["payload_bytes"].get<double>());
  EXPECT_GT(plain["payloads_received"].get<double>(), kClients * 10.0);
  EXPECT_GT(json["cpu_ratio"].get<double>(), 0.1);
}

TEST(Load, InterruptEndsAllProcesses) {
  Process load("reckoner-harness", {"load", "--clients", "3", "--entities", "5", "--seconds", "60"});
  ASSERT_FALSE(load.wait(2.0)) << load.output() << load.errors();
  load.send_signal(SIGINT);
  EXPECT_EQ(load.wait(15.0), 1);
  EXPECT_NE(load.errors().find("stopped"), std::string::npos) << load.errors();
}

TEST(Load, InvalidOptionsAreRefused) {
  for (const auto& bad : {"--clients=0", "--clients=5000", "--entities=0", "--seconds=0", "--threads=0"}) {
    const Finished load = run("reckoner-harness", {"load", bad});
    EXPECT_EQ(load.exit_code, 2) << bad;
    EXPECT_FALSE(load.errors.empty()) << bad;
  }
}

TEST(Load, ClientsMayLoseDatagramsAndRunSeldom) {
  const ScratchDir dir;
  const std::string path = dir.file("load.json");
  const Finished load = run("reckoner-harness",
                            {"load", "--clients", "4", "--entities", "20", "--seconds", "2", "--warmup-s",
                             "1", "--insecure", "--client-loss", "20", "--client-rate", "5", "--json", path},
                            100.0);
  ASSERT_EQ(load.exit_code, 0) << load.output << load.errors;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(json.is_object());
  const auto& server = json["reckoner"];
  const double sent = server["datagrams"].get<double>();
  EXPECT_NEAR(json["clients_saw"]["datagrams_lost"].get<double>(), 0.2 * sent, 0.1 * sent);
  // Four clients acknowledge 5 times a second for 2 s. Others acknowledge 20 times a second.
  EXPECT_GT(server["datagrams_received"].get<double>(), 4.0 * 2.0 * 4.0);
  EXPECT_LT(server["datagrams_received"].get<double>(), 4.0 * 2.0 * 12.0);
  EXPECT_NEAR(server["cpu_user_s"].get<double>() + server["cpu_system_s"].get<double>(),
              server["cpu_s"].get<double>(), 1e-6);
  EXPECT_GT(server["cpu_ns_per_datagram"].get<double>(), 100.0);

  const Finished wrong = run("reckoner-harness", {"load", "--client-rate", "0.001"}, 20.0);
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_NE(wrong.errors.find("--client-rate"), std::string::npos) << wrong.errors;
}

}  // namespace
}  // namespace reckoner::test
