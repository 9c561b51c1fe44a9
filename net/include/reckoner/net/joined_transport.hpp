// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Makes one transport of two, so that one Server serves the clients of both, for example a NetworkTransport
/// for UDP and a PipeServer for WebSockets. Both must outlive this object. Belongs to one thread at a time,
/// with both transports.
///
/// Peers of the second transport have the highest bit of their ids set. A peer of the first one whose id has
/// this bit is disconnected at once. The transports of this library count their ids up, so it is the 2^31st.
class JoinedTransport final : public Transport {
 public:
  /// Joins `first` and `second`.
  JoinedTransport(Transport& first, Transport& second) : first_(first), second_(second) {}

  /// True if a peer of this transport, for example Server::peer(), belongs to the second transport.
  [[nodiscard]] static bool is_of_second(PeerId peer) { return (peer.value & kSecond) != 0; }
  /// Returns the id that a peer of this transport has in its own transport.
  [[nodiscard]] static PeerId own_id(PeerId peer) { return PeerId{peer.value & ~kSecond}; }

  void service(double now_s) override {
    first_.service(now_s);
    second_.service(now_s);
  }
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    while (auto event = first_.poll()) {
      if (!is_of_second(event->peer)) return event;
      if (event->kind == TransportEvent::Kind::connected) first_.disconnect(event->peer, 0);
    }
    auto event = second_.poll();
    if (event) event->peer.value |= kSecond;
    return event;
  }
  bool send(PeerId peer, std::span<const std::byte> datagram) override {
    return owner(peer).send(own_id(peer), datagram);
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override {
    return owner(peer).max_datagram_bytes(own_id(peer));
  }
  [[nodiscard]] bool is_ordered(PeerId peer) const override { return owner(peer).is_ordered(own_id(peer)); }
  void disconnect(PeerId peer, std::uint32_t reason) override {
    owner(peer).disconnect(own_id(peer), reason);
  }
  [[nodiscard]] PeerLogin login(PeerId peer) const override { return owner(peer).login(own_id(peer)); }
  /// Makes the login invalid in both transports, because its player may come back by either.
  void revoke_login(const PeerLogin& login) override {
    first_.revoke_login(login);
    second_.revoke_login(login);
  }
  /// Returns the sums of both transports' counters.
  [[nodiscard]] const TransportStats& stats() const override {
    stats_ = first_.stats();
    stats_ += second_.stats();
    return stats_;
  }

 private:
  static constexpr std::uint32_t kSecond = 0x80000000u;

  [[nodiscard]] Transport& owner(PeerId peer) const { return is_of_second(peer) ? second_ : first_; }

  Transport& first_;
  Transport& second_;
  mutable TransportStats stats_;
};

}  // namespace reckoner
