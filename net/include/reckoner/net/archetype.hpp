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
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

inline constexpr std::size_t kMaxFields = 32;          ///< maximum number of fields of one archetype
inline constexpr std::size_t kMaxFieldNameBytes = 32;  ///< maximum length of a field's name, bytes
inline constexpr std::size_t kMaxBlobBytes = 64;       ///< maximum size of a blob field, bytes

/// Up to kMaxBlobBytes bytes with a meaning that only the game knows. A value type; never allocates.
class RECKONER_NET_API Blob {
 public:
  Blob() = default;

  /// Copies `bytes`. Returns nullopt if there are more than kMaxBlobBytes.
  [[nodiscard]] static std::optional<Blob> of(std::span<const std::byte> bytes);

  /// The contents. The span is valid until this object changes.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
  /// True if both have equal sizes and contents.
  bool operator==(const Blob&) const = default;

 private:
  std::array<std::byte, kMaxBlobBytes> bytes_{};  // zero beyond size_
  std::uint8_t size_ = 0;
};

/// The value of a field. The alternatives are in the same order as those of FieldSpec::type.
using FieldValue = std::variant<bool, std::int64_t, double, Blob>;

/// A field that is true or false. Sent as one bit.
struct BooleanField {
  bool initial = false;  ///< value when the entity is spawned
};

/// A field that is a whole number. Sent in as few bits as the range allows.
struct IntegerField {
  std::int64_t least = 0;    ///< smallest value
  std::int64_t most = 255;   ///< largest value; at least `least`
  std::int64_t initial = 0;  ///< value when the entity is spawned; within the range
};

/// A field that is a real number. It is rounded to least + k * step; the server and the client both use the
/// rounded value. The step must be at least 2^-48 of the larger absolute bound, because a double cannot
/// represent finer steps.
struct RealField {
  double least = 0.0;    ///< smallest value; finite
  double most = 1.0;     ///< largest value; above `least`, finite
  double step = 0.001;   ///< rounding step; > 0
  double initial = 0.0;  ///< value when the entity is spawned; within the range
};

/// A field of bytes with a meaning that only the game knows.
struct BlobField {
  std::size_t most_bytes = kMaxBlobBytes;  ///< maximum size, bytes; 0 to kMaxBlobBytes
  Blob initial;                            ///< value when the entity is spawned
};

/// One property that each entity of an archetype has beside its motion, for example health or an animation. A
/// client shows the initial value until it receives another one.
struct FieldSpec {
  std::string name;                                                     ///< 1 to kMaxFieldNameBytes bytes
  std::variant<BooleanField, IntegerField, RealField, BlobField> type;  ///< type, range and initial value
};

/// True if there are at most kMaxFields fields, their names differ and have 1 to kMaxFieldNameBytes bytes,
/// and each range is valid and contains the initial value.
[[nodiscard]] RECKONER_NET_API bool is_valid(std::span<const FieldSpec> fields);

/// Returns the first fault of the fields, in one line that names the field, its value and the valid range.
/// Returns nullopt if is_valid().
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_field(std::span<const FieldSpec> fields);

/// Returns the value as clients receive it: a real number is rounded to the field's step. Returns nullopt if
/// `value` has another type than the field or is out of range.
[[nodiscard]] RECKONER_NET_API std::optional<FieldValue> quantise(const FieldValue& value,
                                                                  const FieldSpec& field);

/// Returns the value that clients show for a field that was never set. The field must be valid.
[[nodiscard]] RECKONER_NET_API FieldValue initial_value(const FieldSpec& field);

/// Returns the real number `index` steps above `least`, at most `most`. The result is bit-identical on server
/// and client.
[[nodiscard]] RECKONER_NET_API double real_at(const RealField& field, std::uint64_t index);

/// Returns the index of the step nearest to `value`, which must be within the range.
[[nodiscard]] RECKONER_NET_API std::uint64_t index_of(const RealField& field, double value);

/// A kind of entity: its accuracy, its limits and its fields. The game declares its archetypes on the server
/// and on the client, in equal order. When a client joins, archetype_hash() of both is compared. The
/// client receives the thresholds and the limits from the server.
struct Archetype {
  std::string name = "entity";  ///< at most 32 bytes
  bool has_orientation = true;  ///< false: orientation is never sent and stays the identity
  double threshold_m = 0.05;    ///< publish threshold, m. 5 cm is invisible at 10 m
  double threshold_rad = 0.05;  ///< publish threshold, rad
  /// Higher speeds are refused, m/s. The default is above any game vehicle's speed.
  double max_speed_mps = 1000.0;
  double world_size_m = 100'000.0;  ///< positions further from the origin are refused, m
  /// True: an entity that decelerates is extrapolated to a stop and never backwards. For cars, ships and
  /// everything else that brakes; not for things that swing or turn back. Compared by hash.
  bool never_reverses = false;
  std::vector<FieldSpec> fields;  ///< sent beside the motion; must satisfy is_valid(). Compared by hash
};

/// Returns a hash of everything that server and client must agree on: the number, order and names of the
/// archetypes, has_orientation and never_reverses, and the fields with names, types, ranges and initial
/// values.
[[nodiscard]] RECKONER_NET_API std::uint32_t archetype_hash(std::span<const Archetype> archetypes);

}  // namespace reckoner
