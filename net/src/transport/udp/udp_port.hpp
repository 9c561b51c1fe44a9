// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/platform.hpp"
#include "net/src/transport/socket/datagram_batch.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// A UDP socket that reads and sends many datagrams at once, and counts them. Datagrams that no host can have
/// sent are refused here.
class UdpPort {
 public:
  /// Datagrams that one pass reads at most, so that a pass ends even if they arrive faster than they are
  /// read.
  static constexpr std::size_t kMostInPass = 16384;

  /// `reads`: how many datagrams are read at once, 1 to DatagramIntake::kMost.
  UdpPort(UdpSocket&& socket, std::size_t reads);

  /// Reads datagrams and calls `arrive(datagram)` for each, until none is left, kMostInPass were read, or
  /// `is_full()` returns true. Returns true if a datagram has arrived.
  template <class Arrive, class IsFull>
  bool read(Arrive arrive, IsFull is_full) {
    std::size_t arrived = 0;
    for (bool more = true; more && arrived < kMostInPass && !is_full();) {
      const auto datagrams = intake_.read(socket_);
      more = datagrams.size() == intake_.capacity();
      arrived += datagrams.size();
      for (const DatagramIntake::Datagram& datagram : datagrams) {
        if (count(datagram)) arrive(datagram);
      }
    }
    return arrived > 0;
  }

  /// Queues a datagram. It leaves when the batch is full, or with flush().
  void queue(const SocketAddress& to, std::span<const std::byte> datagram);

  /// Sends what is queued.
  void flush();
  /// True if something is queued.
  [[nodiscard]] bool has_queued() const { return !batch_.empty(); }

  /// Sleeps until a datagram arrives, a signal interrupts the process, or `seconds` have passed. Returns
  /// false only if the time has passed. Uses nothing that another thread changes.
  [[nodiscard]] bool sleep(double seconds) const { return socket_.wait(seconds); }

  /// Makes the system note when datagrams arrive (DatagramIntake::Datagram::waited_s).
  void note_arrival_times() { DatagramIntake::note_arrival_times(socket_); }
  /// Updates TransportStats::system_drops.
  void count_drops();

  [[nodiscard]] std::uint16_t port() const { return socket_.local().port; }

  TransportStats stats;

 private:
  [[nodiscard]] bool count(const DatagramIntake::Datagram& datagram);

  UdpSocket socket_;
  DatagramIntake intake_;
  DatagramBatch batch_;
};

}  // namespace reckoner
