// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/residual/residual_fields.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <cassert>

namespace reckoner {
namespace {

// What residual_fields.hpp needs of an archive: the code of each number depends on its forecast and on its
// expected size. When writing, the conditions (`condition`) and values come from the state.
template <class Archive>
class ResidualCoder {
 public:
  ResidualCoder(Archive& archive, const CodeParameters& codes) : archive_(archive), codes_(codes) {}

  // Reserved bit; must be 0.
  void reserved() {
    bool bit = false;
    archive_(bit);
    if constexpr (kReads) {
      if (bit) archive_.bits().fail();
    }
  }

  template <class Condition>
  bool flag(const Condition& condition) {
    bool value = false;
    if constexpr (!kReads) value = condition();
    archive_(value);
    return value;
  }
  void bits(std::uint8_t& value, unsigned count) { archive_(wire::fixed(value, count)); }

  void choice(std::uint8_t& value, std::uint8_t expected, unsigned count) {
    if (flag([&] { return value == expected; })) {
      value = expected;
    } else {
      bits(value, count);
    }
  }

  template <class Condition>
  bool rest_as_forecast(bool likely, const Condition& condition) {
    return likely && flag(condition);
  }

  // Sets a value that is not sent. Reading fails if it is not between -most and most.
  template <class T>
  void assume(T& value, std::int64_t number, std::int64_t most) {
    if constexpr (kReads) {
      if (number < -most || number > most) archive_.bits().fail();
      value = archive_.bits().failed() ? T{} : static_cast<T>(number);
    }
  }

  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t most, double expected_steps) {
    const OrderRule& rule = codes_.orders[static_cast<std::size_t>(field)];
    std::int64_t difference = kReads ? 0 : std::int64_t{value} - forecast;
    archive_(wire::prefixed(difference, order_of(rule, expected_steps)));
    assume(value, forecast + difference, most);
  }

 private:
  static constexpr bool kReads = Archive::is_loading::value;

  Archive& archive_;
  const CodeParameters& codes_;
};

}  // namespace

bool can_refer(const QuantisedState& state, const QuantisedState& baseline) {
  return !state.along.route && !baseline.along.route && state.teleports == baseline.teleports &&
         state.frame == baseline.frame;
}

void write_residual(BitWriter& writer, const QuantisedState& state, const QuantisedState& baseline,
                    double dt_s, const Quantisation& quantisation) {
  assert(can_refer(state, baseline));
  wire::BitOutputArchive archive{writer};
  ResidualCoder coder{archive, quantisation.codes};
  QuantisedState copy = state;
  code_residual(coder, copy, baseline, expected_motion_from(baseline, dt_s, quantisation), dt_s,
                quantisation);
}

QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline, double dt_s,
                             const Quantisation& quantisation) {
  if (baseline.along.route) reader.fail();
  wire::BitInputArchive archive{reader};
  ResidualCoder coder{archive, quantisation.codes};
  QuantisedState state;
  code_residual(coder, state, baseline, expected_motion_from(baseline, dt_s, quantisation), dt_s,
                quantisation);
  if (state.coding_mode.precision > kMaxPrecision) reader.fail();
  return state;
}

}  // namespace reckoner
