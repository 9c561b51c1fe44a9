// SPDX-License-Identifier: MIT
#include "server/src/session/comeback.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// A client that confirms nothing costs at most kMostBytes. After it confirmed every message, its session can
// be resumed again.
TEST(SessionResume, KeepsABoundedAmountOfUnconfirmedMessages) {
  Comeback comeback{SessionKey{1, 2}};
  const std::vector<std::byte> message(30'000);
  std::uint32_t sent = 0;
  for (; sent < 200; ++sent) {
    comeback.add(message);
    EXPECT_LE(comeback.sent.bytes(), Comeback::kMostBytes);
  }
  EXPECT_TRUE(comeback.overflowed);
  EXPECT_EQ(comeback.sent.bytes(), 0u) << "a partial log is useless";
  comeback.confirm(150, sent);
  EXPECT_TRUE(comeback.overflowed);
  comeback.confirm(sent, sent);
  EXPECT_FALSE(comeback.overflowed);
  comeback.add(message);
  comeback.confirm(sent, sent + 1);
  EXPECT_EQ(comeback.sent.messages(), 1u);
  comeback.confirm(sent + 1, sent + 1);
  EXPECT_EQ(comeback.sent.messages(), 0u);
}

}  // namespace
}  // namespace reckoner
