// SPDX-License-Identifier: MIT
#include "datagram_batch.hpp"
#include "enet_filter.hpp"
#include "enet_limits.hpp"
#include "enet_liveness.hpp"
#include "enet_wait.hpp"
#include "event_queue.hpp"
#include "peer_table.hpp"
#include "shared_library_start.hpp"
#include "socket_error.hpp"
#include "touched_peers.hpp"
#include "wire_counter.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include <enet/enet.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

namespace limits = enet_limits;

constexpr std::size_t kChannels = 2;
constexpr std::size_t kFragmentHeaders = sizeof(ENetProtocolHeader) + sizeof(ENetProtocolSendFragment);
static_assert(limits::kMtu >= kMaxStateBytes + kFragmentHeaders);

using EnetRuntime = SharedLibraryStart<&enet_initialize, &enet_deinitialize>;

struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

}  // namespace

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
    std::size_t backlog = 0;  ///< control bytes that are not acknowledged
  };

  [[nodiscard]] static Result<std::unique_ptr<Impl>> open(const ENetAddress* address, std::size_t peers,
                                                          const std::string& host_name, Shard shard);
  Impl(std::size_t peers, Shard shard) : connections(peers, shard.number, shard.bits), touched(peers) {}
  ~Impl();

  bool pump();
  void post(ENetPeer& peer, std::span<const std::byte> payload);
  void flush_batch();
  void hold_throttle_open();
  void take(ENetEvent& event);
  void take_connected(ENetPeer* peer, std::uint32_t reason);
  void take_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload);
  [[nodiscard]] bool take_state(std::span<const std::byte> datagram);
  void drop_silent(double now_s);
  void end(PeerId id, std::uint32_t reason);
  void count_wire();
  PeerId add(ENetPeer* peer, bool connecting) {
    const PeerId id = connections.add({peer, Liveness(steady_seconds(), connecting)});
    peer->data = reinterpret_cast<void*>(std::uintptr_t{id.value});
    return id;
  }
  static PeerId id_of(const ENetPeer* peer) {
    return PeerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(peer->data))};
  }
  void push(TransportEvent::Kind kind, PeerId id, std::uint32_t reason) {
    events.push(TransportEvent{.kind = kind, .peer = id, .reason = reason});
  }
  /// Below ENet's fragment size, so that a payload is never turned into (reliable) fragments.
  static std::size_t max_state_bytes(const ENetPeer* peer) {
    return std::min<std::size_t>(kMaxStateBytes, peer->mtu - kFragmentHeaders);
  }
  static int ENET_CALLBACK filter(ENetHost* host, ENetEvent* event);
  static void release_backlog(ENetPacket* packet) {
    *static_cast<std::size_t*>(packet->userData) -= packet->dataLength;
  }

  EnetRuntime runtime;
  HostPtr host;
  enet_filter::Role role = enet_filter::Role::server;
  PeerTable<Connection> connections;  // as many at most as ENet has peers; backlogs are pointed to
  TouchedPeers touched;               // since hold_throttle_open()
  double looked_s = -1e9;             // when drop_silent() last looked
  bool unsent = false;                // something waits for the next pass
  DatagramBatch batch;                // state payloads that wait for it
  EventQueue events;
  TransportStats stats;
  WireCounter sent, received;
};

