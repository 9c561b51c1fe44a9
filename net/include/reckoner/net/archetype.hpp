// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

inline constexpr std::size_t kMaxFields = 32;          ///< of one archetype
inline constexpr std::size_t kMaxFieldNameBytes = 32;  ///< of a field's name
inline constexpr std::size_t kMaxBlobBytes = 64;       ///< of a blob field

/// Up to kMaxBlobBytes bytes that only the game understands. A value; no allocation.
class RECKONER_NET_API Blob {
 public:
  Blob() = default;

  /// Nothing if there are too many bytes.
  [[nodiscard]] static std::optional<Blob> of(std::span<const std::byte> bytes);

  /// What it holds; valid as long as it is unchanged.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
  /// Byte by byte.
  bool operator==(const Blob&) const = default;

 private:
  std::array<std::byte, kMaxBlobBytes> bytes_{};  // zero beyond size_
  std::uint8_t size_ = 0;
};

/// The value of a field, of the type that the field's FieldSpec has, in that order.
using FieldValue = std::variant<bool, std::int64_t, double, Blob>;

/// True or false; one bit.
struct BooleanField {
  bool initial = false;  ///< what it is when the entity begins
};

/// A whole number; travels in as many bits as the range takes.
struct IntegerField {
  std::int64_t least = 0;    ///< the least that it can be
  std::int64_t most = 255;   ///< the largest; at least `least`
  std::int64_t initial = 0;  ///< what it is when the entity begins, in the range
};

/// A number; travels, and is read back on both sides, rounded to least + k * step. The step is at least 2^-48
/// of the larger bound: a double holds no finer ones.
struct RealField {
  double least = 0.0;    ///< the least that it can be, finite
  double most = 1.0;     ///< the largest; above `least`, finite
  double step = 0.001;   ///< what it is rounded to; above 0
  double initial = 0.0;  ///< what it is when the entity begins, in the range
};

/// Bytes that mean something to the game alone.
struct BlobField {
  std::size_t most_bytes = kMaxBlobBytes;  ///< 0 to kMaxBlobBytes
  Blob initial;                            ///< what it is when the entity begins
};

/// One thing that the game tells about every entity of an archetype beside its motion: health, an animation.
/// What a client has heard nothing of has its initial value.
struct FieldSpec {
  std::string name;                                                     ///< at most kMaxFieldNameBytes
  std::variant<BooleanField, IntegerField, RealField, BlobField> type;  ///< what it can be
};

/// True if there are not too many, their names fit and differ, and their ranges make sense and contain the
/// initial values.
[[nodiscard]] RECKONER_NET_API bool is_valid(std::span<const FieldSpec> fields);

/// The value as clients get it: a number rounded to the field's step. Nothing if it is of another type than
/// the field, or out of its range.
[[nodiscard]] RECKONER_NET_API std::optional<FieldValue> quantise(const FieldValue& value,
                                                                  const FieldSpec& field);

/// The value of a field that was never set, as clients have it. The field must be valid.
[[nodiscard]] RECKONER_NET_API FieldValue initial_value(const FieldSpec& field);

/// The real number `index` steps above the least, to the last bit alike on both sides.
[[nodiscard]] RECKONER_NET_API double real_at(const RealField& field, std::uint64_t index);

/// The step nearest to a value within the range.
[[nodiscard]] RECKONER_NET_API std::uint64_t index_of(const RealField& field, double value);

/// A kind of entity: how exactly it is shown and what is worth sending. Declared by the game on both sides in
/// the same order; names and fields are compared by hash when a client joins. The tolerances are the server's
/// and travel to the client.
struct Archetype {
  std::string name = "entity";      ///< at most 32 bytes
  bool has_orientation = true;      ///< false: orientation is never sent and stays the identity
  double threshold_m = 0.05;        ///< publish threshold, m; > 0. Half a decimetre is invisible at 10 m
  double threshold_rad = 0.05;      ///< publish threshold, rad; > 0
  double max_speed_mps = 1000.0;    ///< faster is refused as malformed; above any game vehicle's speed
  double world_size_m = 100'000.0;  ///< positions further than this from the origin are refused
  bool never_reverses = false;      ///< what slows down is taken to come to rest: cars, ships, anything that
                                    ///< brakes; not what swings or turns back. Compared by hash
  std::vector<FieldSpec> fields;    ///< what else is told about each entity; is_valid(), compared by hash
};

/// Hash of what both sides must agree on: the number, order and names of the archetypes, how they move, and
/// their fields with names, types, ranges and initial values.
[[nodiscard]] RECKONER_NET_API std::uint32_t archetype_hash(std::span<const Archetype> archetypes);

}  // namespace reckoner
