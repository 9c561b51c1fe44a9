// SPDX-License-Identifier: MIT
#include "cluster/src/authority/members.hpp"

#include "cluster/src/bus/sim_bus.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reckoner::cluster {
namespace {

class MembersTest : public ::testing::Test {
 protected:
  void run(double seconds) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += 0.01) {
      hub.advance(now_s);
      writer.service(now_s);
      bus.service(now_s);
      requests.poll();
      died += members.review(now_s, true) ? 1 : 0;
    }
  }
  void put_lease(Role role, const std::string& name, ProcessId process) {
    writer.put(BusTable::leases, member_key(role, name), encode_value(LeaseValue{process}));
  }
  // Heartbeats for a while, with or without a lease.
  void beat(const Heartbeat& heartbeat, double seconds, bool has_lease) {
    for (const double until_s = now_s + seconds; now_s < until_s;) {
      if (has_lease) put_lease(Role::simulator, heartbeat.name, heartbeat.process);
      members.note(heartbeat, now_s);
      run(0.25);
    }
  }

  SimHub hub{{}, 9};
  SimBus writer{hub};
  SimBus bus{hub};
  Requests requests{bus};
  ClusterStats stats;
  ClusterConfig config;
  Members members{config, ProcessId{50}, requests, stats};
  double now_s = 1000.0;
  int died = 0;
};

TEST_F(MembersTest, AHeartbeatNeedsALeaseOfItsNameAndRole) {
  const Heartbeat one{.process = {1}, .name = "one", .simulator = true};
  run(0.01);
  beat(one, 1.0, false);
  EXPECT_EQ(members.find({1}), nullptr);
  EXPECT_GT(stats.unknown_refused, 0u);
  put_lease(Role::gateway, "one", {1});  // another role
  beat(one, 1.0, false);
  EXPECT_EQ(members.find({1}), nullptr);
  beat(one, 1.0, true);
  ASSERT_NE(members.find({1}), nullptr);
  EXPECT_TRUE(members.has({1}, Role::simulator));
  EXPECT_FALSE(members.has({1}, Role::gateway));
  // Somebody else uses its number, with another name.
  const std::uint64_t refused = stats.unknown_refused;
  members.note({.process = {1}, .name = "liar", .simulator = true}, now_s);
  EXPECT_EQ(stats.unknown_refused, refused + 1);
  EXPECT_EQ(members.find({1})->newest.name, "one");
}

TEST_F(MembersTest, ASilentProcessIsDead) {
  run(0.01);
  beat({.process = {1}, .name = "one", .simulator = true}, 1.0, true);
  ASSERT_NE(members.find({1}), nullptr);
  run(2.0);
  EXPECT_EQ(members.find({1}), nullptr);
  EXPECT_EQ(died, 1);
}

// Forged heartbeats do not keep a dead process alive, and a new process takes the place of an old one.
TEST_F(MembersTest, HeartbeatsWithoutALeaseEnd) {
  const Heartbeat one{.process = {1}, .name = "one", .simulator = true};
  run(0.01);
  beat(one, 3.0, true);
  ASSERT_NE(members.find({1}), nullptr);
  beat(one, 6.0, false);
  EXPECT_EQ(members.find({1}), nullptr);
  beat(one, 1.0, true);
  ASSERT_NE(members.find({1}), nullptr);
  put_lease(Role::simulator, "one", {2});
  beat(one, 4.0, false);
  EXPECT_EQ(members.find({1}), nullptr);
}

TEST_F(MembersTest, AFloodOfHeartbeatsIsBoundedAndHarmless) {
  const Heartbeat one{.process = {1}, .name = "one", .simulator = true};
  run(0.01);
  beat(one, 1.0, true);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    for (std::uint32_t j = 0; j < 20; ++j)
      members.note({.process = {1000 + 20 * i + j}, .name = "x", .gateway = true}, now_s);
    if (i % 25 == 0) {
      put_lease(Role::simulator, "one", {1});
      members.note(one, now_s);
    }
    run(0.01);
    ASSERT_LE(requests.waiting(), Members::kMostCandidates + 1);
  }
  EXPECT_EQ(members.all().size(), 1u);
  EXPECT_TRUE(members.takes({1}));
  EXPECT_EQ(died, 0);
}

}  // namespace
}  // namespace reckoner::cluster
