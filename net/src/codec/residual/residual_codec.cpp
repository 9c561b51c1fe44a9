// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/residual/residual_fields.hpp"
#include "net/src/wire/prefix_code.hpp"

#include <cassert>

namespace reckoner {
namespace {

// Residuals do not go through the archive. The code of each number depends on its forecast and on an expected
// size, which an archive does not pass on. Both directions still share one description of the fields:
// residual_fields.hpp calls the functions below, in the same order, on the writer and on the reader.
class ResidualWriter {
 public:
  ResidualWriter(BitWriter& writer, const CodeParameters& codes) : writer_(writer), codes_(codes) {}

  void reserved() { writer_.write(0, 1); }

  template <class Holds>
  bool flag(const Holds& holds) {
    const bool value = holds();
    writer_.write(value ? 1 : 0, 1);
    return value;
  }
  void bits(std::uint8_t& value, unsigned count) { writer_.write(value, count); }

  void choice(std::uint8_t& value, std::uint8_t expected, unsigned count) {
    if (!flag([&] { return value == expected; })) bits(value, count);
  }

  template <class Holds>
  bool rest_as_forecast(bool likely, const Holds& holds) {
    return likely && flag(holds);
  }
  template <class T>
  void assume(T&, std::int64_t, std::int64_t) {}

  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t, double expected_steps) {
    const OrderRule& rule = codes_.orders[static_cast<std::size_t>(field)];
    wire::write_prefixed(writer_, wire::fold(std::int64_t{value} - forecast), order_of(rule, expected_steps));
  }

 private:
  BitWriter& writer_;
  const CodeParameters& codes_;
};

class ResidualReader {
 public:
  ResidualReader(BitReader& reader, const CodeParameters& codes) : reader_(reader), codes_(codes) {}

  // Reserved bit; must be 0.
  void reserved() {
    if (reader_.read(1) != 0) reader_.fail();
  }

  template <class Holds>
  bool flag(const Holds&) {
    return reader_.read(1) != 0;
  }
  void bits(std::uint8_t& value, unsigned count) { value = static_cast<std::uint8_t>(reader_.read(count)); }

  void choice(std::uint8_t& value, std::uint8_t expected, unsigned count) {
    value = expected;
    if (reader_.read(1) == 0) bits(value, count);
  }

  template <class Holds>
  bool rest_as_forecast(bool likely, const Holds& holds) {
    return likely && flag(holds);
  }

  // Sets a value without reading it. Fails if it is not between -most and most.
  template <class T>
  void assume(T& value, std::int64_t number, std::int64_t most) {
    if (number < -most || number > most) reader_.fail();
    value = reader_.failed() ? T{} : static_cast<T>(number);
  }

  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t most, double expected_steps) {
    const OrderRule& rule = codes_.orders[static_cast<std::size_t>(field)];
    assume(value, forecast + wire::unfold(wire::read_prefixed(reader_, order_of(rule, expected_steps))),
           most);
  }

 private:
  BitReader& reader_;
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
  ResidualWriter coder{writer, quantisation.codes};
  QuantisedState copy = state;
  code_residual(coder, copy, baseline, expected_motion_from(baseline, dt_s, quantisation), dt_s,
                quantisation);
}

QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline, double dt_s,
                             const Quantisation& quantisation) {
  if (baseline.along.route) reader.fail();
  ResidualReader coder{reader, quantisation.codes};
  QuantisedState state;
  code_residual(coder, state, baseline, expected_motion_from(baseline, dt_s, quantisation), dt_s,
                quantisation);
  if (state.coding_mode.precision > kMaxPrecision) reader.fail();
  return state;
}

}  // namespace reckoner
