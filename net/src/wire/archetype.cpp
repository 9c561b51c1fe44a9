// SPDX-License-Identifier: MIT
#include <bit>
#include <cstddef>
#include <cstdint>
#include <variant>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

// FNV-1a, 32 bits (G. Fowler, L. Noll, K.-P. Vo). Detects mistakes, not forgery.
class Fnv1a {
 public:
  void byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 16777619u; }
  void text(const std::string& text) {
    for (const char c : text)
      byte(static_cast<unsigned char>(c));
    byte(0);
  }
  void number(std::uint64_t number) {
    for (unsigned i = 0; i < 8; ++i)
      byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  // -0.0 and 0.0 hash alike
  void real(double real) { number(std::bit_cast<std::uint64_t>(real == 0.0 ? 0.0 : real)); }
  [[nodiscard]] std::uint32_t value() const { return hash_; }

 private:
  std::uint32_t hash_ = 2166136261u;
};

void add(Fnv1a& hash, const BooleanField& f) {
  hash.byte(f.initial ? 1 : 0);
}
void add(Fnv1a& hash, const IntegerField& f) {
  for (const std::int64_t number : {f.least, f.most, f.initial})
    hash.number(static_cast<std::uint64_t>(number));
}
void add(Fnv1a& hash, const RealField& f) {
  for (const double number : {f.least, f.most, f.step, f.initial})
    hash.real(number);
}
void add(Fnv1a& hash, const BlobField& f) {
  hash.number(f.most_bytes);
  hash.number(f.initial.bytes().size());
  for (const std::byte b : f.initial.bytes())
    hash.byte(std::to_integer<unsigned char>(b));
}

void add(Fnv1a& hash, const Floor& floor) {
  for (const double number : {floor.up.x, floor.up.y, floor.up.z, floor.height ? 0.0 : floor.height_m})
    hash.real(number);
  hash.byte(floor.height ? 1 : 0);
}

void add(Fnv1a& hash, const Walls& walls) {
  hash.real(walls.margin_m);
  hash.byte(walls.reach ? 1 : 0);
  hash.number(walls.boxes.size());
  for (const WallBox& box : walls.boxes) {
    for (glm::length_t i = 0; i < 3; ++i)
      hash.real(box.centre[i]);
    for (glm::length_t i = 0; i < 3; ++i)
      hash.real(box.half_size[i]);
    for (const float part : {box.orientation.x, box.orientation.y, box.orientation.z, box.orientation.w})
      hash.real(static_cast<double>(part));
  }
}

}  // namespace

std::uint32_t archetype_hash(std::span<const Archetype> archetypes) {
  Fnv1a hash;
  for (const Archetype& archetype : archetypes) {
    hash.text(archetype.name);
    hash.byte(static_cast<unsigned char>((archetype.has_orientation ? 1 : 0) +
                                         (archetype.never_reverses ? 2 : 0) + (archetype.floor ? 4 : 0) +
                                         (archetype.walls ? 8 : 0)));
    if (archetype.floor) add(hash, *archetype.floor);
    if (archetype.walls) add(hash, *archetype.walls);
    hash.number(archetype.fields.size());
    for (const FieldSpec& field : archetype.fields) {
      hash.text(field.name);
      hash.byte(static_cast<unsigned char>(field.type.index()));
      std::visit([&](const auto& f) { add(hash, f); }, field.type);
    }
  }
  return hash.value();
}

}  // namespace reckoner