Result<std::unique_ptr<EnetTransport::Impl>> EnetTransport::Impl::open(const ENetAddress* address,
                                                                       std::size_t peers,
                                                                       const std::string& host_name,
                                                                       Shard shard) {
  auto impl = std::make_unique<Impl>(peers, shard);
  if (!impl->runtime.usable()) return Error{"ENet does not start on this machine"};
  errno = 0;
  // The first of several takes the port as if for itself alone, so that no other server can have it, and
  // shares it only then. Linux looks at the option again whenever somebody wants to join.
  const bool joins = shard.number > 0;
  impl->host.reset(enet_host_create(joins ? nullptr : address, peers, kChannels, 0, 0));
  const std::uint16_t* const port = address != nullptr ? &address->port : nullptr;
  if (!impl->host) return socket_error(port, host_name);
  ENetHost& host = *impl->host;
  if (shard.bits > 0 && !share_port(host.socket)) return Error{"this system cannot share a UDP port"};
  if (joins && enet_socket_bind(host.socket, address) != 0) return socket_error(port, host_name);
  host.maximumPacketSize = kMaxControlBytes;
  host.maximumWaitingData = limits::kWaitingBytes;
  host.intercept = &Impl::filter;
  host.mtu = limits::kMtu;
  for (ENetPeer* peer = host.peers; peer != host.peers + host.peerCount; ++peer) {
    peer->mtu = limits::kMtu;
    peer->data = nullptr;
  }
  (void)enet_socket_set_option(host.socket, ENET_SOCKOPT_RCVBUF, limits::kSocketBufferBytes);
  (void)enet_socket_set_option(host.socket, ENET_SOCKOPT_SNDBUF, limits::kSocketBufferBytes);
  return impl;
}

EnetTransport::Impl::~Impl() {
  if (!host) return;
  flush_batch();
  hold_throttle_open();
  enet_host_flush(host.get());
  connections.for_each([](PeerId, Connection& connection) {
    enet_peer_disconnect_now(connection.peer, connection.closing_reason);
  });
}

int EnetTransport::Impl::filter(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  Impl& self = *reinterpret_cast<Pump*>(event)->self;
  // Nobody can be answered at port 0 or a broadcast address: sending there fails, once per attempt.
  const bool answerable = host->receivedAddress.port != 0 && host->receivedAddress.host != ENET_HOST_ANY &&
                          host->receivedAddress.host != ENET_HOST_BROADCAST;
  const auto datagram = std::as_bytes(std::span(host->receivedData, host->receivedDataLength));
  if (answerable && enet_filter::acceptable(datagram, self.role)) {
    if (self.events.size() < limits::kQueuedEvents && self.take_state(datagram)) return kSwallow;
    self.touched.touch(enet_filter::peer_of(datagram));
    return kPassOn;
  }
  ++self.stats.refused;
  return kSwallow;
}

// Acknowledgements that come late, a peer's THROTTLE_CONFIGURE and the bandwidth it announces all make ENet
// drop unreliable packets on its own. The sender's policy decides what is sent, so all three are undone
// before every pass in which ENet may send. All three take a datagram from the peer, so only those are looked
// at of whom one was let through: with a thousand peers, walking all of them is what a pass costs.
void EnetTransport::Impl::hold_throttle_open() {
  host->bandwidthThrottleEpoch = enet_time_get();  // so that the next pass does not share out bandwidth
  touched.take([this](std::size_t index) {
    ENetPeer& peer = host->peers[index];
    // While connecting, both ends compare these numbers and part if they differ.
    if (peer.state != ENET_PEER_STATE_CONNECTED && peer.state != ENET_PEER_STATE_DISCONNECT_LATER) return;
    peer.packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleDeceleration = 0;
    peer.windowSize = ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE;
  });
}

// Sends a state payload past ENet's queues, which take four allocations and a walk over lists each: in the
// same bytes that ENet would make of it, an unsequenced command alone in a datagram.
void EnetTransport::Impl::post(ENetPeer& peer, std::span<const std::byte> payload) {
  const auto head = enet_filter::lone_state_head(peer.outgoingPeerID, peer.outgoingSessionID,
                                                 ++peer.outgoingUnsequencedGroup, payload.size());
  if (batch.full()) flush_batch();
  batch.add({peer.address.host, peer.address.port}, head, payload);
}

void EnetTransport::Impl::flush_batch() {
  if (batch.empty()) return;
  const DatagramBatch::Outcome outcome = batch.flush(host->socket);
  host->totalSentPackets += outcome.sent;
  host->totalSentData += outcome.bytes;
  stats.service_errors += outcome.errors;
}

