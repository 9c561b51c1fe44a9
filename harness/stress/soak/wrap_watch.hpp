// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/sim_dialer.hpp"
#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::harness {

/// Counts how often a 16-bit counter has wrapped, from samples of its value.
class WrapCount {
 public:
  void note(std::uint16_t low) {
    position_ = newest_ ? position_ + sequence_distance(low, *newest_) : 0;
    newest_ = low;
    most_ = std::max(most_, position_);
  }
  /// The counter starts again at 0. wraps() keeps the larger result of the periods before and after.
  void restart() { newest_.reset(); }
  [[nodiscard]] std::int64_t wraps() const { return most_ >> 16; }

 private:
  std::optional<std::uint16_t> newest_;
  std::int64_t position_ = 0, most_ = 0;
};

/// The 16-bit counters between a client and its server in one session.
struct Wraps {
  WrapCount server_datagrams, ticks, client_datagrams, reliable_messages;

  void restart() {
    for (WrapCount* count : {&server_datagrams, &ticks, &client_datagrams, &reliable_messages})
      count->restart();
  }
  void note_received(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    if (reader.failed()) return;
    server_datagrams.note(header.sequence);
    ticks.note(header.tick);
  }
  void note_sent(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const auto datagram = read_client_datagram(reader);
    if (!datagram) return;
    client_datagrams.note(datagram->sequence);
    reliable_messages.note(datagram->processed);
  }
  [[nodiscard]] std::int64_t least() const {
    return std::min(
        {server_datagrams.wraps(), ticks.wraps(), client_datagrams.wraps(), reliable_messages.wraps()});
  }
  [[nodiscard]] nlohmann::ordered_json json() const {
    return {{"server's datagrams", server_datagrams.wraps()},
            {"ticks", ticks.wraps()},
            {"client's datagrams", client_datagrams.wraps()},
            {"reliable messages", reliable_messages.wraps()}};
  }
};

/// Observes the counters in all datagrams that pass through.
class WrapWatch final : public ForwardingTransport {
 public:
  WrapWatch(Transport& inner, Wraps& wraps) : ForwardingTransport(inner), wraps_(wraps) {}

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    auto event = ForwardingTransport::poll();
    if (event && event->kind == TransportEvent::Kind::received) wraps_.note_received(event->payload);
    return event;
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    wraps_.note_sent(payload);
    return ForwardingTransport::send(peer, payload);
  }

 private:
  Wraps& wraps_;
};

/// Observes all connections of a client, one after the other.
class WatchedDialer final : public Dialer {
 public:
  WatchedDialer(SimNetwork& network, std::uint32_t reason, std::uint64_t seed)
      : inner_(network, reason, seed) {}

  [[nodiscard]] Result<Transport*> dial() override {
    auto dialed = inner_.dial();
    if (!dialed) return dialed;
    return &watch_.emplace(**dialed, wraps);
  }
  bool try_next_server() override { return inner_.try_next_server(); }
  [[nodiscard]] double random_fraction() override { return inner_.random_fraction(); }
  [[nodiscard]] std::optional<std::size_t> client() const { return inner_.client(); }

  Wraps wraps;

 private:
  SimDialer inner_;
  std::optional<WrapWatch> watch_;
};

}  // namespace reckoner::harness
