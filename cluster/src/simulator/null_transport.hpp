// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/transport.hpp>

namespace reckoner::cluster {

/// The transport of a server without clients.
class NullTransport : public Transport {
 public:
  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, std::span<const std::byte>) override { return false; }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
};

}  // namespace reckoner::cluster
