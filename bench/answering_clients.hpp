// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// A transport to simulated clients that only join and acknowledge. Each client sends an acknowledgement
/// every kTicksPerAck ticks. A datagram is acknowledged no earlier than kRoundTripTicks after it was sent.
/// After the welcome, the server must not send them reliable messages. With this transport a benchmark
/// measures the server's own cost, without sockets.
class AnsweringClients final : public Transport {
 public:
  static constexpr std::uint32_t kRoundTripTicks = 6;
  static constexpr std::uint32_t kTicksPerAck = 3;

  AnsweringClients(std::size_t count, std::span<const Archetype> archetypes) : clients_(count) {
    for (std::uint32_t peer = 1; peer <= count; ++peer) {
      push({TransportEvent::Kind::connected, {peer}, 0, {}}, {});
      const JoinRequest request{.archetype_hash = archetype_hash(archetypes), .resume = {}};
      push_payload(peer, request_datagram(request));
    }
  }

  /// Call this once per tick. Acknowledges the datagrams that the server sent kRoundTripTicks ago or earlier.
  void answer() {
    ++tick_;
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
      Client& client = clients_[i];
      while (!client.arrived.empty() && client.arrived.front().tick + kRoundTripTicks <= tick_) {
        const Sequence sequence = client.arrived.front().sequence;
        if (client.window.note(sequence)) client.window.want(sequence);
        client.arrived.pop_front();
      }
      if (!client.window.any() || (tick_ + i) % kTicksPerAck != 0) continue;
      ClientDatagram datagram;
      datagram.sequence = client.next++;
      datagram.ack = client.window.acknowledge();
      std::array<std::byte, kMaxPayload> buffer;
      BitWriter writer{buffer};
      write(writer, datagram);
      push_payload(i + 1, writer.finish());
    }
  }

  [[nodiscard]] std::uint64_t state_bytes() const { return state_bytes_; }

  void service(double) override {}
  std::optional<TransportEvent> poll() override {
    if (waiting_.empty()) return std::nullopt;
    current_ = waiting_.front();
    waiting_.pop_front();
    TransportEvent event = current_.event;
    event.payload = std::span{current_.bytes}.first(current_.size);
    return event;
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    Client& client = clients_[peer.value - 1];
    state_bytes_ += payload.size();
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    if (header.has_reliable && !header.control.answer)
      std::abort();  // the clients would have to count the messages in it
    client.arrived.push_back({header.sequence, tick_});
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  struct Arrived {
    Sequence sequence = 0;
    std::uint32_t tick = 0;
  };
  struct Client {
    ReceivedWindow window;
    std::deque<Arrived> arrived;
    Sequence next = 0;
  };
  // A join, or a datagram with the longest acknowledgement, is shorter.
  static constexpr std::size_t kMaxPayload = 256;

  struct Waiting {
    TransportEvent event;
    std::array<std::byte, kMaxPayload> bytes{};
    std::size_t size = 0;
  };

  void push(const TransportEvent& event, std::span<const std::byte> payload) {
    Waiting waiting{event, {}, payload.size()};
    std::copy(payload.begin(), payload.end(), waiting.bytes.begin());
    waiting_.push_back(waiting);
  }
  void push_payload(std::uint32_t peer, std::span<const std::byte> payload) {
    push({TransportEvent::Kind::received, {peer}, 0, {}}, payload);
  }

  std::vector<Client> clients_;
  std::deque<Waiting> waiting_;
  Waiting current_;
  std::uint32_t tick_ = 0;
  std::uint64_t state_bytes_ = 0;
  TransportStats stats_;
};

}  // namespace reckoner
