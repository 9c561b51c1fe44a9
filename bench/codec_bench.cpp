// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <benchmark/benchmark.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kRoundTripS = 13.0 / 60.0;

State flying_drone() {
  State state;
  state.position = {123.456, -45.678, 12.345};
  state.velocity = {3.1f, -4.2f, 0.5f};
  state.acceleration = {0.3f, 1.2f, -0.4f};
  state.orientation = glm::quat{0.8f, 0.36f, 0.0f, 0.48f};
  state.angular_velocity = {0.1f, -0.2f, 0.9f};
  return state;
}

// A motion and the client's baseline, which is one round trip older. They differ by an unpredicted change.
struct Pair {
  Quantisation quantisation = quantisation_for(Archetype{});
  QuantisedState baseline = quantise(flying_drone(), 0, kUnitPrecision, quantisation);
  QuantisedState state = [this] {
    State now = extrapolate(flying_drone(), kRoundTripS);
    now.position += glm::dvec3{0.2, -0.1, 0.03};
    now.velocity += glm::vec3{1.0f, -0.4f, 0.2f};
    now.angular_velocity += glm::vec3{0.1f, 0.2f, -0.3f};
    return quantise(now, 0, kUnitPrecision, quantisation);
  }();
};

// The floor for writing or reading a motion: write or read the same number of raw bits, in words of at most
// 32 bits, without prediction or rounding. (A memcpy of the bytes cannot be the floor. It does less than a
// codec needs, because the next data in a datagram begin inside a byte.)
void write_raw(benchmark::State& run, std::size_t bits) {
  std::array<std::byte, 192> buffer{};
  for ([[maybe_unused]] auto _ : run) {
    BitWriter writer{buffer};
    for (std::size_t left = bits; left > 0;) {
      const std::size_t now = std::min<std::size_t>(left, 32);
      writer.write(left & ((std::uint64_t{1} << now) - 1), static_cast<unsigned>(now));
      left -= now;
    }
    benchmark::DoNotOptimize(buffer);
  }
  run.counters["bits"] = static_cast<double>(bits);
}

void read_raw(benchmark::State& run, std::size_t bits) {
  std::array<std::byte, 192> buffer{};
  benchmark::DoNotOptimize(buffer);
  for ([[maybe_unused]] auto _ : run) {
    BitReader reader{std::span{buffer}.first((bits + 7) / 8)};
    std::uint64_t sum = 0;
    for (std::size_t left = bits; left > 0;) {
      const std::size_t now = std::min<std::size_t>(left, 32);
      sum += reader.read(static_cast<unsigned>(now));
      left -= now;
    }
    benchmark::DoNotOptimize(sum);
  }
}

std::size_t bits_in_full(const Pair& pair) {
  std::array<std::byte, 192> buffer{};
  BitWriter writer{buffer};
  write_full(writer, pair.state, pair.quantisation);
  return writer.bits_written();
}

std::size_t bits_of_residual(const Pair& pair) {
  std::array<std::byte, 192> buffer{};
  BitWriter writer{buffer};
  write_residual(writer, pair.state, pair.baseline, kRoundTripS, pair.quantisation);
  return writer.bits_written();
}

void BM_Quantise(benchmark::State& run) {
  const Quantisation quantisation = quantisation_for(Archetype{});
  const State state = flying_drone();
  for ([[maybe_unused]] auto _ : run)
    benchmark::DoNotOptimize(quantise(state, 0, kUnitPrecision, quantisation));
}
BENCHMARK(BM_Quantise);

// The floor for quantising a motion: divide each of the fifteen numbers by its step and round the result.
void BM_QuantiseFloor(benchmark::State& run) {
  std::array<double, 15> numbers{123.456, -45.678, 12.345, 3.1,  -4.2, 0.5,  0.3, 1.2,
                                 -0.4,    0.36,    0.0,    0.48, 0.1,  -0.2, 0.9};
  std::array<double, 15> steps;
  steps.fill(1.0 / 0.01);
  std::array<std::int64_t, 15> whole{};
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(numbers);
    benchmark::DoNotOptimize(steps);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      whole[i] = std::llround(numbers[i] * steps[i]);
    benchmark::DoNotOptimize(whole);
  }
}
BENCHMARK(BM_QuantiseFloor);

