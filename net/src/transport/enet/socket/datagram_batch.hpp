// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Collects complete datagrams for many addresses and sends many of them with one system call. A server with
/// a thousand clients would otherwise spend most of its time in a system call for each datagram and in ENet's
/// queues.
class DatagramBatch {
 public:
  /// False where the system has no such call; only Linux has it. Do not add datagrams then.
#ifdef __linux__
  static constexpr bool kAvailable = true;
#else
  static constexpr bool kAvailable = false;
#endif
  /// Capacity, in datagrams. Each datagram holds a header of up to kMaxHead bytes and a state payload. All
  /// of them fit into a processor's nearest cache.
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMaxHead = 64;

  /// An IPv4 address in ENet's form: the host in network byte order, the port in the machine's byte order.
  struct Address {
    std::uint32_t host = 0;
    std::uint16_t port = 0;
  };
  /// Result of flush().
  struct Outcome {
    std::uint32_t sent = 0;
    std::uint32_t bytes = 0;   ///< of the datagrams sent, without UDP and IP headers
    std::uint32_t errors = 0;  ///< datagrams that failed; the others were sent all the same
  };

  [[nodiscard]] bool full() const {
    return size_ == kMost;
  }
  [[nodiscard]] bool empty() const {
    return size_ == 0;
  }

  /// Adds a datagram. The batch must not be full. `head` has at most kMaxHead bytes, `payload` at most
  /// kMaxStateBytes. Both are copied.
  void add(Address to, std::span<const std::byte> head, std::span<const std::byte> payload);

  /// Sends all datagrams over a UDP socket (file descriptor) and empties the batch. Datagrams that do not fit
  /// into the socket's send buffer are lost, as if the network had lost them.
  Outcome flush(std::intptr_t socket);

 private:
  struct Datagram {
    Address to;
    std::size_t bytes = 0;
    std::array<std::byte, kMaxHead + kMaxStateBytes> data;
  };

  std::array<Datagram, kMost> datagrams_;
  std::size_t size_ = 0;
};

}  // namespace reckoner
