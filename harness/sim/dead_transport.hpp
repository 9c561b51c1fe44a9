// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// A transport for a client whose server never answers. It reports a disconnect five seconds after the first
/// service(), as NetworkTransport does.
class DeadTransport final : public Transport {
 public:
  void service(double now_s) override {
    if (!end_s_) end_s_ = now_s + 5.0;
    now_s_ = now_s;
  }
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (reported_ || !end_s_ || now_s_ < *end_s_) return std::nullopt;
    reported_ = true;
    return TransportEvent{.kind = TransportEvent::Kind::disconnected, .peer = PeerId{1}};
  }
  bool send(PeerId, std::span<const std::byte>) override { return false; }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return 0; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
  std::optional<double> end_s_;
  double now_s_ = 0.0;
  bool reported_ = false;
};

}  // namespace reckoner::harness
