// SPDX-License-Identifier: MIT
#include "net/src/link/sent_contents.hpp"

#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::vector<int> settle(SentContents<int>& contents, Sequence sequence) {
  std::vector<int> entries;
  contents.settle(sequence, [&](int entry) { entries.push_back(entry); });
  return entries;
}

TEST(SentContents, GivesBackTheEntriesOfEachDatagramOnce) {
  SentContents<int> contents;
  EXPECT_TRUE(settle(contents, 5).empty());
  contents.add(7, 1);
  contents.add(7, 2);
  contents.add(9, 3);
  EXPECT_TRUE(settle(contents, 8).empty());
  EXPECT_EQ(settle(contents, 9), (std::vector{3}));
  EXPECT_EQ(settle(contents, 7), (std::vector{1, 2}));
  EXPECT_TRUE(settle(contents, 7).empty());
}

// Flights of all lengths, with gaps: not every datagram has entries. The numbers wrap.
TEST(SentContents, KeepsEntriesWhileTheFlightGrows) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    SentContents<int> contents;
    std::map<unsigned, std::vector<int>> expected;  // by number without a wrap
    unsigned number = 65'000;
    int entry = 0;
    for (int step = 0; step < 3000; ++step) {
      const unsigned longest = 1 + static_cast<unsigned>(step) / 3;  // of a flight, at most 1000
      number += 1 + below(3) * below(40);
      while (!expected.empty() && number - expected.begin()->first >= longest) {
        ASSERT_EQ(settle(contents, static_cast<Sequence>(expected.begin()->first)), expected.begin()->second);
        expected.erase(expected.begin());
      }
      for (unsigned i = below(3); i > 0; --i) {
        contents.add(static_cast<Sequence>(number), ++entry);
        expected[number].push_back(entry);
      }
      if (expected.empty() || below(4) != 0) continue;
      const auto some = std::next(expected.begin(), below(static_cast<unsigned>(expected.size())));
      ASSERT_EQ(settle(contents, static_cast<Sequence>(some->first)), some->second) << "seed " << seed;
      expected.erase(some);
    }
    EXPECT_GT(entry, 2000);
  }
}

// Few datagrams have entries, and the others of a flight are settled, too.
TEST(SentContents, ADatagramWithoutEntriesSettlesNoOther) {
  for (const int gap : {64, 128, 512}) {
    SentContents<int> contents;
    contents.add(static_cast<Sequence>(65'500), 1);
    EXPECT_TRUE(settle(contents, static_cast<Sequence>(65'500 + gap)).empty()) << "a newer one, " << gap;
    EXPECT_TRUE(settle(contents, static_cast<Sequence>(65'500 - gap)).empty()) << "an older one, " << gap;
    EXPECT_EQ(settle(contents, static_cast<Sequence>(65'500)), (std::vector{1})) << gap;
  }
}

TEST(SentContents, RemovesEntries) {
  SentContents<int> contents;
  for (int i = 0; i < 300; ++i)
    contents.add(static_cast<Sequence>(65'400 + i), i);
  contents.erase_if([](int entry) { return entry % 2 == 0; });
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(settle(contents, static_cast<Sequence>(65'400 + i)).size(), i % 2 == 0 ? 0u : 1u);
}

}  // namespace
}  // namespace reckoner
