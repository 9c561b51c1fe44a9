// SPDX-License-Identifier: MIT
// The real programs over a network that fails in several manners, one after another. ReconnectAfterOutage.*
// covers the same faults in virtual time, with closer limits.
#include "pose_table.hpp"
#include "process.hpp"
#include "tests/support/loopback.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTimeoutS = 60.0;  // generous, because the machine may be busy
constexpr double kEndS = 36.0;

constexpr const char* kNetwork = R"(# seconds since the start of the relay
0   latency-ms=20 jitter-ms=2 loss=0
4   down loss=100                    # one direction is down for ten seconds
14  down loss=0
18  duplicate=50
22  duplicate=0 jitter-ms=150
26  latency-ms=5 jitter-ms=0
27  latency-ms=500
31  latency-ms=5
)";

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// An interval without a fault, or with a fault that must not be visible.
struct Interval {
  const char* name;
  double from_s, until_s;  // both since the start of the relay
};

TEST(BadNetwork, SessionSurvivesAnOutageDuplicatesReorderingAndADelayJump) {
  const ScratchDir dir;
  const std::string script = dir.file("network");
  std::ofstream(script) << kNetwork;
  const std::string port = free_udp_port(), relay_port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "crowd", "--entities", "5", "--port", port,
                                     "--truth", dir.file("truth.csv")});
  ASSERT_TRUE(server.wait_for("listening", kTimeoutS)) << server.errors();
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", loopback_address(port),
                                     "--link-script", script, "--seed", "1"});
  ASSERT_TRUE(relay.wait_for("listening", kTimeoutS)) << relay.errors();
  const double begin_s = monotonic_s();
  Process client("reckoner-client", {"--insecure", "--connect", loopback_address(relay_port), "--rendered",
                                     dir.file("shown.csv")});
  ASSERT_TRUE(client.wait_for("joined", kTimeoutS)) << client.errors();
  std::this_thread::sleep_for(std::chrono::duration<double>(begin_s + kEndS - monotonic_s()));
  for (Process* program : {&client, &server, &relay}) {
    program->send_signal(SIGTERM);
    EXPECT_EQ(program->wait(kTimeoutS), 0) << program->errors();
  }
  EXPECT_EQ(client.output().find("joined a new session"), std::string::npos)
      << client.output() << client.errors();

  const PoseTable shown = read_poses(dir.file("shown.csv")), truth = read_poses(dir.file("truth.csv"));
  EXPECT_EQ(shown.entities.size(), 5u) << "nothing was begun a second time";
  // People walk at one or two metres a second. Half a metre allows for a busy machine, but not for a client
  // that trusts the bad network.
  for (const Interval& stretch : {Interval{"before", 2.0, 4.0}, Interval{"after the outage", 17.0, 18.0},
                                  Interval{"half duplicated", 18.5, 22.0},
                                  Interval{"after the reordering and the far away", 34.0, kEndS}}) {
    SCOPED_TRACE(stretch.name);
    const PoseTable seen = within(shown, begin_s + stretch.from_s, begin_s + stretch.until_s);
    EXPECT_EQ(seen.entities.size(), 5u);
    const auto errors = same_time_errors(seen, truth, 0.0);
    ASSERT_GT(errors.size(), 100u);
    EXPECT_LT(errors[errors.size() * 95 / 100], 0.5);
  }
  // Makes sure that the faults happened. Otherwise the test proves nothing.
  EXPECT_EQ(relay.output().find(" 0 duplicated"), std::string::npos) << relay.output();
  const auto dead = same_time_errors(within(shown, begin_s + 11.0, begin_s + 13.0), truth, 0.0);
  ASSERT_FALSE(dead.empty());
  EXPECT_GT(dead.back(), 1.0);
}

}  // namespace
}  // namespace reckoner::test
