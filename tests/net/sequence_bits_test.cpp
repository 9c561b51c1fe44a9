// SPDX-License-Identifier: MIT
#include "net/src/link/sequence_bits.hpp"

#include <cstdint>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// Compares with a set, at all places of the ring.
TEST(SequenceBits, AreThoseThatWereSet) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  SequenceBits bits;
  std::set<int> expected;
  for (int next = 60'000; next < 75'000; ++next) {
    const auto sequence = [](int number) { return static_cast<Sequence>(number); };
    while (!expected.empty() && *expected.begin() < next - Ack::kMaxDatagrams) {
      bits.reset(sequence(*expected.begin()));
      expected.erase(expected.begin());
    }
    const bool sparse = next / 3000 % 2 == 0;
    if (below(sparse ? 100 : 2) == 0) {
      bits.set(sequence(next));
      expected.insert(next);
    }
    if (!expected.empty() && below(5) == 0) {
      const auto some = expected.lower_bound(next - below(1000));
      if (some != expected.end()) {
        bits.reset(sequence(*some));
        expected.erase(some);
      }
    }
    const int newest = next - below(Ack::kMaxDatagrams);
    std::uint32_t word = 0;
    for (int i = 0; i < 32; ++i) {
      word |= expected.contains(newest - i) ? 1u << i : 0u;
      ASSERT_EQ(bits[sequence(newest - i)], expected.contains(newest - i));
    }
    ASSERT_EQ(bits.word(sequence(newest)), word) << next;
    const int from = next - below(Ack::kMaxDatagrams), end = from - 2 + below(next - from + 4);
    const auto first = expected.lower_bound(from);
    const int found = first != expected.end() && *first < end ? *first : end;
    ASSERT_EQ(bits.find(sequence(from), sequence(end)), sequence(found)) << from << " to " << end;
  }
  bits.reset_all();
  EXPECT_EQ(bits.find(0, 2000), 2000);
}

}  // namespace
}  // namespace reckoner
