// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_library.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// The datagrams that wait for ENet, and the way by which ENet gets them.
///
/// ENet knows only IPv4, and only its own socket. So ENet has a private socket that is connected to itself,
/// and every peer has the address of this socket. The transport reads and writes the real socket. For each
/// datagram that ENet must handle, the transport sends a note of one byte over the private socket; ENet reads
/// the note, and its intercept callback puts the datagram in the note's place. When ENet sends, the transport
/// takes the datagram from ENet's checksum callback and leaves a note, which comes back and means nothing.
///
/// A lost note costs nothing: the datagram waits for the next one. Only the parts of a connection that need
/// ENet take this way: requests, acknowledgements, reliable messages and pings. State payloads do not.
class EnetInbox {
 public:
  /// Most datagrams that wait. ENet reads at most 256 notes in a pass.
  static constexpr std::size_t kMost = 128;

  struct Entry {
    SocketAddress from;
    std::uint32_t session = 0;     ///< number of the session that opened it; 0 without security
    std::vector<std::byte> bytes;  ///< as ENet sent it, without the space for a checksum
  };

  EnetInbox() : entries_(kMost) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == kMost; }

  /// Adds a datagram. The inbox must not be full.
  void push(const SocketAddress& from, std::uint32_t session, std::span<const std::byte> bytes) {
    Entry& entry = entries_[(first_ + size_++) % kMost];
    entry.from = from;
    entry.session = session;
    entry.bytes.assign(bytes.begin(), bytes.end());
  }

  /// Returns the oldest datagram and removes it, or returns null. Valid until the next push().
  [[nodiscard]] Entry* pop() {
    if (size_ == 0) return nullptr;
    Entry& entry = entries_[first_];
    first_ = (first_ + 1) % kMost;
    --size_;
    return &entry;
  }

  /// Sends a note for each waiting datagram that has none yet.
  void send_notes(ENetHost& host) {
    const ENetBuffer buffer = note();
    const std::size_t on_the_way = noted_ - std::min<std::size_t>(noted_, host.totalReceivedPackets - read_);
    for (std::size_t i = on_the_way; i < size_; ++i)
      (void)enet_socket_send(host.socket, &host.address, &buffer, 1);
    noted_ = std::max(on_the_way, size_);
    read_ = host.totalReceivedPackets;
  }
  /// ENet has read all notes. If datagrams still wait, their notes were lost.
  void all_read() { noted_ = 0; }

  /// The buffer that ENet sends instead of a datagram.
  [[nodiscard]] static ENetBuffer note() {
    static const char kByte = 1;
    ENetBuffer buffer{};
    buffer.data = const_cast<char*>(&kByte);  // ENet only reads it
    buffer.dataLength = 1;
    return buffer;
  }

 private:
  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t noted_ = 0;   // notes that were on the way after the last send_notes()
  std::uint32_t read_ = 0;  // ENet's count of notes at that time
};

}  // namespace reckoner
