// SPDX-License-Identifier: MIT
#include "net/src/wire/bit_archive.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// One field of every type that the archives support. One function describes both directions, like in
// messages.
struct Sample {
  bool flag = false;
  std::uint16_t word = 0;
  int small = 0;
  std::uint32_t count = 0;
  double real = 0.0;
  std::string name;
  std::vector<std::uint8_t> list;
  std::array<std::int64_t, 3> vector{};

  bool operator==(const Sample&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(flag, word, wire::ranged(small, -5, 6), wire::golomb(count, 2), wire::real(real, -10.0, 10.0),
            wire::text(name, 8), wire::list(list, 4), wire::signed3(vector, 48));
  }
};

std::vector<std::byte> encode(Sample sample) {
  std::vector<std::byte> buffer(256);
  BitWriter writer{buffer};
  wire::BitOutputArchive archive{writer};
  archive(sample);
  EXPECT_FALSE(writer.overflowed());
  const std::size_t size = writer.finish().size();
  buffer.resize(size);
  return buffer;
}

Sample random_sample(std::uint64_t& random) {
  const auto next = [&random] {
    return (random = random * 6364136223846793005u + 1442695040888963407u) >> 20;
  };
  Sample s;
  s.flag = next() % 2 == 0;
  s.word = static_cast<std::uint16_t>(next());
  s.small = static_cast<int>(next() % 12) - 5;
  s.count = static_cast<std::uint32_t>(next() >> (next() % 40));
  s.real = static_cast<double>(next() % 2001) / 100.0 - 10.0;
  s.name = std::string(next() % 9, 'x');
  s.list.assign(next() % 5, static_cast<std::uint8_t>(next()));
  for (auto& v : s.vector)
    v = static_cast<std::int64_t>(next() >> (next() % 44)) * (next() % 2 == 0 ? 1 : -1);
  return s;
}

TEST(BitArchive, RoundTripsEverything) {
  std::uint64_t random = 3;
  for (int i = 0; i < 2000; ++i) {
    const Sample sample = random_sample(random);
    const auto bytes = encode(sample);
    BitReader reader{bytes};
    wire::BitInputArchive archive{reader};
    Sample back;
    archive(back);
    EXPECT_TRUE(reader.finished());
    EXPECT_EQ(back, sample);
  }
}

TEST(BitArchive, GolombCodesRoundTripAtTheirLimits) {
  for (const unsigned k : {0u, 2u, 8u}) {
    for (const std::uint32_t value : {0u, 1u, 2u, 255u, 256u, 0x7fffffffu, 0xffffffffu}) {
      std::array<std::byte, 16> buffer;
      BitWriter writer{buffer};
      std::uint32_t copy = value;
      wire::BitOutputArchive{writer}(wire::golomb(copy, k));
      BitReader reader{writer.finish()};
      std::uint32_t back = 1;
      wire::BitInputArchive{reader}(wire::golomb(back, k));
      EXPECT_FALSE(reader.failed());
      EXPECT_EQ(back, value);
    }
  }
}

// Every truncation and every flipped bit either reads as another valid sample or fails.
TEST(BitArchive, DamagedDataIsReadSafely) {
  std::uint64_t random = 5;
  for (int i = 0; i < 200; ++i) {
    const auto bytes = encode(random_sample(random));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      BitReader reader{std::span{bytes}.first(size)};
      wire::BitInputArchive archive{reader};
      Sample back;
      archive(back);
      EXPECT_TRUE(!reader.finished() || size + 1 == bytes.size());
    }
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto damaged = bytes;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      BitReader reader{damaged};
      wire::BitInputArchive archive{reader};
      Sample back;
      archive(back);
      EXPECT_LE(back.name.size(), 8u);
      EXPECT_LE(back.list.size(), 4u);
      EXPECT_TRUE(back.small >= -5 && back.small <= 6);
      EXPECT_TRUE(back.real >= -10.0 && back.real <= 10.0);
    }
  }
}

TEST(BitArchive, NaNIsRefused) {
  std::array<std::byte, 8> buffer;
  BitWriter writer{buffer};
  writer.write(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()), 64);
  BitReader reader{writer.finish()};
  double value = 1.0;
  wire::BitInputArchive{reader}(wire::real(value, -1.0, 1.0));
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(value, -1.0);
}

TEST(BitArchive, TooLongPrefixCodeIsRefused) {
  std::array<std::byte, 16> ones;
  ones.fill(std::byte{0xff});
  BitReader reader{ones};
  std::uint32_t value = 7;
  wire::BitInputArchive{reader}(wire::golomb(value, 0));
  EXPECT_TRUE(reader.failed());
}

}  // namespace
}  // namespace reckoner
