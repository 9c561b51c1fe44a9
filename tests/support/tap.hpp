// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

/// A transport in front of another one. It observes received payloads, and can drop, delay or inject them.
class Tap final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  /// Called with every received event; false drops it.
  std::function<bool(const TransportEvent&)> filter;

  /// Called with every payload to be sent; true drops it.
  std::function<bool(std::span<const std::byte>)> drop_sent;

  /// Injects a payload that the next poll returns as if the other end had sent it.
  void inject_payload(PeerId peer, Bytes payload) { slipped_.push_back({peer, std::move(payload)}); }
  [[nodiscard]] bool has_injected() const { return !slipped_.empty(); }

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (!slipped_.empty()) {
      current_ = std::move(slipped_.front());
      slipped_.pop_front();
      return TransportEvent{TransportEvent::Kind::received, current_.peer, 0, current_.payload};
    }
    while (auto event = ForwardingTransport::poll()) {
      if (!filter || filter(*event)) return event;
    }
    return std::nullopt;
  }

  bool send(PeerId peer, std::span<const std::byte> payload) override {
    if (drop_sent && drop_sent(payload)) return true;
    return ForwardingTransport::send(peer, payload);
  }

 private:
  struct Injected {
    PeerId peer;
    Bytes payload;
  };

  std::deque<Injected> slipped_;
  Injected current_;
};

}  // namespace reckoner::test
