// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner::test {

using Engine = std::mt19937_64;

/// From 0 to `most`, both included.
inline std::uint64_t up_to(Engine& engine, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(0, most)(engine);
}

inline Blob random_blob(Engine& engine, std::size_t most_bytes) {
  std::array<std::byte, kMaxBlobBytes> bytes;
  for (std::byte& b : bytes)
    b = static_cast<std::byte>(engine() & 0xff);
  return *Blob::of(std::span{bytes}.first(up_to(engine, most_bytes)));
}

/// An integer of any size. The ends of the 64-bit range are frequent.
inline std::int64_t random_integer(Engine& engine) {
  if (up_to(engine, 7) == 0) return std::numeric_limits<std::int64_t>::min();
  if (up_to(engine, 7) == 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(engine()) >> up_to(engine, 63);
}

inline double random_real(Engine& engine) {
  const double magnitude = std::exp2(static_cast<double>(up_to(engine, 60)) - 30.0);
  return magnitude * std::uniform_real_distribution<double>(-1.0, 1.0)(engine);
}

/// Any valid value of the field, not rounded.
inline FieldValue random_value(Engine& engine, const FieldSpec& field) {
  if (std::holds_alternative<BooleanField>(field.type)) return up_to(engine, 1) == 1;
  if (const auto* f = std::get_if<IntegerField>(&field.type)) {
    return std::uniform_int_distribution<std::int64_t>(f->least, f->most)(engine);
  }
  if (const auto* f = std::get_if<RealField>(&field.type)) {
    const std::uint64_t end = up_to(engine, 9);
    if (end == 0) return f->least;
    if (end == 1) return f->most;
    return std::min(f->most, std::uniform_real_distribution<double>(f->least, f->most)(engine));
  }
  return random_blob(engine, std::get<BlobField>(field.type).most_bytes);
}

/// A valid field of any type and range.
inline FieldSpec random_field(Engine& engine, const std::string& name) {
  FieldSpec field{name, {}};
  switch (up_to(engine, 3)) {
    case 0:
      field.type = BooleanField{up_to(engine, 1) == 1};
      break;
    case 1: {
      const std::int64_t a = random_integer(engine);
      const std::int64_t b = random_integer(engine);
      field.type = IntegerField{std::min(a, b), std::max(a, b), a};
      break;
    }
    case 2: {
      const double a = random_real(engine);
      const double b = random_real(engine);
      const double bound = std::max(std::abs(a), std::abs(b));
      const double step = bound * std::exp2(-static_cast<double>(up_to(engine, 48)));
      field.type = RealField{std::min(a, b), std::max(a, b), step, a};
      break;
    }
    default: {
      const std::size_t most = up_to(engine, kMaxBlobBytes);
      field.type = BlobField{most, random_blob(engine, most)};
      break;
    }
  }
  return field;
}

inline std::vector<FieldSpec> random_fields(Engine& engine, std::size_t count) {
  std::vector<FieldSpec> fields;
  for (std::size_t i = 0; i < count; ++i)
    fields.push_back(random_field(engine, "field " + std::to_string(i)));
  return fields;
}

}  // namespace reckoner::test
