// SPDX-License-Identifier: MIT
#include "harness/conditioner/enet_datagram.hpp"

#include <array>
#include <cstdint>

namespace reckoner::harness {
namespace {

constexpr std::uint32_t kSentTimeFlag = 1u << 15;

enum Command : std::uint8_t { kSendReliable = 6, kSendFragment = 8, kSendUnsequenced = 9 };

// Size of each command without its data, bytes. 0: no such command, or Reckoner never sends it.
constexpr std::array<std::size_t, 16> kSizes{0, 8, 48, 44, 8, 4, 6, 0, 24, 8, 12, 16, 0, 0, 0, 0};

std::uint32_t read16(std::span<const std::byte> bytes, std::size_t at) {
  return (std::to_integer<std::uint32_t>(bytes[at]) << 8) | std::to_integer<std::uint32_t>(bytes[at + 1]);
}

// Length of the data after the command. `command` must contain the whole command.
std::size_t data_bytes(std::span<const std::byte> command, std::uint8_t kind) {
  switch (kind) {
    case kSendReliable:
      return read16(command, 4);
    case kSendFragment:
    case kSendUnsequenced:
      return read16(command, 6);
    default:
      return 0;
  }
}

}  // namespace

EnetPayload enet_payload(std::span<const std::byte> datagram) {
  EnetPayload payload;
  if (datagram.size() < 4) return payload;
  std::span<const std::byte> rest = datagram.subspan((read16(datagram, 0) & kSentTimeFlag) != 0 ? 4 : 2);
  while (!rest.empty()) {
    const auto kind = static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(rest[0]) & 0x0F);
    const std::size_t size = kSizes[kind];
    if (size == 0 || rest.size() < size) break;
    const std::size_t data = data_bytes(rest, kind);
    if (rest.size() < size + data) break;
    payload.bytes += data;
    payload.state = payload.state || kind == kSendUnsequenced;
    rest = rest.subspan(size + data);
  }
  return payload;
}

}  // namespace reckoner::harness