// Sends and receives until nothing is left. An error (one datagram too long for ENet's buffer, one address
// that cannot be sent to) ends a pass of ENet's in the middle, so the pass is repeated for the others; so
// does a peer that comes or goes. A pass that went to its end found the socket empty, unless it read all it
// may.
bool EnetTransport::Impl::pump() {
  const enet_uint32 start = host->totalReceivedPackets;
  unsent = false;
  flush_batch();
  for (int round = 0; round < limits::kRounds && events.size() < limits::kQueuedEvents; ++round) {
    if (host->totalReceivedPackets - start >= limits::kDatagramsPerService) break;
    const enet_uint32 before = host->totalReceivedPackets;
    hold_throttle_open();
    Pump pump{.self = this};
    const int result = enet_host_service(host.get(), &pump.event, 0);
    const enet_uint32 received_now = host->totalReceivedPackets - before;
    bool to_its_end = result == 0;
    if (result > 0) {
      // What was received is handed out at the end of a pass, and what was left over at the start of one.
      to_its_end = pump.event.type == ENET_EVENT_TYPE_RECEIVE && received_now > 0;
      take(pump.event);
      while (enet_host_check_events(host.get(), &pump.event) > 0)
        take(pump.event);
    } else if (result < 0) {
      ++stats.service_errors;
    }
    if (to_its_end && received_now < limits::kDatagramsPerPass) break;
  }
  count_wire();
  return host->totalReceivedPackets != start;
}

void EnetTransport::Impl::take(ENetEvent& event) {
  const PeerId id = id_of(event.peer);
  if (event.type == ENET_EVENT_TYPE_CONNECT) take_connected(event.peer, event.data);
  if (event.type == ENET_EVENT_TYPE_DISCONNECT && id) end(id, event.data);
  if (event.type != ENET_EVENT_TYPE_RECEIVE) return;
  const PacketPtr packet(event.packet);
  take_packet(id, event.channelID, std::as_bytes(std::span(packet->data, packet->dataLength)));
}

void EnetTransport::Impl::take_connected(ENetPeer* peer, std::uint32_t reason) {
  PeerId id = id_of(peer);
  if (peer->channelCount < kChannels) {  // the other end has the last word on their number
    ++stats.refused;
    enet_peer_disconnect_now(peer, 0);
    if (id) end(id, 0);
    return;
  }
  if (!id) id = add(peer, false);
  connections.find(id)->liveness.connected(steady_seconds());
  touched.touch(static_cast<std::size_t>(peer - host->peers));  // from now on its throttle may be held
  enet_peer_timeout(peer, limits::kTimeoutFactor, limits::kTimeoutLeastMs, limits::kTimeoutMostMs);
  enet_peer_ping_interval(peer, limits::kPingMs);
  push(TransportEvent::Kind::connected, id, reason);
}

void EnetTransport::Impl::take_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload) {
  const std::size_t limit =
      channel == static_cast<std::uint8_t>(Channel::state) ? kMaxStateBytes : kMaxControlBytes;
  if (!id || channel >= kChannels || payload.size() > limit) {
    ++stats.refused;
    return;
  }
  stats.payload_bytes_received += payload.size();
  events.push({.peer = id, .channel = static_cast<Channel>(channel), .payload = payload});
}

// Takes a datagram that holds nothing but a state payload, as nearly all do, past ENet's queues and
// allocations. Whose it is is checked as ENet does; repeated ones, which ENet would drop, are told by the
// sequence numbers inside. False: it is for ENet to judge.
bool EnetTransport::Impl::take_state(std::span<const std::byte> datagram) {
  const auto payload = enet_filter::lone_state(datagram);
  const std::size_t index = enet_filter::peer_of(datagram);
  if (!payload || index >= host->peerCount) return false;
  ENetPeer& peer = host->peers[index];
  const bool from_it = host->receivedAddress.host == peer.address.host &&
                       host->receivedAddress.port == peer.address.port &&
                       enet_filter::session_of(datagram) == peer.incomingSessionID;
  if (!from_it || peer.state != ENET_PEER_STATE_CONNECTED || !id_of(&peer)) return false;
  peer.incomingDataTotal += static_cast<enet_uint32>(datagram.size());
  take_packet(id_of(&peer), static_cast<std::uint8_t>(Channel::state), *payload);
  return true;
}

