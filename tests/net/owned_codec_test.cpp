// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

const std::vector<OwnedHead>& heads() {
  static const std::vector<OwnedHead> all{
      {0, 0, 0, {}}, {1, 15, 65535, 1}, {900, 3, 77, 40'000}, {kMaxEntities - 1, 9, 4321, {}}};
  return all;
}

std::vector<std::byte> section() {
  std::vector<std::byte> buffer(256);
  BitWriter writer{buffer};
  std::int64_t previous = -1;
  for (const OwnedHead& head : heads()) {
    write(writer, head, previous);
    writer.write(0x2a, 7);  // stands for the motion
    previous = head.slot;
  }
  writer.write(0, 1);
  buffer.resize(writer.finish().size());
  return buffer;
}

TEST(OwnedCodec, HeadsRoundTrip) {
  const auto bytes = section();
  BitReader reader{bytes};
  std::int64_t previous = -1;
  for (const OwnedHead& head : heads()) {
    const auto back = read_owned_head(reader, previous);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->slot, head.slot);
    EXPECT_EQ(back->term, head.term);
    EXPECT_EQ(back->tick, head.tick);
    EXPECT_EQ(back->reference_age, head.reference_age);
    EXPECT_EQ(reader.read(7), 0x2au);
    previous = back->slot;
  }
  EXPECT_FALSE(read_owned_head(reader, previous));
  EXPECT_TRUE(reader.finished());
}

TEST(OwnedCodec, TruncatedHeadsFail) {
  const auto bytes = section();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    BitReader reader{std::span{bytes}.first(size)};
    std::int64_t previous = -1;
    while (const auto head = read_owned_head(reader, previous)) {
      previous = head->slot;
      (void)reader.read(7);
    }
    EXPECT_TRUE(reader.failed()) << size;
  }
}

TEST(OwnedCodec, SlotOutOfRangeFails) {
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  write(writer, OwnedHead{kMaxEntities, 0, 0, {}}, -1);
  BitReader reader{writer.finish()};
  EXPECT_FALSE(read_owned_head(reader, -1));
  EXPECT_TRUE(reader.failed());
}

TEST(OwnedCodec, RandomBitsAreReadSafely) {
  scenario::Random random{3};
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(1 + random.below(200));
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(random.next());
    BitReader reader{bytes};
    std::int64_t previous = -1;
    int count = 0;
    while (const auto head = read_owned_head(reader, previous)) {
      ASSERT_GT(std::int64_t{head->slot}, previous);
      ASSERT_LT(head->slot, kMaxEntities);
      ASSERT_LT(head->term, kTerms);
      previous = head->slot;
      ASSERT_LT(++count, 2000);
    }
  }
}

}  // namespace
}  // namespace reckoner
