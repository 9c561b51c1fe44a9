// SPDX-License-Identifier: MIT
#include "harness/conditioner/datagram_payload.hpp"

#include "net/src/secure/seal.hpp"
#include "net/src/transport/enet/enet_protocol.hpp"

#include <cstdint>

namespace reckoner::harness {
namespace {

using namespace enet_protocol;

// ENet 1.3's commands (protocol.h, big endian). Stops at the first malformed one.
std::size_t enet_payload_bytes(std::span<const std::byte> datagram) {
  std::size_t bytes = 0;
  if (datagram.size() < 4) return bytes;
  std::span<const std::byte> rest = datagram.subspan((read16(datagram, 0) & kSentTimeFlag) != 0 ? 4 : 2);
  while (!rest.empty()) {
    const std::uint8_t code = std::to_integer<std::uint8_t>(rest[0]) & kCodeBits;
    const std::size_t size = kSizes[code];
    if (size == 0 || rest.size() < size) break;
    const std::size_t data = code == kSendUnsequenced ? read16(rest, 6) : 0;
    if (rest.size() < size + data) break;
    bytes += data;
    rest = rest.subspan(size + data);
  }
  return bytes;
}

}  // namespace

std::size_t datagram_payload_bytes(std::span<const std::byte> datagram) {
  if (datagram.empty()) return 0;
  const auto kind = static_cast<secure::Kind>(datagram[0]);
  if (kind == secure::Kind::datagram && datagram.size() > secure::kOpenHead)
    return datagram.size() - secure::kOpenHead;
  return enet_payload_bytes(datagram);
}

}  // namespace reckoner::harness
