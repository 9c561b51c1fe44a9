// SPDX-License-Identifier: MIT
// Motions in full and as residuals, with any limits and code parameters that a welcome message may contain.
#include "generate.hpp"
#include "net/src/codec/route_codec.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

// More than one motion needs, for any residual.
constexpr std::size_t kRoom = 1024;

Bytes full(const QuantisedState& state, const Quantisation& q) {
  Bytes buffer(kRoom);
  BitWriter writer{buffer};
  write_full(writer, state, q);
  return finished(writer);
}

void read_any_full(std::span<const std::byte> bytes, const Quantisation& q) {
  BitReader reader{bytes};
  const QuantisedState state = read_full(reader, q);
  if (reader.failed()) return;
  const Bytes again = full(state, q);
  BitReader second{again};
  check(read_full(second, q) == state && second.finished(), "a full motion is written as it was read");
}

void read_any_residual(std::span<const std::byte> bytes, const QuantisedState& base, double dt_s,
                       const Quantisation& q) {
  BitReader reader{bytes};
  const QuantisedState state = read_residual(reader, base, dt_s, q);
  if (reader.failed()) return;
  check(can_refer(state, base), "what was read from a residual can refer to its baseline");
  const auto motion = motion_of(state, 0.0, q, RouteTable{});
  if (!motion) return;
  check(is_sane(motion->state), "a motion that is taken in is sane");
  Bytes buffer(kRoom);
  BitWriter writer{buffer};
  write_residual(writer, state, base, dt_s, q);
  check(!writer.overflowed(), "a residual has room");
  const Bytes again = finished(writer);
  BitReader second{again};
  check(read_residual(second, base, dt_s, q) == state && second.finished(),
        "a residual is written as it was read");
}

// A baseline is always a valid motion, because it was decoded or quantised.
QuantisedState any_baseline(Choices& choices, const Quantisation& q, double time_s) {
  const State state = nearest_encodable(any_state(choices, q), q);
  if (!is_encodable(state, q)) return {};
  CodingMode coding_mode;
  coding_mode.precision = static_cast<std::uint8_t>(choices.up_to(kMaxPrecision));
  coding_mode.reach = static_cast<std::uint8_t>(choices.up_to(kMaxReach));
  coding_mode.prior = static_cast<std::uint8_t>(choices.up_to(kPriorCount - 1));
  coding_mode.wander = static_cast<std::uint8_t>(choices.up_to(kMaxWander));
  coding_mode.twist = static_cast<std::uint8_t>(choices.up_to(kMaxTwist));
  coding_mode.bends = choices.flag();
  coding_mode.steady = !coding_mode.bends && choices.flag();
  QuantisedState out = quantise(state, 3, coding_mode, q);
  if (coding_mode.bends) out.link = static_cast<std::uint8_t>(choices.up_to(MotionTransition::kLinks - 1));
  out.sudden = out.coding_mode.steady && choices.flag();
  const auto motion = motion_of(out, time_s, q, RouteTable{});
  check(motion.has_value(), "what can travel arrives");
  check(is_sane(motion->state), "what arrives is sane");
  return out;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  Choices choices{input.subspan(1)};
  Quantisation q = quantisation_for(any_limits(choices));
  q.codes = any_codes(choices);
  const QuantisedState base = any_baseline(choices, q, 0.0);
  const double dt_s =
      static_cast<double>(choices.up_to(choices.rarely(7) ? UINT32_MAX : 60)) / choices.real(1.0, 1000.0);
  if (input.front() == kRaw) {
    const auto bytes = choices.rest();
    read_any_full(bytes, q);
    return read_any_residual(bytes, base, dt_s, q);
  }
  const QuantisedState next = any_baseline(choices, q, dt_s);
  Bytes bytes = full(next, q);
  read_any_full(bytes, q);
  if (damage(choices, bytes)) read_any_full(bytes, q);
  Bytes buffer(kRoom);
  BitWriter writer{buffer};
  write_residual(writer, next, base, dt_s, q);
  check(!writer.overflowed(), "a residual has room");
  bytes = finished(writer);
  BitReader reader{bytes};
  check(read_residual(reader, base, dt_s, q) == next && reader.finished(), "a residual arrives");
  if (damage(choices, bytes)) read_any_residual(bytes, base, dt_s, q);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  add_choices(out, 16, 300, kChoices);
  add_choices(out, 8, 200, kRaw);
  return out;
}

}  // namespace reckoner::fuzz
