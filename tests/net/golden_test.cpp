// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// Uses whole numbers and powers of two only. So the inputs are exact on every platform, however the platform
// rounds products and sums.
class Numbers {
 public:
  // From -most to most.
  std::int32_t number(std::int32_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(2 * most + 1)) - most;
  }
  // From 0 to most.
  std::uint8_t choice(std::uint8_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint8_t>((state_ >> 33) % (most + 1u));
  }

 private:
  std::uint64_t state_ = 2026;
};

class Hash {
 public:
  void add(std::uint64_t bits) { hash_ = (hash_ ^ bits) * 1099511628211u; }
  void add(const State& s) {
    for (int i = 0; i < 3; ++i) {
      add(std::bit_cast<std::uint64_t>(s.position[i]));
      add(std::bit_cast<std::uint32_t>(s.velocity[i]));
      add(std::bit_cast<std::uint32_t>(s.acceleration[i]));
      add(std::bit_cast<std::uint32_t>(s.angular_velocity[i]));
    }
    for (const float c : {s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z})
      add(std::bit_cast<std::uint32_t>(c));
  }
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes)
      add(std::to_integer<std::uint64_t>(b));
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

CodingMode coding_mode_of(Numbers& numbers) {
  CodingMode mode{numbers.choice(kMaxPrecision),
                  numbers.choice(kMaxReach),
                  numbers.choice(static_cast<std::uint8_t>(kPriorCount - 1)),
                  numbers.choice(kMaxWander),
                  numbers.choice(kMaxTwist),
                  numbers.choice(1) == 1};
  mode.steady = !mode.bends && numbers.choice(1) == 1;
  return mode;
}

QuantisedState state_of(Numbers& numbers) {
  QuantisedState s;
  s.coding_mode = coding_mode_of(numbers);
  if (s.coding_mode.bends) s.link = numbers.choice(3);
  if (s.coding_mode.steady) s.sudden = numbers.choice(1) == 1;
  for (std::size_t i = 0; i < 3; ++i) {
    s.position[i] = numbers.number(100'000);
    s.velocity[i] = numbers.number(500);
    if (!s.coding_mode.steady) s.acceleration[i] = numbers.number(60);
    s.angular_velocity[i] = numbers.number(100);
    s.orientation[i] = static_cast<std::int16_t>(numbers.number(120));
  }
  s.largest = numbers.choice(3);
  return s;
}

// The state `ticks` later, with a small deviation.
State surprised(const State& then, int ticks, Numbers& numbers) {
  State s = extrapolate(then, ticks / 60.0);
  for (int i = 0; i < 3; ++i) {
    s.position[i] += numbers.number(512) / 1024.0;
    s.velocity[i] += static_cast<float>(numbers.number(2048)) / 1024.0f;
    s.acceleration[i] += static_cast<float>(numbers.number(4096)) / 1024.0f;
    s.angular_velocity[i] += static_cast<float>(numbers.number(1024)) / 1024.0f;
  }
  return s;
}

// Server and client run this code on different machines and must agree to the last bit: the predictor, the
// rounding, both encodings and the decoded values. The hash was made on x86-64 with GCC 12 at -O3. Every
// other compiler, optimisation level and processor must give the same hash.
TEST(Golden, PredictorAndCodecGiveTheSameBitsEverywhere) {
  Numbers numbers;
  Hash hash;
  const Quantisation q = quantisation_for(Archetype{});
  for (int i = 0; i < 3000; ++i) {
    const QuantisedState then = state_of(numbers);
    const std::optional<State> was = dequantise(then, q);
    ASSERT_TRUE(was);
    const int ticks = 1 + numbers.choice(40);
    const State now = surprised(*was, ticks, numbers);
    const CodingMode coding_mode = i % 2 == 0 ? then.coding_mode : coding_mode_of(numbers);
    const QuantisedState state = quantise(now, 0, coding_mode, q);

    std::array<std::byte, 256> buffer{};
    BitWriter writer{buffer};
    write_residual(writer, state, then, ticks / 60.0, q);
    write_full(writer, state, q);
    const auto bytes = writer.finish();
    BitReader reader{bytes};
    ASSERT_EQ(read_residual(reader, then, ticks / 60.0, q), state);
    ASSERT_EQ(read_full(reader, q), state);
    ASSERT_TRUE(reader.finished());
    hash.add(bytes);
    hash.add(*was);
    hash.add(*dequantise(state, q));
  }
  EXPECT_EQ(hash.value(), 1500169001088367978u);
}

}  // namespace
}  // namespace reckoner
