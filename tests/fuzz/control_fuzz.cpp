// SPDX-License-Identifier: MIT
// Every control message: join, welcome, after spawns, route, game data, ownership, session,
// resume, playout, kick.
#include "generate.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

// A decoded message can be encoded again, and its meaning does not change.
void decode(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t before = bytes.size();
    const auto message = decode_next_control(bytes);
    if (!message) {
      check(bytes.empty(), "a malformed message ends its payload");
      return;
    }
    check(bytes.size() < before, "a message takes bytes");
    const Bytes again = encoded(*message);
    const auto second = decode_control(again);
    check(second.has_value(), "what was decoded is encoded so that it can be decoded");
    check(encoded(*second) == again, "decoding twice gives the same");
  }
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return decode(input.subspan(1));
  Choices choices{input.subspan(1)};
  Bytes payload;
  for (int i = 0; i < 6 && !choices.empty(); ++i) {
    const Bytes message = encoded(any_control(choices));
    check(!message.empty() && decode_control(message).has_value(), "what is encoded can be decoded");
    payload.insert(payload.end(), message.begin(), message.end());
  }
  decode(payload);
  if (damage(choices, payload)) decode(payload);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{7};
  for (int i = 0; i < 30; ++i) {
    Bytes decisions(400);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    decisions.front() = static_cast<std::byte>(i % 10);  // selects the message
    Choices choices{decisions};
    const Bytes message = encoded(any_control(choices));
    if (message.size() < 1500) out.push_back(marked(kRaw, message));
  }
  add_choices(out, 8, 400, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
