// SPDX-License-Identifier: MIT
#include "web/src/signalling/sdp.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

constexpr std::string_view kHex =
    "00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18:19:1A:1B:1C:1D:1E:FF";

// The lines that Chromium writes, in its order.
std::string offer_text() {
  return "v=0\r\n"
         "o=- 4611731400430051336 2 IN IP4 127.0.0.1\r\n"
         "s=-\r\n"
         "t=0 0\r\n"
         "a=group:BUNDLE 0\r\n"
         "a=extmap-allow-mixed\r\n"
         "a=msid-semantic: WMS\r\n"
         "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"
         "c=IN IP4 0.0.0.0\r\n"
         "a=candidate:1 1 udp 2113937151 a.local 50000 typ host generation 0\r\n"
         "a=ice-ufrag:4ZcD\r\n"
         "a=ice-pwd:2/1muCWoOi3uLifh0NuRHlNo\r\n"
         "a=ice-options:trickle\r\n"
         "a=fingerprint:sha-256 " +
         std::string(kHex) +
         "\r\n"
         "a=setup:actpass\r\n"
         "a=mid:0\r\n"
         "a=sctp-port:5000\r\n"
         "a=max-message-size:262144\r\n";
}

std::string with(std::string_view old_text, std::string_view new_text) {
  std::string out = offer_text();
  const std::size_t at = out.find(old_text);
  if (at == std::string::npos) throw std::logic_error("the offer has no " + std::string(old_text));
  return out.replace(at, old_text.size(), new_text);
}

