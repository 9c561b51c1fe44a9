// SPDX-License-Identifier: MIT
// Server, bad network and clients as separate processes: the shown poses agree with the truth.
#include "pose_table.hpp"
#include "process.hpp"
#include "tests/support/loopback.hpp"

#include <algorithm>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr char kTruthHeader[] = "frame_time_s,id,x,y,z,qw,qx,qy,qz,monotonic_s";
constexpr char kShownHeader[] = "frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s";

TEST(EndToEnd, TwoClientsSeeTheCrowdAtItsPosition) {
  const ScratchDir dir;
  const std::string port = free_udp_port();
  const std::string relay_port = free_udp_port();
  Process server("reckoner-server",
                 {"--insecure", "--transport", "udp", "--scenario", "crowd", "--entities", "5", "--port",
                  port, "--seconds", "12", "--truth", dir.file("truth.csv")});
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", loopback_address(port),
                                     "--network", "intercity", "--seed", "1"});
  const std::string address = loopback_address(relay_port);
  Process early("reckoner-client", {"--insecure", "--transport", "udp", "--connect", address, "--seconds",
                                    "6", "--rendered", dir.file("early.csv")});
  ASSERT_FALSE(early.wait(2.0)) << early.errors();
  Process late("reckoner-client", {"--insecure", "--transport", "udp", "--connect", address, "--seconds", "4",
                                   "--rendered", dir.file("late.csv"), "--mode", "delayed:200"});

  EXPECT_EQ(early.wait(30.0), 0) << early.errors();
  EXPECT_EQ(late.wait(30.0), 0) << late.errors();
  EXPECT_EQ(server.wait(30.0), 0) << server.errors();
  relay.send_signal(SIGTERM);
  EXPECT_EQ(relay.wait(), 0) << relay.errors();

  const PoseTable truth = read_poses(dir.file("truth.csv"));
  EXPECT_EQ(truth.header, kTruthHeader);
  EXPECT_EQ(truth.entities.size(), 5u);
  for (const char* name : {"early.csv", "late.csv"}) {
    const PoseTable shown = read_poses(dir.file(name));
    EXPECT_EQ(shown.header, kShownHeader);
    EXPECT_EQ(shown.entities.size(), 5u) << name << ": a late client gets the whole world, too";
    for (const auto& [id, rows] : shown.entities)
      EXPECT_TRUE(truth.entities.contains(id)) << id;
  }

  // People walk at one or two metres a second. Half a metre allows for a busy machine, but not for a wrong
  // clock.
  const auto errors = same_time_errors(read_poses(dir.file("early.csv")), truth, 2.0);
  ASSERT_GT(errors.size(), 500u);
  EXPECT_LT(errors[errors.size() * 95 / 100], 0.5);
}

TEST(EndToEnd, DemoRunsAndPrintsItsTable) {
  const Finished demo = run("reckoner-harness", {"demo"}, 100.0);
  EXPECT_EQ(demo.exit_code, 0) << demo.errors;
  for (const char* word : {"reckoner", "snap", "ENet at the server: ", "the error at the same instant",
                           "docs/ARCHITECTURE.md"}) {
    EXPECT_NE(demo.output.find(word), std::string::npos) << demo.output;
  }
  EXPECT_LE(std::count(demo.output.begin(), demo.output.end(), '\n'), 32) << "more than a screen\n"
                                                                          << demo.output;
}

}  // namespace
}  // namespace reckoner::test
