// SPDX-License-Identifier: MIT
#pragma once

#include "enet_datagram.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "tests/support/loopback.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <unistd.h>

namespace reckoner::test {

/// A raw socket that sends with its own UDP headers. The system allows this to privileged users only.
class RawSocket {
 public:
  explicit RawSocket(const IpAddress& host = loopback_ip())
      : host_(host), file_(socket(family(), SOCK_RAW, IPPROTO_UDP)) {
    const int checksum_at = 6;  // IPv6 needs a checksum, which the system computes
    if (!host.is_ipv4())
      (void)setsockopt(file_, IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof checksum_at);
  }
  ~RawSocket() {
    if (file_ >= 0) close(file_);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  [[nodiscard]] bool permitted() const { return file_ >= 0; }
  /// Sends from a port of the loopback address to another port. True if it was sent.
  [[nodiscard]] bool send(std::uint16_t from, std::uint16_t to, std::span<const std::byte> bytes) const {
    EnetDatagram datagram(0);  // EnetDatagram writes big endian, as UDP needs
    datagram.bytes.clear();
    datagram.put16(from).put16(to).put16(static_cast<unsigned>(8 + bytes.size())).put16(0);  // no checksum
    datagram.bytes.insert(datagram.bytes.end(), bytes.begin(), bytes.end());
    SystemAddress system{};
    const socklen_t size = to_system({host_, 0}, family(), system);
    const ssize_t sent =
        sendto(file_, datagram.bytes.data(), datagram.bytes.size(), 0, &system.generic, size);
    return sent == static_cast<ssize_t>(datagram.bytes.size());
  }

 private:
  [[nodiscard]] int family() const { return host_.is_ipv4() ? AF_INET : AF_INET6; }

  IpAddress host_;
  int file_;
};

}  // namespace reckoner::test
