// SPDX-License-Identifier: MIT
// Prints one hash for every computation that server and client must share, from inputs that are identical on
// every machine. For every compiler, processor and setting, the output must equal expected.txt.
#include "net/src/codec/motion_codec.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "tests/reckoning/random_states.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>

#include <reckoner/net/archetype.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

/// FNV-1a over words instead of bytes.
class Hash {
 public:
  void add(std::uint64_t bits) { hash_ = (hash_ ^ bits) * 1099511628211u; }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  void add(const State& s) {
    for (int k = 0; k < 3; ++k) {
      add(s.position[k]);
      add(s.velocity[k]);
      add(s.acceleration[k]);
      add(s.angular_velocity[k]);
    }
    for (const float part : {s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z})
      add(part);
  }
  void add(std::span<const std::byte> bytes) {
    add(std::uint64_t{bytes.size()});
    for (const std::byte byte : bytes)
      add(std::to_integer<std::uint64_t>(byte));
  }
  void print(const char* name) const {
    std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash_));
  }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "golden: %s\n", what);
  std::exit(1);
}

Archetype archetype_with(double threshold, bool has_orientation = true) {
  Archetype archetype;
  archetype.threshold_m = threshold;
  archetype.threshold_rad = threshold;
  archetype.has_orientation = has_orientation;
  return archetype;
}

constexpr double kThresholds[] = {0.001, 0.01, 0.05, 0.3, 2.0};

/// Rotates by up to `most_rad` about each axis, using the predictor. This gives another unit quaternion that
/// is identical on every platform.
void turn(State& s, double most_rad, test::RandomStates& random) {
  State turning;
  turning.orientation = s.orientation;
  turning.angular_velocity = glm::vec3{random.vector(most_rad)};
  s.orientation = extrapolate(turning, 1.0).orientation;
}

/// Every number of the state is identical on all machines.
State any_state(test::RandomStates& random) {
  State s;
  s.position = random.vector(1000.0);
  s.velocity = glm::vec3{random.vector(30.0)};
  s.acceleration = glm::vec3{random.vector(20.0)};
  s.angular_velocity = glm::vec3{random.vector(5.0)};
  turn(s, 3.0, random);
  return s;
}

double any_time_s(test::RandomStates& random) {
  return static_cast<int>(random.number(-120.0, 120.0)) / 60.0;
}

void predictor() {
  Hash hash;
  test::RandomStates random{6};
  for (int i = 0; i < 2000; ++i) {
    State s = any_state(random);
    for (int step = 0; step < 3; ++step) {  // continues from the rounded state
      s = extrapolate(s, any_time_s(random));
      hash.add(s);
    }
  }
  hash.print("predictor");
}

// Covers hard and soft braking, until rest and beyond.
void braking() {
  Hash hash;
  test::RandomStates random{12};
  for (int i = 0; i < 2000; ++i) {
    State s = any_state(random);
    for (int k = 0; k < 3; ++k)
      s.acceleration[k] = static_cast<float>(s.velocity[k] * -random.number(0.0, 4.0));
    for (int step = 0; step < 3; ++step) {
      s = extrapolate_braking(s, any_time_s(random) / 32.0);
      hash.add(s);
    }
  }
  hash.print("braking");
}

void parameters() {
  Hash hash;
  for (const double threshold : kThresholds) {
    for (const bool has_orientation : {true, false}) {
      const Quantisation q = quantisation_for(archetype_with(threshold, has_orientation));
      for (const double number :
           {q.position_step_m, q.velocity_step_mps, q.acceleration_step_mps2, q.angular_velocity_step_rps,
            q.route_distance_step_m, q.route_speed_step_mps, q.route_acceleration_step_mps2, q.max_speed_mps,
            q.world_size_m}) {
        hash.add(number);
      }
      hash.add(std::uint64_t{q.orientation_bits});
    }
  }
  hash.print("parameters");
}

/// Hashes of the written bits, the bits read back, and the decoded values, for full and residual encodings.
struct Codec {
  Hash full, residual, decoded;
  int residuals = 0;
  std::array<std::byte, 512> buffer{};

  std::span<const std::byte> finish(BitWriter& writer) {
    if (writer.overflowed()) fail("an encoding takes more than 512 bytes");
    return writer.finish();
  }

