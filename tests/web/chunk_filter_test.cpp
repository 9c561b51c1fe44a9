// SPDX-License-Identifier: MIT
#include "web/src/sctp/chunk_filter.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

using Bytes = std::vector<std::byte>;

constexpr unsigned kTag = 0x01020304;

struct SampleChunk {
  unsigned type = 0;
  unsigned flags = 0;
  Bytes value;
};

Bytes packet_of(std::initializer_list<SampleChunk> chunks, unsigned tag = kTag) {
  Bytes out(12);
  for (unsigned i = 0; i < 4; ++i)
    out[4 + i] = static_cast<std::byte>(tag >> (24 - 8 * i) & 0xff);
  for (const auto& [type, flags, value] : chunks) {
    const std::size_t size = 4 + value.size();
    for (const std::size_t byte : {std::size_t{type}, std::size_t{flags}, size >> 8, size & 0xff})
      out.push_back(static_cast<std::byte>(byte));
    out.insert(out.end(), value.begin(), value.end());
    while (out.size() % 4 != 0)
      out.push_back(std::byte{0});
  }
  return out;
}

const SampleChunk kInitChunk{1, 0, Bytes(16)};
const SampleChunk kDataChunk{0, 7, Bytes(13)};  // one byte of an unordered message
const SampleChunk kSackChunk{3, 0, Bytes(12)};

SampleChunk cookie(int first_byte) {
  Bytes value(40);
  value[0] = static_cast<std::byte>(first_byte);
  return {10, 0, value};
}

class ChunkFilterTest : public testing::Test {
 protected:
  void open() { ASSERT_EQ(filter_.refuse(packet_of({cookie(1)})), std::nullopt); }

  ChunkFilter filter_;
};

TEST_F(ChunkFilterTest, AnAssociationOpensCarriesMessagesAndCloses) {
  EXPECT_EQ(filter_.refuse(packet_of({kInitChunk}, 0)), std::nullopt);
  EXPECT_EQ(filter_.refuse(packet_of({kInitChunk}, 0)), std::nullopt) << "our answer was lost";
  EXPECT_FALSE(filter_.is_open());
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1), kDataChunk})), std::nullopt);
  EXPECT_TRUE(filter_.is_open());
  EXPECT_EQ(filter_.refuse(packet_of({kSackChunk, kDataChunk, kDataChunk})), std::nullopt);
  EXPECT_EQ(filter_.refuse(packet_of({{192, 0, Bytes(8)}})), std::nullopt);
  for (const unsigned type : {4u, 5u, 6u, 8u, 9u, 14u}) {
    EXPECT_EQ(filter_.refuse(packet_of({{type, 0, Bytes(4)}})), std::nullopt) << type;
  }
  EXPECT_EQ(filter_.refuse(packet_of({{7, 0, Bytes(4)}})), std::nullopt);
}

TEST_F(ChunkFilterTest, BeforeTheCookieOnlyInitAndAbortPass) {
  for (unsigned type = 0; type < 256; ++type) {
    if (type == 1 || type == 6 || type == 10) continue;
    EXPECT_EQ(filter_.refuse(packet_of({{type, 7, Bytes(16)}})), Refusal::unexpected) << type;
  }
  EXPECT_EQ(filter_.refuse(packet_of({{6, 0, {}}})), std::nullopt);
  EXPECT_FALSE(filter_.is_open());
}

// The list is the standard's: what is not named here, such as AUTH (15), ASCONF (193), RE-CONFIG (130) and
// PKTDROP (129), never reaches the library.
TEST_F(ChunkFilterTest, AfterTheCookieOnlyListedTypesPass) {
  open();
  const std::vector<unsigned> allowed{0, 3, 4, 5, 6, 7, 8, 9, 14, 192};
  for (unsigned type = 0; type < 256; ++type) {
    Bytes value(16);
    if (type == 3) value.resize(12);
    const bool passes = filter_.refuse(packet_of({{type, 7, value}})) == std::nullopt;
    EXPECT_EQ(passes, std::ranges::find(allowed, type) != allowed.end()) << type;
    if (type != 1) continue;
    EXPECT_EQ(filter_.refuse(packet_of({kInitChunk}, 0)), Refusal::unexpected);
  }
}

TEST_F(ChunkFilterTest, AForbiddenChunkHidesBehindNoOther) {
  open();
  for (const unsigned type : {1u, 2u, 10u, 11u, 15u, 128u, 129u, 130u, 193u}) {
    EXPECT_EQ(filter_.refuse(packet_of({kDataChunk, {type, 0, Bytes(16)}})), Refusal::unexpected) << type;
    EXPECT_EQ(filter_.refuse(packet_of({cookie(1), {type, 0, Bytes(16)}})), Refusal::unexpected) << type;
  }
}