// A server's cost of one encoding. All clients that need this encoding share it.
void BM_EncodeFull(benchmark::State& run) {
  const Pair pair;
  std::array<std::byte, 192> buffer{};
  std::size_t bits = 0;
  for ([[maybe_unused]] auto _ : run) {
    BitWriter writer{buffer};
    write_full(writer, pair.state, pair.quantisation);
    bits = writer.bits_written();
    benchmark::DoNotOptimize(buffer);
  }
  run.counters["bits"] = static_cast<double>(bits);
}
BENCHMARK(BM_EncodeFull);

void BM_EncodeFullFloor(benchmark::State& run) {
  write_raw(run, bits_in_full(Pair{}));
}
BENCHMARK(BM_EncodeFullFloor);

void BM_EncodeResidual(benchmark::State& run) {
  const Pair pair;
  std::array<std::byte, 192> buffer{};
  std::size_t bits = 0;
  for ([[maybe_unused]] auto _ : run) {
    BitWriter writer{buffer};
    write_residual(writer, pair.state, pair.baseline, kRoundTripS, pair.quantisation);
    bits = writer.bits_written();
    benchmark::DoNotOptimize(buffer);
  }
  run.counters["bits"] = static_cast<double>(bits);
}
BENCHMARK(BM_EncodeResidual);

void BM_EncodeResidualFloor(benchmark::State& run) {
  write_raw(run, bits_of_residual(Pair{}));
}
BENCHMARK(BM_EncodeResidualFloor);

// A client's cost per received update.
void BM_DecodeFull(benchmark::State& run) {
  const Pair pair;
  std::array<std::byte, 192> buffer{};
  BitWriter writer{buffer};
  write_full(writer, pair.state, pair.quantisation);
  const auto bytes = writer.finish();
  for ([[maybe_unused]] auto _ : run) {
    BitReader reader{bytes};
    benchmark::DoNotOptimize(dequantise(read_full(reader, pair.quantisation), pair.quantisation));
  }
}
BENCHMARK(BM_DecodeFull);

void BM_DecodeFullFloor(benchmark::State& run) {
  read_raw(run, bits_in_full(Pair{}));
}
BENCHMARK(BM_DecodeFullFloor);

void BM_DecodeResidual(benchmark::State& run) {
  const Pair pair;
  std::array<std::byte, 192> buffer{};
  BitWriter writer{buffer};
  write_residual(writer, pair.state, pair.baseline, kRoundTripS, pair.quantisation);
  const auto bytes = writer.finish();
  for ([[maybe_unused]] auto _ : run) {
    BitReader reader{bytes};
    benchmark::DoNotOptimize(
        dequantise(read_residual(reader, pair.baseline, kRoundTripS, pair.quantisation), pair.quantisation));
  }
}
BENCHMARK(BM_DecodeResidual);

void BM_DecodeResidualFloor(benchmark::State& run) {
  read_raw(run, bits_of_residual(Pair{}));
}
BENCHMARK(BM_DecodeResidualFloor);

// A sender's cost to learn how an entity moves. A sender learns from one publish in four.
void BM_LearnCodingMode(benchmark::State& run) {
  const Pair pair;
  CodingModeChooser chooser;
  for ([[maybe_unused]] auto _ : run) {
    chooser.observe(pair.state, pair.baseline, kRoundTripS, pair.quantisation);
    benchmark::DoNotOptimize(chooser.choose(kUnitPrecision, 0.1, 0.02));
  }
}
BENCHMARK(BM_LearnCodingMode);

// Appends an encoded string of 90 bits to a datagram, at every bit offset in a byte.
void BM_AppendString(benchmark::State& run) {
  const std::array<std::byte, 12> ready{std::byte{0x5a}};
  std::array<std::byte, 1200> datagram{};
  for ([[maybe_unused]] auto _ : run) {
    BitWriter writer{datagram};
    for (int i = 0; i < 96; ++i) {
      writer.write(0x15, 7);
      writer.append(ready, 90);
    }
    benchmark::DoNotOptimize(datagram);
  }
  run.SetItemsProcessed(run.iterations() * 96);
}
BENCHMARK(BM_AppendString);

// The floor for BM_AppendString: copy the same number of bytes, with each string at a byte boundary.
void BM_AppendStringFloor(benchmark::State& run) {
  std::array<std::byte, 12> ready{std::byte{0x5a}};
  std::array<std::byte, 96 * 12 + 48> datagram{};
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(ready);
    for (std::size_t i = 0; i < 96; ++i)
      std::memcpy(&datagram[i * 12], ready.data(), ready.size());
    benchmark::DoNotOptimize(datagram);
  }
  run.SetItemsProcessed(run.iterations() * 96);
}
BENCHMARK(BM_AppendStringFloor);

}  // namespace
}  // namespace reckoner
