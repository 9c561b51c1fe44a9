// SPDX-License-Identifier: MIT
// What an update costs on its way into bytes and out of them. The floor is a memcpy of those bytes.
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include <benchmark/benchmark.h>

#include <reckoner/net/motion_codec.hpp>

namespace reckoner {
namespace {

constexpr double kAgeS = 0.1;  // of the baseline, when the next motion is published

State flying_drone() {
  State state;
  state.position = {123.456, -45.678, 12.345};
  state.velocity = {3.1f, -4.2f, 0.5f};
  state.acceleration = {0.3f, 1.2f, -0.4f};
  state.orientation = glm::quat{0.8f, 0.36f, 0.0f, 0.48f};
  state.angular_velocity = {0.1f, -0.2f, 0.9f};
  return state;
}

// An update in all its forms: in full, and against the one before, which did not foresee all of it.
struct Update {
  using Buffer = std::array<std::byte, 128>;

  Quantisation quantisation = quantisation_for(Archetype{});
  State truth = flying_drone();
  QuantisedState baseline = quantise(truth, 0, kUnitPrecision, quantisation);
  QuantisedState state;
  Buffer buffer{};

  Update() {
    truth = extrapolate(truth, kAgeS);
    truth.position += glm::dvec3{0.06, -0.03, 0.02};
    truth.velocity += glm::vec3{0.4f, 0.3f, -0.2f};
    truth.acceleration += glm::vec3{-1.0f, 0.5f, 0.2f};
    truth.angular_velocity += glm::vec3{0.2f, 0.1f, -0.1f};
    state = quantise(truth, 0, kUnitPrecision, quantisation);
  }

  std::size_t write(bool residual) {
    BitWriter writer{buffer};
    if (residual) {
      write_residual(writer, state, baseline, kAgeS, quantisation);
    } else {
      write_full(writer, state, quantisation);
    }
    return writer.bits_written();
  }
  [[nodiscard]] std::optional<State> read(bool residual) const {
    BitReader reader{buffer};
    const QuantisedState read =
        residual ? read_residual(reader, baseline, kAgeS, quantisation) : read_full(reader, quantisation);
    return dequantise(read, quantisation);
  }
};

// What a server pays per publish and baseline, shared by all clients of the stream. 0: full, 1: residual.
void BM_EncodeMotion(benchmark::State& run) {
  Update update;
  std::size_t bits = 0;
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(update.truth);
    update.state = quantise(update.truth, 0, kUnitPrecision, update.quantisation);
    bits = update.write(run.range(0) != 0);
    benchmark::DoNotOptimize(update.buffer);
  }
  run.counters["bits"] = static_cast<double>(bits);
}
BENCHMARK(BM_EncodeMotion)->Arg(0)->Arg(1);

// What a client pays per update that arrives.
void BM_DecodeMotion(benchmark::State& run) {
  Update update;
  const bool residual = run.range(0) != 0;
  run.counters["bits"] = static_cast<double>(update.write(residual));
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(update.buffer);
    benchmark::DoNotOptimize(update.read(residual));
  }
}
BENCHMARK(BM_DecodeMotion)->Arg(0)->Arg(1);

void copy_bytes(benchmark::State& run) {
  Update update;
  const std::size_t bytes = (update.write(run.range(0) != 0) + 7) / 8;
  Update::Buffer copy{};
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(update.buffer);
    std::memcpy(copy.data(), update.buffer.data(), bytes);
    benchmark::DoNotOptimize(copy);
  }
}
void BM_EncodeMotionFloor(benchmark::State& run) {
  copy_bytes(run);
}
BENCHMARK(BM_EncodeMotionFloor)->Arg(0)->Arg(1);
void BM_DecodeMotionFloor(benchmark::State& run) {
  copy_bytes(run);
}
BENCHMARK(BM_DecodeMotionFloor)->Arg(0)->Arg(1);

}  // namespace
}  // namespace reckoner
