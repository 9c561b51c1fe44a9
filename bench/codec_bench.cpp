// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>

#include <benchmark/benchmark.h>

#include <reckoner/net/motion_codec.hpp>

namespace reckoner {
namespace {

State flying_drone() {
  State state;
  state.position = {123.456, -45.678, 12.345};
  state.velocity = {3.1f, -4.2f, 0.5f};
  state.acceleration = {0.3f, 1.2f, -0.4f};
  state.orientation = glm::quat{0.8f, 0.36f, 0.0f, 0.48f};
  state.angular_velocity = {0.1f, -0.2f, 0.9f};
  return state;
}

// What a server pays per publish, shared by all clients of the stream.
void BM_EncodeMotion(benchmark::State& run) {
  const Quantisation quantisation = quantisation_for(Archetype{});
  const State state = flying_drone();
  std::array<std::byte, 128> buffer{};
  std::size_t bits = 0;
  for ([[maybe_unused]] auto _ : run) {
    BitWriter writer{buffer};
    write_full(writer, quantise(state, 0, kUnitPrecision, quantisation), quantisation);
    bits = writer.bits_written();
    benchmark::DoNotOptimize(buffer);
  }
  run.counters["bits"] = static_cast<double>(bits);
}
BENCHMARK(BM_EncodeMotion);

// What a client pays per update that arrives.
void BM_DecodeMotion(benchmark::State& run) {
  const Quantisation quantisation = quantisation_for(Archetype{});
  std::array<std::byte, 128> buffer{};
  BitWriter writer{buffer};
  write_full(writer, quantise(flying_drone(), 0, kUnitPrecision, quantisation), quantisation);
  const auto bytes = writer.finish();
  for ([[maybe_unused]] auto _ : run) {
    BitReader reader{bytes};
    benchmark::DoNotOptimize(dequantise(read_full(reader, quantisation), quantisation));
  }
}
BENCHMARK(BM_DecodeMotion);

}  // namespace
}  // namespace reckoner
