// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_log.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

// Compares the log with a simple model.
TEST(ReliableLog, KeepsUnconfirmedMessagesInOrder) {
  ReliableLog log;
  std::deque<Bytes> model;
  std::uint32_t confirmed = 0;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t random = scenario::hash(7, step);
    if (random % 3 != 0) {
      const Bytes message(random / 8 % 300, static_cast<std::byte>(random >> 20));
      log.add(message);
      model.push_back(message);
    } else {
      const auto taken = static_cast<std::uint32_t>(random / 8 % (model.size() + 1));
      ASSERT_TRUE(log.confirm(confirmed += taken));
      model.erase(model.begin(), model.begin() + taken);
    }
    ASSERT_EQ(log.messages(), model.size());
    if (step % 64 != 0) continue;
    std::size_t next = 0, bytes = 0;
    log.for_each([&](std::span<const std::byte> message) {
      ASSERT_LT(next, model.size());
      EXPECT_TRUE(std::equal(message.begin(), message.end(), model[next].begin(), model[next].end()));
      bytes += message.size();
      ++next;
    });
    EXPECT_EQ(next, model.size());
    EXPECT_EQ(log.bytes(), bytes);
  }
}

// Each message is sent once per connection, in order, whatever is confirmed meanwhile.
TEST(ReliableLog, SendsMessagesOneByOne) {
  ReliableLog log;
  std::uint32_t added = 0, confirmed = 0, gone = 0;  // since the start
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t random = scenario::hash(8, step);
    switch (random % 8) {
      case 0:
        confirmed += static_cast<std::uint32_t>(random / 8 % (added - confirmed + 1));
        ASSERT_TRUE(log.confirm(confirmed));
        gone = std::max(gone, confirmed);
        break;
      case 1:
        if (random / 8 % 50 == 0) log.hold_all(), gone = confirmed;
        break;
      case 2:
      case 3:
      case 4: {
        const Bytes message(1 + added % 40, static_cast<std::byte>(added));
        log.add(message);
        ++added;
        break;
      }
      default:
        const auto next = log.next();
        ASSERT_EQ(next.has_value(), gone < added);
        if (!next) break;
        EXPECT_EQ(next->size(), 1 + gone % 40);
        EXPECT_EQ(next->front(), static_cast<std::byte>(gone));
        log.let_go();
        ++gone;
    }
    ASSERT_EQ(log.gone(), gone - confirmed);
    std::size_t bytes = 0;
    for (std::uint32_t i = confirmed; i < gone; ++i)
      bytes += 1 + i % 40;
    ASSERT_EQ(log.gone_bytes(), bytes);
  }
  EXPECT_GT(confirmed, 5'000u);
}

TEST(ReliableLog, RefusesInvalidConfirmations) {
  ReliableLog log;
  const Bytes message(3);
  for (int i = 0; i < 5; ++i)
    log.add(message);
  EXPECT_FALSE(log.confirm(6));
  EXPECT_TRUE(log.confirm(2));
  EXPECT_FALSE(log.confirm(1)) << "it was confirmed before, and is gone";
  EXPECT_FALSE(log.confirm(0xffffffffu));
  EXPECT_EQ(log.messages(), 3u);
}

}  // namespace
}  // namespace reckoner
