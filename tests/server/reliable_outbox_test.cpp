// SPDX-License-Identifier: MIT
// Reliable game messages that wait for the byte budget.
#include "server/src/session/reliable_outbox.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::vector<std::byte> message(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

TEST(ReliableOutbox, KeepsTheOrder) {
  ReliableOutbox outbox;
  std::mt19937 random{7};
  int added = 0, removed = 0;
  for (int step = 0; step < 2000; ++step) {
    if (random() % 2 == 0) outbox.add(message(10, added++));
    const std::size_t count = std::min<std::size_t>(outbox.messages(), random() % 3);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(outbox.waiting()[i], message(10, removed++));
    outbox.remove(count);
    ASSERT_EQ(outbox.messages(), static_cast<std::size_t>(added - removed));
    ASSERT_EQ(outbox.bytes(), 10 * outbox.messages());
    ASSERT_EQ(outbox.empty(), outbox.messages() == 0);
  }
}

// Over time, all bytes are charged, never faster than the bucket is filled, whatever the sizes of messages.
TEST(ReliableOutbox, ChargesEveryByteAtTheRateOfTheShare) {
  for (const double share : {700.0, 4000.0, 128'000.0}) {
    for (const std::size_t size : {1u, 200u, 1000u, 16'000u}) {
      ReliableOutbox outbox;
      std::size_t sent = 0, charged = 0;
      constexpr double kStepS = 1.0 / 60.0, kSeconds = 20.0;
      for (int tick = 0; tick * kStepS < kSeconds; ++tick) {
        while (outbox.messages() < 50)
          outbox.add(message(size, 1));
        charged += outbox.refill(share * kStepS, std::max(1240.0, share * kStepS));
        for (; outbox.room() > 0.0; sent += size) {
          if (outbox.empty()) outbox.add(message(size, 1));
          outbox.remove(1);
          charged += outbox.sent(size);
        }
        ASSERT_LE(charged, sent);
        ASSERT_LE(sent - charged, size);  // what is owed is less than one message
      }
      const double expected = share * kSeconds;
      EXPECT_NEAR(static_cast<double>(sent), expected, 1240.0 + static_cast<double>(size));
      EXPECT_NEAR(static_cast<double>(charged), expected, 1240.0 + static_cast<double>(size));
    }
  }
}

TEST(ReliableOutbox, ChargesALargeMessageInParts) {
  ReliableOutbox outbox;
  EXPECT_EQ(outbox.sent(16'000), 1240u);
  EXPECT_LT(outbox.room(), -14'000.0);
  std::size_t charged = 1240;
  for (int tick = 0; tick < 300; ++tick) {
    const std::size_t now = outbox.refill(66.7, 1240.0);
    EXPECT_LE(now, 67u);
    charged += now;
  }
  EXPECT_EQ(charged, 16'000u);
}

}  // namespace
}  // namespace reckoner
