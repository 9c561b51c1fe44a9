// SPDX-License-Identifier: MIT
#include "client/src/connection/sent_playout.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr BlendSettings kBlend{BlendCurve::damped, 0.1};

class SentPlayoutTest : public testing::Test {
 protected:
  SentPlayoutTest() {
    sent_.note_request({.shows_past = false, .blend = kBlend});
    sent_.begin();
  }
  // The number of messages that report `shows` at `local_s`.
  std::uint32_t sent_for(const PlayoutMessage& shows, double local_s) {
    const std::uint32_t before = messages_.reliable().added();
    sent_.send_changes(shows, messages_, local_s);
    return messages_.reliable().added() - before;
  }

  ClientMessages messages_;
  SentPlayout sent_;
};

TEST_F(SentPlayoutTest, SendsNothingThatTheRequestContained) {
  EXPECT_EQ(sent_for({.interpolates = false, .shows_past = false, .blend = kBlend}, 1.0), 0u);
  EXPECT_FALSE(sent_.blend_is_unknown({.blend = kBlend}, messages_));
}

TEST_F(SentPlayoutTest, SendsChangesTwiceASecondAtMost) {
  EXPECT_EQ(sent_for({.interpolates = true, .shows_past = false, .blend = kBlend}, 1.0), 1u);
  EXPECT_EQ(sent_for({.interpolates = true, .shows_past = true, .blend = kBlend}, 1.4), 0u);
  EXPECT_EQ(sent_for({.interpolates = true, .shows_past = true, .blend = kBlend}, 1.5), 1u);
  EXPECT_EQ(sent_for({.interpolates = true, .shows_past = true, .blend = kBlend}, 3.0), 0u);
}

TEST_F(SentPlayoutTest, SendsAChangeOfTheCurve) {
  const PlayoutMessage shows{.blend = {BlendCurve::cubic, kBlend.duration_s}};
  EXPECT_TRUE(sent_.blend_is_unknown(shows, messages_));
  EXPECT_EQ(sent_for(shows, 1.0), 1u);
}

TEST_F(SentPlayoutTest, TheBlendIsUnknownUntilItsMessageArrives) {
  const PlayoutMessage shows{.interpolates = false, .shows_past = false, .blend = {BlendCurve::damped, 0.3}};
  EXPECT_TRUE(sent_.blend_is_unknown(shows, messages_));
  EXPECT_EQ(sent_for(shows, 1.0), 1u);
  EXPECT_TRUE(sent_.blend_is_unknown(shows, messages_));
}

}  // namespace
}  // namespace reckoner
