// SPDX-License-Identifier: MIT
#include "net/src/config/settings.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

// Smallest step as a fraction of the larger bound. A double has 53 significant bits. If steps are at least
// this large, each step is a distinct double, and rounding a rounded value changes nothing.
constexpr double kMinRelativeStep = 0x1p-48;

// Keeps the difference of two bounds finite.
constexpr double kMaxReal = 1e300;

bool in_range(const BooleanField&, bool) {
  return true;
}
bool in_range(const IntegerField& f, std::int64_t v) {
  return v >= f.least && v <= f.most;
}
bool in_range(const RealField& f, double v) {
  return v >= f.least && v <= f.most;  // false for NaN
}
bool in_range(const BlobField& f, const Blob& v) {
  return v.bytes().size() <= f.most_bytes;
}

bool has_valid_range(const RealField& f) {
  const double bound = std::max(std::abs(f.least), std::abs(f.most));
  return bound <= kMaxReal && std::isfinite(f.step) && f.step > 0.0 && f.step >= bound * kMinRelativeStep;
}
// Why the range or the initial value is invalid; empty if both are valid.
std::string range_fault(const BooleanField&) {
  return {};
}
std::string range_fault(const IntegerField& f) {
  if (in_range(f, f.initial)) return {};
  return "has the initial value " + std::to_string(f.initial) + "; it must be from " +
         std::to_string(f.least) + " to " + std::to_string(f.most);
}
std::string range_fault(const RealField& f) {
  if (!has_valid_range(f)) {
    return "has the range " + number_text(f.least) + " to " + number_text(f.most) + " with the step " +
           number_text(f.step) + "; the bounds must be finite, and the step at least 2^-48 of the larger";
  }
  if (in_range(f, f.initial)) return {};
  return "has the initial value " + number_text(f.initial) + "; it must be from " + number_text(f.least) +
         " to " + number_text(f.most);
}
std::string range_fault(const BlobField& f) {
  if (f.most_bytes > kMaxBlobBytes) {
    return "has most_bytes " + std::to_string(f.most_bytes) + "; it must be from 0 to " +
           std::to_string(kMaxBlobBytes);
  }
  if (in_range(f, f.initial)) return {};
  return "has an initial value of " + std::to_string(f.initial.bytes().size()) +
         " bytes; it must have at most " + std::to_string(f.most_bytes);
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
  return !find_invalid_field(fields);
}

std::optional<Error> find_invalid_field(std::span<const FieldSpec> fields) {
  if (fields.size() > kMaxFields) {
    return Error{"fields has " + std::to_string(fields.size()) + " entries; it must have at most " +
                 std::to_string(kMaxFields)};
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldSpec& field = fields[i];
    const std::string prefix = "fields[" + std::to_string(i) + "]";
    const auto same_name = [&](const FieldSpec& other) { return other.name == field.name; };
    if (field.name.empty() || field.name.size() > kMaxFieldNameBytes) {
      return Error{prefix + ".name has " + std::to_string(field.name.size()) +
                   " bytes; it must have from 1 to " + std::to_string(kMaxFieldNameBytes)};
    }
    if (std::any_of(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(i), same_name))
      return Error{prefix + ".name is '" + field.name + "', which an earlier field has"};
    auto wrong = std::visit([](const auto& f) { return range_fault(f); }, field.type);
    if (!wrong.empty()) return Error{prefix + " ('" + field.name + "') " + wrong};
  }
  return std::nullopt;
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
