// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/sim_transport.hpp"
#include "harness/sim/wire_size.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace reckoner::harness {

using Bytes = std::vector<std::byte>;

// The kinds of packets that always arrive. A message that needs several packets ends with `last_part`.
enum class Piece : std::uint8_t { connect, verify, part, last_part, disconnect };

struct Reliable {
  Piece piece = Piece::last_part;
  Bytes payload;
  std::uint32_t reason = 0;
  std::size_t wire_bytes = 0;
  double first_sent_s = 0.0;
  double sent_s = 0.0;  // when this copy was sent; the acknowledgement contains this time
  double timeout_s = 0.0;
};

// One direction of a connection.
struct Flow {
  Flow(const LinkOptions& options, std::uint64_t seed) : link(options, seed) {}
  Link link;
  std::uint32_t next_sent = 0;
  std::map<std::uint32_t, Reliable> unacknowledged;
  double last_acknowledged_s = 0.0;
  double round_trip_s = 0.0;  // smoothed round trip of reliable packets; 0 before the first acknowledgement
  double deviation_s = 0.0;
  std::uint32_t next_wanted = 0;
  // Packets that arrived before packets with lower sequence numbers.
  std::map<std::uint32_t, Reliable> out_of_order;
  Bytes message;  // the parts received so far of an incomplete message
};

struct ScheduledEvent {
  enum class Kind : std::uint8_t { state, reliable, acknowledge, timeout, goodbye, check_silence };
  double time_s = 0.0;
  std::uint64_t serial = 0;  // orders events with equal times: the smaller number comes first
  Kind kind = Kind::state;
  std::size_t connection = 0;
  // Direction of the reliable packet. Its acknowledgement travels in the opposite direction.
  bool down = true;
  std::uint32_t sequence = 0;  // sequence number of a reliable packet
  Reliable piece;              // also contains the payload of a state datagram

  bool operator>(const ScheduledEvent& other) const {
    return time_s != other.time_s ? time_s > other.time_s : serial > other.serial;
  }
};

struct InboxEvent {
  TransportEvent event;
  Bytes payload;
  double arrived_s = 0.0;
};

// Returns a different seed for every direction of every connection. The factor is the increment of
// SplitMix64.
inline std::uint64_t link_seed(std::uint64_t seed, std::size_t connection, bool down) {
  return seed + 0x9E3779B97F4A7C15ull * (2 * connection + (down ? 1 : 0));
}

struct SimNetwork::Impl {
  class End;
  struct Connection {
    Connection(const LinkPair& links, std::uint64_t seed, std::size_t index)
        : up(links.up, link_seed(seed, index, false)), down(links.down, link_seed(seed, index, true)) {}
    Flow up;
    Flow down;
    bool follows_script = false;  // true: the link script changes the links of this connection
    bool client_open = false;
    bool server_open = false;
    bool closed = false;           // true: closed for ever; a connection never opens again
    bool client_notified = false;  // true: the client's end has reported the disconnect
    // True: the server's end has reported the disconnect, or has not opened yet.
    bool server_notified = true;
    bool client_dropped = false;
    bool server_stopped = false;
    double client_received_s = 0.0;
    double server_received_s = 0.0;
    std::uint32_t connect_reason = 0;
    std::unique_ptr<End> client;
    // True if the sender in this direction no longer exists.
    bool sender_gone(bool is_down) const { return is_down ? server_stopped : client_dropped; }
    Flow& flow(bool is_down) { return is_down ? down : up; }
    // True if the sender in this direction may send.
    bool open(bool is_down) const { return is_down ? server_open : client_open; }
  };

  explicit Impl(SimNetworkConfig given);

  void advance(double to_s);
  void handle(ScheduledEvent& scheduled);
  void deliver(Connection& connection, std::size_t index, bool down, Reliable& piece);
  void acknowledged(Connection& connection, std::size_t index, bool down, const Reliable& piece);
  static void measure(Flow& flow, double round_trip_s);
  void check_silence(Connection& connection, const ScheduledEvent& scheduled);
  void timed_out(Connection& connection, const ScheduledEvent& scheduled);
  void shorten_oldest_timeout(Flow& flow, std::size_t index, bool down);
  // Schedules the timeout of a reliable packet.
  void schedule_timeout(std::size_t index, bool down, std::uint32_t sequence, const Reliable& piece);
  void open_server_side(Connection& connection, std::size_t index);
  void close(Connection& connection, std::size_t index);
  void close_side(Connection& connection, std::size_t index, bool client_side, std::uint32_t reason);

