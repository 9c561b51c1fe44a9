// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::cluster {

/// How much of each sender waits for the game. A sender that writes more than the game reads fills its own
/// share only.
class WaitingMail {
 public:
  static constexpr std::size_t kMostOfClient = 1024;  ///< messages
  static constexpr std::size_t kMostBytesOfClient = 256 * 1024;
  static constexpr std::size_t kMostBytesOfGateway = 16 * 1024 * 1024;  ///< all of its clients together

  /// Adds a message if there is room.
  [[nodiscard]] bool add(const ClusterClient& client, std::size_t bytes) {
    const auto found = clients_.find(client);
    const Share of_client = found != clients_.end() ? found->second : Share{};
    const auto at = gateways_.find(client.gateway);
    const std::size_t of_gateway = at != gateways_.end() ? at->second : 0;
    if (of_client.messages >= kMostOfClient || of_client.bytes + bytes > kMostBytesOfClient ||
        of_gateway + bytes > kMostBytesOfGateway)
      return false;
    clients_[client] = {of_client.messages + 1, of_client.bytes + bytes};
    gateways_[client.gateway] = of_gateway + bytes;
    return true;
  }
  /// The game has read the message, or nobody will.
  void remove(const ClusterClient& client, std::size_t bytes) {
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    found->second.bytes -= bytes;
    if (--found->second.messages == 0) clients_.erase(found);
    const auto at = gateways_.find(client.gateway);
    at->second -= bytes;
    if (at->second == 0) gateways_.erase(at);
  }

 private:
  struct Share {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };
  std::map<ClusterClient, Share> clients_;
  std::map<ProcessId, std::size_t> gateways_;  // bytes
};

}  // namespace reckoner::cluster
