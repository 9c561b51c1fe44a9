// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Ready datagrams for many addresses, handed to the system many at a time: one system call each, and a
/// library's queues, are what a server with a thousand clients would spend most of its time in.
class DatagramBatch {
 public:
  /// False where the system cannot do that; nothing may be added then.
#ifdef __linux__
  static constexpr bool kAvailable = true;
#else
  static constexpr bool kAvailable = false;
#endif
  /// So many, and none larger than a state payload with a head: what fits a processor's nearest memory.
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostHead = 64;

  /// An IPv4 address as ENet has it: the host in network order, the port in the machine's.
  struct Address {
    std::uint32_t host = 0;
    std::uint16_t port = 0;
  };
  /// What became of those that waited.
  struct Outcome {
    std::uint32_t sent = 0;
    std::uint32_t bytes = 0;   ///< of those, without UDP's and IP's headers
    std::uint32_t errors = 0;  ///< one address each; the others were sent all the same
  };

  [[nodiscard]] bool full() const {
    return size_ == kMost;
  }
  [[nodiscard]] bool empty() const {
    return size_ == 0;
  }

  /// Must not be full. `head` is at most kMostHead bytes, `payload` kMaxStateBytes; both are copied.
  void add(Address to, std::span<const std::byte> head, std::span<const std::byte> payload);

  /// Sends all over a UDP socket (file descriptor). What a full buffer does not take is lost, as on the way.
  Outcome flush(std::intptr_t socket);

 private:
  struct Datagram {
    Address to;
    std::size_t bytes = 0;
    std::array<std::byte, kMostHead + kMaxStateBytes> data;
  };

  std::array<Datagram, kMost> datagrams_;
  std::size_t size_ = 0;
};

}  // namespace reckoner
