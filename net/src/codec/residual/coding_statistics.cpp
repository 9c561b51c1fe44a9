// SPDX-License-Identifier: MIT
#include "net/src/codec/residual/coding_statistics.hpp"

#include "net/src/codec/codes_text.hpp"
#include "net/src/codec/residual/residual_fields.hpp"
#include "net/src/wire/prefix_code.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reckoner {
namespace {

constexpr std::size_t kAsForecast = kCodeFields;

constexpr std::array<std::string_view, CodingFigures::kFields> kNames{
    "position_x", "position_y", "velocity_x",     "velocity_y",    "acceleration_x", "acceleration_y",
    "position_z", "velocity_z", "acceleration_z", "orientation_1", "orientation_2",  "orientation_3",
    "turn_z",     "turn_x",     "turn_y",         "as_foreseen"};

// Records each number of a residual and its size in bits.
class FieldRecorder {
 public:
  explicit FieldRecorder(const CodeParameters& codes) : codes_(codes) {}

  void reserved() { coding_mode_bits_ += 1; }
  template <class Condition>
  bool flag(const Condition& condition) {
    coding_mode_bits_ += 1;
    return condition();
  }
  void bits(std::uint8_t&, unsigned count) { coding_mode_bits_ += count; }
  void choice(std::uint8_t& value, std::uint8_t expected, unsigned count) {
    coding_mode_bits_ += value == expected ? 1 : 1 + count;
  }
  template <class Condition>
  bool rest_as_forecast(bool likely, const Condition& condition) {
    if (!likely) return false;
    const bool value = condition();
    note(kAsForecast, value ? 1 : 0, 1);
    return value;
  }
  template <class T>
  void assume(T&, std::int64_t, std::int64_t) {}
  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t, double expected_steps) {
    const auto index = static_cast<std::size_t>(field);
    const std::int64_t residual = std::int64_t{value} - forecast;
    const unsigned order = order_of(codes_.orders[index], expected_steps);
    note(index, residual, wire::prefixed_bits(wire::fold(residual), order), size_class(expected_steps));
  }

  struct Note {
    std::size_t field;
    std::int64_t residual;
    unsigned bits;
    unsigned size_class;  // of the expected residual
  };
  [[nodiscard]] const Note* begin() const { return notes_.data(); }
  [[nodiscard]] const Note* end() const { return notes_.data() + count_; }
  [[nodiscard]] unsigned coding_mode_bits() const { return coding_mode_bits_; }

 private:
  void note(std::size_t field, std::int64_t residual, unsigned bits, unsigned size_class = 0) {
    notes_[count_++] = {field, residual, bits, size_class};
  }

  const CodeParameters& codes_;
  std::array<Note, kCodeFields + 3> notes_{};  // every number once, and three flags
  std::size_t count_ = 0;
  unsigned coding_mode_bits_ = 0;
};

std::size_t bits_in_full(const QuantisedState& state, const Quantisation& quantisation) {
  std::array<std::byte, 256> scratch{};
  BitWriter writer{scratch};
  write_full(writer, state, quantisation);
  return writer.bits_written();
}

// Size of the update if the archetype had no orientation.
std::size_t bits_without_orientation(QuantisedState state, const QuantisedState* baseline, double dt_s,
                                     Quantisation quantisation) {
  const auto strip = [](QuantisedState& s) {
    s.orientation = {};
    s.angular_velocity = {};
    s.largest = 0;
    s.coding_mode.twist = CodingMode{}.twist;
  };
  quantisation.orientation_bits = 0;
  strip(state);
  if (baseline == nullptr) return bits_in_full(state, quantisation);
  QuantisedState base = *baseline;
  strip(base);
  std::array<std::byte, 256> scratch{};
  BitWriter writer{scratch};
  write_residual(writer, state, base, dt_s, quantisation);
  return writer.bits_written();
}

double entropy_bits(const std::map<std::int64_t, std::uint64_t>& counts) {
  double total = 0.0;
  for (const auto& [value, count] : counts)
    total += static_cast<double>(count);
  double bits = 0.0;
  for (const auto& [value, count] : counts)
    bits -= static_cast<double>(count) * portable::log2(static_cast<double>(count) / total);
  return bits;
}

