// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/net/manner_chooser.hpp>
#include <reckoner/net/motion_codec.hpp>
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

// A motion and the one that the client holds, a round trip older: what was not foreseen lies between.
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

void BM_Quantise(benchmark::State& run) {
  const Quantisation quantisation = quantisation_for(Archetype{});
  const State state = flying_drone();
  for ([[maybe_unused]] auto _ : run)
    benchmark::DoNotOptimize(quantise(state, 0, kUnitPrecision, quantisation));
}
BENCHMARK(BM_Quantise);

// What a server pays for an encoding, shared by all clients that need it.
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

// What a client pays per update that arrives.
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

// What a sender pays, for one publish in four, to learn how an entity moves.
void BM_LearnManner(benchmark::State& run) {
  const Pair pair;
  MannerChooser chooser;
  for ([[maybe_unused]] auto _ : run) {
    chooser.observe(pair.state, pair.baseline, kRoundTripS, pair.quantisation);
    benchmark::DoNotOptimize(chooser.choose(kUnitPrecision, 0.1, 0.02));
  }
}
BENCHMARK(BM_LearnManner);

// Putting a ready string of 90 bits into a datagram, at every offset in a byte.
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

}  // namespace
}  // namespace reckoner
