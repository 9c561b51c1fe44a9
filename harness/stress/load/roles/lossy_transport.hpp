// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/random.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::harness {

/// Drops received datagrams at random, as a bad link would. Losses are independent of each other.
class LossyTransport final : public ForwardingTransport {
 public:
  /// `share`: the share of the payloads to drop, 0 to 1.
  LossyTransport(Transport& inner, double share, std::uint64_t seed)
      : ForwardingTransport(inner), share_(share), random_(seed) {}

  std::optional<TransportEvent> poll() override {
    while (auto event = ForwardingTransport::poll()) {
      const bool may_be_lost = event->kind == TransportEvent::Kind::received;
      if (!may_be_lost || !random_.chance(share_)) return event;
    }
    return std::nullopt;
  }

 private:
  double share_;
  scenario::Random random_;
};

}  // namespace reckoner::harness
