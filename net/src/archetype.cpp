// SPDX-License-Identifier: MIT
#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

// FNV-1a, 32 bit (G. Fowler, L. Noll, K.-P. Vo): a check against mistakes, not against forgery.
class Fnv1a {
 public:
  void add(unsigned char byte) { hash_ = (hash_ ^ byte) * 16777619u; }
  void add(const std::string& text) {
    for (const char c : text)
      add(static_cast<unsigned char>(c));
    add(0);
  }
  [[nodiscard]] std::uint32_t value() const { return hash_; }

 private:
  std::uint32_t hash_ = 2166136261u;
};

}  // namespace

std::uint32_t archetype_hash(std::span<const Archetype> archetypes) {
  Fnv1a hash;
  for (const Archetype& archetype : archetypes) {
    hash.add(archetype.name);
    hash.add(archetype.has_orientation ? 1 : 0);
  }
  return hash.value();
}

}  // namespace reckoner
