// SPDX-License-Identifier: MIT
#include <cstddef>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {
namespace {

constexpr IpAddress kExample{0x2001'0db8'0000'0000, 0x0000'0000'0000'0005};

TEST(SocketAddress, TextIsReadAndWritten) {
  const struct {
    const char* text;
    SocketAddress address;
  } cases[] = {{"127.0.0.1", {0x7F000001}},
               {"0.0.0.0", {0}},
               {"255.255.255.255", {0xFFFFFFFF}},
               {"::", {IpAddress()}},
               {"::1", {IpAddress(0, 1)}},
               {"2001:db8::5", {kExample}},
               {"64:ff9b::c000:221", {IpAddress(0x0064'ff9b'0000'0000, 0xC000'0221)}},
               {"fe80::1%7", {IpAddress(0xfe80'0000'0000'0000, 1), 0, 7}}};
  for (const auto& one : cases) {
    const auto read = parse_host(one.text);
    ASSERT_TRUE(read) << one.text;
    EXPECT_EQ(*read, one.address) << one.text;
    EXPECT_EQ(host_text(one.address), one.text);
  }
  EXPECT_EQ(text_of(SocketAddress{0x7F000001, 4000}), "127.0.0.1:4000");
  EXPECT_EQ(text_of(SocketAddress{kExample, 4000}), "[2001:db8::5]:4000");
  EXPECT_EQ(parse_host("[::1]"), parse_host("::1"));
}

// Datagrams of an IPv4 client arrive at a socket for both families with a mapped address.
TEST(SocketAddress, MappedAddressIsTheIpv4Address) {
  EXPECT_EQ(parse_host("::ffff:10.1.2.3"), parse_host("10.1.2.3"));
  EXPECT_EQ(parse_host("::ffff:0a01:0203")->host.ipv4(), 0x0A010203u);
  EXPECT_TRUE(parse_host("::ffff:10.1.2.3")->host.is_ipv4());
  EXPECT_FALSE(parse_host("::10.1.2.3")->host.is_ipv4());
}

TEST(SocketAddress, OtherTextIsRefused) {
  for (const char* text :
       {"", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1:2:3", ":::", "[1.2.3.4]", "[::1", "::1]",
        "::1%1", "fe80::1%", "fe80::1%no-such-interface", "10.0.0.1%1", " ::1", "::1 "})
    EXPECT_FALSE(parse_host(text)) << text;
}

TEST(SocketAddress, ScopeIsTheWholeNameOfAnInterface) {
  for (const char* text : {"fe80::1%lo:", "fe80::1%lo:7", "[fe80::1%lo:7]626]"})
    EXPECT_FALSE(parse_host(text)) << text;
}

TEST(SocketAddress, TextWithAZeroByteIsRefused) {
  using namespace std::string_view_literals;
  // The system's functions would read up to the zero byte only.
  for (const std::string_view text :
       {"fe80::1%lo\0x"sv, "fe80::1%lo\0"sv, "[fe80::1%lo\0]"sv, "::1\0"sv, "1.2.3.4\0"sv})
    EXPECT_FALSE(parse_host(text)) << text;
}

TEST(SocketAddress, HostAndPortAreSplit) {
  const auto split = [](const char* text) {
    const auto parts = split_host_port(text);
    return parts ? parts->host + '|' + std::to_string(parts->port) : std::string("refused");
  };
  EXPECT_EQ(split("example.org:4000"), "example.org|4000");
  EXPECT_EQ(split("example.org"), "example.org|0");
  EXPECT_EQ(split("127.0.0.1:1"), "127.0.0.1|1");
  EXPECT_EQ(split("[::1]:65535"), "::1|65535");
  EXPECT_EQ(split("[::1]"), "::1|0");
  EXPECT_EQ(split("2001:db8::5"), "2001:db8::5|0");
  EXPECT_EQ(split("[fe80::1%3]:5"), "fe80::1%3|5");
  for (const char* text : {"", ":1", "[]:1", "[::1]x", "[::1]:", "[::1]:0", "[::1]:65536", "[::1]:+1",
                           "a:", "a:b", "a:-1", "a:b:c", "1.2.3.4:5:6", "[::1]:1:2", "[example.org]:1"})
    EXPECT_EQ(split(text), "refused") << text;
}

// Names of servers may come from an untrusted list. Any text is refused or read, and what is read is written
// back to a text with one meaning.
TEST(SocketAddress, AnyTextIsReadWithoutHarm) {
  constexpr std::string_view kUsed = "0123456789abcdefABCDEF:::...[]%/\n\0x";
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text(random() % 24, ' ');
    for (char& c : text)
      c = kUsed[random() % kUsed.size()];
    (void)split_host_port(text);
    const auto address = parse_host(text);
    if (!address) continue;
    ++read;
    EXPECT_EQ(parse_host(host_text(*address)), address) << text;
  }
  EXPECT_GT(read, 10);
}

TEST(SocketAddress, LimitsCountAnIpv6NetworkAsOneHost) {
  const IpAddress neighbour(kExample.high(), 0x1234'5678'9abc'def0),
      other(kExample.high() + 1, kExample.low());
  EXPECT_EQ(kExample.limited_host(), neighbour.limited_host());
  EXPECT_NE(kExample.limited_host(), other.limited_host());
  EXPECT_NE(IpAddress(0x0A000001).limited_host(), IpAddress(0x0A000002).limited_host());
  // No IPv6 network counts as an IPv4 host.
  EXPECT_NE(IpAddress(0x0A000001).limited_host(), IpAddress(0x0000'ffff'0A00'0001, 0).limited_host());
}

TEST(SocketAddress, KindsOfAddressesAreKnown) {
  EXPECT_TRUE(IpAddress().is_any() && IpAddress(0).is_any() && !IpAddress(0, 1).is_any());
  EXPECT_TRUE(parse_host("ff02::1")->host.is_multicast() && parse_host("224.0.0.1")->host.is_multicast());
  EXPECT_TRUE(IpAddress(0xFFFFFFFF).is_multicast());
  EXPECT_FALSE(kExample.is_multicast() || IpAddress(0x7F000001).is_multicast());
  EXPECT_TRUE(parse_host("fe80::1")->host.is_link_local() && parse_host("febf::1")->host.is_link_local());
  EXPECT_FALSE(parse_host("fec0::1")->host.is_link_local() || kExample.is_link_local());
}

}  // namespace
}  // namespace reckoner
