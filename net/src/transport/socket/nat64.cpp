// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/nat64.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <array>
#include <cstddef>

namespace reckoner {
namespace {

constexpr std::size_t kAlwaysZero = 8;  // this byte never contains a part of the IPv4 address

// Where the four bytes of the IPv4 address are, behind a prefix of this many bits.
std::array<std::size_t, 4> places(int bits) {
  std::array<std::size_t, 4> at{};
  std::size_t next = static_cast<std::size_t>(bits) / 8;
  for (std::size_t& one : at) {
    if (next == kAlwaysZero) ++next;
    one = next++;
  }
  return at;
}

std::uint32_t embedded(const IpBytes& bytes, int bits) {
  std::uint32_t ipv4 = 0;
  for (const std::size_t at : places(bits))
    ipv4 = ipv4 << 8 | bytes[at];
  return ipv4;
}

}  // namespace

IpAddress Nat64Prefix::address_of(const IpAddress& ipv4) const {
  IpBytes bytes = bytes_of(prefix);
  int shift = 24;
  for (const std::size_t at : places(bits)) {
    bytes[at] = static_cast<std::uint8_t>(ipv4.ipv4() >> shift);
    shift -= 8;
  }
  return ip_of(bytes);
}

std::optional<Nat64Prefix> find_nat64_prefix(std::span<const SocketAddress> answer) {
  constexpr std::uint32_t kKnown[] = {0xC00000AA, 0xC00000AB};  // 192.0.0.170 and 192.0.0.171
  for (const SocketAddress& address : answer) {
    if (address.host.is_ipv4()) continue;
    for (const int bits : {96, 64, 56, 48, 40, 32}) {
      IpBytes bytes = bytes_of(address.host);
      const std::uint32_t ipv4 = embedded(bytes, bits);
      if (ipv4 != kKnown[0] && ipv4 != kKnown[1]) continue;
      std::fill(bytes.begin() + bits / 8, bytes.end(), std::uint8_t{0});
      return Nat64Prefix{ip_of(bytes), bits};
    }
  }
  return std::nullopt;
}

}  // namespace reckoner
