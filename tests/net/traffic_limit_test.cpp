// SPDX-License-Identifier: MIT
#include "net/src/transport/limits/traffic_limit.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr std::uint32_t kHost = 0x0A000001;
constexpr std::uint32_t kOther = 0x0A000002;

// Number of datagrams accepted when `rate` datagrams a second are sent for `seconds`.
int let_in(TrafficLimit& limit, TrafficMeter& meter, const IpAddress& host, double rate, std::size_t bytes,
           double seconds, double from_s = 100.0) {
  int count = 0;
  for (int i = 0; i < static_cast<int>(rate * seconds); ++i)
    count += limit.refuse(meter, host, bytes, from_s + i / rate) ? 0 : 1;
  return count;
}

TEST(TrafficLimit, GameAt60FramesPerSecondStaysBelowTheDefaults) {
  TrafficLimit limit{TransportLimits{}};
  TrafficMeter meter;
  // A client sends at most eight full datagrams in a frame.
  EXPECT_EQ(let_in(limit, meter, kHost, 480.0, 1250, 60.0), 480 * 60);
  // Datagrams that waited while the link was down for a second.
  for (int i = 0; i < 480; ++i)
    EXPECT_FALSE(limit.refuse(meter, kHost, 1250, 200.0));
  TrafficMeter cheat;
  EXPECT_EQ(let_in(limit, cheat, kOther, 1000.0, 120, 30.0), 30'000);
}

TEST(TrafficLimit, PeerGetsItsRateAndABurst) {
  TransportLimits limits;
  limits.datagrams_per_second = 100.0;
  limits.burst_s = 2.0;
  TrafficLimit limit{limits};
  TrafficMeter meter;
  EXPECT_NEAR(let_in(limit, meter, kHost, 5000.0, 100, 10.0), 200 + 1000, 2);
  (void)limit.refuse(meter, kHost, 100, 109.9999);
  EXPECT_EQ(limit.refuse(meter, kHost, 100, 109.9999), Refusal::peer_limit);
  // Another peer's limit is separate.
  TrafficMeter other;
  EXPECT_EQ(let_in(limit, other, kHost, 50.0, 100, 10.0, 110.0), 500);
}

TEST(TrafficLimit, BytesAreLimited) {
  TransportLimits limits;
  limits.bytes_per_second = 10'000.0;
  TrafficLimit limit{limits};
  TrafficMeter meter;
  EXPECT_NEAR(let_in(limit, meter, kHost, 1000.0, 1000, 10.0), 20 + 100, 2);
}

TEST(TrafficLimit, PeersAtOneAddressShareALimit) {
  TransportLimits limits;
  limits.address_datagrams_per_second = 100.0;
  TrafficLimit limit{limits};
  TrafficMeter a, b, other;
  int together = 0, elsewhere = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double now_s = 100.0 + i * 1e-3;
    together += limit.refuse(a, kHost, 100, now_s) ? 0 : 1;
    together += limit.refuse(b, kHost, 100, now_s) ? 0 : 1;
    if (i % 20 == 0) elsewhere += limit.refuse(other, kOther, 100, now_s) ? 0 : 1;
  }
  EXPECT_NEAR(together, 200 + 1000, 2);
  EXPECT_EQ(elsewhere, 500);
  (void)limit.refuse(a, kHost, 100, 110.0);
  EXPECT_EQ(limit.refuse(a, kHost, 100, 110.0), Refusal::address_limit);
}

// The owner of a /64 can send from 2^64 addresses.
TEST(TrafficLimit, AddressesOfAnIpv6NetworkShareALimit) {
  constexpr std::uint64_t kNetwork = 0x2001'0db8'0000'0000;
  TransportLimits limits;
  limits.address_datagrams_per_second = 100.0;
  TrafficLimit limit{limits};
  int together = 0, elsewhere = 0;
  TrafficMeter other;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double now_s = 100.0 + static_cast<double>(i) * 1e-3;
    TrafficMeter fresh;
    together += limit.refuse(fresh, IpAddress(kNetwork, i), 100, now_s) ? 0 : 1;
    if (i % 20 == 0) elsewhere += limit.refuse(other, IpAddress(kNetwork + 1, i), 100, now_s) ? 0 : 1;
  }
  EXPECT_NEAR(together, 200 + 1000, 2);
  EXPECT_EQ(elsewhere, 500);
  EXPECT_EQ(limit.addresses(), 2u);
}

TEST(TrafficLimit, ZeroMeansNoLimit) {
  TransportLimits limits;
  limits.datagrams_per_second = limits.bytes_per_second = 0.0;
  limits.address_datagrams_per_second = limits.address_bytes_per_second = 0.0;
  TrafficLimit limit{limits};
  TrafficMeter meter;
  EXPECT_EQ(let_in(limit, meter, kHost, 1e5, 1400, 1.0), 100'000);
  EXPECT_EQ(limit.addresses(), 0u);
}

TEST(TrafficLimit, QuietAddressesAreForgotten) {
  TrafficLimit limit{TransportLimits{}};
  TrafficMeter meter;
  for (std::uint32_t host = 1; host <= 1000; ++host)
    EXPECT_FALSE(limit.refuse(meter, host, 100, 100.0 + 0.001 * host));
  EXPECT_EQ(limit.addresses(), 1000u);
  limit.tidy(110.0);
  EXPECT_EQ(limit.addresses(), 0u);
}

}  // namespace
}  // namespace reckoner
