// SPDX-License-Identifier: MIT
#pragma once

#include "choices.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <reckoner/net/transport.hpp>

namespace reckoner::fuzz {

/// One end of connections in memory. Sent payloads go to `outgoing`. The test pushes the payloads that this
/// end receives.
class PipeEnd final : public Transport {
 public:
  using Outgoing = std::function<void(PeerId, Bytes)>;
  explicit PipeEnd(Outgoing outgoing) : outgoing_(std::move(outgoing)) {}

  void push(TransportEvent::Kind kind, PeerId peer, Bytes payload = {}) {
    waiting_.push_back({kind, peer, std::move(payload)});
  }
  /// Peers that this end disconnected.
  std::vector<PeerId> ended;

  void service(double /*now_s*/) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (waiting_.empty()) return std::nullopt;
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    return TransportEvent{current_.kind, current_.peer, 0, current_.payload};
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    if (payload.size() > kMaxDatagramBytes) return false;
    outgoing_(peer, Bytes(payload.begin(), payload.end()));
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId /*peer*/) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId peer, std::uint32_t /*reason*/) override { ended.push_back(peer); }
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  struct Waiting {
    TransportEvent::Kind kind = TransportEvent::Kind::received;
    PeerId peer;
    Bytes payload;
  };

  Outgoing outgoing_;
  std::deque<Waiting> waiting_;
  Waiting current_;
  TransportStats stats_;
};

}  // namespace reckoner::fuzz