  bool send(std::size_t index, bool down, std::span<const std::byte> payload);
  bool send_message(std::size_t index, bool down, std::span<const std::byte> message);
  void send_reliable(std::size_t index, bool down, Reliable piece);
  void transmit(ScheduledEvent scheduled, std::size_t payload_bytes, std::size_t wire_bytes);
  void push(ScheduledEvent scheduled);
  [[nodiscard]] ScheduledEvent pop_next();
  [[nodiscard]] double retransmit_after_s(const Flow& flow) const;
  [[nodiscard]] double first_timeout_s(const Flow& flow, const Reliable& piece) const;
  [[nodiscard]] End& receiver(Connection& connection, bool down);

  SimNetworkConfig config;
  double now_s;
  bool server_up = true;
  std::uint64_t serial = 0;
  std::vector<ScheduledEvent> queue;  // a heap with the earliest event on top
  std::vector<std::unique_ptr<Connection>> connections;
  std::unique_ptr<End> server;
  std::vector<PacketRecord> packets;
};

// The transport of the server or of one client. At a client, the only peer is the server and has the id 1. At
// the server, the id of a peer is the index of its connection plus one.
class SimNetwork::Impl::End final : public Transport {
 public:
  End(Impl& network, bool is_server, std::size_t connection)
      : network_(network), is_server_(is_server), connection_(connection) {}

  void service(double) override {}

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (inbox_.empty()) return std::nullopt;
    current_ = std::move(inbox_.front());
    inbox_.pop_front();
    current_.event.payload = current_.payload;
    if (network_.config.arrival_times && current_.event.kind == TransportEvent::Kind::received)
      current_.event.waited_s = network_.now_s - current_.arrived_s;
    return current_.event;
  }

  bool send(PeerId peer, std::span<const std::byte> payload) override {
    const auto connection = index(peer);
    const bool sent =
        connection && payload.size() <= kMaxDatagramBytes && network_.send(*connection, is_server_, payload);
    return note(sent, payload.size());
  }

  // See SimNetwork::send_message().
  bool send_message(std::size_t connection, std::span<const std::byte> message) {
    const bool sent =
        message.size() <= kMaxMessageBytes && network_.send_message(connection, is_server_, message);
    return note(sent, message.size());
  }

  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }

  void disconnect(PeerId peer, std::uint32_t reason) override {
    const auto connection = index(peer);
    if (!connection || !network_.connections[*connection]) return;
    if (!network_.connections[*connection]->open(is_server_)) return;
    Connection& ending = *network_.connections[*connection];
    (is_server_ ? ending.server_open : ending.client_open) = false;
    network_.send_reliable(*connection, is_server_,
                           {Piece::disconnect, {}, reason, kDisconnectBytes, 0.0, 0.0});
  }

  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

  void count_sent(std::size_t wire_bytes) {
    ++stats_.datagrams_sent;
    stats_.wire_bytes_sent += wire_bytes;
  }
  void count_received(std::size_t wire_bytes) {
    ++stats_.datagrams_received;
    stats_.wire_bytes_received += wire_bytes;
  }
  void queue_event(TransportEvent::Kind kind, std::size_t connection, std::uint32_t reason, Bytes payload) {
    stats_.payload_bytes_received += payload.size();
    const PeerId peer{is_server_ ? static_cast<std::uint32_t>(connection + 1) : 1u};
    inbox_.push_back({{kind, peer, reason, {}}, std::move(payload), network_.now_s});
  }
  [[nodiscard]] bool has_events() const { return !inbox_.empty(); }
  void forget_events() { inbox_.clear(); }

 private:
  // Counts a payload that was sent or refused.
  bool note(bool sent, std::size_t bytes) {
    if (sent) {
      stats_.payload_bytes_sent += bytes;
    } else {
      ++stats_.refused;
    }
    return sent;
  }
  [[nodiscard]] std::optional<std::size_t> index(PeerId peer) const {
    if (!is_server_) return peer.value == 1 ? std::optional(connection_) : std::nullopt;
    if (peer.value == 0 || peer.value > network_.connections.size()) return std::nullopt;
    return peer.value - 1;
  }

  Impl& network_;
  bool is_server_;
  std::size_t connection_;
  std::deque<InboxEvent> inbox_;
  InboxEvent current_;
  TransportStats stats_;
};

}  // namespace reckoner::harness
