// SPDX-License-Identifier: MIT
// Every reliable message: welcome, after spawns, route, game data, ownership, playout, kick, unordered.
#include "generate.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

// A decoded message can be encoded again, and its meaning does not change.
void decode(std::span<const std::byte> bytes) {
  const auto message = decode_reliable(bytes);
  if (!message) return;
  const Bytes again = encoded(*message);
  const auto second = decode_reliable(again);
  check(second.has_value(), "what was decoded is encoded so that it can be decoded");
  check(encoded(*second) == again, "decoding twice gives the same");
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return decode(input.subspan(1));
  Choices choices{input.subspan(1)};
  for (int i = 0; i < 6 && !choices.empty(); ++i) {
    Bytes message = encoded(any_reliable(choices));
    check(!message.empty() && decode_reliable(message).has_value(), "what is encoded can be decoded");
    decode(message);
    if (damage(choices, message)) decode(message);
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{7};
  for (int i = 0; i < 32; ++i) {
    Bytes decisions(400);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    decisions.front() = static_cast<std::byte>(i % 9);  // selects the message
    Choices choices{decisions};
    const Bytes message = encoded(any_reliable(choices));
    if (message.size() < 1500) out.push_back(marked(kRaw, message));
  }
  add_choices(out, 8, 400, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
