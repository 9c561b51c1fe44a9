// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner::pipe {

/// Makes one transport of two, so that one server serves both kinds of clients. Peers of the second one have
/// the highest bit of their ids set. A peer of the first one whose id has this bit is disconnected at once;
/// ids count up, so it is the 2^31st. Both transports must outlive this object.
class JoinedTransport final : public Transport {
 public:
  JoinedTransport(Transport& first, Transport& second) : first_(first), second_(second) {}

  void service(double now_s) override {
    first_.service(now_s);
    second_.service(now_s);
  }
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    while (auto event = first_.poll()) {
      if ((event->peer.value & kSecond) == 0) return event;
      if (event->kind == TransportEvent::Kind::connected) first_.disconnect(event->peer, 0);
    }
    auto event = second_.poll();
    if (event) event->peer.value |= kSecond;
    return event;
  }
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override {
    return owner(peer).send(own(peer), channel, payload);
  }
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override {
    return owner(peer).max_state_bytes(own(peer));
  }
  [[nodiscard]] bool is_ordered(PeerId peer) const override { return owner(peer).is_ordered(own(peer)); }
  void disconnect(PeerId peer, std::uint32_t reason) override { owner(peer).disconnect(own(peer), reason); }
  [[nodiscard]] PeerLogin login(PeerId peer) const override { return owner(peer).login(own(peer)); }
  /// The player may have come by either of the two, or by both.
  void revoke_login(const PeerLogin& login) override {
    first_.revoke_login(login);
    second_.revoke_login(login);
  }
  [[nodiscard]] const TransportStats& stats() const override {
    stats_ = first_.stats();
    stats_ += second_.stats();
    return stats_;
  }

 private:
  static constexpr std::uint32_t kSecond = 0x80000000u;

  [[nodiscard]] Transport& owner(PeerId peer) const { return (peer.value & kSecond) != 0 ? second_ : first_; }
  [[nodiscard]] static PeerId own(PeerId peer) { return PeerId{peer.value & ~kSecond}; }

  Transport& first_;
  Transport& second_;
  mutable TransportStats stats_;
};

}  // namespace reckoner::pipe