TEST(Sdp, ReadsTheOfferOfABrowser) {
  const auto offer = read_offer(offer_text());
  ASSERT_TRUE(offer) << offer.error();
  EXPECT_EQ((*offer).ufrag, "4ZcD");
  EXPECT_EQ((*offer).password, "2/1muCWoOi3uLifh0NuRHlNo");
  EXPECT_EQ((*offer).fingerprint[10], std::byte{10});
  EXPECT_EQ((*offer).fingerprint[31], std::byte{255});
  EXPECT_EQ((*offer).mid, "0");
  EXPECT_EQ((*offer).sctp_port, 5000);
  EXPECT_EQ((*offer).max_message_bytes, 262'144u);
}

// Firefox writes what belongs to the session in front of the section, and gives no port of SCTP its default.
TEST(Sdp, ReadsAttributesOfTheSession) {
  const std::string line = "a=fingerprint:sha-256 " + std::string(kHex) + "\r\n";
  std::string text = with("m=application", line + "m=application");
  EXPECT_TRUE(read_offer(text)) << "the value may be repeated";
  text.erase(text.rfind(line), line.size());
  const auto offer = read_offer(text);
  ASSERT_TRUE(offer) << offer.error();
  EXPECT_EQ((*offer).fingerprint[31], std::byte{255});
}

TEST(Sdp, HasDefaultsForSctp) {
  std::string text = with("a=sctp-port:5000\r\n", "");
  text.erase(text.find("a=max-message-size"));
  const auto offer = read_offer(text);
  ASSERT_TRUE(offer) << offer.error();
  EXPECT_EQ((*offer).sctp_port, 5000);
  EXPECT_EQ((*offer).max_message_bytes, 65'536u);
}

TEST(Sdp, ReadsLinesWithoutCarriageReturn) {
  std::string text = offer_text();
  std::erase(text, '\r');
  EXPECT_TRUE(read_offer(text));
}

struct BadOffer {
  std::string_view old_text, new_text, error;
};

TEST(Sdp, RefusesWithOneSentence) {
  const std::string long_ufrag = "a=ice-ufrag:" + std::string(33, 'x');
  const std::string long_line = "s=" + std::string(kMaxOfferLineBytes, 'x');
  const std::string many_lines = [] {
    std::string out;
    while (out.size() <= kMaxOfferBytes)
      out += "s=-\r\n";
    return out;
  }();
  const BadOffer kCases[] = {
      {"v=0", "v=1", "The offer is not SDP."},
      {"s=-", "nonsense", "The offer has a line that is not SDP."},
      {"s=-", "\r\n", "The offer has a line that is not SDP."},
      {"s=-\r\n", many_lines, "The offer is longer than 8192 bytes."},
      {"s=-", long_line, "The offer has a line longer than 512 bytes."},
      {"m=application", "a=application", "The offer has no data channel."},
      {"m=application", "m=audio", "The section of the offer is not a data channel over UDP."},
      {"UDP/DTLS", "TCP/DTLS", "The section of the offer is not a data channel over UDP."},
      {"a=sctp-port", "m=audio 9 x\r\na=sctp-port",
       "The offer has more than one section: offer one data channel and no media."},
      {"a=ice-ufrag:4ZcD\r\n", "", "The offer has no ICE user name or no ICE password."},
      {"a=ice-ufrag:4ZcD", "a=ice-ufrag:4Zc", "The ICE user name of the offer is not valid."},
      {"a=ice-ufrag:4ZcD", "a=ice-ufrag:4Z:D", "The ICE user name of the offer is not valid."},
      {"a=ice-ufrag:4ZcD", long_ufrag, "The ICE user name of the offer is not valid."},
      {"a=ice-ufrag:4ZcD", "a=ice-ufrag:4ZcD\r\na=ice-ufrag:4ZcE",
       "The offer has two values for one attribute."},
      {"a=ice-pwd:2/1muCWo", "a=ice-pwd:2", "The ICE password of the offer is not valid."},
      {"sha-256", "sha-1", "The fingerprint of the offer is not a SHA-256."},
      {":1E:FF", ":1E", "The fingerprint of the offer is not a SHA-256."},
      {":1E:FF", ":1E:FG", "The fingerprint of the offer is not a SHA-256."},
      {":1E:FF", ":1E.FF", "The fingerprint of the offer is not a SHA-256."},
      {"setup:actpass", "setup:passive", "The browser must begin DTLS, but the offer does not allow it."},
      {"a=setup:actpass\r\n", "", "The offer does not say who begins DTLS."},
      {"a=mid:0\r\n", "", "The data channel of the offer has no mid."},
      {"a=mid:0", "a=mid:a b", "The mid of the offer is not valid."},
      {"a=mid:0", "a=mid:12345678901234567", "The mid of the offer is not valid."},
      {"sctp-port:5000", "sctp-port:0", "The SCTP port of the offer is not valid."},
      {"sctp-port:5000", "sctp-port:65536", "The SCTP port of the offer is not valid."},
      {"sctp-port:5000", "sctp-port:-1", "The SCTP port of the offer is not valid."},
      {"size:262144", "size:9999999999", "The largest message size of the offer is not valid."},
  };
  for (const auto& [old_text, new_text, error] : kCases) {
    const auto offer = read_offer(with(old_text, new_text));
    ASSERT_FALSE(offer) << new_text.substr(0, 60);
    EXPECT_EQ(offer.error(), error);
  }
}

TEST(Sdp, NoTruncatedOfferIsTakenForAnotherOne) {
  const std::string whole = offer_text();
  for (std::size_t size = 0; size < whole.find("a=sctp-port"); ++size) {
    if (whole.substr(0, size).ends_with("a=mid:0") || whole.substr(0, size).ends_with("a=mid:0\r")) continue;
    EXPECT_FALSE(read_offer(std::string_view(whole).substr(0, size))) << size;
  }
}

TEST(Sdp, WritesAnAnswerForEachFamily) {
  Answer answer{.ufrag = "ours", .password = "ourpasswordourpassword", .mid = "data"};
  for (std::size_t i = 0; i < 31; ++i)
    answer.fingerprint[i] = static_cast<std::byte>(i);
  answer.fingerprint[31] = std::byte{255};
  answer.address = *parse_host("192.0.2.1");
  answer.address.port = 4433;
  const std::string expected =
      "v=0\r\n"
      "o=- 1 1 IN IP4 192.0.2.1\r\n"
      "s=-\r\n"
      "t=0 0\r\n"
      "a=group:BUNDLE data\r\n"
      "a=ice-lite\r\n"
      "m=application 4433 UDP/DTLS/SCTP webrtc-datachannel\r\n"
      "c=IN IP4 192.0.2.1\r\n"
      "a=candidate:1 1 udp 2130706431 192.0.2.1 4433 typ host\r\n"
      "a=end-of-candidates\r\n"
      "a=ice-ufrag:ours\r\n"
      "a=ice-pwd:ourpasswordourpassword\r\n"
      "a=fingerprint:sha-256 " +
      std::string(kHex) +
      "\r\n"
      "a=setup:passive\r\n"
      "a=mid:data\r\n"
      "a=sctp-port:5000\r\n"
      "a=max-message-size:1200\r\n";
  EXPECT_EQ(write_answer(answer), expected);
  answer.address = *parse_host("2001:db8::1");
  answer.address.port = 4433;
  const std::string v6 = write_answer(answer);
  EXPECT_NE(v6.find("c=IN IP6 2001:db8::1\r\n"), std::string::npos);
  EXPECT_NE(v6.find(" udp 2130706431 2001:db8::1 4433 typ host\r\n"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::web
