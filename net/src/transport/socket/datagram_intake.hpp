// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/socket/udp_socket.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// Reads many datagrams from a socket at once: on Linux with one system call.
class DatagramIntake {
 public:
  /// Capacity, in datagrams.
  static constexpr std::size_t kMost = 32;
  /// Longest datagram that is read whole, bytes. No Reckoner transport sends a longer one.
  static constexpr std::size_t kLongest = 2048;

  struct Datagram {
    SocketAddress from;
    std::span<const std::byte> payload{};  ///< valid until the next read()
    bool cut = false;                      ///< it was longer than kLongest
    double waited_s = 0.0;  ///< how long it waited in the socket, s; 0: unknown, or times are not noted
  };

  /// `capacity`: how many datagrams one read() returns at most, 1 to kMost. A client needs fewer than a
  /// server and saves memory.
  explicit DatagramIntake(std::size_t capacity) : room_(capacity * kLongest), capacity_(capacity) {}

  /// Makes the system note when datagrams arrive. Without this call, Datagram::waited_s is 0. Works on Linux
  /// only.
  static void note_arrival_times(UdpSocket& socket);

  /// Reads the datagrams that wait, at most capacity(). Returns fewer only if no more wait.
  [[nodiscard]] std::span<const Datagram> read(UdpSocket& socket);

  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  std::vector<std::byte> room_;
  std::size_t capacity_;
  std::array<Datagram, kMost> datagrams_;
};

}  // namespace reckoner
