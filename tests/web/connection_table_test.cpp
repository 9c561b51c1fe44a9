// SPDX-License-Identifier: MIT
#include "web/src/listener/connection_table.hpp"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

const IpAddress kHome(0x0a000001);
const IpAddress kOther(0x0a000002);

IpAddress host(std::size_t i) {
  return IpAddress(0x0b000000 + static_cast<std::uint32_t>(i));
}

TEST(ConnectionTable, AHostThatHasTooManyLosesItsOldest) {
  ConnectionTable table(100, 3);
  const ConnectionId first = table.add(kHome, 5.0).id;
  const ConnectionId second = table.add(kHome, 5.0).id;
  (void)table.add(kHome, 5.0);
  (void)table.add(kOther, 5.0);
  const auto fourth = table.add(kHome, 5.0);
  EXPECT_NE(fourth.id, 0u);
  EXPECT_EQ(fourth.evicted, first);
  EXPECT_EQ(table.add(kHome, 5.0).evicted, second);
  EXPECT_EQ(table.size(), 4u);
}

TEST(ConnectionTable, AddressesOfOneIpv6NetworkAreOneHost) {
  ConnectionTable table(100, 2);
  const IpAddress network(0x2001'0db8'0000'0001, 1);
  const ConnectionId first = table.add(network, 5.0).id;
  (void)table.add(IpAddress(network.high(), 2), 5.0);
  EXPECT_EQ(table.add(IpAddress(network.high(), 3), 5.0).evicted, first);
  EXPECT_EQ(table.add(IpAddress(network.high() + 1, 3), 5.0).evicted, 0u);
  EXPECT_EQ(table.hosts(), 2u);
}

TEST(ConnectionTable, AFullTableEvictsFromTheHostWithMost) {
  ConnectionTable table(6, 4);
  const ConnectionId honest = table.add(kHome, 5.0).id;
  std::vector<ConnectionId> many;
  for (int i = 0; i < 4; ++i)
    many.push_back(table.add(kOther, 5.0).id);
  (void)table.add(host(1), 5.0);
  EXPECT_EQ(table.add(host(2), 5.0).evicted, many[0]);
  EXPECT_EQ(table.add(host(3), 5.0).evicted, many[1]);
  EXPECT_EQ(table.add(kOther, 5.0).evicted, many[2]) << "the newcomer counts";
  EXPECT_EQ(table.add(host(4), 5.0).evicted, many[3]);
  EXPECT_EQ(table.add(host(5), 5.0).evicted, honest) << "all have one: the oldest";
}

// A client in the middle of a long exchange must not pay for others that never begin one, nor the reverse.
TEST(ConnectionTable, EvictsFromTheLargestGroupWithEqualProgress) {
  ConnectionTable table(100, 6);
  const ConnectionId hello = table.add(kHome, 5.0).id;
  table.advance(hello, Progress::hello);
  const ConnectionId page = table.add(kHome, 5.0).id;
  table.advance(page, Progress::answer);
  std::vector<ConnectionId> silent;
  for (int i = 0; i < 4; ++i)
    silent.push_back(table.add(kHome, 5.0).id);
  EXPECT_EQ(table.add(kHome, 5.0).evicted, silent[0]);
  EXPECT_EQ(table.add(kHome, 5.0).evicted, silent[1]);
  for (const ConnectionId id : {silent[2], silent[3]})
    table.advance(id, Progress::answer);
  const auto newcomer = table.add(kHome, 5.0);
  EXPECT_EQ(newcomer.evicted, page);
  table.advance(newcomer.id, Progress::over);
  EXPECT_EQ(table.add(kHome, 5.0).evicted, newcomer.id) << "it has nothing to lose";
}

TEST(ConnectionTable, ClientsThatJoinedAreNotEvicted) {
  ConnectionTable table(3, 2);
  const ConnectionId joined = table.add(kHome, 5.0).id;
  table.finish(joined);
  const ConnectionId also = table.add(kHome, 5.0).id;
  table.finish(also);
  EXPECT_EQ(table.add(kHome, 5.0).id, 0u);
  const ConnectionId third = table.add(kOther, 5.0).id;
  EXPECT_EQ(table.add(host(1), 5.0).evicted, third);
  EXPECT_TRUE(table.remove_late(4.9).empty());
  EXPECT_EQ(table.remove_late(5.0).size(), 1u) << "the one that has not joined";
  EXPECT_EQ(table.evict(), 0u);
  table.end_by(also, 9.0);  // the server disconnects it
  EXPECT_EQ(table.remove_late(9.0), std::vector<ConnectionId>{also});
  table.remove(joined);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.hosts(), 0u);
}

TEST(ConnectionTable, ADeadlineMovesOnlyForTheSizeOfAFile) {
  ConnectionTable table(10, 10);
  const ConnectionId id = table.add(kHome, 5.0).id;
  table.end_by(id, 9.0);
  table.advance(id, Progress::answer);
  EXPECT_EQ(table.remove_late(5.0).size(), 1u);
  const ConnectionId file = table.add(kHome, 15.0).id;
  table.extend(file, 2.0);
  EXPECT_TRUE(table.remove_late(16.9).empty());
  table.end_by(file, 16.95);
  EXPECT_EQ(table.remove_late(16.95).size(), 1u);
}

// 512 connections from many addresses, as fast as they can: an honest client needs a few connections in a
// row.
TEST(ConnectionTable, AFloodFromOneHostLeavesOthersAlone) {
  ConnectionTable table(512, 48);
  std::mt19937 random(1);
  std::set<ConnectionId> evicted;
  for (int i = 0; i < 600; ++i)
    (void)table.add(host(random() % 12), 5.0);
  const ConnectionId honest = table.add(kHome, 5.0).id;
  for (int i = 0; i < 10'000; ++i) {
    const auto next = table.add(host(random() % 12), 5.0);
    EXPECT_NE(next.id, 0u);
    evicted.insert(next.evicted);
  }
  EXPECT_EQ(evicted.count(honest), 0u);
  EXPECT_LE(table.size(), 512u);
}

TEST(ConnectionTable, KeepsItsCountsWhateverHappens) {
  std::mt19937 random(2);
  for (int run = 0; run < 50; ++run) {
    ConnectionTable table(20, 6);
    std::set<ConnectionId> there;
    double now_s = 0.0;
    for (int i = 0; i < 500; ++i) {
      now_s += 0.01;
      const ConnectionId any = random() % 600;
      switch (random() % 7) {
        case 0:
          table.finish(any);
          break;
        case 1:
          table.remove(any);
          there.erase(any);
          break;
        case 2:
          table.advance(any, static_cast<Progress>(random() % 4));
          break;
        case 3:
          table.end_by(any, now_s + 0.5);
          break;
        case 4:
          for (const ConnectionId late : table.remove_late(now_s))
            there.erase(late);
          break;
        default:
          const auto added = table.add(host(random() % 5), now_s + 1.0);
          if (added.evicted != 0) {
            EXPECT_EQ(there.erase(added.evicted), 1u);
          }
          if (added.id != 0) there.insert(added.id);
      }
      ASSERT_EQ(table.size(), there.size());
      ASSERT_LE(table.size(), 20u);
    }
    while (const ConnectionId evicted = table.evict())
      there.erase(evicted);
    for (const ConnectionId id : there)
      table.remove(id);
    EXPECT_EQ(table.hosts(), 0u);
  }
}

}  // namespace
}  // namespace reckoner::web
