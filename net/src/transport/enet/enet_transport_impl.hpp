// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"
#include "net/src/secure/guard.hpp"
#include "net/src/transport/enet/connection_addresses.hpp"
#include "net/src/transport/enet/enet_inbox.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/enet/liveness.hpp"
#include "net/src/transport/enet/reliable_sending.hpp"
#include "net/src/transport/enet/search_cost_limit.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/limits/touched_peers.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/transport/socket/address_race.hpp"
#include "net/src/transport/socket/datagram_batch.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/host_lookup.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
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
    SocketAddress address{};  ///< where its datagrams come from; at a client: see server_address()
    std::uint32_t closing_reason = 0;
    std::size_t backlog = 0;           ///< unacknowledged control bytes, including those in `reliable`
    ReliableSendQueue reliable;        ///< when a packet is destroyed, it subtracts its bytes from `backlog`
    std::uint32_t session = 0;         ///< the number of its session; 0 without a guard
    secure::Sealer* sealer = nullptr;  ///< of its session; null without a guard
    TrafficMeter traffic;              ///< only without a guard, which counts for each session
    SearchCostLimit search_cost;       ///< the search that the peer causes in ENet
    bool waiting_full = false;         ///< at the last check, TransportLimits::waiting_bytes were waiting
  };

  [[nodiscard]] static Result<std::unique_ptr<Impl>> open(UdpSocket&& socket, enet_filter::Role role,
                                                          std::size_t peers, const Shard& shard,
                                                          const TransportLimits& limit, const LogSink& log);
  Impl(UdpSocket&& socket, enet_filter::Role given_role, std::size_t peers, const Shard& shard,
       const TransportLimits& given, const LogSink& sink)
      : log(sink),
        role(given_role),
        limit(given),
        traffic(given),
        net(std::move(socket)),
        intake(given_role == enet_filter::Role::server ? DatagramIntake::kMost : limits::kClientReads),
        connections(peers, shard.number, shard.bits),
        addresses(peers),
        touched(peers) {}
  ~Impl();

  bool run_passes();
  void release_queued();
  bool pump();
  [[nodiscard]] std::size_t read_datagrams();
  void arrive(const DatagramIntake::Datagram& datagram);
  void run_enet();
  void post(Connection& connection, std::span<const std::byte> payload);
  void queue(const SocketAddress& to, std::span<const std::byte> head, std::span<const std::byte> payload);
  void queue_to_server(std::span<const std::byte> datagram);
  void flush_batch();
  void hold_throttle_open();
  void handle(ENetEvent& event);
  void handle_connected(ENetPeer* peer, std::uint32_t reason);
  void handle_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload,
                     double waited_s = 0.0);
  bool sleep(double seconds) const;
  [[nodiscard]] bool receive_state(Connection* sender, const DatagramIntake::Datagram& datagram);
  void end_replaced();
  void end_refused();
  void disconnect_silent(double now_s);
  void end(PeerId id, std::uint32_t reason);
  void give_up(PeerId id, std::uint32_t reason = 0);
  [[nodiscard]] bool stuck(Connection& connection) const;
  void count_drops();
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
  void find_server(double now_s);
  void connect_admitted(double now_s);
  [[nodiscard]] SocketAddress server_address() const;
  /// The address of a connection at either end. Unspecified before a client knows its server's address.
  [[nodiscard]] SocketAddress address_of(const Connection& connection) const {
    return role == enet_filter::Role::client ? server_address() : connection.address;
  }
  [[nodiscard]] SocketAddress address_of_peer(const ENetPeer& peer);
  void take_outgoing();
  void receive_unsealed(const DatagramIntake::Datagram& datagram);
  void receive_sealed(const DatagramIntake::Datagram& datagram);
  void wait_for_enet(const SocketAddress& from, std::uint32_t session, std::span<const std::byte> datagram);
  [[nodiscard]] bool give_to_enet(const EnetInbox::Entry& entry);
  [[nodiscard]] std::optional<Refusal> receive_opened(const secure::Guard::Arrival& arrival,
                                                      const DatagramIntake::Datagram& datagram);
  void send_to_session(const secure::Gate::Session& session);
  [[nodiscard]] std::optional<Refusal> exceeds_traffic(Connection* connection, std::size_t bytes);
  [[nodiscard]] std::optional<Refusal> exceeds_search_cost(Connection* connection,
                                                           std::span<const std::byte> datagram);
  [[nodiscard]] Connection* sender_of(const SocketAddress& from, std::span<const std::byte> datagram);
  static int ENET_CALLBACK filter(ENetHost* host, ENetEvent* event);
  static enet_uint32 ENET_CALLBACK sending_hook(const ENetBuffer* buffers, std::size_t count);
  static void release_backlog(ENetPacket* packet) {
    *static_cast<std::size_t*>(packet->userData) -= packet->dataLength;
  }

  EnetRuntime runtime;
  TransportLog log;
  enet_filter::Role role;
  TransportLimits limit;
  TrafficLimit traffic;
  UdpSocket net;          // the real socket
  DatagramIntake intake;  // what was read from it
  DatagramBatch batch;    // datagrams that wait until it is full, or for the end of a pass
  HostPtr host;           // its socket is private, see EnetInbox
  EnetInbox inbox;
  PeerTable<Connection> connections;     // at most as many as ENet has peers; packets point to `backlog`
  ConnectionAddresses addresses;         // used at a server without a guard
  TouchedPeers touched;                  // since the last hold_throttle_open()
  double silence_checked_s = -1e300;     // time of the last disconnect_silent()
  std::vector<PeerId> peers_with_queue;  // peers with packets in their send queue
  bool unsent = false;                   // data waits for the next pass
  double pass_s = 0.0;                   // time of the last pass, which read datagrams
  double service_s = 0.0;                // time of the last service()
  std::optional<secure::Guard> guard;    // none: nothing is sealed
  std::array<std::byte, secure::Guard::kLargest> scratch;
  EventQueue events;  // of state payloads, waited_s is the wait minus the time of the pass
  TransportStats stats;

  // Only at a client:
  std::optional<enet_uint32> pending_connect;  // connect reason, until the server has admitted the client
  std::string server_name;
  std::optional<HostLookup> lookup;         // while the addresses of the server are looked up
  std::optional<AddressRace> race;          // then
  std::optional<SocketAddress> challenger;  // the address that has answered a request
  std::vector<std::byte> last_to_server;    // for the addresses whose turn comes later
};

}  // namespace reckoner
