// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/message_codec.hpp"
#include "net/src/secure/guard.hpp"
#include "net/src/transport/enet/datagram_batch.hpp"
#include "net/src/transport/enet/enet_filter.hpp"
#include "net/src/transport/enet/enet_limits.hpp"
#include "net/src/transport/enet/enet_liveness.hpp"
#include "net/src/transport/enet/enet_wait.hpp"
#include "net/src/transport/enet/handles.hpp"
#include "net/src/transport/enet/held_packets.hpp"
#include "net/src/transport/enet/list_work.hpp"
#include "net/src/transport/enet/shared_library_start.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/touched_peers.hpp"
#include "net/src/transport/traffic_limit.hpp"
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

/// ENet, with the allocator that set_enet_allocator() chose.
[[nodiscard]] int start_enet();
using EnetRuntime = SharedLibraryStart<&start_enet, &enet_deinitialize>;

/// As a log and a gate have it: in the machine's byte order.
inline ServerAddress machine_order(const ENetAddress& address) {
  return {ENET_NET_TO_HOST_32(address.host), address.port};
}

/// As ENet has it.
inline ENetAddress enet_order(const ServerAddress& address) {
  return {ENET_HOST_TO_NET_32(address.host), address.port};
}

/// What an EnetTransport is made of. Its functions are in enet_transport.cpp (the public side), pump.cpp
/// (ENet's passes and what leaves), arrivals.cpp (what comes) and sealed.cpp (what is sealed and opened).
struct EnetTransport::Impl {
  /// ENet hands the event back to the filter, which finds the transport through it.
  struct Pump {
    ENetEvent event{};  // first, so that its address is the pump's
    Impl* self = nullptr;
  };
  struct Connection {
    ENetPeer* peer = nullptr;
    Liveness liveness;
    std::uint32_t closing_reason = 0;
    std::size_t backlog = 0;           ///< control bytes that are not acknowledged
    HeldPackets held;                  ///< of those; count themselves off in the backlog
    std::uint32_t session = 0;         ///< that it stands on, if there is a guard
    secure::Sealer* sealer = nullptr;  ///< the session's
    TrafficMeter traffic;              ///< without a guard, which counts by session
    ListWork work;                     ///< that it makes ENet do
    bool waiting_full = false;         ///< at the last look: it has as much waiting as it may
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

  bool turn();
  void release_held();
  bool pump();
  [[nodiscard]] bool more_behind_empty();
  void post(Connection& connection, std::span<const std::byte> payload);
  void flush_batch();
  void hold_throttle_open();
  void take(ENetEvent& event);
  void take_connected(ENetPeer* peer, std::uint32_t reason);
  void take_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload);
  [[nodiscard]] bool take_state(std::span<const std::byte> datagram);
  void end_replaced();
  void drop_silent(double now_s);
  void end(PeerId id, std::uint32_t reason);
  void give_up(PeerId id);
  [[nodiscard]] bool stuck(Connection& connection) const;
  void count_wire();
  PeerId add(ENetPeer* peer, bool connecting) {
    const PeerId id = connections.add({peer, Liveness(steady_seconds(), connecting, limit.silence_s)});
    peer->data = reinterpret_cast<void*>(std::uintptr_t{id.value});
    return id;
  }
  /// As many events wait to be polled as may.
  [[nodiscard]] bool full() const {
    return events.size() >= limit.waiting_events || events.bytes() >= limit.waiting_event_bytes;
  }
  static PeerId id_of(const ENetPeer* peer) {
    return PeerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(peer->data))};
  }
  void push(TransportEvent::Kind kind, PeerId id, std::uint32_t reason) {
    events.push(TransportEvent{.kind = kind, .peer = id, .reason = reason});
  }
  /// Below ENet's fragment size, so that a payload is never turned into (reliable) fragments.
  std::size_t max_state_bytes(const ENetPeer* peer) const {
    if (guard) return kMaxStateBytes;  // never ENet's to fragment
    return std::min<std::size_t>(kMaxStateBytes, peer->mtu - kFragmentHeaders);
  }
  void guard_with(secure::Guard&& given);
  void knock();
  void send_raw(const ENetAddress& to, std::span<const std::byte> datagram);
  void seal_leaving();
  [[nodiscard]] int take_sealed(std::span<const std::byte> datagram);
  [[nodiscard]] std::optional<Refusal> let_pass(const secure::Guard::Arrival& arrival);
  [[nodiscard]] std::optional<Refusal> take_opened(const secure::Guard::Arrival& arrival, std::size_t bytes);
  void send_to_session(const secure::Gate::Session& session);
  [[nodiscard]] std::optional<Refusal> beyond_share(Connection* connection, std::size_t bytes);
  [[nodiscard]] std::optional<Refusal> beyond_work(Connection* connection,
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
  PeerTable<Connection> connections;    // as many at most as ENet has peers; backlogs are pointed to
  TouchedPeers touched;                 // since hold_throttle_open()
  double looked_s = -1e9;               // when drop_silent() last looked
  bool screened = false;                // by the system: what ENet cannot take does not arrive
  std::vector<PeerId> holding;          // with packets held
  bool unsent = false;                  // something waits for the next pass
  DatagramBatch batch;                  // state payloads that wait for it
  std::optional<secure::Guard> guard;   // none: nothing is sealed
  std::optional<enet_uint32> knocking;  // a client that is not let in yet: what it will give as its reason
  std::array<std::byte, secure::Guard::kLargest> scratch;
  EventQueue events;
  TransportStats stats;
  WireCounter sent, received;
};

}  // namespace reckoner