  std::optional<State> decode(const QuantisedState& state, const Quantisation& q) {
    const std::optional<State> meant = dequantise(state, q);
    meant ? decoded.add(*meant) : decoded.add(std::uint64_t{0});
    return meant;
  }

  void pass_full(const QuantisedState& state, const Quantisation& q) {
    BitWriter writer{buffer};
    write_full(writer, state, q);
    const auto bytes = finish(writer);
    full.add(bytes);
    BitReader reader{bytes};
    if (read_full(reader, q) != state || reader.failed()) fail("a full encoding is not read back");
  }

  void pass_residual(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
                     const Quantisation& q) {
    if (!can_refer(state, baseline)) fail("a state cannot refer to its baseline");
    BitWriter writer{buffer};
    write_residual(writer, state, baseline, dt_s, q);
    const auto bytes = finish(writer);
    residual.add(bytes);
    ++residuals;
    BitReader reader{bytes};
    if (read_residual(reader, baseline, dt_s, q) != state || reader.failed())
      fail("a residual is not read back");
  }
};

CodingMode any_coding_mode(test::RandomStates& random) {
  const auto up_to = [&](std::uint8_t most) {
    return static_cast<std::uint8_t>(random.number(0.0, most + 1.0));
  };
  CodingMode coding_mode;
  coding_mode.precision = up_to(kMaxPrecision);
  coding_mode.reach = up_to(kMaxReach);
  coding_mode.prior = up_to(static_cast<std::uint8_t>(kPriorCount - 1));
  coding_mode.wander = up_to(kMaxWander);
  coding_mode.twist = up_to(kMaxTwist);
  coding_mode.bends = up_to(1) == 1;
  coding_mode.steady = !coding_mode.bends && up_to(1) == 1;
  return coding_mode;
}

// Encodes a sequence of updates, each as a residual against the update before it, with ever smaller
// deviations. Ends early if coarse steps have moved the state out of the world.
void live(Codec& codec, const Quantisation& q, bool has_orientation, test::RandomStates& random) {
  State s = any_state(random);
  if (!has_orientation) {
    s.orientation = State{}.orientation;
    s.angular_velocity = State{}.angular_velocity;
  }
  CodingMode coding_mode = any_coding_mode(random);
  QuantisedState baseline = quantise(s, 2, coding_mode, q);
  codec.pass_full(baseline, q);
  for (double surprise = 4.0; surprise > 0.0001; surprise /= 3.0) {
    const double dt_s = any_time_s(random);
    const std::optional<State> known = codec.decode(baseline, q);
    if (!known) return;
    s = extrapolate(*known, dt_s);
    s.position += random.vector(surprise);
    s.velocity += glm::vec3{random.vector(surprise)};
    s.acceleration += glm::vec3{random.vector(surprise)};
    if (has_orientation) {
      s.angular_velocity += glm::vec3{random.vector(surprise)};
      turn(s, surprise / 4.0, random);
    }
    if (random.number(0.0, 1.0) < 0.2) coding_mode = any_coding_mode(random);
    if (!is_encodable(s, q)) return;
    QuantisedState next = quantise(s, 2, coding_mode, q);
    next.sudden = next.coding_mode.steady && random.number(0.0, 1.0) < 0.5;
    codec.pass_residual(next, baseline, dt_s, q);
    baseline = next;
  }
}

void codec() {
  Codec codec;
  test::RandomStates random{7};
  for (const double threshold : kThresholds) {
    for (const bool has_orientation : {true, false}) {
      const Quantisation q = quantisation_for(archetype_with(threshold, has_orientation));
      for (int i = 0; i < 300; ++i)
        live(codec, q, has_orientation, random);
    }
  }
  if (codec.residuals < 20'000) fail("too few residuals to tell anything");
  codec.full.print("full");
  codec.residual.print("residual");
  codec.decoded.print("decoded");
}

void fields() {
  Hash hash;
  test::RandomStates random{8};
  for (const double step : {0.001, 0.1, 1.0 / 3.0, 7.0}) {
    const RealField field{.least = -200.0, .most = 1000.0, .step = step};
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t index = index_of(field, random.number(-200.0, 1000.0));
      hash.add(index);
      hash.add(real_at(field, index));
    }
  }
  hash.print("fields");
}

}  // namespace
}  // namespace reckoner

int main() {
  reckoner::predictor();
  reckoner::braking();
  reckoner::parameters();
  reckoner::codec();
  reckoner::fields();
}
