// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Forwards every call to another transport. That transport must exist longer than this object. Derive a
/// class from ForwardingTransport to observe, record or disturb a connection. Override the functions that you
/// want to change, and call the function of the base class to forward a call.
class ForwardingTransport : public Transport {
 public:
  /// Creates a transport that forwards all calls to `inner`.
  explicit ForwardingTransport(Transport& inner) : inner_(inner) {}

  void service(double now_s) override { inner_.service(now_s); }
  [[nodiscard]] std::optional<TransportEvent> poll() override { return inner_.poll(); }
  bool send(PeerId peer, std::span<const std::byte> payload) override { return inner_.send(peer, payload); }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override {
    return inner_.max_datagram_bytes(peer);
  }
  [[nodiscard]] bool is_ordered(PeerId peer) const override { return inner_.is_ordered(peer); }
  void disconnect(PeerId peer, std::uint32_t reason) override { inner_.disconnect(peer, reason); }
  [[nodiscard]] PeerLogin login(PeerId peer) const override { return inner_.login(peer); }
  void revoke_login(const PeerLogin& login) override { inner_.revoke_login(login); }
  [[nodiscard]] std::string problem() const override { return inner_.problem(); }
  [[nodiscard]] const TransportStats& stats() const override { return inner_.stats(); }

 private:
  Transport& inner_;
};

}  // namespace reckoner
