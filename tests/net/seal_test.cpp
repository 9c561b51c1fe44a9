// SPDX-License-Identifier: MIT
#include "net/src/secure/seal.hpp"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using Bytes = std::vector<std::byte>;

Bytes sealed(Sealer& sealer, const Bytes& plain, Kind kind = Kind::datagram) {
  Bytes out(plain.size() + kSealBytes);
  (void)sealer.seal(kind, plain, out);
  return out;
}

struct Ends {
  SecretKey key = SecretKey::make();
  Sealer sealer{key, 0xABCD1234};
  Opener opener{key};
  Bytes buffer = Bytes(2000);
};

TEST(ReplayWindow, EachSequenceNumberIsNewOnceWithinTheWindow) {
  std::mt19937_64 random(1);
  ReplayWindow window;
  std::set<std::uint64_t> seen;
  std::uint64_t newest = 0;
  for (int i = 0; i < 200'000; ++i) {
    // Mostly increasing, with late and repeated numbers and occasional large steps.
    std::uint64_t sequence = newest + random() % 8;
    sequence -= std::min(sequence, random() % 2 == 0 ? random() % 1200 : 0);
    if (random() % 1000 == 0) sequence += random() % 5000;
    const bool expected =
        !seen.contains(sequence) && (seen.empty() || sequence + ReplayWindow::kSize > *seen.rbegin());
    ASSERT_EQ(window.is_new(sequence), expected) << sequence;
    if (!expected) continue;
    window.note(sequence);
    seen.insert(sequence);
    newest = std::max(newest, sequence);
    while (seen.size() > 3000)
      seen.erase(seen.begin());
  }
}

// A key must not be tried with forged datagrams without end (RFC 9147, 4.5.3). Repeated datagrams do not
// count: their sequence number alone refuses them.
TEST(Seal, KeyIsUnusableAfterTooManyForgeries) {
  Ends ends;
  ends.opener = Opener(ends.key, 3);
  const Bytes repeated = sealed(ends.sealer, Bytes(20));
  EXPECT_TRUE(ends.opener.open(repeated, ends.buffer));
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(ends.opener.open(repeated, ends.buffer));
  Bytes forged = sealed(ends.sealer, Bytes(20));
  forged.back() ^= std::byte{1};
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(ends.opener.open(forged, ends.buffer));
  EXPECT_TRUE(ends.opener.open(sealed(ends.sealer, Bytes(20)), ends.buffer));
  EXPECT_FALSE(ends.opener.open(forged, ends.buffer));
  EXPECT_FALSE(ends.opener.open(sealed(ends.sealer, Bytes(20)), ends.buffer)) << "three forgeries";
}

TEST(Seal, RoundTrips) {
  Ends ends;
  for (std::size_t size : {0u, 1u, 17u, 1200u}) {
    const Bytes plain(size, std::byte{5});
    const Bytes datagram = sealed(ends.sealer, plain, size % 2 == 0 ? Kind::alive : Kind::datagram);
    EXPECT_EQ(sealed_session(datagram), 0xABCD1234u);
    const auto opened = ends.opener.open(datagram, ends.buffer);
    ASSERT_TRUE(opened) << size;
    EXPECT_EQ(opened->kind, size % 2 == 0 ? Kind::alive : Kind::datagram);
    EXPECT_EQ(Bytes(opened->plain.begin(), opened->plain.end()), plain);
    EXPECT_TRUE(opened->newest);
  }
}

TEST(Seal, EachDatagramOpensOnceInAnyOrder) {
  Ends ends;
  std::vector<Bytes> datagrams;
  for (int i = 0; i < 300; ++i)
    datagrams.push_back(sealed(ends.sealer, Bytes(3, static_cast<std::byte>(i))));
  std::shuffle(datagrams.begin(), datagrams.end(), std::mt19937(2));
  for (const Bytes& datagram : datagrams)
    EXPECT_TRUE(ends.opener.open(datagram, ends.buffer));
  for (const Bytes& datagram : datagrams)
    EXPECT_FALSE(ends.opener.open(datagram, ends.buffer));
}

// Only the low 32 bits are sent. After 2^32 datagrams, with loss and reordering, the receiver still knows the
// high bits.
TEST(Seal, WorksBeyond32BitSequenceNumbers) {
  Ends ends;
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
  std::mt19937 random(3);
  for (std::uint64_t wrap = kWrap; wrap <= 3 * kWrap; wrap += kWrap) {
    // Each step skips at most half of 2^32 datagrams: the receiver cannot follow a larger loss.
    for (const std::uint64_t ahead : {kWrap / 4 * 3, kWrap / 4, kWrap / 1024}) {
      Sealer sealer(ends.key, 0xABCD1234, wrap - ahead);
      const auto opened = ends.opener.open(sealed(sealer, Bytes(3)), ends.buffer);
      ASSERT_TRUE(opened);
      ASSERT_EQ(opened->sequence, wrap - ahead);
    }
    std::uint64_t first = wrap - 300;
    Sealer sealer(ends.key, 0xABCD1234, first);
    std::vector<std::pair<std::uint64_t, Bytes>> datagrams;
    for (; first < wrap + 300; ++first)
      datagrams.emplace_back(first, sealed(sealer, Bytes(3)));
    std::shuffle(datagrams.begin(), datagrams.end(), random);
    for (const auto& [sequence, datagram] : datagrams) {
      const auto opened = ends.opener.open(datagram, ends.buffer);
      ASSERT_TRUE(opened) << sequence;
      ASSERT_EQ(opened->sequence, sequence);
    }
    for (const auto& [sequence, datagram] : datagrams)
      ASSERT_FALSE(ends.opener.open(datagram, ends.buffer)) << sequence;
  }
}

TEST(Seal, AnyChangedBitIsDetectedAndChangesNoState) {
  Ends ends;
  const Bytes datagram = sealed(ends.sealer, Bytes(40, std::byte{9}));
  for (std::size_t bit = 0; bit < datagram.size() * 8; ++bit) {
    Bytes forged = datagram;
    forged[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(ends.opener.open(forged, ends.buffer)) << bit;
  }
  for (std::size_t size = 0; size < datagram.size(); ++size)
    ASSERT_FALSE(ends.opener.open(std::span(datagram).first(size), ends.buffer)) << size;
  // A forged sequence number far ahead was not accepted either.
  EXPECT_TRUE(ends.opener.open(datagram, ends.buffer));
}

TEST(Seal, LateDatagramIsNotTheNewest) {
  Ends ends;
  const Bytes first = sealed(ends.sealer, {}), second = sealed(ends.sealer, {});
  EXPECT_TRUE(ends.opener.open(second, ends.buffer)->newest);
  EXPECT_FALSE(ends.opener.open(first, ends.buffer)->newest);
}

TEST(Seal, EqualPayloadsAreSealedDifferently) {
  Ends ends;
  const Bytes plain(30, std::byte{1});
  const Bytes first = sealed(ends.sealer, plain), second = sealed(ends.sealer, plain);
  EXPECT_FALSE(std::equal(first.begin() + kSealHead, first.end(), second.begin() + kSealHead));
}

TEST(Seal, AnotherKeyOpensNothing) {
  Ends ends, others;
  EXPECT_FALSE(others.opener.open(sealed(ends.sealer, Bytes(9)), ends.buffer));
}

}  // namespace
}  // namespace reckoner::secure
