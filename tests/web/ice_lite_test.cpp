// SPDX-License-Identifier: MIT
#include "web/src/ice/ice_lite.hpp"

#include "stun_samples.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

using test::browser_check;
using test::StunBytes;
using test::StunSample;

constexpr std::string_view kSecret = "ourpasswordourpassword";

class IceLiteTest : public testing::Test {
 protected:
  IceLiteTest() { EXPECT_TRUE(ice_.expect(7, {"ours", std::string(kSecret), "them"})); }

  std::optional<IceLite::Answer> receive(const StunBytes& check, const char* host = "192.0.2.1") {
    SocketAddress from = *parse_host(host);
    from.port = 4000;
    return ice_.receive(check, from, out_);
  }

  IceLite ice_;
  std::array<std::byte, kMaxBindingResponseBytes> out_{};
};

TEST_F(IceLiteTest, AnswersAnExpectedBrowser) {
  const auto first = receive(browser_check("ours:them", kSecret));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->peer, 7u);
  EXPECT_FALSE(first->is_nominated);
  EXPECT_EQ(first->bytes, 64u);
  const auto second = receive(browser_check("ours:them", kSecret, true));
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->is_nominated);
}

TEST_F(IceLiteTest, TheShortestAnsweredRequestIsLongerThanTheLongestAnswer) {
  ASSERT_TRUE(ice_.expect(8, {"abcd", std::string(kSecret), "efgh"}));
  // Without the attributes that a browser may leave out. ICE allows no ufrag below 4 characters.
  const StunBytes shortest = StunSample()
                                 .add(0x0006, "abcd:efgh")
                                 .add(0x802a, "tiebreak")
                                 .add(0x0024, "prio")
                                 .sign(kSecret)
                                 .finish();
  const auto answer = receive(shortest, "2001:db8::1");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, kMaxBindingResponseBytes);
  EXPECT_LT(answer->bytes, shortest.size());
}

TEST_F(IceLiteTest, RefusesAndCountsEverythingElse) {
  EXPECT_FALSE(receive(browser_check("ours:them", "anotherpasswordanother")));
  EXPECT_EQ(ice_.refusals().counts[static_cast<std::size_t>(Refusal::not_genuine)], 1u);
  EXPECT_FALSE(receive(browser_check("ours:else", kSecret)));
  EXPECT_FALSE(receive(browser_check("other:them", kSecret)));
  EXPECT_FALSE(receive(browser_check("ours", kSecret)));
  EXPECT_EQ(ice_.refusals().counts[static_cast<std::size_t>(Refusal::no_session)], 3u);
  const auto signed_check = [](StunSample sample) { return sample.sign(kSecret).finish(); };
  EXPECT_FALSE(receive(signed_check(StunSample().add(0x0006, "ours:them").add(0x0024, "prio"))));
  EXPECT_FALSE(receive(signed_check(StunSample().add(0x0006, "ours:them").add(0x802a, "tiebreak"))));
  EXPECT_FALSE(receive(signed_check(StunSample()
                                        .add(0x0006, "ours:them")
                                        .add(0x0024, "prio")
                                        .add(0x802a, "tiebreak")
                                        .add(0x8029, "tiebreak"))));
  EXPECT_EQ(ice_.refusals().counts[static_cast<std::size_t>(Refusal::unexpected)], 3u);
  EXPECT_FALSE(receive(StunBytes(40)));
  EXPECT_EQ(ice_.refusals().counts[static_cast<std::size_t>(Refusal::malformed)], 1u);
}

TEST_F(IceLiteTest, ForgetsAPeer) {
  ice_.forget("ours");
  EXPECT_FALSE(receive(browser_check("ours:them", kSecret)));
  EXPECT_TRUE(ice_.expect(9, {"ours", std::string(kSecret), "them"}));
  EXPECT_EQ(receive(browser_check("ours:them", kSecret))->peer, 9u);
}

TEST_F(IceLiteTest, KeepsThePeerThatHasAName) {
  EXPECT_FALSE(ice_.expect(9, {"ours", "x", "y"}));
  EXPECT_EQ(receive(browser_check("ours:them", kSecret))->peer, 7u);
}

TEST_F(IceLiteTest, AFloodOfChangedChecksGetsNoAnswer) {
  std::mt19937 random(45);
  const StunBytes genuine = browser_check("ours:them", kSecret);
  for (int i = 0; i < 20'000; ++i) {
    StunBytes forged = genuine;
    forged[20 + random() % (forged.size() - 20)] ^= static_cast<std::byte>(1 + random() % 255);
    EXPECT_FALSE(receive(forged));
  }
  EXPECT_TRUE(receive(genuine)) << "the flood changed nothing";
}

}  // namespace
}  // namespace reckoner::web
