// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"
#include "net/src/secure/guard.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/enet/liveness.hpp"
#include "net/src/transport/enet/reliable_sending.hpp"
#include "net/src/transport/enet/search_cost_limit.hpp"
#include "net/src/transport/enet/socket/datagram_batch.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/limits/touched_peers.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/transport/transport_log.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {

namespace limits = enet_limits;

inline constexpr std::size_t kChannels = 2;
inline constexpr std::size_t kFragmentHeaders = sizeof(ENetProtocolHeader) + sizeof(ENetProtocolSendFragment);
static_assert(limits::kMtu >= kMaxStateBytes + kFragmentHeaders);

/// Starts ENet with the allocator from set_enet_allocator(). Returns 0 on success.
[[nodiscard]] int start_enet();
using EnetRuntime = SharedLibraryStart<&start_enet, &enet_deinitialize>;

/// Converts ENet's form of an address to the machine's byte order, which log and gate use.
inline ServerAddress machine_order(const ENetAddress& address) {
  return {ENET_NET_TO_HOST_32(address.host), address.port};
}

/// Converts an address in the machine's byte order to ENet's form.
inline ENetAddress enet_order(const ServerAddress& address) {
  return {ENET_HOST_TO_NET_32(address.host), address.port};
}

/// The state of an EnetTransport. Its functions are in enet_transport.cpp (the public interface),
/// service.cpp (passes of ENet, sending, silent peers) and datagrams.cpp (receiving, sealing and opening).
struct EnetTransport::Impl {
  /// ENet passes the event on to filter(), which finds the transport through it.
  struct Pump {
    ENetEvent event{};  // first, so that both have the same address
    Impl* self = nullptr;
  };
  struct Connection {
    ENetPeer* peer = nullptr;
    Liveness liveness;
    std::uint32_t closing_reason = 0;
    std::size_t backlog = 0;           ///< unacknowledged control bytes, including those in `reliable`
    ReliableSendQueue reliable;        ///< when a packet is destroyed, it subtracts its bytes from `backlog`
    std::uint32_t session = 0;         ///< the number of its session; 0 without a guard
    secure::Sealer* sealer = nullptr;  ///< of its session; null without a guard
    TrafficMeter traffic;              ///< only without a guard, which counts for each session
    SearchCostLimit search_cost;       ///< the search that the peer causes in ENet
    bool waiting_full = false;         ///< at the last check, TransportLimits::waiting_bytes were waiting
  };

  [[nodiscard]] static Result<std::unique_ptr<Impl>> open(const ENetAddress* address, std::size_t peers,
                                                          const std::string& host_name, const Shard& shard,
                                                          const TransportLimits& limit, const LogSink& log);
  Impl(std::size_t peers, const Shard& shard, const TransportLimits& given, const LogSink& sink)
      : log(sink),
        limit(given),
        traffic(given),
        connections(peers, shard.number, shard.bits),
        touched(peers) {}
  ~Impl();

  bool run_passes();
  void release_queued();
  bool pump();
  [[nodiscard]] bool more_behind_empty();
  void post(Connection& connection, std::span<const std::byte> payload);
  void flush_batch();
  void hold_throttle_open();
  void handle(ENetEvent& event);
  void handle_connected(ENetPeer* peer, std::uint32_t reason);
  void handle_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload,
                     double waited_s = 0.0);
  [[nodiscard]] double waited_s() const;
  bool sleep(double seconds) const;
  [[nodiscard]] bool receive_state(std::span<const std::byte> datagram);
  void end_replaced();
  void end_refused();
  void disconnect_silent(double now_s);
  void end(PeerId id, std::uint32_t reason);
  void give_up(PeerId id);
  [[nodiscard]] bool stuck(Connection& connection) const;
  void count_wire();
  PeerId add(ENetPeer* peer, bool connecting) {
    const PeerId id = connections.add({peer, Liveness(steady_seconds(), connecting, limit.silence_s)});
    peer->data = reinterpret_cast<void*>(std::uintptr_t{id.value});
    return id;
  }
  /// True if the event queue has reached one of its limits.
  [[nodiscard]] bool full() const {
    return events.size() >= limit.waiting_events || events.bytes() >= limit.waiting_event_bytes;
  }
  static PeerId id_of(const ENetPeer* peer) {
    return PeerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(peer->data))};
  }
  void push(TransportEvent::Kind kind, PeerId id, std::uint32_t reason) {
    events.push(TransportEvent{.kind = kind, .peer = id, .reason = reason});
  }
  /// Largest state payload for this peer, in bytes. ENet would turn a larger one into reliable fragments.
  std::size_t max_state_bytes(const ENetPeer* peer) const {
    if (guard) return kMaxStateBytes;  // sealed state payloads bypass ENet
    return std::min<std::size_t>(kMaxStateBytes, peer->mtu - kFragmentHeaders);
  }
  void set_guard(secure::Guard&& given);
  void connect_admitted();
  void send_raw(const ENetAddress& to, std::span<const std::byte> datagram);
  void send_answer(const ENetAddress& to, std::span<const std::byte> datagram);
  void seal_outgoing();
  [[nodiscard]] int receive_sealed(std::span<const std::byte> datagram);
  [[nodiscard]] std::optional<Refusal> check_arrival(const secure::Guard::Arrival& arrival);
  [[nodiscard]] std::optional<Refusal> receive_opened(const secure::Guard::Arrival& arrival,
                                                      std::size_t bytes);
  void send_to_session(const secure::Gate::Session& session);
  [[nodiscard]] std::optional<Refusal> exceeds_traffic(Connection* connection, std::size_t bytes);
  [[nodiscard]] std::optional<Refusal> exceeds_search_cost(Connection* connection,
                                                           std::span<const std::byte> datagram);
  [[nodiscard]] Connection* sender_of(std::span<const std::byte> datagram);
  static int ENET_CALLBACK filter(ENetHost* host, ENetEvent* event);
  static enet_uint32 ENET_CALLBACK seal_hook(const ENetBuffer* buffers, std::size_t count);
  static void release_backlog(ENetPacket* packet) {
    *static_cast<std::size_t*>(packet->userData) -= packet->dataLength;
  }

  EnetRuntime runtime;
  TransportLog log;
  HostPtr host;
  enet_filter::Role role = enet_filter::Role::server;
  TransportLimits limit;
  TrafficLimit traffic;
  PeerTable<Connection> connections;     // at most as many as ENet has peers; packets point to `backlog`
  TouchedPeers touched;                  // since the last hold_throttle_open()
  double silence_checked_s = -1e9;       // time of the last disconnect_silent()
  bool filtered = false;                 // the system drops the datagrams that ENet cannot handle
  std::vector<PeerId> peers_with_queue;  // peers with packets in their send queue
  bool unsent = false;                   // data waits for the next pass
  DatagramBatch batch;                   // datagrams that wait until it is full, or for a pass
  std::optional<secure::Guard> guard;    // none: nothing is sealed
  std::optional<enet_uint32> pending_connect;  // connect reason of a client that is not admitted yet
  std::array<std::byte, secure::Guard::kLargest> scratch;
  EventQueue events;
  TransportStats stats;
  WireCounter sent, received;
};

}  // namespace reckoner
