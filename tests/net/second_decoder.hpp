// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

// A second decoder of the wire format, written from docs/WIRE.md alone. It shares no code with the library,
// not even constants, and is slow and simple on purpose.

namespace second {

/// The decoded values as text with the document's names, in the order of reading.
using DecodedFields = std::vector<std::pair<std::string, std::string>>;

/// "name: value" lines, in the order in which they were decoded.
inline std::string as_text(const DecodedFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += name + ": " + value + "\n";
  return text;
}

/// Reads the notations of section 1.
class Bits {
 public:
  explicit Bits(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t u(unsigned n);
  bool flag() { return u(1) != 0; }
  std::int64_t range(std::int64_t least, std::int64_t most);
  double real(double least, double most);
  double f32();
  double f64();
  std::uint64_t eg(unsigned k);
  std::uint64_t gr(unsigned k);
  std::string bytes(std::size_t most);
  std::string data(std::size_t most);
  std::array<std::int64_t, 3> svec(unsigned most_width);

  void must(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }
  bool finished();
  void skip_rest() { at_ = bytes_.size() * 8; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

std::int64_t unfold(std::uint64_t n);

/// The numbers of section 4.2, for one archetype.
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

/// A motion, as in section 2.
struct Motion {
  bool on_route = false;
  std::int64_t frame = 0, generation = 0;  // 0: the world
  int precision = 3, reach = 1, prior = 0, wander = 4, twist = 4, teleports = 0, largest = 0, link = 0;
  bool bends = false, steady = false, sudden = false;
  std::array<std::int64_t, 3> p{}, v{}, a{}, o{}, w{};
  std::int64_t route = 0, distance = 0, speed = 0, acceleration = 0;
};

Motion read_full(Bits& bits, unsigned B);
Motion read_residual(Bits& bits, const Motion& baseline, double dt, const Numbers& numbers);
void append_motion(const Motion& motion, unsigned B, DecodedFields& fields);

/// A field as declared by the game.
struct Field {
  enum class Type { boolean, integer, real, blob } type = Type::boolean;
  std::string initial;  ///< as text
  std::int64_t least = 0, most = 0;
  double real_least = 0, real_most = 0, step = 1;
};

/// An archetype as declared by the game.
struct Declared {
  bool has_orientation = true;
  std::vector<Field> fields;
};

/// The bytes of a stream of reliable messages that have arrived (section 5.10).
class Stream {
 public:
  struct Part {
    std::int64_t offset = 0;
    std::string bytes;
    std::optional<std::int64_t> unordered{};  // where the first unordered message begins in `bytes`
  };

  /// The offset of a part with these low 24 bits.
  std::int64_t whole_offset(std::int64_t low) const;
  /// False if the datagram with these parts goes beyond the limits.
  bool may_add(const std::vector<Part>& parts) const;
  void add(const std::vector<Part>& parts);
  /// The next message that is complete.
  std::optional<std::string> next();
  /// The next unordered message that is complete behind a byte that has not arrived.
  std::optional<std::string> next_early();

 private:
  struct Framed {
    std::int64_t begin = 0, end = 0;  // of the message without its length
  };
  std::optional<Framed> framed(std::int64_t at) const;
  std::int64_t begin_ = 0;              // offset of the first byte of the next message
  std::int64_t lacking_ = 0;            // offset of the first byte that has not arrived
  std::string ready_;                   // the bytes from begin_ to before lacking_
  std::map<std::int64_t, char> later_;  // those behind, by offset
  std::set<std::int64_t> begins_;       // where messages begin behind lacking_, as far as parts say so
  std::set<std::int64_t> early_;        // where messages begin that were returned before their turn
  bool broken_ = false;
};

/// Inputs of a player (section 5.13), by tick.
using Inputs = std::map<std::uint32_t, std::string>;

/// A state of a predicted entity, and the tolerances of its correction.
struct Predicted {
  std::array<double, 3> position{}, orientation_xyz{};
  std::string game_state;
  double tolerance_m = 0, tolerance_rad = 0;
};
/// The numbers of a result (section 5.13) in the order on the wire.
std::array<int, 7> result(const Predicted& state, std::uint32_t tick);

/// Decodes payloads one after another and keeps the state that later payloads refer to.
class Decoder {
 public:
  explicit Decoder(std::vector<Declared> declared) : declared_(std::move(declared)) {}

  /// A reliable message (section 4). nullopt if it is malformed, like for datagrams.
  std::optional<DecodedFields> message(std::span<const std::byte> payload);
  /// `near_tick`: any tick close to the datagram's own; for a client's datagram, the next tick of the server.
  std::optional<DecodedFields> server_datagram(std::span<const std::byte> payload, std::uint32_t near_tick);
  std::optional<DecodedFields> client_datagram(std::span<const std::byte> payload, std::uint32_t near_tick);

 private:
  struct Entity {
    std::size_t archetype = 0;
    std::int64_t generation = 0;
    std::int64_t spawn = 0;                                   // number of the spawn
    std::map<std::pair<int, std::uint32_t>, Motion> motions;  // by level and tick
    std::map<std::uint32_t, Motion> owned;                    // motions sent by a client, by tick
  };

  // What the entries of a section of spawns refer to. 0: there is no entry before.
  struct Section {
    std::int64_t spawn = 0, despawn = 0;  // the numbers before
    std::int64_t slot = -1;
    std::int64_t lowest = 1;  // the lowest number that is not settled
  };

  static std::pair<std::int64_t, std::int64_t> entity(Bits& bits, Section& section, DecodedFields& fields);
  static void key(Bits& bits, DecodedFields& fields);
  static void join(Bits& bits, DecodedFields& fields);
  static void control(Bits& bits, DecodedFields& fields);
  void welcome(Bits& bits, DecodedFields& fields);
  void route(Bits& bits, DecodedFields& fields);
  static void game(Bits& bits, DecodedFields& fields);
  std::string value(Bits& bits, const Field& field);
  void update(Bits& bits, std::int64_t& slot, std::uint32_t tick, const std::array<unsigned, 3>& coding,
              DecodedFields& fields);
  void field_changes(Bits& bits, DecodedFields& fields);
  void spawns(Bits& bits, std::uint32_t tick, DecodedFields& fields);
  void spawn(Bits& bits, std::uint32_t tick, Section& section, DecodedFields& fields);
  void despawn(Bits& bits, Section& section, DecodedFields& fields);
  void note_number(Bits& bits, std::int64_t number);
  void messages(Bits& bits, DecodedFields& fields);
  static std::vector<Stream::Part> reliable(Bits& bits, const Stream& stream, DecodedFields& fields);
  static void take_messages(Stream& stream, const std::vector<Stream::Part>& parts, DecodedFields& fields);
  void ownership(Bits& bits, DecodedFields& fields);
  void owned(Bits& bits, std::uint32_t near_tick, DecodedFields& fields);
  Inputs inputs(Bits& bits, std::uint32_t near_tick, DecodedFields& fields);
  static void predictions(Bits& bits, std::uint32_t tick, DecodedFields& fields);
  void showing(Bits& bits, std::optional<std::int64_t> newest, DecodedFields& fields);

  std::vector<Declared> declared_;
  std::vector<Numbers> numbers_;
  double tick_rate_hz_ = 60;
  std::map<std::int64_t, Entity> entities_;     // by slot
  std::map<std::int64_t, std::int64_t> ended_;  // by slot: the greatest number of a despawn
  std::set<std::int64_t> settled_;              // numbers above lowest_ with a spawn or a despawn
  std::int64_t lowest_ = 1;                     // the lowest number with neither
  Stream from_server_, from_client_;
  Inputs inputs_;  // of the client
};

}  // namespace second
