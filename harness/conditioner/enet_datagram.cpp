// SPDX-License-Identifier: MIT
#include "harness/conditioner/enet_datagram.hpp"

#include "net/src/transport/enet/socket/enet_protocol.hpp"

#include <cstdint>

namespace reckoner::harness {
namespace {

using namespace enet_protocol;

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
