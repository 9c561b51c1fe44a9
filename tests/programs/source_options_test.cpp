// SPDX-License-Identifier: MIT
#include "programs/common/options/source_options.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <reckoner/client/playout.hpp>

namespace reckoner::program {
namespace {

TEST(ParseMode, KnowsEveryMode) {
  for (const auto& [text, mode] :
       {std::pair{"present", PlayoutMode::present}, std::pair{"adaptive", PlayoutMode::adaptive},
        std::pair{"ahead", PlayoutMode::ahead}, std::pair{"delayed:250", PlayoutMode::delayed}}) {
    PlayoutConfig playout;
    const auto wrong = parse_mode(text, playout);
    EXPECT_FALSE(wrong) << wrong->message;
    EXPECT_EQ(playout.mode, mode) << text;
    EXPECT_EQ(playout.delay_s, mode == PlayoutMode::delayed ? 0.25 : PlayoutConfig{}.delay_s) << text;
  }
}

TEST(ParseMode, RefusesOtherTextAndChangesNothing) {
  for (const char* text : {"", "later", "Present", "delayed", "delayed:", "delayed:x", "delayed:-1",
                           "delayed:nan", "delayed:1e9"}) {
    PlayoutConfig playout;
    playout.mode = PlayoutMode::adaptive;
    const auto wrong = parse_mode(text, playout);
    ASSERT_TRUE(wrong) << text;
    EXPECT_TRUE(wrong->message.starts_with("unknown mode '" + std::string(text) + "'")) << wrong->message;
    EXPECT_EQ(playout.mode, PlayoutMode::adaptive);
    EXPECT_EQ(playout.delay_s, PlayoutConfig{}.delay_s);
  }
}

}  // namespace
}  // namespace reckoner::program
