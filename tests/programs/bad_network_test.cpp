// SPDX-License-Identifier: MIT
// The real programs over a network that breaks in one way after another, as time passes. AnOutage.* has the
// same faults in virtual time, with closer limits.
#include "pose_table.hpp"
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kPatienceS = 60.0;  // generous: the machine may be busy
constexpr double kEndS = 36.0;

constexpr const char* kNetwork = R"(# seconds since the relay has begun
0   latency-ms=20 jitter-ms=2 loss=0
4   down loss=100                    # one way is dead for ten seconds
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

/// When nothing is wrong, or nothing that should be seen.
struct Stretch {
  const char* name;
  double from_s, until_s;  // since the relay has begun
};

PoseTable within(const PoseTable& all, double from_s, double until_s) {
  PoseTable some{.header = all.header, .entities = {}};
  for (const auto& [id, rows] : all.entities) {
    std::vector<PoseRow>& kept = some.entities[id];
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept),
                 [&](const PoseRow& row) { return row.monotonic_s >= from_s && row.monotonic_s < until_s; });
    if (kept.empty()) some.entities.erase(id);
  }
  return some;
}

TEST(BadNetwork, ASessionOutlastsADeadWayDuplicatesReorderingAndAJumpOfTheDelay) {
  const ScratchDir dir;
  const std::string script = dir.file("network");
  std::ofstream(script) << kNetwork;
  const std::string port = free_udp_port(), relay_port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "crowd", "--entities", "5", "--port", port,
                                     "--truth", dir.file("truth.csv")});
  ASSERT_TRUE(server.wait_for("listening", kPatienceS)) << server.errors();
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", "127.0.0.1:" + port,
                                     "--link-script", script, "--seed", "1"});
  ASSERT_TRUE(relay.wait_for("listening", kPatienceS)) << relay.errors();
  const double begin_s = monotonic_s();
  Process client("reckoner-client",
                 {"--insecure", "--connect", "127.0.0.1:" + relay_port, "--rendered", dir.file("shown.csv")});
  ASSERT_TRUE(client.wait_for("joined", kPatienceS)) << client.errors();
  std::this_thread::sleep_for(std::chrono::duration<double>(begin_s + kEndS - monotonic_s()));
  for (Process* program : {&client, &server, &relay}) {
    program->send_signal(SIGTERM);
    EXPECT_EQ(program->wait(kPatienceS), 0) << program->errors();
  }
  EXPECT_EQ(client.output().find("joined anew"), std::string::npos) << client.output() << client.errors();

  const PoseTable shown = read_poses(dir.file("shown.csv")), truth = read_poses(dir.file("truth.csv"));
  EXPECT_EQ(shown.entities.size(), 5u) << "nothing was begun a second time";
  // People walk at a metre or two a second; half a metre leaves room for a busy machine, not for a network
  // that is believed.
  for (const Stretch& stretch : {Stretch{"before", 2.0, 4.0}, Stretch{"after the dead way", 17.0, 18.0},
                                 Stretch{"half of it twice", 18.5, 22.0},
                                 Stretch{"after the reordering and the far away", 34.0, kEndS}}) {
    SCOPED_TRACE(stretch.name);
    const PoseTable seen = within(shown, begin_s + stretch.from_s, begin_s + stretch.until_s);
    EXPECT_EQ(seen.entities.size(), 5u);
    const auto errors = same_time_errors(seen, truth, 0.0);
    ASSERT_GT(errors.size(), 100u);
    EXPECT_LT(errors[errors.size() * 95 / 100], 0.5);
  }
  // The faults are there, or this test has shown nothing.
  EXPECT_EQ(relay.output().find(" 0 duplicated"), std::string::npos) << relay.output();
  const auto dead = same_time_errors(within(shown, begin_s + 11.0, begin_s + 13.0), truth, 0.0);
  ASSERT_FALSE(dead.empty());
  EXPECT_GT(dead.back(), 1.0);
}

}  // namespace
}  // namespace reckoner::test