// ENet has reset the peer by now, which also released its packets.
void EnetTransport::Impl::end(PeerId id, std::uint32_t reason) {
  Connection* const connection = connections.find(id);
  if (connection == nullptr) return;
  connection->peer->data = nullptr;
  connections.remove(id);
  push(TransportEvent::Kind::disconnected, id, reason);
}

void EnetTransport::Impl::drop_silent(double now_s) {
  if (now_s - looked_s < limits::kLookSeconds) return;
  looked_s = now_s;
  std::vector<PeerId> gone;
  connections.for_each([&](PeerId id, Connection& connection) {
    if (connection.liveness.given_up(now_s, connection.peer->incomingDataTotal)) gone.push_back(id);
  });
  for (const PeerId id : gone) {
    const Connection& connection = *connections.find(id);
    enet_peer_disconnect_now(connection.peer, connection.closing_reason);
    end(id, 0);
  }
  if (role == enet_filter::Role::client) return;
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state == ENET_PEER_STATE_ACKNOWLEDGING_CONNECT &&
        peer->timeoutMaximum != limits::kHalfOpenMostMs) {
      enet_peer_timeout(peer, limits::kHalfOpenFactor, limits::kHalfOpenLeastMs, limits::kHalfOpenMostMs);
    }
  }
}

