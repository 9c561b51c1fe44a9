// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/floor.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/velocity_source.hpp>
#include <reckoner/reckoning/walls.hpp>

namespace reckoner {

inline constexpr std::size_t kMaxFields = 32;          ///< maximum number of fields of one archetype
inline constexpr std::size_t kMaxFieldNameBytes = 32;  ///< maximum length of a field's name, bytes
inline constexpr std::size_t kMaxBlobBytes = 64;       ///< maximum size of a blob field, bytes

/// Up to kMaxBlobBytes bytes that Reckoner does not interpret. Only the game knows their meaning. Blob is a
/// value type and never allocates memory.
class RECKONER_NET_API Blob {
 public:
  Blob() = default;

  /// Returns a blob with a copy of `bytes`, or nullopt if there are more than kMaxBlobBytes bytes.
  [[nodiscard]] static std::optional<Blob> of(std::span<const std::byte> bytes);

  /// Returns a blob with the bytes of a text, for example a player's name in UTF-8, or nullopt if it has more
  /// than kMaxBlobBytes bytes.
  [[nodiscard]] static std::optional<Blob> of(std::string_view text) {
    return of(std::as_bytes(std::span{text}));
  }

  /// Returns the contents. The span is valid until this object changes.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
  /// Returns the contents as text. It need not be UTF-8: a hostile client may have sent it. Valid until this
  /// object changes.
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), size_};
  }
  /// Returns true if both blobs have equal sizes and contents.
  bool operator==(const Blob&) const = default;

 private:
  std::array<std::byte, kMaxBlobBytes> bytes_{};  // bytes from index size_ on are zero
  std::uint8_t size_ = 0;
};

/// The value of a field. The alternatives have the order of the field types in FieldSpec::type.
using FieldValue = std::variant<bool, std::int64_t, double, Blob>;

/// A field that is true or false. It is sent as one bit.
struct BooleanField {
  bool initial = false;  ///< value when the entity is spawned
};

/// A field that is a whole number. It is sent with the fewest bits that can represent the range.
struct IntegerField {
  std::int64_t least = 0;    ///< smallest value
  std::int64_t most = 255;   ///< largest value; at least `least`
  std::int64_t initial = 0;  ///< value when the entity is spawned; within the range
};

/// A field that is a real number. It is rounded to the nearest least + k * step, where k is an integer.
/// Server and client both use the rounded value. The step must be at least 2^-48 * max(|least|, |most|),
/// because a double cannot represent finer steps.
struct RealField {
  double least = 0.0;    ///< smallest value; finite
  double most = 1.0;     ///< largest value; above `least`, finite
  double step = 0.001;   ///< rounding step; > 0
  double initial = 0.0;  ///< value when the entity is spawned; within the range
};

/// A field of bytes. Only the game knows their meaning.
struct BlobField {
  std::size_t most_bytes = kMaxBlobBytes;  ///< maximum size, bytes; 0 to kMaxBlobBytes
  Blob initial;                            ///< value when the entity is spawned
};

/// A property that each entity of an archetype has in addition to its motion, for example health or an
/// animation. A client shows the initial value until it receives another value.
struct FieldSpec {
  std::string name;                                                     ///< 1 to kMaxFieldNameBytes bytes
  std::variant<BooleanField, IntegerField, RealField, BlobField> type;  ///< type, range and initial value
};

/// Returns true if the fields are valid: there are at most kMaxFields of them, each name has 1 to
/// kMaxFieldNameBytes bytes, no two names are equal, and each range is valid and contains the initial value.
[[nodiscard]] RECKONER_NET_API bool is_valid(std::span<const FieldSpec> fields);

/// Returns the first error in the fields, as one line that contains the field, its value and the valid range.
/// Returns nullopt if all fields are valid.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_field(std::span<const FieldSpec> fields);

/// Returns the value as clients receive it: a real number is rounded to the field's step. Returns nullopt if
/// the type of `value` differs from the field's type, or if `value` is out of range.
[[nodiscard]] RECKONER_NET_API std::optional<FieldValue> quantise(const FieldValue& value,
                                                                  const FieldSpec& field);

