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

/// A transport in front of another: looks at what comes in, holds it back, or slips something in.
class Tap final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  /// Sees every event that comes in; false keeps it from going on.
  std::function<bool(const TransportEvent&)> filter;

  /// Sees every payload that is sent; true keeps it from going on.
  std::function<bool(Channel, std::span<const std::byte>)> drop_sent;

  /// A payload that comes in with the next poll, as if the other end had sent it.
  void slip_in(PeerId peer, Channel channel, Bytes payload) {
    slipped_.push_back({peer, channel, std::move(payload)});
  }
  [[nodiscard]] bool has_slipped_in() const { return !slipped_.empty(); }

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (!slipped_.empty()) {
      current_ = std::move(slipped_.front());
      slipped_.pop_front();
      return TransportEvent{TransportEvent::Kind::received, current_.peer, current_.channel, 0,
                            current_.payload};
    }
    while (auto event = ForwardingTransport::poll()) {
      if (!filter || filter(*event)) return event;
    }
    return std::nullopt;
  }

  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override {
    if (drop_sent && drop_sent(channel, payload)) return true;
    return ForwardingTransport::send(peer, channel, payload);
  }

 private:
  struct Slipped {
    PeerId peer;
    Channel channel = Channel::state;
    Bytes payload;
  };

  std::deque<Slipped> slipped_;
  Slipped current_;
};

}  // namespace reckoner::test
