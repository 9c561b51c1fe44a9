// SPDX-License-Identifier: MIT
// Short runs of the flood and soak commands: real processes and sockets.
#include "process.hpp"
#include "tests/support/loopback.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::test {
namespace {

// Runs the command with `before` in front of it, and `option` behind it. The server has slots for the honest
// clients only. If an attacker got one, an honest client would be missing, and the command would fail.
void expect_no_effect(const std::vector<std::string>& before, const std::vector<std::string>& option) {
  const ScratchDir dir;
  const std::string path = dir.file("flood.json");
  std::vector<std::string> command = before;
  command.insert(command.end(), {program_path("reckoner-harness"), "flood", "--clients", "6", "--entities",
                                 "20", "--per-second", "3000", "--seconds", "3", "--warmup-s", "0.5",
                                 "--late", "2", "--pairs", "1", "--json", path});
  command.insert(command.end(), option.begin(), option.end());
  const std::string program = command.front();
  command.erase(command.begin());
  // Other programs may take the processor from the attackers. A weaker flood would show nothing.
  Finished flood;
  nlohmann::json json;
  for (int attempt = 0; attempt < 4; ++attempt) {
    flood = run(program, command, 30.0);
    if (flood.errors.find("did not reach its rate") != std::string::npos) continue;
    std::ifstream file(path);
    json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_object() && json["pairs"][0]["flooded"]["datagrams_received"] > 7000) break;
  }
  ASSERT_EQ(flood.exit_code, 0) << flood.output << flood.errors;
  ASSERT_TRUE(json.is_object());
  const auto& flooded = json["pairs"][0]["flooded"];
  EXPECT_EQ(flooded["clients_joined"], 8);
  EXPECT_EQ(flooded["clients_left"], 0);
  EXPECT_GT(flooded["flood"]["datagrams"], 8000);
  EXPECT_LT(flooded["flood"]["failed"], 80);
  EXPECT_GT(flooded["flood"]["addresses"], 500);
  EXPECT_GT(flooded["flood"]["answers"], 1000) << "first messages of handshakes are answered";
  EXPECT_LT(flooded["flood"]["longest_answer"], 128) << "answers are shorter than requests";
  EXPECT_LT(flooded["flood"]["answered_bytes"], flooded["flood"]["bytes"]);
  EXPECT_GT(flooded["datagrams_received"].get<double>(),
            json["pairs"][0]["quiet"]["datagrams_received"].get<double>() + 6000.0);
}

TEST(Flood, AttackersGetNoSlotAndNoAmplification) {
  expect_no_effect({}, {});
}

// Every address of the attackers is in another /64, in a network namespace of the test's own.
TEST(Flood, AttackersInManyIpv6NetworksGetNoSlotAndNoAmplification) {
  const std::vector<std::string> isolated{
      "/usr/bin/env",
      "unshare",
      "--net",
      "sh",
      "-c",
      "ip link set lo up && ip -6 route add local fd00:5eed::/32 dev lo && exec \"$@\"",
      "sh"};
  std::vector<std::string> probe(isolated.begin() + 1, isolated.end());
  probe.push_back("true");
  if (const Finished usable = run(isolated.front(), probe); usable.exit_code != 0)
    GTEST_SKIP() << "needs root, unshare and ip (Debian: iproute2): " << usable.errors;
  expect_no_effect(isolated, {"--ipv6"});
}

// Two clients send as many messages as they can, and the server passes them on to all. Before there were
// limits, the others showed errors of many metres.
TEST(Talk, DisturbsNobody) {
  const ScratchDir dir;
  const std::string path = dir.file("talk.json");
  std::vector<std::string> command{
      "flood", "--attack",   "talk", "--talkers", "2", "--clients", "4", "--entities", "20", "--seconds",
      "3",     "--warmup-s", "0.5",  "--late",    "1", "--pairs",   "1", "--json",     path};
  if (loopback() == "::1") command.push_back("--ipv6");
  const Finished talk = run("reckoner-harness", command, 60.0);
  ASSERT_EQ(talk.exit_code, 0) << talk.output << talk.errors;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(json.is_object());
  const auto& loud = json["pairs"][0]["flooded"];
  EXPECT_EQ(loud["clients_left"], 0);
  EXPECT_LT(loud["error_m_p99"], 1.0);
  EXPECT_LT(json["pairs"][0]["quiet"]["messages_received"], 1);
}

TEST(Flood, RefusesServersOnOtherMachines) {
  const Finished flood = run("reckoner-harness", {"load-flood", "--connect", "192.0.2.1:26000",
                                                  "--per-second", "1", "--seconds", "1"});
  EXPECT_NE(flood.exit_code, 0);
  EXPECT_NE(flood.errors.find("this machine"), std::string::npos) << flood.errors;
}

TEST(Soak, RunsWithProcessesThatStartAndEnd) {
  const Finished soak = run("reckoner-harness",
                            {"soak", "--minutes", "0.1", "--virtual-minutes", "0", "--clients", "20"}, 120.0);
  EXPECT_EQ(soak.exit_code, 0) << soak.output << soak.errors;
  EXPECT_NE(soak.output.find("passed"), std::string::npos) << soak.output;
}

}  // namespace
}  // namespace reckoner::test