void EnetTransport::Impl::count_wire() {
  sent.look(host->totalSentData, host->totalSentPackets);
  received.look(host->totalReceivedData, host->totalReceivedPackets);
  stats.datagrams_sent = sent.datagrams();
  stats.datagrams_received = received.datagrams();
  stats.wire_bytes_sent = sent.bytes();
  stats.wire_bytes_received = received.bytes();
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const EnetListenConfig& config) {
  return listen(config, {});
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const EnetListenConfig& config, Shard shard) {
  const EnetRuntime runtime;  // looking a name up needs it on some systems
  ENetAddress address{.host = ENET_HOST_ANY, .port = config.port};
  if (!config.host.empty() && enet_address_set_host(&address, config.host.c_str()) != 0) {
    return Error{"unknown host '" + config.host + "'"};
  }
  if (config.max_peers == 0 || config.max_peers > ENET_PROTOCOL_MAXIMUM_PEER_ID) {
    return Error{"the number of connections must be between 1 and " +
                 std::to_string(ENET_PROTOCOL_MAXIMUM_PEER_ID)};
  }
  auto impl = Impl::open(&address, config.max_peers, config.host, shard);
  if (!impl) return Error{impl.error()};
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(const std::string& host, std::uint16_t port,
                                                              std::uint32_t reason) {
  const EnetRuntime runtime;
  ENetAddress address{.host = ENET_HOST_ANY, .port = port};
  if (host.empty() || enet_address_set_host(&address, host.c_str()) != 0) {
    return Error{"unknown host '" + host + "'"};
  }
  if (port == 0) return Error{"the server's UDP port is missing"};
  auto impl = Impl::open(nullptr, 1, host, {});
  if (!impl) return Error{impl.error()};
  (*impl)->role = enet_filter::Role::client;
  ENetPeer* peer = enet_host_connect((*impl)->host.get(), &address, kChannels, reason);
  if (peer == nullptr) return Error{"cannot connect to '" + host + "'"};
  (*impl)->add(peer, true);
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

EnetTransport::EnetTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EnetTransport::~EnetTransport() = default;

void EnetTransport::service(double /*now_s*/) {
  impl_->pump();
  impl_->drop_silent(steady_seconds());
}

std::optional<TransportEvent> EnetTransport::poll() {
  return impl_->events.pop();
}

bool EnetTransport::send(PeerId peer, Channel channel, std::span<const std::byte> payload) {
  Impl::Connection* const found = impl_->connections.find(peer);
  if (found == nullptr) return false;
  Impl::Connection& connection = *found;
  if (connection.peer->state != ENET_PEER_STATE_CONNECTED) return false;
  const bool reliable = channel == Channel::control;
  if (payload.size() > (reliable ? kMaxControlBytes : impl_->max_state_bytes(connection.peer))) {
    ++impl_->stats.refused;
    return false;
  }
  if (reliable && connection.backlog + payload.size() > limits::kBacklogBytes) {
    // The peer keeps the connection alive but takes nothing in; what it missed can no longer be made good.
    enet_peer_disconnect_now(connection.peer, 0);
    impl_->end(peer, 0);
    return false;
  }
  impl_->unsent = true;
  if (!reliable && DatagramBatch::kAvailable) {
    impl_->post(*connection.peer, payload);
    impl_->stats.payload_bytes_sent += payload.size();
    return true;
  }
  PacketPtr packet(enet_packet_create(payload.data(), payload.size(),
                                      reliable ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED));
  if (!packet || enet_peer_send(connection.peer, static_cast<enet_uint8>(channel), packet.get()) != 0) {
    return false;
  }
  if (reliable) {
    connection.backlog += payload.size();
    packet->userData = &connection.backlog;
    packet->freeCallback = &Impl::release_backlog;
  }
  (void)packet.release();  // ENet's now
  impl_->stats.payload_bytes_sent += payload.size();
  return true;
}

std::size_t EnetTransport::max_state_bytes(PeerId peer) const {
  const Impl::Connection* const found = impl_->connections.find(peer);
  return found == nullptr ? 0 : impl_->max_state_bytes(found->peer);
}

void EnetTransport::disconnect(PeerId peer, std::uint32_t reason) {
  Impl::Connection* const found = impl_->connections.find(peer);
  if (found == nullptr) return;
  Impl::Connection& connection = *found;
  if (!connection.liveness.close(steady_seconds())) return;
  connection.closing_reason = reason;
  enet_peer_disconnect_later(connection.peer, reason);
  impl_->unsent = true;
  // ENet gives a connection that was not made yet up at once and raises no event.
  if (connection.peer->state == ENET_PEER_STATE_DISCONNECTED) impl_->end(peer, 0);
}

const TransportStats& EnetTransport::stats() const {
  return impl_->stats;
}

std::uint16_t EnetTransport::port() const {
  ENetAddress address{};
  return enet_socket_get_address(impl_->host->socket, &address) == 0 ? address.port : std::uint16_t{0};
}

std::intptr_t EnetTransport::socket() const {
  return static_cast<std::intptr_t>(impl_->host->socket);
}

bool EnetTransport::flush(bool always) {
  if (!impl_->events.empty()) return true;
  if (!always && !impl_->unsent) return false;
  return impl_->pump() || !impl_->events.empty();
}

void EnetTransport::wait(double seconds) {
  const auto sleep = [this](double slice_s) {
    const double slice_ms = std::floor(slice_s * 1000.0);
    if (slice_ms < 1.0) {
      // ENet counts whole milliseconds; the rest is slept through rather than spun away.
      std::this_thread::sleep_for(std::chrono::duration<double>(slice_s));
      return true;
    }
    // A signal ends the wait too, for programs that look at a stop flag.
    enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE | ENET_SOCKET_WAIT_INTERRUPT;
    const int result = enet_socket_wait(impl_->host->socket, &condition, static_cast<enet_uint32>(slice_ms));
    return result != 0 || condition != ENET_SOCKET_WAIT_NONE;
  };
  wait_in_slices(
      seconds, [this](bool always) { return flush(always); }, sleep);
}

}  // namespace reckoner