/// Returns the value that clients show for a field that was never set. The field must be valid.
[[nodiscard]] RECKONER_NET_API FieldValue initial_value(const FieldSpec& field);

/// Returns field.least + index * field.step, but at most field.most. Server and client get bit-identical
/// results.
[[nodiscard]] RECKONER_NET_API double real_at(const RealField& field, std::uint64_t index);

/// Returns the index of the step that is nearest to `value`; the lowest value of the range has index 0. The
/// caller must pass a `value` within the range.
[[nodiscard]] RECKONER_NET_API std::uint64_t index_of(const RealField& field, double value);

/// A kind of entity: its accuracy, its limits and its fields. The game declares its archetypes on the server
/// and on the client, in one common order. When a client joins, the server checks that archetype_hash()
/// returns equal values on both. The client receives the thresholds and the limits from the server.
struct Archetype {
  std::string name = "entity";  ///< at most 32 bytes
  bool has_orientation = true;  ///< false: orientation is never sent and stays the identity
  double threshold_m = 0.05;    ///< publish threshold, m; an error of 5 cm is invisible from 10 m away
  double threshold_rad = 0.05;  ///< publish threshold, rad
  /// Maximum speed, m/s. A motion with a higher speed is refused. The default is higher than the speed of any
  /// usual game vehicle.
  double max_speed_mps = 1000.0;
  double world_size_m = 100'000.0;  ///< positions further from the origin are refused, m
  /// True: when an entity decelerates, its extrapolated motion ends in a stop and never goes backwards. Use
  /// true for cars, ships and everything else that brakes. Use false for objects that swing or turn back.
  /// Server and client must use equal values, which archetype_hash() checks.
  bool never_reverses = false;
  /// The ground, below which the entities are never shown; null if there is none. Use it for characters and
  /// bodies that fall: without a floor they sink into the ground for the time that the update about their
  /// landing needs. Server and client must use equal floors; archetype_hash() checks the plane, and whether
  /// there is a height function.
  std::shared_ptr<const Floor> floor;
  /// The walls, behind which the entities are never shown; null if there are none. Use them for cars, balls
  /// and everything else that runs into obstacles: without walls they are shown behind the obstacle for the
  /// time that the update about the hit needs. Server and client must use equal walls; archetype_hash()
  /// checks the boxes, and whether there is a function.
  std::shared_ptr<const Walls> walls;
  /// Where velocities come from: Server::move() at the server, Client::move() at a client that owns an
  /// entity. Server and client may use different values.
  VelocitySource velocity = VelocitySource::automatic;
  std::vector<FieldSpec> fields;  ///< properties beside the motion; is_valid() must accept them
  /// Prefix codes that suit the motion of these entities, as `reckoner-harness replay --learn-codes` writes
  /// them; they save a few percent of the bytes. Empty: codes that suit most entities. Only the server reads
  /// it; its clients receive the codes when they join.
  std::string codes;
};

/// Returns a hash of all settings that must be equal on server and client. These are the number, the order
/// and the names of the archetypes, has_orientation, never_reverses, the floor without its height function,
/// the walls without their function, and the name, type, range and initial value of each field.
[[nodiscard]] RECKONER_NET_API std::uint32_t archetype_hash(std::span<const Archetype> archetypes);

/// Returns the index of the archetype with this name, as Server::spawn() expects it. Look names up once, at
/// the start: an unknown name is then found before the first client joins. If no archetype has the name, the
/// error lists the names of the archetypes, the most similar one first.
[[nodiscard]] RECKONER_NET_API Result<std::size_t> find_archetype(std::span<const Archetype> archetypes,
                                                                  std::string_view name);

/// Returns the index of the archetype's field with this name, as Server::set_field() expects it. If no field
/// has the name, the error lists the names of the fields, the most similar one first.
[[nodiscard]] RECKONER_NET_API Result<std::size_t> find_field(const Archetype& archetype,
                                                              std::string_view name);

}  // namespace reckoner
