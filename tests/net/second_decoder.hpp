// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// A second decoder of the wire, written from docs/WIRE.md alone: it shares no code with the library, not even
// constants. Slow and plain on purpose.

namespace second {

/// What was read, in order of reading: names of the document, and values as text.
using Told = std::vector<std::pair<std::string, std::string>>;

/// "name: value" lines, in the order in which they were decoded.
inline std::string as_text(const Told& told) {
  std::string text;
  for (const auto& [name, value] : told)
    text += name + ": " + value + "\n";
  return text;
}

/// Section 1.
class Bits {
 public:
  explicit Bits(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t u(unsigned n);
  bool flag() { return u(1) != 0; }
  std::int64_t range(std::int64_t least, std::int64_t most);
  double real(double least, double most);
  std::uint64_t eg(unsigned k);
  std::uint64_t gr(unsigned k);
  std::string bytes(std::size_t most);
  std::string data(std::size_t most);
  std::array<std::int64_t, 3> svec(unsigned most_width);

  void must(bool holds) { good_ = good_ && holds; }
  bool good() const { return good_; }
  bool finished();
  void skip_rest() { at_ = bytes_.size() * 8; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

std::int64_t unfold(std::uint64_t n);

/// Section 4.2, for one archetype.
struct Numbers {
  double threshold_m = 0, threshold_rad = 0, max_speed_mps = 0, world_size_m = 0;
  std::array<int, 15> offset{}, slope{};
  std::array<int, 2> velocity{};
  struct Prior {
    std::array<int, 4> horizontal{}, vertical{};
    std::array<int, 2> tilt{}, yaw{};
    int pitch = 0, other = 0;
  };
  std::array<Prior, 4> priors{};
  unsigned B = 0;

  void derive(bool has_orientation);  ///< B
};

/// Section 2.
struct Motion {
  bool on_route = false;
  std::int64_t frame = 0, generation = 0;  // 0: the world's
  int precision = 3, reach = 1, prior = 0, wander = 4, twist = 4, teleports = 0, largest = 0, link = 0;
  bool bends = false;
  std::array<std::int64_t, 3> p{}, v{}, a{}, o{}, w{};
  std::int64_t route = 0, distance = 0, speed = 0, acceleration = 0;
};

Motion read_full(Bits& bits, unsigned B);
Motion read_residual(Bits& bits, const Motion& baseline, double dt, const Numbers& numbers);
void tell(const Motion& motion, unsigned B, Told& told);

/// A field as the game has declared it.
struct Field {
  enum class Type { boolean, integer, real, blob } type = Type::boolean;
  std::string initial;  ///< as text
  std::int64_t least = 0, most = 0;
  double real_least = 0, real_most = 0, step = 1;
};

/// What the game has declared of an archetype.
struct Declared {
  bool has_orientation = true;
  std::vector<Field> fields;
};

/// Reads payloads one after the other, and remembers what later ones refer to.
class Decoder {
 public:
  explicit Decoder(std::vector<Declared> declared) : declared_(std::move(declared)) {}

  /// Nothing if the payload is malformed.
  std::optional<Told> control(std::span<const std::byte> payload);
  /// `near_tick`: about the tick that it must be of.
  std::optional<Told> server_datagram(std::span<const std::byte> payload, std::uint32_t near_tick);
  std::optional<Told> client_datagram(std::span<const std::byte> payload, std::uint32_t near_tick);

 private:
  struct Entity {
    std::size_t archetype = 0;
    std::map<std::pair<int, std::uint32_t>, Motion> motions;  // by level and tick
    std::map<std::uint32_t, Motion> owned;                    // what a client said, by tick
  };

  void welcome(Bits& bits, Told& told);
  void spawn(Bits& bits, Told& told);
  void route(Bits& bits, Told& told);
  void game(Bits& bits, Told& told);
  std::string value(Bits& bits, const Field& field);
  void update(Bits& bits, std::int64_t& slot, std::uint32_t tick, const std::array<unsigned, 3>& coding,
              Told& told);
  void fields(Bits& bits, Told& told);
  void messages(Bits& bits, Told& told);
  void ownership(Bits& bits, Told& told);
  void owned(Bits& bits, std::uint32_t near_tick, Told& told);
  void showing(Bits& bits, std::optional<std::int64_t> newest, Told& told);

  std::vector<Declared> declared_;
  std::vector<Numbers> numbers_;
  double tick_rate_hz_ = 60;
  std::map<std::int64_t, Entity> entities_;  // by slot
};

}  // namespace second
