// SPDX-License-Identifier: MIT
// What looks at ENet's datagrams before ENet does.
#include "enet_filter.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

using enet_filter::Role;

void look(std::span<const std::byte> datagram) {
  for (const Role role : {Role::server, Role::client}) {
    if (!enet_filter::acceptable(datagram, role)) continue;
    const std::size_t head = enet_filter::head_size(datagram);
    check(head < datagram.size(), "something follows the head");
    const bool of_none = enet_filter::peer_of(datagram) == enet_filter::detail::kNoPeer;
    check(enet_filter::connection_wanted(datagram).has_value() == of_none,
          "who has no number yet wants to connect");
    check(enet_filter::session_of(datagram) < 4, "sessions count to four");
    const auto payload = enet_filter::lone_state(datagram);
    if (!payload) continue;
    check(payload->size() <= kMaxStateBytes &&
              payload->data() + payload->size() == datagram.data() + datagram.size(),
          "a payload lies at the end");
  }
}

Bytes any_datagram(Choices& choices) {
  // Sizes of ENet's commands without data, as in its protocol.h.
  constexpr std::size_t kSizes[16] = {0, 8, 48, 44, 8, 4, 6, 8, 24, 8, 12, 16, 24, 0, 0, 0};
  Bytes out;
  const auto put = [&out](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const bool timed = choices.flag();
  const std::uint64_t peer = choices.flag() ? choices.up_to(4) : 0x0FFF;
  put((timed ? 0x8000u : 0u) | choices.up_to(3) << 12 | peer, 2);
  if (timed) put(choices.up_to(UINT16_MAX), 2);
  for (std::uint64_t n = choices.up_to(3) + 1; n > 0; --n) {
    const auto kind = static_cast<std::uint8_t>(choices.up_to(12));
    const std::size_t begin = out.size();
    put(kind | (choices.flag() ? 0x80u : 0u), 1);
    put(choices.up_to(2), 1);
    while (out.size() - begin < kSizes[kind])
      put(choices.up_to(255), 1);
    const auto set16 = [&](std::size_t at, std::uint64_t value) {
      if (begin + at + 1 >= out.size()) return;
      out[begin + at] = static_cast<std::byte>(value >> 8);
      out[begin + at + 1] = static_cast<std::byte>(value);
    };
    const std::uint64_t length = choices.up_to(choices.flag() ? 30 : 1300);
    if (kind == 2 && choices.flag()) {
      set16(16, 0);
      set16(18, 2);  // channels
    }
    if (kind == 6 || kind == 8) set16(kind == 6 ? 4 : 6, length);
    if (kind == 9) set16(6, length);
    if (kind == 6 || kind == 8 || kind == 9) out.resize(out.size() + length, std::byte{1});
  }
  return out;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return look(input.subspan(1));
  Choices choices{input.subspan(1)};
  Bytes datagram = any_datagram(choices);
  look(datagram);
  if (damage(choices, datagram)) look(datagram);
  const std::size_t length = choices.up_to(kMaxStateBytes);
  const auto head = enet_filter::lone_state_head(
      static_cast<std::uint32_t>(choices.up_to(4094)), static_cast<std::uint32_t>(choices.up_to(3)),
      static_cast<std::uint16_t>(choices.up_to(UINT16_MAX)), length);
  Bytes lone(head.begin(), head.end());
  lone.resize(lone.size() + length);
  check(enet_filter::acceptable(lone, Role::server), "what we write ourselves is let through");
  check(enet_filter::lone_state(lone) && enet_filter::lone_state(lone)->size() == length,
        "what we write ourselves is read");
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{17};
  for (int i = 0; i < 16; ++i) {
    Bytes decisions(60);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    const Bytes datagram = any_datagram(choices);
    if (datagram.size() < 600) out.push_back(marked(kRaw, datagram));
  }
  add_choices(out, 12, 80, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
