// SPDX-License-Identifier: MIT
#include "web/src/ice/stun_message.hpp"

#include "stun_samples.hpp"

#include <gtest/gtest.h>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {
namespace {

using test::StunBytes;
using test::StunSample;

constexpr std::string_view kPassword = "VOkJxbRl1RmTxUk/WvJxBt";

// RFC 5769 section 2.1.
const StunBytes kRfcRequest = test::from_hex(R"(
    00 01 00 58 21 12 a4 42 b7 e7 a7 01 bc 34 d6 86 fa 87 df ae
    80 22 00 10 53 54 55 4e 20 74 65 73 74 20 63 6c 69 65 6e 74
    00 24 00 04 6e 00 01 ff
    80 29 00 08 93 2f f9 b1 51 26 3b 36
    00 06 00 09 65 76 74 6a 3a 68 36 76 59 20 20 20
    00 08 00 14 9a ea a7 0c bf d8 cb 56 78 1e f2 b5 b2 d3 f2 49 c1 b5 71 a2
    80 28 00 04 e5 7a 3b cf)");

TEST(StunMessage, ReadsTheSampleOfTheStandard) {
  const auto request = read_binding_request(kRfcRequest);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->username, "evtj:h6vY");
  EXPECT_TRUE(request->has_priority);
  EXPECT_TRUE(request->is_controlled);
  EXPECT_FALSE(request->is_controlling);
  EXPECT_FALSE(request->use_candidate);
  EXPECT_EQ(request->transaction[0], std::byte{0xb7});
  EXPECT_EQ(request->transaction[11], std::byte{0xae});
  EXPECT_TRUE(is_genuine(*request, kRfcRequest, kPassword));
  EXPECT_FALSE(is_genuine(*request, kRfcRequest, "VOkJxbRl1RmTxUk/WvJxBu"));
}

TEST(StunMessage, NoChangedByteIsAccepted) {
  for (std::size_t i = 0; i < kRfcRequest.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      StunBytes changed = kRfcRequest;
      changed[i] ^= static_cast<std::byte>(1u << bit);
      EXPECT_FALSE(read_binding_request(changed)) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(StunMessage, NoTruncatedOrExtendedMessageIsAccepted) {
  for (std::size_t size = 0; size < kRfcRequest.size(); ++size) {
    EXPECT_FALSE(read_binding_request(std::span(kRfcRequest).first(size))) << size;
  }
  StunBytes longer = kRfcRequest;
  longer.resize(longer.size() + 4);
  EXPECT_FALSE(read_binding_request(longer));
}

TEST(StunMessage, ReadsTheCheckOfABrowser) {
  const StunBytes check = test::browser_check("ours:theirs", "password", true);
  const auto request = read_binding_request(check);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->username, "ours:theirs");
  EXPECT_TRUE(request->is_controlling);
  EXPECT_TRUE(request->use_candidate);
  EXPECT_TRUE(is_genuine(*request, check, "password"));
}

TEST(StunMessage, AnAttributeBehindTheSignatureHasNoEffect) {
  // Somebody on the path can append it and correct FINGERPRINT, which has no key.
  const StunBytes changed =
      StunSample().add(0x0006, "a:b").sign("password").add(0x0025, std::string_view()).finish();
  const auto request = read_binding_request(changed);
  ASSERT_TRUE(request);
  EXPECT_TRUE(is_genuine(*request, changed, "password"));
  EXPECT_FALSE(request->use_candidate);
}

TEST(StunMessage, RefusesWhatABrowserNeverSends) {
  EXPECT_TRUE(read_binding_request(StunSample().add(0x0006, "a:b").finish()));
  EXPECT_FALSE(read_binding_request(StunSample().add(0x0006, "a:b").add(0x0006, "c:d").finish()));
  EXPECT_FALSE(read_binding_request(StunSample().add(0x0006, "").finish()));
  EXPECT_FALSE(read_binding_request(StunSample().add(0x0024, "12345").finish()));
  EXPECT_FALSE(read_binding_request(StunSample().add(0x7fff, "must be understood").finish()));
  EXPECT_TRUE(read_binding_request(StunSample().add(0x8000, "may be ignored").finish()));
  EXPECT_FALSE(read_binding_request(StunSample(0x0101).finish())) << "a response";
  EXPECT_FALSE(read_binding_request(StunSample(0x0003).finish())) << "a request for a relay";
  EXPECT_TRUE(read_binding_request(StunSample().add(0x8000, std::string(512, 'x')).finish()));
  EXPECT_FALSE(read_binding_request(StunSample().add(0x8000, std::string(520, 'x')).finish())) << "too long";
}

TEST(StunMessage, ARequestWithoutSignatureIsNotGenuine) {
  const StunBytes open = StunSample().add(0x0006, "a:b").finish();
  const auto request = read_binding_request(open);
  ASSERT_TRUE(request);
  EXPECT_FALSE(is_genuine(*request, open, ""));
}

// The addresses and their masked forms are from RFC 5769 sections 2.2 and 2.3.
TEST(StunMessage, WritesTheAddressAsTheStandardDoes) {
  struct Case {
    SocketAddress from;
    std::string_view masked;
  };
  const StunBytes id = test::from_hex("b7e7a701 bc34d686 fa87dfae");
  StunTransaction transaction;
  std::copy(id.begin(), id.end(), transaction.begin());
  SocketAddress v4 = *parse_host("192.0.2.1"), v6 = *parse_host("2001:db8:1234:5678:11:2233:4455:6677");
  v4.port = v6.port = 32853;
  for (const auto& [from, masked] : {Case{v4, "0020 0008 0001 a147 e112a643"},
                                     Case{v6, "0020 0014 0002 a147 0113a9fa a5d3f179 bc25f4b5 bed2b9d9"}}) {
    std::array<std::byte, kMaxBindingResponseBytes> out{};
    const std::size_t size = write_binding_response(transaction, from, kPassword, out);
    StunBytes expected = test::from_hex(masked);
    // The rest is checked with the maker of samples.
    StunSample sample(0x0101);
    sample.add(0x0020, std::span(expected).subspan(4)).sign(kPassword);
    StunBytes with_other_id(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(std::equal(id.begin(), id.end(), with_other_id.begin() + 8));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), with_other_id.begin() + 20));
    EXPECT_EQ(size, sample.finish().size());
  }
}

TEST(StunMessage, WritesTheBytesThatASecondWriterWrites) {
  const StunTransaction transaction = [] {
    StunTransaction out;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::byte>(i + 1);
    return out;
  }();
  SocketAddress from = *parse_host("192.0.2.1");
  from.port = 32853;
  std::array<std::byte, kMaxBindingResponseBytes> out{};
  const std::size_t size = write_binding_response(transaction, from, kPassword, out);
  const StunBytes expected =
      StunSample(0x0101).add(0x0020, test::from_hex("0001 a147 e112a643")).sign(kPassword).finish();
  EXPECT_EQ(StunBytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size)), expected);
}

}  // namespace
}  // namespace reckoner::web
