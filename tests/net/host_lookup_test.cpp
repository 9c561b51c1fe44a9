// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/host_lookup.hpp"

#include "net/src/transport/socket/nat64.hpp"
#include "real_time.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::vector<SocketAddress> addresses(const std::vector<std::string>& texts) {
  std::vector<SocketAddress> out;
  for (const std::string& text : texts)
    out.push_back(*parse_host(text));
  return out;
}

// The examples of RFC 6052, 2.4.
TEST(Nat64, EmbedsIpv4AddressesAsTheStandardSays) {
  const IpAddress ipv4 = parse_host("192.0.2.33")->host;
  const struct {
    const char* prefix;
    int bits;
    const char* address;
  } cases[] = {{"2001:db8::", 32, "2001:db8:c000:221::"},
               {"2001:db8:100::", 40, "2001:db8:1c0:2:21::"},
               {"2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"},
               {"2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"},
               {"2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"},
               {"2001:db8:122:344::", 96, "2001:db8:122:344::c000:221"},
               {"64:ff9b::", 96, "64:ff9b::c000:221"}};
  for (const auto& one : cases) {
    const Nat64Prefix prefix{parse_host(one.prefix)->host, one.bits};
    EXPECT_EQ(prefix.address_of(ipv4), parse_host(one.address)->host) << one.address;
  }
}

TEST(Nat64, FindsThePrefixOfTheNetwork) {
  for (const int bits : {32, 40, 48, 56, 64, 96}) {
    const Nat64Prefix network{bits == 40   ? parse_host("2001:db8:100::")->host
                              : bits == 56 ? parse_host("2001:db8:122:300::")->host
                              : bits == 32 ? parse_host("2001:db8::")->host
                              : bits == 48 ? parse_host("2001:db8:122::")->host
                                           : parse_host("2001:db8:122:344::")->host,
                              bits};
    const std::vector<SocketAddress> answer{*parse_host("192.0.0.170"),
                                            {network.address_of(parse_host("192.0.0.171")->host)}};
    const auto found = find_nat64_prefix(answer);
    ASSERT_TRUE(found) << bits;
    EXPECT_EQ(found->bits, bits);
    EXPECT_EQ(found->prefix, network.prefix) << bits;
  }
  EXPECT_FALSE(find_nat64_prefix(addresses({"192.0.0.170", "192.0.0.171", "2001:db8::5"})));
}

// A token names the IPv4 address of a server. The client's network has no IPv4, but a translator.
TEST(HostLookup, ReachesAnIpv4AddressThroughNat64) {
  const ResolveHost network = [](const std::string& name) {
    EXPECT_EQ(name, kNat64TestName);
    return addresses({"192.0.0.170", "64:ff9b::192.0.0.170"});
  };
  constexpr auto kNoIpv4 = [](const SocketAddress& address) { return !address.host.is_ipv4(); };
  const auto found = find_addresses("203.0.113.5", 4000, network, kNoIpv4);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(text_of(found[1]), "[64:ff9b::cb00:7105]:4000");
  const ResolveHost plain = [](const std::string&) { return addresses({"192.0.0.170"}); };
  EXPECT_EQ(find_addresses("203.0.113.5", 4000, plain, kNoIpv4).size(), 1u);
  constexpr auto kAll = [](const SocketAddress&) { return true; };
  const ResolveHost unused = [](const std::string&) -> std::vector<SocketAddress> {
    ADD_FAILURE() << "nothing to look up";
    return {};
  };
  EXPECT_EQ(find_addresses("203.0.113.5", 4000, unused, kAll).size(), 1u);
}

TEST(HostLookup, AddressesNeedNoThread) {
  for (const char* text : {"127.0.0.1", "::1", "2001:db8::5"}) {
    const auto found = HostLookup(text, 7, {}).poll();
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(*found, (std::vector{SocketAddress{parse_host(text)->host, 7}}));
  }
}

TEST(HostLookup, DoesNotWaitForASlowNameServer) {
  std::atomic<bool> may_answer{false};
  const ResolveHost slow = [&](const std::string&) {
    while (!may_answer)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return addresses({"::1", "127.0.0.1"});
  };
  HostLookup lookup("game.example", 9, slow);
  EXPECT_FALSE(lookup.poll());
  may_answer = true;
  std::optional<std::vector<SocketAddress>> found;
  ASSERT_TRUE(
      test::turn_until([&] { found = lookup.poll(); }, [&] { return found.has_value(); }, test::kTimeoutS));
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].port, 9);
}

}  // namespace
}  // namespace reckoner
