// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/socket/udp_socket.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Collects complete datagrams for many addresses and sends them together: on Linux with one system call, on
/// other systems one after the other. A server with a thousand clients would otherwise spend most of its time
/// in a system call for each datagram.
class DatagramBatch {
 public:
  /// Capacity, in datagrams. Each datagram has a header of up to kMaxHead bytes and a state payload. All
  /// of them fit into a processor's nearest cache.
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMaxHead = 64;
  /// Maximum size of a datagram, bytes.
  static constexpr std::size_t kMaxDatagram = kMaxHead + kMaxDatagramBytes;

  /// Result of flush().
  struct Outcome {
    std::uint32_t sent = 0;
    std::uint64_t wire_bytes = 0;  ///< of the datagrams sent, with UDP and IP headers
    std::uint32_t errors = 0;      ///< datagrams that failed; the others were sent all the same
  };

  [[nodiscard]] bool full() const { return size_ == kMost; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Adds a datagram. The batch must not be full. `head` has at most kMaxHead bytes, `payload` at most
  /// kMaxDatagramBytes, or kMaxDatagram without a head. Both are copied.
  void add(const SocketAddress& to, std::span<const std::byte> head, std::span<const std::byte> payload);

  /// Sends all datagrams over a socket and empties the batch. Datagrams that do not fit into the socket's
  /// send buffer are lost, as if the network had lost them.
  Outcome flush(UdpSocket& socket);

 private:
  struct Datagram {
    SocketAddress to;
    std::size_t bytes = 0;
    std::array<std::byte, kMaxDatagram> data;
  };

  std::array<Datagram, kMost> datagrams_;
  std::size_t size_ = 0;
};

}  // namespace reckoner
