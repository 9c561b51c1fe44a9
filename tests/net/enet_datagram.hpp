// SPDX-License-Identifier: MIT
#pragma once

#include "udp_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reckoner::test {

/// Builds ENet datagrams by hand, as an attacker could.
struct EnetDatagram {
  Bytes bytes;

  explicit EnetDatagram(unsigned peer, bool sent_time = true) {
    put16(peer | (sent_time ? 0x8000u : 0u));
    if (sent_time) put16(0);
  }
  EnetDatagram& put8(unsigned value) {
    bytes.push_back(static_cast<std::byte>(value & 0xFF));
    return *this;
  }
  EnetDatagram& put16(unsigned value) { return put8(value >> 8).put8(value); }
  EnetDatagram& put32(unsigned value) { return put16(value >> 16).put16(value & 0xFFFF); }
  EnetDatagram& command(unsigned kind, unsigned channel, unsigned sequence = 1) {
    return put8(kind).put8(channel).put16(sequence);
  }
  EnetDatagram& data(std::size_t size) {
    bytes.resize(bytes.size() + size);
    return *this;
  }
  static EnetDatagram connect(unsigned channels, std::uint32_t connection = 0x78563412) {
    EnetDatagram made(0x0FFF);
    made.command(0x82, 0xFF).put16(0).put8(0xFF).put8(0xFF).put32(1400).put32(65536).put32(channels);
    for (int i = 0; i < 5; ++i)
      made.put32(i < 2 ? 0 : 2);
    made.put32(0).put32(0);
    std::memcpy(&made.bytes[made.bytes.size() - 8], &connection,
                sizeof connection);  // in the machine's byte order
    return made;
  }
};

}  // namespace reckoner::test
