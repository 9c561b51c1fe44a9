// SPDX-License-Identifier: MIT
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(BitStream, RoundTrips) {
  std::array<std::byte, 4096> buffer;
  BitWriter writer{buffer};
  struct Item {
    std::uint64_t value;
    unsigned bits;
  };
  std::vector<Item> items;
  std::uint64_t random = 7;
  for (int i = 0; i < 500; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<unsigned>((random >> 40) % 65);
    const std::uint64_t value = bits == 64 ? random : random & ((std::uint64_t{1} << bits) - 1);
    items.push_back({value, bits});
    writer.write(value, bits);
  }
  const std::span<const std::byte> bytes = writer.finish();
  ASSERT_FALSE(writer.overflowed());
  BitReader reader{bytes};
  for (const Item& item : items)
    EXPECT_EQ(reader.read(item.bits), item.value);
  EXPECT_TRUE(reader.finished());
}

TEST(BitStream, FirstBitIsTheLowestOfTheFirstByte) {
  std::array<std::byte, 2> buffer;
  BitWriter writer{buffer};
  writer.write(1, 1);
  writer.write(0b101, 3);
  writer.write(0xff, 8);
  const auto bytes = writer.finish();
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes[0], std::byte{0b11111011});
  EXPECT_EQ(bytes[1], std::byte{0b00001111});
}

TEST(BitStream, WritesNothingPastTheEnd) {
  std::array<std::byte, 4> buffer{};
  buffer[3] = std::byte{0x5a};
  BitWriter writer{std::span{buffer}.first(3)};
  writer.write(0xfffff, 20);
  EXPECT_FALSE(writer.overflowed());
  writer.write(0xff, 8);
  EXPECT_TRUE(writer.overflowed());
  writer.write(1, 1);  // would fit, but the stream is already incomplete
  EXPECT_EQ(writer.bits_written(), 20u);
  EXPECT_EQ(buffer[3], std::byte{0x5a});
}

TEST(BitStream, AppendsBitStringsAtAnyOffset) {
  std::array<std::byte, 32> piece_buffer;
  BitWriter piece{piece_buffer};
  piece.write(0x123456789abcdefu, 60);
  piece.write(0x1ff, 9);
  const std::size_t piece_bits = piece.bits_written();
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  writer.write(5, 3);
  writer.append(piece.finish(), piece_bits);
  BitReader reader{writer.finish()};
  EXPECT_EQ(reader.read(3), 5u);
  EXPECT_EQ(reader.read(60), 0x123456789abcdefu);
  EXPECT_EQ(reader.read(9), 0x1ffu);
}

TEST(BitStream, ReaderStaysFailed) {
  const std::array<std::byte, 2> bytes{std::byte{0xff}, std::byte{0xff}};
  BitReader reader{bytes};
  EXPECT_EQ(reader.read(12), 0xfffu);
  EXPECT_EQ(reader.read(5), 0u);
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.read(1), 0u);  // a bit is left, but the stream has failed
  EXPECT_FALSE(reader.finished());
}

TEST(BitStream, FinishedMeansOnlyPaddingIsLeft) {
  const std::array<std::byte, 2> bytes{std::byte{0x0f}, std::byte{0x10}};
  BitReader padded{std::span{bytes}.first(1)};
  EXPECT_EQ(padded.read(4), 0xfu);
  EXPECT_TRUE(padded.finished());
  BitReader dirty{bytes};
  EXPECT_EQ(dirty.read(10), 0x00fu);
  EXPECT_FALSE(dirty.finished());  // set bits in the padding
  BitReader early{bytes};
  EXPECT_EQ(early.read(8), 0x0fu);
  EXPECT_FALSE(early.finished());  // a whole byte left
}

}  // namespace
}  // namespace reckoner
