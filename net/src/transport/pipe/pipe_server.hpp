// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::pipe {

/// Identifies a stream, for example one WebSocket. The owner of the streams chooses the numbers.
using StreamId = std::uint64_t;

/// The answer to a client that wants to join: why it is refused, or who it is.
struct Admission {
  /// Admits a client of which nothing is known, or refuses it.
  Admission(std::optional<Refusal> why) : refusal(why) {}
  /// Admits a client with a token. `seat`: see PipeServer::end_seat().
  Admission(const PeerLogin& from_token, std::uint32_t at_seat) : login(from_token), seat(at_seat) {}

  std::optional<Refusal> refusal{};
  PeerLogin login{};
  std::uint32_t seat = 0;
};

/// The streams that a PipeServer uses. They are not its own.
struct Streams {
  /// Queues a message on a stream. `may_drop`: on a slow stream, drop the message rather than let the queue
  /// grow. Returns false if the message was dropped.
  std::function<bool(StreamId stream, std::span<const std::byte> message, bool may_drop)> send;
  /// Closes a stream after its queued messages are sent. closed() may follow, and is then ignored.
  std::function<void(StreamId stream)> close;
  /// Decides about a client. `token` is empty if the client presents none.
  std::function<Admission(std::span<const std::byte> token, double now_s)> admit;
  /// True if the login of an admitted client was revoked. Empty: never.
  std::function<bool(const PeerLogin& login)> is_revoked{};
};

struct PipeServerConfig {
  std::size_t max_peers = 16;          ///< streams at once, with those that have not joined yet
  std::size_t max_peers_per_host = 4;  ///< streams at once from one IPv4 address or IPv6 /64
  double join_s = 5.0;                 ///< a stream that has not joined after this time is closed, s
  TransportLimits limits{};            ///< of a peer's traffic; silence_s closes a silent stream
};

/// The server's transport over streams of messages, the counterpart of PipeTransport. A peer connects when
/// its stream has presented a valid hello. Refuses and counts what a hostile client may send, and closes its
/// stream if it goes on. Reads no clock and knows no socket. Belongs to one thread at a time.
class PipeServer final : public Transport {
 public:
  PipeServer(PipeServerConfig config, Streams streams);

  /// A stream is open. `host` is the address of its other end. Returns false if there are too many: the
  /// caller closes the stream.
  bool opened(StreamId stream, const IpAddress& host, double now_s);
  /// A whole message has arrived on a stream, `waited_s` before now_s.
  void received(StreamId stream, std::span<const std::byte> message, double now_s, double waited_s = 0.0);
  /// Counts something that the owner of the streams has refused.
  void refused(Refusal why) { stats_.refuse(why); }
  /// A stream has ended.
  void closed(StreamId stream);

  /// Ends the peer that was admitted with this number, and tells it and the server `reason`. Nothing happens
  /// if there is no such peer.
  void end_seat(std::uint32_t seat, std::uint32_t reason);

  /// Sends a status text to every peer, at most kMaxStatusBytes. Slow peers may miss it. A peer that joins
  /// later gets the newest text at once.
  void send_status(std::string_view text);

  [[nodiscard]] std::size_t peers() const { return table_.size(); }

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override { return events_.pop(); }
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId) const override { return kMaxStateBytes; }
  [[nodiscard]] bool is_ordered(PeerId) const override { return true; }
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  struct Peer {
    StreamId stream = 0;
    IpAddress host;
    PeerLogin login;
    std::uint32_t seat = 0;
    bool joined = false;
    double opened_s = 0.0;
    double heard_s = 0.0;
    std::size_t refused = 0;
    TrafficMeter traffic;
  };

  void handle(PeerId id, Peer& peer, const Message& message, double now_s, double waited_s);
  void refuse(Peer& peer, Refusal why);
  bool put(const Peer& peer, const Message& message, bool may_drop);
  void end(PeerId id, std::uint32_t reason, bool tell, std::uint32_t reported = 0);

  PipeServerConfig config_;
  Streams streams_;
  PeerTable<Peer> table_;
  std::unordered_map<StreamId, PeerId> ids_;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_host_;
  TrafficLimit traffic_;
  EventQueue events_;
  TransportStats stats_;
  std::vector<std::byte> buffer_;
  std::vector<PeerId> late_;
  std::string status_;
};

}  // namespace reckoner::pipe
