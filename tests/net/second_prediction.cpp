// SPDX-License-Identifier: MIT
// Sections 5.13 and 5.14 of docs/WIRE.md.
#include "second_decoder.hpp"
#include "second_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace second {
namespace {

std::uint32_t nearest_tick(std::uint64_t low, std::uint32_t near) {
  const auto apart = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - near));
  return near + static_cast<std::uint32_t>(std::int32_t{apart});
}

std::string read_input(Bits& bits, const std::string& before) {
  if (bits.flag()) return before;
  std::size_t size = before.size();
  if (!bits.flag()) {
    size = static_cast<std::size_t>(bits.range(0, 64));
    bits.must(size != before.size());
  }
  std::string input;
  for (std::size_t i = 0; i < size && bits.good(); ++i) {
    const char old = i < before.size() ? before[i] : '\0';
    input.push_back(bits.flag() ? static_cast<char>(bits.u(8)) : old);
  }
  bits.must(input != before);
  return input;
}

// Adds the field, and returns the numbers.
template <std::size_t N>
std::array<double, N> read_floats(Bits& bits, const char* name, DecodedFields& fields) {
  std::array<double, N> numbers{};
  for (double& number : numbers)
    number = bits.f32();
  add_field(fields, name, list(numbers));
  return numbers;
}

void read_vector(Bits& bits, const char* name, DecodedFields& fields) {
  if (bits.flag()) {
    const auto parts = read_floats<3>(bits, name, fields);
    bits.must(std::ranges::any_of(parts, [](double part) { return part != 0.0 || std::signbit(part); }));
  } else {
    add_field(fields, name, list(std::array<double, 3>{}));
  }
}

// Returns the index.
std::int64_t read_entity(Bits& bits, DecodedFields& fields) {
  const std::int64_t index = bits.range(1, 1048576);
  const auto generation = static_cast<std::int64_t>(bits.u(16));
  add_field(fields, "index generation", list(std::array<std::int64_t, 2>{index, generation}));
  std::array<double, 3> position{};
  for (double& each : position)
    each = bits.f64();
  add_field(fields, "position", list(position));
  read_vector(bits, "velocity", fields);
  read_vector(bits, "acceleration", fields);
  read_vector(bits, "angular_velocity", fields);
  const auto q = read_floats<4>(bits, "orientation", fields);
  const double squares = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  bits.must(squares > 0.98 && squares < 1.02);
  add_field(fields, "teleports", text(static_cast<std::int64_t>(bits.u(8))));
  for (const char* name : {"tolerance_m", "tolerance_rad"})
    bits.must(read_floats<1>(bits, name, fields)[0] > 0.0);
  add_field(fields, "game_state", hex(bits.data(128)));
  return index;
}

void read_correction(Bits& bits, DecodedFields& fields) {
  const auto number = static_cast<std::int64_t>(bits.u(8));
  const std::int64_t total = bits.range(0, 8), first = bits.range(0, 8), count = bits.range(0, 8);
  const auto reason = static_cast<std::int64_t>(bits.u(2));
  bits.must(first + count <= total && (count == 0) == (total == 0));
  add_field(fields, "number total first reason",
            list(std::array<std::int64_t, 4>{number, total, first, reason}));
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < count && bits.good(); ++i) {
    const std::int64_t index = read_entity(bits, fields);
    bits.must(index > before);
    before = index;
  }
}

int low_bits(double value, double unit, unsigned bits) {
  const double most = std::exp2(52);
  const auto whole = static_cast<std::int64_t>(std::clamp(std::round(value * (4.0 / unit)), -most, most));
  const std::int64_t range = std::int64_t{1} << bits;
  return static_cast<int>((whole % range + range) % range);
}

}  // namespace

Inputs Decoder::inputs(Bits& bits, std::uint32_t near_tick, DecodedFields& fields) {
  const std::uint32_t newest = nearest_tick(bits.u(16), near_tick);
  add_field(fields, "newest", text(std::int64_t{newest}));
  add_field(fields, "corrected", text(static_cast<std::int64_t>(bits.u(8))));
  add_field(fields, "seen_age_ms", text(bits.range(0, 4095)));
  const std::uint64_t count = bits.eg(3) + 1;
  bits.must(count <= 64);
  const bool has_base = bits.flag();
  add_field(fields, "has_base", text(std::int64_t{has_base}));
  if (!bits.good()) return {};
  const auto first = static_cast<std::uint32_t>(newest + 1 - count);
  std::string before;
  if (has_base) {
    const auto base = inputs_.find(first - 1);
    bits.must(base != inputs_.end());
    if (!bits.good()) return {};
    before = base->second;
  }
  Inputs read;
  for (std::uint32_t i = 0; i < count && bits.good(); ++i) {
    before = read_input(bits, before);
    add_field(fields, "input", hex(before));
    read[first + i] = before;
  }
  const std::int64_t results = bits.range(0, 8);
  if (results > 0) add_field(fields, "behind", text(bits.range(0, 3)));
  for (std::int64_t i = 0; i < results && bits.good(); ++i) {
    std::array<std::int64_t, 7> parts{};
    for (std::size_t k = 0; k < parts.size(); ++k)
      parts[k] = static_cast<std::int64_t>(bits.u(k < 3 ? 7 : k < 6 ? 6 : 5));
    add_field(fields, "result", list(parts));
  }
  const std::int64_t ahead = std::int64_t{newest} - std::int64_t{near_tick};
  return ahead > 64 || ahead < -128 ? Inputs{} : read;
}

void Decoder::predictions(Bits& bits, std::uint32_t tick, DecodedFields& fields) {
  bool corrects = true;
  if (bits.flag()) {
    const std::uint32_t newest = nearest_tick(bits.u(16), tick);
    add_field(fields, "newest_input", text(std::int64_t{newest}));
    if (bits.flag()) {
      const std::int64_t early = bits.range(-64, 63);
      const std::uint64_t behind = bits.eg(1);
      bits.must(behind <= 127);
      add_field(fields, "early behind",
                list(std::array<std::int64_t, 2>{early, static_cast<std::int64_t>(behind)}));
    }
    corrects = bits.flag();
  }
  if (corrects) read_correction(bits, fields);
}

std::array<int, 7> result(const Predicted& state, std::uint32_t tick) {
  std::array<int, 7> parts{};
  for (std::size_t i = 0; i < 3; ++i) {
    parts[i] = low_bits(state.position[i], state.tolerance_m, 7);
    parts[3 + i] = low_bits(state.orientation_xyz[i], 0.5 * state.tolerance_rad, 6);
  }
  std::uint32_t h = (2166136261u ^ tick) * 16777619u;
  for (const char byte : state.game_state)
    h = (h ^ static_cast<unsigned char>(byte)) * 16777619u;
  h ^= h / 65536;
  h ^= h / 256;
  parts[6] = static_cast<int>(h % 32);
  return parts;
}

}  // namespace second
