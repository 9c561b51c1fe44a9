// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/address_race.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

SocketAddress ipv6(std::uint64_t n) {
  return {IpAddress(0x2001'0db8'0000'0000, n), 4000};
}
SocketAddress ipv4(std::uint32_t n) {
  return {IpAddress(0x0A000000 + n), 4000};
}

/// A race and the times at which its attempts began.
struct Race {
  AddressRace race;
  std::vector<std::pair<double, SocketAddress>> begun;
  std::vector<SocketAddress> unusable;

  explicit Race(const std::vector<SocketAddress>& addresses) : race(addresses) {}
  void run(double from_s, double to_s) {
    for (double now_s = from_s; now_s < to_s; now_s += 0.01) {
      race.start_due(now_s, [&](const SocketAddress& address) {
        for (const SocketAddress& one : unusable)
          if (one == address) return false;
        begun.emplace_back(now_s, address);
        return true;
      });
    }
  }
};

TEST(AddressRace, FamiliesTakeTurnsEvery250Ms) {
  Race all({ipv6(1), ipv6(2), ipv4(1), ipv6(3), ipv4(1)});
  all.run(0.0, 2.0);
  const std::vector<SocketAddress> order{ipv6(1), ipv4(1), ipv6(2), ipv6(3)};
  ASSERT_EQ(all.begun.size(), order.size()) << "one address was listed twice";
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(all.begun[i].second, order[i]) << i;
    EXPECT_NEAR(all.begun[i].first, 0.25 * static_cast<double>(i), 0.02 * static_cast<double>(i + 1));
  }
}

TEST(AddressRace, TheFirstAnswerEndsIt) {
  Race all({ipv4(1), ipv6(1), ipv4(2)});
  all.run(0.0, 0.3);
  all.race.decide(ipv4(2));
  EXPECT_FALSE(all.race.winner()) << "this attempt has not begun";
  all.race.decide(ipv6(1));
  all.race.decide(ipv4(1));
  all.run(0.3, 3.0);
  EXPECT_EQ(all.begun.size(), 2u);
  EXPECT_EQ(all.race.winner(), ipv6(1));
  EXPECT_FALSE(all.race.runs(ipv4(1)));
  ASSERT_EQ(all.race.started().size(), 1u);
}

TEST(AddressRace, AnUnusableAddressCostsNoTime) {
  Race all({ipv6(1), ipv4(1), ipv6(2)});
  all.unusable = {ipv6(1), ipv6(2)};
  all.run(0.0, 0.02);
  ASSERT_EQ(all.begun.size(), 1u);
  EXPECT_EQ(all.begun[0].second, ipv4(1));
  EXPECT_FALSE(all.race.lost());
  Race none({ipv6(1), ipv6(2)});
  none.unusable = {ipv6(1), ipv6(2)};
  none.run(0.0, 0.02);
  EXPECT_TRUE(none.race.lost());
  EXPECT_TRUE(Race({}).race.lost());
}

}  // namespace
}  // namespace reckoner
