// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_library.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// The addresses of the connections at a server without security, by the connection's number, which the
/// client chooses. ENet does not know these addresses. (With security, each session has the address that its
/// client has proven.)
class ConnectionAddresses {
 public:
  /// `peers`: how many connections ENet has room for. A flood of requests adds at most as many addresses
  /// again until the next prune().
  explicit ConnectionAddresses(std::size_t peers) : most_(2 * peers + 64) {}

  /// Notes where a request to connect came from. Returns false if the request must be dropped: another
  /// address uses this number, or there is no room.
  [[nodiscard]] bool note(std::uint32_t connection, const SocketAddress& from) {
    const auto known = addresses_.find(connection);
    if (known != addresses_.end()) return known->second == from;
    if (addresses_.size() >= most_) return false;
    addresses_.emplace(connection, from);
    return true;
  }

  /// Returns the address of a connection, or null.
  [[nodiscard]] const SocketAddress* find(std::uint32_t connection) const {
    const auto known = addresses_.find(connection);
    return known == addresses_.end() ? nullptr : &known->second;
  }

  /// Forgets all numbers that no peer of ENet has. Call it regularly, while no request waits for ENet.
  void prune(const ENetHost& host) {
    if (addresses_.size() <= host.peerCount) return;
    std::unordered_map<std::uint32_t, SocketAddress> used;
    for (const ENetPeer* peer = host.peers; peer != host.peers + host.peerCount; ++peer) {
      if (peer->state == ENET_PEER_STATE_DISCONNECTED) continue;
      if (const auto known = addresses_.find(peer->connectID); known != addresses_.end()) used.insert(*known);
    }
    addresses_.swap(used);
  }

  [[nodiscard]] std::size_t size() const { return addresses_.size(); }

 private:
  std::size_t most_;
  std::unordered_map<std::uint32_t, SocketAddress> addresses_;
};

}  // namespace reckoner
