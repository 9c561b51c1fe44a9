// SPDX-License-Identifier: MIT
#include "scenario/trace/decimal.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <version>

namespace reckoner::scenario {

#ifdef __cpp_lib_to_chars

std::optional<double> read_decimal(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

#else

namespace {

// A mantissa below 2^53 and a power of ten up to 10^22 are exact doubles, so their quotient is correctly
// rounded (Clinger 1990). Most numbers in recordings are of this form.
std::optional<double> read_short(std::string_view digits, bool negative) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  std::uint64_t mantissa = 0;
  std::size_t decimals = 0;
  bool after_point = false;
  for (const char c : digits) {
    if (c == '.') {
      if (after_point) return std::nullopt;
      after_point = true;
      continue;
    }
    if (!is_digit(c) || mantissa >= (std::uint64_t{1} << 53) / 10) return std::nullopt;
    mantissa = 10 * mantissa + static_cast<std::uint64_t>(c - '0');
    decimals += after_point ? 1 : 0;
  }
  if (decimals >= std::size(kPowers)) return std::nullopt;
  const double value = static_cast<double>(mantissa) / kPowers[decimals];
  return negative ? -value : value;
}

}  // namespace

std::optional<double> read_decimal(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  const bool number =
      is_digit(digits.front()) || (digits.size() > 1 && digits.front() == '.' && is_digit(digits[1]));
  if (number) {
    if (const auto value = read_short(digits, negative)) return value;
  }
  // strtod() also accepts blanks, a plus sign and hexadecimal numbers.
  const bool word =
      digits.front() == 'i' || digits.front() == 'I' || digits.front() == 'n' || digits.front() == 'N';
  if ((!number && !word) || digits.find_first_of("xX") != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  char* stop = nullptr;
  const double value = std::strtod(copy.c_str(), &stop);
  if (stop != copy.c_str() + copy.size()) return std::nullopt;
  const bool too_large = number && (value > 1.7976931348623157e308 || value < -1.7976931348623157e308);
  if (too_large) return std::nullopt;
  return value;
}

#endif

}  // namespace reckoner::scenario
