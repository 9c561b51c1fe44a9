// SPDX-License-Identifier: MIT
#include "net/src/codec/codes_text.hpp"

#include <algorithm>
#include <charconv>

namespace reckoner {
namespace {

constexpr std::string_view kKind = "codes-1";

// Takes the next word, up to a blank or a line's end, from the text.
std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::optional<int> next_number(std::string_view& text, int least, int most) {
  const std::string_view word = next_word(text);
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < least || number > most)
    return std::nullopt;
  return number;
}

}  // namespace

std::string codes_text(std::span<const OrderRule, kCodeFields> orders) {
  std::string text{kKind};
  for (const OrderRule& rule : orders)
    text += " " + std::to_string(int{rule.offset}) + " " + std::to_string(int{rule.slope});
  return text;
}

std::optional<std::array<OrderRule, kCodeFields>> read_codes(std::string_view text) {
  if (next_word(text) != kKind) return std::nullopt;
  std::array<OrderRule, kCodeFields> orders;
  for (OrderRule& rule : orders) {
    const auto offset = next_number(text, OrderRule::kMinOffset, OrderRule::kMaxOffset);
    const auto slope = next_number(text, 0, OrderRule::kMaxSlope);
    if (!offset || !slope) return std::nullopt;
    rule = {static_cast<std::int8_t>(*offset), static_cast<std::uint8_t>(*slope)};
  }
  return next_word(text).empty() ? std::optional(orders) : std::nullopt;
}

}  // namespace reckoner
