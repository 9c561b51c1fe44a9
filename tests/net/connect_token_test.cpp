// SPDX-License-Identifier: MIT
#include "net/src/secure/handshake.hpp"

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner {
namespace {

constexpr std::uint64_t kGame = 77;

ConnectGrant grant() {
  ConnectGrant grant{.client_id = 0x0123456789ABCDEFu, .expires_s = 1'800'000'000};
  grant.servers = {{0x7F000001, 4000}, {0x0A000001, 65535}};
  for (std::size_t i = 0; i < grant.user_data.size(); ++i)
    grant.user_data[i] = static_cast<std::byte>(i);
  return grant;
}

TEST(SecretKey, RoundTripsAsText) {
  const SecretKey key = SecretKey::make();
  EXPECT_TRUE(key);
  EXPECT_FALSE(SecretKey{});
  EXPECT_EQ(key.text().size(), 64u);
  const auto read = SecretKey::from_text(" " + key.text() + "\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes(), key.bytes());
  EXPECT_NE(SecretKey::make().bytes(), key.bytes());
  for (const std::string& bad : {std::string{}, std::string(" \n"), key.text().substr(1), key.text() + "0",
                                 "g" + key.text().substr(1)})
    EXPECT_FALSE(SecretKey::from_text(bad)) << bad;
}

TEST(ConnectToken, RoundTripsAndOnlyServersCanOpenIt) {
  const SecretKey key = SecretKey::make();
  ConnectGrant granted = grant();
  granted.issued_ms = 1'799'999'999'123;
  const ConnectToken token = *issue_token(granted, key, kGame);
  const auto read = read_token(*write_token(token));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->servers, grant().servers);
  EXPECT_EQ(read->expires_s, grant().expires_s);
  const auto opened = secure::open_grant(read->sealed, read->nonce, read->expires_s, key, kGame);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->grant.client_id, grant().client_id);
  EXPECT_EQ(opened->grant.servers, grant().servers);
  EXPECT_EQ(opened->grant.user_data, grant().user_data);
  EXPECT_EQ(opened->grant.issued_ms, granted.issued_ms);
  EXPECT_EQ(opened->to_server.bytes(), read->to_server.bytes());
  EXPECT_EQ(opened->to_client.bytes(), read->to_client.bytes());
  EXPECT_FALSE(secure::open_grant(read->sealed, read->nonce, read->expires_s, SecretKey::make(), kGame));
  EXPECT_FALSE(secure::open_grant(read->sealed, read->nonce, read->expires_s + 1, key, kGame));
  EXPECT_FALSE(secure::open_grant(read->sealed, read->nonce, read->expires_s, key, kGame + 1));
}

TEST(ConnectToken, IssueTimeDefaultsToNow) {
  const SecretKey key = SecretKey::make();
  const auto unix_ms = [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count());
  };
  const std::uint64_t before_ms = unix_ms();
  const ConnectToken token = *issue_token(grant(), key, kGame);
  const auto opened = secure::open_grant(token.sealed, token.nonce, token.expires_s, key, kGame);
  ASSERT_TRUE(opened);
  EXPECT_GE(opened->grant.issued_ms, before_ms);
  EXPECT_LE(opened->grant.issued_ms, unix_ms());
}

// Otherwise an older library would accept a grant with a different layout.
TEST(ConnectToken, OtherVersionsAreRefused) {
  auto bytes = *write_token(*issue_token(grant(), SecretKey::make(), kGame));
  ASSERT_TRUE(read_token(bytes));
  for (const char version : {'1', '2', '3', '5'}) {
    bytes[15] = static_cast<std::byte>(version);
    EXPECT_FALSE(read_token(bytes)) << version;
  }
}

TEST(ConnectToken, AnyChangedBitIsDetected) {
  const SecretKey key = SecretKey::make();
  const ConnectToken token = *issue_token(grant(), key, kGame);
  for (std::size_t bit = 0; bit < token.sealed.size() * 8; bit += 3) {
    auto sealed = token.sealed;
    sealed[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(secure::open_grant(sealed, token.nonce, token.expires_s, key, kGame)) << bit;
  }
  auto nonce = token.nonce;
  nonce[5] ^= std::byte{1};
  EXPECT_FALSE(secure::open_grant(token.sealed, nonce, token.expires_s, key, kGame));
}

TEST(ConnectToken, MalformedBytesAreRefused) {
  const auto good = *write_token(*issue_token(grant(), SecretKey::make(), kGame));
  EXPECT_FALSE(read_token({}));
  EXPECT_FALSE(read_token(std::span(good).first(good.size() - 1)));
  auto other = good;
  other[0] ^= std::byte{1};
  EXPECT_FALSE(read_token(other));
  for (const int servers : {33, 255}) {
    auto bad = good;
    bad[16 + 8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes + 64] =
        static_cast<std::byte>(servers);
    EXPECT_FALSE(read_token(bad)) << servers;
  }
}

// 150 servers once overran the buffer of write_token().
TEST(ConnectToken, TooManyServersAreRefused) {
  const SecretKey key = SecretKey::make();
  ConnectGrant granted = grant();
  for (const std::size_t servers : {0u, 33u, 150u, 256u, 288u}) {
    granted.servers.assign(servers, {0x7F000001, 4000});
    const auto issued = issue_token(granted, key, kGame);
    ASSERT_FALSE(issued) << servers;
    if (servers > 0) {
      EXPECT_NE(issued.error().find(std::to_string(servers)), std::string::npos) << issued.error();
    }
  }
  ConnectToken token = *issue_token(grant(), key, kGame);
  for (const std::size_t servers : {33u, 150u, 256u, 288u}) {
    token.servers.assign(servers, {0x7F000001, 4000});
    const auto written = write_token(token);
    ASSERT_FALSE(written) << servers;
    EXPECT_NE(written.error().find("at most 32"), std::string::npos) << written.error();
  }
  for (const std::size_t servers : {1u, 32u}) {
    granted.servers.assign(servers, {0x7F000001, 4000});
    const auto read = read_token(*write_token(*issue_token(granted, key, kGame)));
    ASSERT_TRUE(read) << servers;
    EXPECT_EQ(read->servers, granted.servers);
  }
}

// No client can reach these, or reaches many hosts by them.
TEST(ConnectToken, AddressesThatBelongToNoHostAreRefused) {
  const SecretKey key = SecretKey::make();
  std::vector<SocketAddress> unusable{{IpAddress(), 4000}, {IpAddress(0x7F000001), 0}, {IpAddress(0, 1), 0}};
  for (const char* host : {"0.0.0.0", "::", "::ffff:0.0.0.0", "ff02::1", "ff0e::1234", "224.0.0.1",
                           "239.255.255.255", "::ffff:224.0.0.1", "255.255.255.255", "fe80::1"})
    unusable.push_back({parse_host(host)->host, 4000});
  for (const SocketAddress& address : unusable) {
    SCOPED_TRACE(text_of(address));
    ConnectGrant granted = grant();
    const ConnectToken good = *issue_token(granted, key, kGame);
    granted.servers.push_back(address);
    const auto issued = issue_token(granted, key, kGame);
    ASSERT_FALSE(issued);
    EXPECT_NE(issued.error().find(host_text(address)), std::string::npos) << issued.error();
    ConnectToken token = good;
    token.servers.push_back(address);
    EXPECT_FALSE(write_token(token));
    // The backend has the key, and its code may be wrong.
    const auto sealed =
        secure::seal_grant({.grant = granted, .to_server = key, .to_client = key}, good.nonce, key, kGame);
    EXPECT_FALSE(secure::open_grant(sealed, good.nonce, granted.expires_s, key, kGame));
  }
  ConnectGrant granted = grant();
  for (const char* host :
       {"127.0.0.1", "::1", "10.0.0.1", "169.254.1.1", "2001:db8::1", "fd00::1", "64:ff9b::1"})
    granted.servers.push_back({parse_host(host)->host, 1});
  EXPECT_TRUE(issue_token(granted, key, kGame));
}

// A list of servers in the bytes of a token, which a client gets from its backend.
TEST(ConnectToken, BytesWithSuchAddressesAreRefused) {
  auto bytes = *write_token(*issue_token(grant(), SecretKey::make(), kGame));
  const std::size_t at = 16 + 8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes + 64;
  const auto with_first = [&](std::array<int, 4> host, int port) {  // the numbers are little-endian
    auto changed = bytes;
    for (std::size_t i = 0; i < host.size(); ++i)
      changed[at + 2 + i] = static_cast<std::byte>(host[3 - i]);
    changed[at + 6] = static_cast<std::byte>(port & 255);
    changed[at + 7] = static_cast<std::byte>(port >> 8);
    return read_token(changed);
  };
  const auto good = with_first({10, 0, 0, 7}, 4000);
  ASSERT_TRUE(good);
  EXPECT_EQ(text_of(good->servers.front()), "10.0.0.7:4000");
  EXPECT_FALSE(with_first({0, 0, 0, 0}, 4000));
  EXPECT_FALSE(with_first({224, 0, 0, 1}, 4000));
  EXPECT_FALSE(with_first({255, 255, 255, 255}, 4000));
  EXPECT_FALSE(with_first({10, 0, 0, 7}, 0));
}

// A ticket is a token without servers: the client knows them already.
TEST(ConnectToken, TicketRoundTrips) {
  ConnectToken ticket = *issue_token(grant(), SecretKey::make(), kGame);
  ticket.servers.clear();
  const auto read = read_token(*write_token(ticket));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->servers.empty());
  EXPECT_EQ(read->sealed, ticket.sealed);
}

TEST(ConnectToken, TwoTokensNeverShareKeysOrNonces) {
  const SecretKey key = SecretKey::make();
  const ConnectToken a = *issue_token(grant(), key, kGame), b = *issue_token(grant(), key, kGame);
  EXPECT_NE(a.nonce, b.nonce);
  EXPECT_NE(a.to_server.bytes(), b.to_server.bytes());
  EXPECT_NE(a.to_server.bytes(), a.to_client.bytes());
}

}  // namespace
}  // namespace reckoner
