// SPDX-License-Identifier: MIT
// Section 1 of docs/WIRE.md.
#include "second_decoder.hpp"

#include <bit>
#include <cmath>

namespace second {

std::uint64_t Bits::u(unsigned n) {
  if (!good_ || at_ + n > bytes_.size() * 8) {
    good_ = false;
    return 0;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < n; ++i, ++at_)
    value |= ((std::to_integer<std::uint64_t>(bytes_[at_ / 8]) >> (at_ % 8)) & 1) << i;
  return value;
}

std::int64_t Bits::range(std::int64_t least, std::int64_t most) {
  const auto span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
  const std::uint64_t offset = u(static_cast<unsigned>(std::bit_width(span)));
  must(offset <= span);
  return good_ ? static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + offset) : least;
}

double Bits::real(double least, double most) {
  const double value = std::bit_cast<double>(u(64));
  must(value >= least && value <= most);
  return good_ ? value : least;
}

double Bits::f32() {
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(u(32)));
  must(std::isfinite(value));
  return good_ ? value : 0.0;
}

double Bits::f64() {
  const auto value = std::bit_cast<double>(u(64));
  must(std::isfinite(value));
  return good_ ? value : 0.0;
}

std::uint64_t Bits::eg(unsigned k) {
  unsigned w = 0;
  while (w <= 32 && flag())
    ++w;
  must(w <= 32);
  if (!good_) return 0;
  const std::uint64_t number = u(w + k) + (std::uint64_t{1} << (w + k)) - (std::uint64_t{1} << k);
  must(number <= 0xffffffffu);
  return good_ ? number : 0;
}

std::uint64_t Bits::gr(unsigned k) {
  unsigned q = 0;
  while (q <= 56 && flag())
    ++q;
  if (q < 6) return (std::uint64_t{q} << k) + u(k);
  const unsigned w = q - 6 + k + 1;
  must(w <= 50);
  if (!good_) return 0;
  return u(w) + (std::uint64_t{1} << w) - (std::uint64_t{2} << k) + (std::uint64_t{6} << k);
}

std::string Bits::bytes(std::size_t most) {
  const auto size = static_cast<std::size_t>(range(0, static_cast<std::int64_t>(most)));
  std::string text;
  for (std::size_t i = 0; i < size && good_; ++i)
    text.push_back(static_cast<char>(u(8)));
  return text;
}

std::string Bits::data(std::size_t most) {
  if (!flag()) return {};
  const std::int64_t size = range(0, static_cast<std::int64_t>(most) - 1) + 1;
  std::string text;
  for (std::int64_t i = 0; i < size && good_; ++i)
    text.push_back(static_cast<char>(u(8)));
  return text;
}

std::array<std::int64_t, 3> Bits::svec(unsigned most_width) {
  const auto width = static_cast<unsigned>(range(0, most_width));
  std::array<std::int64_t, 3> values{};
  for (std::int64_t& v : values) {
    if (width == 0) continue;
    const std::uint64_t raw = u(width);
    v = static_cast<std::int64_t>(raw);
    if ((raw >> (width - 1)) != 0) v -= std::int64_t{1} << width;
  }
  return values;
}

bool Bits::finished() {
  if (!good_ || bytes_.size() * 8 - at_ >= 8) return false;
  return u(static_cast<unsigned>(bytes_.size() * 8 - at_)) == 0;
}

std::int64_t unfold(std::uint64_t n) {
  return n % 2 == 0 ? static_cast<std::int64_t>(n / 2) : -static_cast<std::int64_t>(n / 2) - 1;
}

}  // namespace second
