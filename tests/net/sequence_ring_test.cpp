// SPDX-License-Identifier: MIT
#include "net/src/link/sequence_ring.hpp"

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// Numbers that wrap in the middle of each test.
constexpr Sequence at(int i) {
  return static_cast<Sequence>(65'500 + i);
}

TEST(SequenceRing, HasNoMemoryBeforeItsFirstUse) {
  SequenceRing<int> ring;
  EXPECT_EQ(ring.size(), 0u);
  ring.cover(at(0), at(0));
  EXPECT_EQ(ring.size(), SequenceRing<int>::kLeast);
  EXPECT_EQ(ring[at(0)], 0);
}

TEST(SequenceRing, StaysSmallForAUsualFlight) {
  SequenceRing<std::uint32_t> ring;
  constexpr std::uint32_t kFlight = 64;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    const std::uint32_t oldest = i < kFlight ? 0 : i - kFlight + 1;
    ring.cover(static_cast<Sequence>(oldest), static_cast<Sequence>(i));
    ring[static_cast<Sequence>(i)] = i;
    ASSERT_EQ(ring[static_cast<Sequence>(oldest)], oldest);
  }
  EXPECT_EQ(ring.size(), kFlight);
}

TEST(SequenceRing, DoublesAndKeepsTheEntriesOfTheFlight) {
  SequenceRing<int> ring;
  for (int i = 0; i < 1024; ++i) {
    ring.cover(at(0), at(i));
    ring[at(i)] = i;
    ASSERT_EQ(ring.size(), i < 64 ? 64u : i < 128 ? 128u : i < 256 ? 256u : i < 512 ? 512u : 1024u);
    for (int k = 0; k <= i; ++k)
      ASSERT_EQ(ring[at(k)], k) << i;
  }
  ring.cover(at(5000), at(5000));
  EXPECT_EQ(ring.size(), 1024u) << "it does not become smaller";
}

TEST(SequenceRing, GrowsAtOnceForALateFlight) {
  SequenceRing<int> ring;
  ring.cover(at(20), at(20));
  ring[at(20)] = 7;
  ring.cover(at(20), at(319));
  EXPECT_EQ(ring.size(), 512u);
  EXPECT_EQ(ring[at(20)], 7);
  for (int i = 21; i < 320; ++i)
    ASSERT_EQ(ring[at(i)], 0) << i;
}

// The flight begins before the entries that the ring still has.
TEST(SequenceRing, KeepsTheNewestEntriesWhenTheFlightReachesFartherBack) {
  SequenceRing<int> ring;
  for (int i = 0; i < 100; ++i) {
    ring.cover(at(i), at(i));
    ring[at(i)] = i;
  }
  ring.cover(at(0), at(100));
  ASSERT_EQ(ring.size(), 128u);
  for (int i = 36; i < 100; ++i)
    ASSERT_EQ(ring[at(i)], i);
  for (int i = 0; i < 36; ++i)
    ASSERT_EQ(ring[at(i)], 0) << "was overwritten before";
}

TEST(SequenceRing, MovesItsEntries) {
  SequenceRing<std::unique_ptr<int>> ring;
  ring.cover(at(0), at(0));
  ring[at(0)] = std::make_unique<int>(3);
  const int* const entry = ring[at(0)].get();
  ring.cover(at(0), at(100));
  EXPECT_EQ(ring[at(0)].get(), entry);
}

}  // namespace
}  // namespace reckoner