double per(double sum, std::uint64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

}  // namespace

void CodingStatistics::add(const QuantisedState& state, const QuantisedState* baseline, double dt_s,
                           const Quantisation& quantisation, std::size_t bits) {
  if (state.along.route) return;
  std::size_t motion_bits = 0;
  if (baseline == nullptr) {
    ++full_;
    motion_bits = bits_in_full(state, quantisation);
    full_bits_ += static_cast<double>(motion_bits);
  } else {
    ++residual_;
    FieldRecorder listener{quantisation.codes};
    QuantisedState copy = state;
    code_residual(listener, copy, *baseline, expected_motion_from(*baseline, dt_s, quantisation), dt_s,
                  quantisation);
    motion_bits = listener.coding_mode_bits();
    for (const FieldRecorder::Note& note : listener) {
      fields_[note.field].bits += note.bits;
      ++fields_[note.field].residuals[note.residual];
      ++fields_[note.field].by_class[{note.size_class, note.residual}];
      motion_bits += note.bits;
    }
    coding_mode_bits_ += listener.coding_mode_bits();
    residual_bits_ += static_cast<double>(motion_bits);
  }
  const auto head_bits = static_cast<double>(bits) - static_cast<double>(motion_bits);
  head_bits_ += head_bits;
  if (quantisation.orientation_bits != 0) {
    ++oriented_;
    bits_oriented_ += static_cast<double>(bits);
  }
  bits_without_ +=
      head_bits + static_cast<double>(bits_without_orientation(state, baseline, dt_s, quantisation));
}

std::array<OrderRule, kCodeFields> CodingStatistics::fitted_orders() const {
  std::array<OrderRule, kCodeFields> fitted = CodeParameters{}.orders;
  for (std::size_t i = 0; i < kCodeFields; ++i) {
    // The bits of each size class with each order.
    std::map<unsigned, std::array<double, wire::kMaxPrefixOrder + 1>> bits;
    for (const auto& [key, count] : fields_[i].by_class) {
      auto& orders = bits[key.first];
      for (unsigned order = 0; order <= wire::kMaxPrefixOrder; ++order)
        orders[order] += static_cast<double>(count) * wire::prefixed_bits(wire::fold(key.second), order);
    }
    double least = std::numeric_limits<double>::infinity();
    const auto try_rule = [&](const OrderRule& rule) {
      double sum = 0.0;
      for (const auto& [c, orders] : bits)
        sum += orders[order_of_class(rule, c)];
      if (sum < least) {
        least = sum;
        fitted[i] = rule;
      }
    };
    if (bits.empty()) continue;
    try_rule(fitted[i]);
    for (int offset = OrderRule::kMinOffset; offset <= OrderRule::kMaxOffset; ++offset) {
      for (int slope = 0; slope <= OrderRule::kMaxSlope; ++slope)
        try_rule({static_cast<std::int8_t>(offset), static_cast<std::uint8_t>(slope)});
    }
  }
  return fitted;
}

CodingFigures CodingStatistics::figures() const {
  CodingFigures f;
  const std::uint64_t updates = full_ + residual_;
  f.full_updates = full_;
  f.residual_updates = residual_;
  f.bytes_with_orientation = per(bits_oriented_, oriented_) / 8.0;
  f.bytes_without_orientation = per(bits_without_, updates) / 8.0;
  f.head_bits = per(head_bits_, updates);
  f.coding_mode_bits = per(coding_mode_bits_, residual_);
  f.full_bits = per(full_bits_, full_);
  f.residual_bits = per(residual_bits_, residual_);
  double bits = 0.0;
  double entropy = 0.0;
  for (std::size_t i = 0; i < CodingFigures::kFields; ++i) {
    const double least = entropy_bits(fields_[i].residuals);
    f.fields[i] = {kNames[i], per(fields_[i].bits, residual_), per(least, residual_)};
    bits += fields_[i].bits;
    entropy += least;
  }
  f.fitted_codes = codes_text(fitted_orders());
  f.gap_percent = entropy > 0.0 ? 100.0 * (bits / entropy - 1.0) : 0.0;
  return f;
}

}  // namespace reckoner
