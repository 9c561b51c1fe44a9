// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <type_traits>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

// A double has 53 bits: with steps no finer than this share of the bounds, every step is a number of its own
// and rounding twice is rounding once.
constexpr double kFinestStep = 0x1p-48;

// So that the difference of two bounds is finite.
constexpr double kMostReal = 1e300;

bool in_range(const BooleanField&, bool) {
  return true;
}
bool in_range(const IntegerField& f, std::int64_t v) {
  return v >= f.least && v <= f.most;
}
bool in_range(const RealField& f, double v) {
  return v >= f.least && v <= f.most;  // NaN fails
}
bool in_range(const BlobField& f, const Blob& v) {
  return v.bytes().size() <= f.most_bytes;
}

bool makes_sense(const BooleanField&) {
  return true;
}
bool makes_sense(const IntegerField&) {
  return true;  // its initial value is in range, so least <= most
}
bool makes_sense(const RealField& f) {
  const double bound = std::max(std::abs(f.least), std::abs(f.most));
  return bound <= kMostReal && std::isfinite(f.step) && f.step > 0.0 && f.step >= bound * kFinestStep;
}
bool makes_sense(const BlobField& f) {
  return f.most_bytes <= kMaxBlobBytes;
}

}  // namespace

std::optional<Blob> Blob::of(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxBlobBytes) return std::nullopt;
  Blob blob;
  std::copy(bytes.begin(), bytes.end(), blob.bytes_.begin());
  blob.size_ = static_cast<std::uint8_t>(bytes.size());
  return blob;
}

bool is_valid(std::span<const FieldSpec> fields) {
  if (fields.size() > kMaxFields) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldSpec& field = fields[i];
    const auto same_name = [&](const FieldSpec& other) { return other.name == field.name; };
    if (field.name.empty() || field.name.size() > kMaxFieldNameBytes) return false;
    if (std::any_of(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(i), same_name)) return false;
    const bool ok =
        std::visit([](const auto& f) { return makes_sense(f) && in_range(f, f.initial); }, field.type);
    if (!ok) return false;
  }
  return true;
}

std::optional<FieldValue> quantise(const FieldValue& value, const FieldSpec& field) {
  return std::visit(
      [&](const auto& f) -> std::optional<FieldValue> {
        const auto* v = std::get_if<std::remove_cvref_t<decltype(f.initial)>>(&value);
        if (v == nullptr || !in_range(f, *v)) return std::nullopt;
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(f)>, RealField>) {
          return real_at(f, index_of(f, *v));
        } else {
          return *v;
        }
      },
      field.type);
}

FieldValue initial_value(const FieldSpec& field) {
  return quantise(std::visit([](const auto& f) { return FieldValue{f.initial}; }, field.type), field)
      .value_or(FieldValue{});
}

double real_at(const RealField& field, std::uint64_t index) {
  return std::min(field.least + static_cast<double>(index) * field.step, field.most);
}

std::uint64_t index_of(const RealField& field, double value) {
  return static_cast<std::uint64_t>(std::llround((value - field.least) / field.step));
}

}  // namespace reckoner