TEST_F(ChunkFilterTest, NothingRestartsAnAssociation) {
  open();
  EXPECT_EQ(filter_.refuse(packet_of({cookie(2)})), Refusal::unexpected) << "another cookie";
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1)}, kTag + 1)), Refusal::unexpected) << "another tag";
  EXPECT_EQ(filter_.refuse(packet_of({kInitChunk}, 0)), Refusal::unexpected);
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1)})), std::nullopt) << "our answer was lost";
  EXPECT_EQ(filter_.refuse(packet_of({kSackChunk})), std::nullopt);
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1)})), Refusal::unexpected) << "the browser has our answer";
}

TEST_F(ChunkFilterTest, ARefusedPacketChangesNothing) {
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1), {15, 0, Bytes(4)}})), Refusal::unexpected);
  EXPECT_FALSE(filter_.is_open());
  open();
  EXPECT_EQ(filter_.refuse(packet_of({kDataChunk, {15, 0, Bytes(4)}})), Refusal::unexpected);
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1)})), std::nullopt) << "the cookie may still be repeated";
}

TEST_F(ChunkFilterTest, AMessageIsWhole) {
  open();
  for (const unsigned flags : {0u, 1u, 2u, 4u, 5u, 6u}) {
    EXPECT_EQ(filter_.refuse(packet_of({{0, flags, Bytes(13)}})), Refusal::unexpected) << flags;
  }
  EXPECT_EQ(filter_.refuse(packet_of({{0, 3, Bytes(13)}})), std::nullopt);
  EXPECT_EQ(filter_.refuse(packet_of({{0, 3, Bytes(12)}})), Refusal::malformed) << "without a payload";
}

TEST_F(ChunkFilterTest, RefusesWrongLengths) {
  EXPECT_EQ(filter_.refuse(packet_of({kInitChunk, kInitChunk}, 0)), Refusal::malformed) << "INIT comes alone";
  EXPECT_EQ(filter_.refuse(packet_of({{1, 0, Bytes(15)}}, 0)), Refusal::malformed);
  EXPECT_EQ(filter_.refuse(packet_of({kInitChunk})), Refusal::malformed) << "INIT has no tag";
  EXPECT_EQ(filter_.refuse(packet_of({cookie(1)}, 0)), Refusal::malformed) << "all others have one";
  EXPECT_EQ(filter_.refuse(packet_of({{10, 0, {}}})), Refusal::malformed) << "an empty cookie";
  open();
  EXPECT_EQ(filter_.refuse(packet_of({{3, 0, Bytes(11)}})), Refusal::malformed);
  SampleChunk sack{3, 0, Bytes(16)};
  EXPECT_EQ(filter_.refuse(packet_of({sack})), Refusal::malformed) << "one block, but it counts none";
  sack.value[9] = std::byte{1};
  EXPECT_EQ(filter_.refuse(packet_of({sack})), std::nullopt);
  sack.value[11] = std::byte{1};
  EXPECT_EQ(filter_.refuse(packet_of({sack})), Refusal::malformed) << "one block, but it counts two";
  EXPECT_EQ(filter_.refuse(packet_of({{192, 0, Bytes(3)}})), Refusal::malformed);
  EXPECT_EQ(filter_.refuse(packet_of({{192, 0, Bytes(6)}})), Refusal::malformed);
  EXPECT_EQ(filter_.refuse(packet_of({{0, 3, Bytes(kMaxSctpPacketBytes - 16)}})), std::nullopt);
  EXPECT_EQ(filter_.refuse(packet_of({{0, 3, Bytes(kMaxSctpPacketBytes - 15)}})), Refusal::too_large);
}

TEST_F(ChunkFilterTest, NoChunkReachesBeyondThePacket) {
  open();
  const Bytes good = packet_of({kSackChunk, {0, 3, Bytes(20)}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (size == 12 + 16) continue;  // exactly the first chunk
    EXPECT_EQ(filter_.refuse(std::span(good).first(size)), Refusal::malformed) << size;
  }
  Bytes zero = good;
  zero[12 + 16 + 2] = zero[12 + 16 + 3] = std::byte{0};
  EXPECT_EQ(filter_.refuse(zero), Refusal::malformed) << "a length of zero would be read for ever";
}

}  // namespace
}  // namespace reckoner::web
