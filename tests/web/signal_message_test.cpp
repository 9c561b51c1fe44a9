// SPDX-License-Identifier: MIT
#include "web/src/signalling/signal_message.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

TEST(SignalMessage, IsReadAsItWasWritten) {
  for (const Signal kind : {Signal::offer, Signal::answer, Signal::refused, Signal::leave}) {
    const std::string text = write_signal({kind, "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n"});
    const auto read = read_signal(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->body, "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n");
  }
}

TEST(SignalMessage, OtherTextsAreNone) {
  for (const char* text : {"", "\n", "offer", "offer\n", "offers\nx", "Offer\nx", " offer\nx", "\noffer\nx"})
    EXPECT_FALSE(read_signal(text)) << text;
  EXPECT_TRUE(read_signal("offer\n" + std::string(kMaxSignalBytes - 6, 'x')));
  EXPECT_FALSE(read_signal("offer\n" + std::string(kMaxSignalBytes - 5, 'x')));
}

}  // namespace
}  // namespace reckoner::web
