// SPDX-License-Identifier: MIT
#include "datagram_batch.hpp"
#include "enet_filter.hpp"
#include "enet_hurry.hpp"
#include "enet_limits.hpp"
#include "enet_liveness.hpp"
#include "enet_wait.hpp"
#include "event_queue.hpp"
#include "peer_table.hpp"
#include "secure/guard.hpp"
#include "shared_library_start.hpp"
#include "socket_error.hpp"
#include "touched_peers.hpp"
#include "traffic_limit.hpp"
#include "transport_log.hpp"
#include "wire_counter.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include <enet/enet.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

namespace limits = enet_limits;

constexpr std::size_t kChannels = 2;
constexpr std::size_t kFragmentHeaders = sizeof(ENetProtocolHeader) + sizeof(ENetProtocolSendFragment);
static_assert(limits::kMtu >= kMaxStateBytes + kFragmentHeaders);

// ENet has one allocator a process; so it is with who sets it.
ENetCallbacks enet_memory{std::malloc, std::free, nullptr};

int start_enet() {
  return enet_initialize_with_callbacks(ENET_VERSION, &enet_memory);
}
using EnetRuntime = SharedLibraryStart<&start_enet, &enet_deinitialize>;

struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

// As a log and a gate have it: in the machine's byte order.
ServerAddress machine_order(const ENetAddress& address) {
  return {ENET_NET_TO_HOST_32(address.host), address.port};
}

std::uint64_t unix_seconds() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

}  // namespace

bool set_enet_allocator(const EnetAllocator& allocator) {
  if (allocator.allocate == nullptr || allocator.release == nullptr) return false;
  return EnetRuntime::before_start([&] { enet_memory = {allocator.allocate, allocator.release, nullptr}; });
}

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
    std::uint32_t session = 0;         ///< that it stands on, if there is a guard
    secure::Sealer* sealer = nullptr;  ///< the session's
    TrafficMeter traffic;
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

  bool pump();
  void post(Connection& connection, std::span<const std::byte> payload);
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
  std::size_t max_state_bytes(const ENetPeer* peer) const {
    if (guard) return kMaxStateBytes;  // never ENet's to fragment
    return std::min<std::size_t>(kMaxStateBytes, peer->mtu - kFragmentHeaders);
  }
  void guard_with(secure::Guard&& given);
  void knock();
  void send_raw(const ENetAddress& to, std::span<const std::byte> datagram);
  void seal_leaving();
  [[nodiscard]] int take_sealed(std::span<const std::byte> datagram);
  [[nodiscard]] std::optional<Refusal> let_pass(const secure::Guard::Arrival& arrival, std::size_t bytes);
  void join_connection(std::uint32_t session);
  [[nodiscard]] std::optional<Refusal> beyond_share(Connection* connection, std::size_t bytes);
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
  bool unsent = false;                  // something waits for the next pass
  DatagramBatch batch;                  // state payloads that wait for it
  std::optional<secure::Guard> guard;   // none: nothing is sealed
  std::optional<enet_uint32> knocking;  // a client that is not let in yet: what it will give as its reason
  std::array<std::byte, secure::Guard::kLargest> scratch;
  EventQueue events;
  TransportStats stats;
  WireCounter sent, received;
};

Result<std::unique_ptr<EnetTransport::Impl>> EnetTransport::Impl::open(
    const ENetAddress* address, std::size_t peers, const std::string& host_name, const Shard& shard,
    const TransportLimits& limit, const LogSink& log) {
  auto impl = std::make_unique<Impl>(peers, shard, limit, log);
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
  host.maximumPacketSize = limit.message_bytes;
  host.maximumWaitingData = limit.waiting_bytes;
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
  if (answerable && self.guard) return self.take_sealed(datagram);
  if (!answerable || !enet_filter::acceptable(datagram, self.role, self.limit.message_bytes)) {
    self.stats.refuse(Refusal::malformed);
    return kSwallow;
  }
  if (const auto why = self.beyond_share(self.sender_of(datagram), datagram.size())) {
    self.stats.refuse(*why);
    return kSwallow;
  }
  if (self.events.size() < self.limit.waiting_events && self.take_state(datagram)) return kSwallow;
  self.touched.touch(enet_filter::peer_of(datagram));
  return kPassOn;
}

// The connection that an acceptable datagram comes from, as far as an unsealed one can tell. Null: none.
EnetTransport::Impl::Connection* EnetTransport::Impl::sender_of(std::span<const std::byte> datagram) {
  const std::size_t index = enet_filter::peer_of(datagram);
  if (index >= host->peerCount) return nullptr;
  const ENetPeer& peer = host->peers[index];
  const bool from_it = host->receivedAddress.host == peer.address.host &&
                       host->receivedAddress.port == peer.address.port &&
                       enet_filter::session_of(datagram) == peer.incomingSessionID;
  return from_it ? connections.find(id_of(&peer)) : nullptr;
}

// Servers alone hold their peers to limits.
std::optional<Refusal> EnetTransport::Impl::beyond_share(Connection* connection, std::size_t bytes) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return traffic.refuse(connection->traffic, connection->peer->address.host, bytes, steady_seconds());
}

// ENet leaves what it puts before each datagram's commands to a checksum function, which is the one moment at
// which all of a datagram that leaves can be seen, and replaced. Arriving ones are opened in the filter; ENet
// asks here too whether their checksum is right.
enet_uint32 EnetTransport::Impl::seal_hook(const ENetBuffer* buffers, std::size_t count) {
  constexpr enet_uint32 kAlwaysRight = 0;
  if (count == 1) return kAlwaysRight;  // arriving; what leaves has a head and a command at least
  static_assert(std::is_standard_layout_v<ENetHost>);
  const auto* const inside = reinterpret_cast<const std::byte*>(buffers) - offsetof(ENetHost, buffers);
  // The compressor is not used, and its context ours.
  static_cast<Impl*>(reinterpret_cast<const ENetHost*>(inside)->compressor.context)->seal_leaving();
  return kAlwaysRight;
}

// Puts the sealed datagram in place of ENet's buffers. The checksum's place, the last of the first buffer,
// has the connection's number until the checksum is written, and does not travel.
void EnetTransport::Impl::seal_leaving() {
  enet_uint32 connection = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < host->bufferCount; ++i) {
    const auto* const data = static_cast<const std::byte*>(host->buffers[i].data);
    std::size_t length = host->buffers[i].dataLength;
    if (i == 0) {
      length -= sizeof connection;
      std::memcpy(&connection, data + length, sizeof connection);
    }
    if (size + length > scratch.size()) return (void)(host->bufferCount = 0);
    std::copy(data, data + length, scratch.begin() + static_cast<std::ptrdiff_t>(size));
    size += length;
  }
  if (const auto* const joined = guard->joined()) {
    enet_filter::want_connection(std::span(scratch).first(size), joined->number);
  }
  secure::Sealer* const sealer = guard->sealer_of(connection);  // the session's number, see let_pass()
  std::span<const std::byte> sealed;
  if (sealer != nullptr) sealed = guard->seal(*sealer, secure::Kind::enet, std::span(scratch).first(size));
  // Nothing leaves unsealed. Without a session, an empty datagram does.
  host->bufferCount = sealed.empty() ? 0 : 1;
  host->buffers[0].data = const_cast<std::byte*>(sealed.data());  // only read
  host->buffers[0].dataLength = sealed.size();
}

void EnetTransport::Impl::send_raw(const ENetAddress& to, std::span<const std::byte> datagram) {
  const ENetBuffer buffer{.data = const_cast<std::byte*>(datagram.data()), .dataLength = datagram.size()};
  if (enet_socket_send(host->socket, &to, &buffer, 1) <= 0) return (void)++stats.service_errors;
  ++host->totalSentPackets;
  host->totalSentData += static_cast<enet_uint32>(datagram.size());
}

// What the filter does where everything is sealed.
int EnetTransport::Impl::take_sealed(std::span<const std::byte> datagram) {
  constexpr int kSwallow = 1, kPassOn = 0;
  const ENetAddress from = host->receivedAddress;
  const auto arrival = guard->arrive(machine_order(from), datagram, steady_seconds(), unix_seconds());
  using What = secure::Guard::Arrival::What;
  if (arrival.what == What::answer) {
    send_raw(from, arrival.bytes);
    return kSwallow;
  }
  std::optional<Refusal> why = arrival.refusal;
  if (arrival.what == What::enet) {
    why = let_pass(arrival, datagram.size());
    if (!why) return kPassOn;
  }
  if (arrival.what == What::state) {
    const PeerId id = role == enet_filter::Role::client ? id_of(host->peers) : PeerId{arrival.tag};
    Connection* const connection = connections.find(id);
    if (connection != nullptr && arrival.moved) connection->peer->address = from;
    why = connection == nullptr ? Refusal::no_session : beyond_share(connection, datagram.size());
    if (!why) {
      connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.size());
      take_packet(id, static_cast<std::uint8_t>(Channel::state), arrival.bytes);
    }
  }
  if (why) stats.refuse(*why);
  return kSwallow;
}

// A request to connect comes again, perhaps from another address, until it is answered: so that ENet takes it
// for the one that it knows, and a session for no more than one peer, that moves too.
void EnetTransport::Impl::join_connection(std::uint32_t session) {
  const auto* const known = guard->find(session);
  if (known == nullptr) return;
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state == ENET_PEER_STATE_DISCONNECTED || peer->connectID != session) continue;
    peer->address = {ENET_HOST_TO_NET_32(known->address.host), known->address.port};
    host->receivedAddress = peer->address;
  }
}

// Hands an opened datagram to ENet, if it concerns the connection that stands on its session, or makes it. Or
// why not.
std::optional<Refusal> EnetTransport::Impl::let_pass(const secure::Guard::Arrival& arrival,
                                                     std::size_t bytes) {
  if (!enet_filter::acceptable(arrival.bytes, role, limit.message_bytes)) return Refusal::malformed;
  const std::size_t index = enet_filter::peer_of(arrival.bytes);
  if (const auto connection = enet_filter::connection_wanted(arrival.bytes)) {
    if (!secure::Guard::belongs(*connection, arrival.session)) return Refusal::no_session;
    join_connection(arrival.session);
  } else {
    if (index >= host->peerCount) return Refusal::no_session;
    ENetPeer& peer = host->peers[index];
    if (!secure::Guard::belongs(peer.connectID, arrival.session)) return Refusal::no_session;
    if (const auto why = beyond_share(connections.find(id_of(&peer)), bytes)) return why;
    // Whoever can seal is who it was; where it is now the newest datagram has said, which may be another one.
    if (const auto* const session = guard->find(arrival.session))
      peer.address = {ENET_HOST_TO_NET_32(session->address.host), session->address.port};
    host->receivedAddress = peer.address;
  }
  touched.touch(index);
  // As ENet expects it: behind the head stands a checksum, which is right (seal_hook()).
  const std::size_t head = enet_filter::head_size(arrival.bytes);
  auto* const out = reinterpret_cast<std::byte*>(host->packetData[0]);
  std::fill_n(std::copy_n(arrival.bytes.data(), head, out), sizeof(enet_uint32), std::byte{0});
  std::ranges::copy(arrival.bytes.subspan(head), out + head + sizeof(enet_uint32));
  host->receivedData = host->packetData[0];
  host->receivedDataLength = arrival.bytes.size() + sizeof(enet_uint32);
  return std::nullopt;
}

void EnetTransport::Impl::guard_with(secure::Guard&& given) {
  guard.emplace(std::move(given));
  host->checksum = &Impl::seal_hook;
  host->compressor.context = this;
  host->mtu = limits::kMtu - secure::kSealBytes;
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer)
    peer->mtu = host->mtu;
}

// A client's way in, before ENet begins.
void EnetTransport::Impl::knock() {
  ENetPeer* const peer = host->peers;
  const ENetAddress server = peer->address;
  if (const auto message = guard->to_send(steady_seconds())) send_raw(server, *message);
  const auto* const joined = guard->joined();
  if (joined == nullptr || !id_of(peer)) return;
  enet_host_connect(host.get(), &server, kChannels, *knocking);  // the one peer there is, again
  peer->connectID = joined->number;                              // and so it is asked for, see seal_leaving()
  knocking.reset();
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
void EnetTransport::Impl::post(Connection& connection, std::span<const std::byte> payload) {
  ENetPeer& peer = *connection.peer;
  if (batch.full()) flush_batch();
  if (guard) {
    if (connection.sealer == nullptr) return;
    const auto sealed = guard->seal(*connection.sealer, secure::Kind::state, payload);
    if (!DatagramBatch::kAvailable) return send_raw(peer.address, sealed);
    return batch.add({peer.address.host, peer.address.port}, sealed.first(secure::kSealBytes),
                     sealed.subspan(secure::kSealBytes));
  }
  const auto head = enet_filter::lone_state_head(peer.outgoingPeerID, peer.outgoingSessionID,
                                                 ++peer.outgoingUnsequencedGroup, payload.size());
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
  if (knocking) knock();
  for (int round = 0; round < limits::kRounds && events.size() < limit.waiting_events; ++round) {
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
  if (event.type == ENET_EVENT_TYPE_DISCONNECT && id) {
    log.disconnected(id, machine_order(event.peer->address));
    end(id, event.data);
  }
  if (event.type != ENET_EVENT_TYPE_RECEIVE) return;
  const PacketPtr packet(event.packet);
  take_packet(id, event.channelID, std::as_bytes(std::span(packet->data, packet->dataLength)));
}

void EnetTransport::Impl::take_connected(ENetPeer* peer, std::uint32_t reason) {
  PeerId id = id_of(peer);
  if (peer->channelCount < kChannels) {  // the other end has the last word on their number
    stats.refuse(Refusal::malformed);
    enet_peer_disconnect_now(peer, 0);
    if (id) end(id, 0);
    return;
  }
  if (!id) id = add(peer, false);
  Connection& connection = *connections.find(id);
  if (guard) {
    connection.session = peer->connectID;
    connection.sealer = guard->sealer_of(connection.session);
    guard->hold(connection.session, id.value);
  }
  connection.liveness.connected(steady_seconds());
  touched.touch(static_cast<std::size_t>(peer - host->peers));  // from now on its throttle may be held
  enet_peer_timeout(peer, limits::kTimeoutFactor, limits::kTimeoutLeastMs, limits::kTimeoutMostMs);
  enet_peer_ping_interval(peer, limits::kPingMs);
  log.connected(id, machine_order(peer->address));
  push(TransportEvent::Kind::connected, id, reason);
}

void EnetTransport::Impl::take_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload) {
  const std::size_t most =
      channel == static_cast<std::uint8_t>(Channel::state) ? kMaxStateBytes : kMaxControlBytes;
  if (!id || channel >= kChannels || payload.size() > most) return stats.refuse(Refusal::too_large);
  stats.payload_bytes_received += payload.size();
  events.push({.peer = id, .channel = static_cast<Channel>(channel), .payload = payload});
}

// Takes a datagram that holds nothing but a state payload, as nearly all do, past ENet's queues and
// allocations. Whose it is is checked as ENet does; repeated ones, which ENet would drop, are told by the
// sequence numbers inside. False: it is for ENet to judge.
bool EnetTransport::Impl::take_state(std::span<const std::byte> datagram) {
  const auto payload = enet_filter::lone_state(datagram);
  const Connection* const connection = payload ? sender_of(datagram) : nullptr;
  if (connection == nullptr || connection->peer->state != ENET_PEER_STATE_CONNECTED) return false;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.size());
  take_packet(id_of(connection->peer), static_cast<std::uint8_t>(Channel::state), *payload);
  return true;
}

// ENet has reset the peer by now, which also released its packets.
void EnetTransport::Impl::end(PeerId id, std::uint32_t reason) {
  Connection* const connection = connections.find(id);
  if (connection == nullptr) return;
  connection->peer->data = nullptr;
  if (guard) guard->release(connection->session, steady_seconds());
  knocking.reset();
  connections.remove(id);
  push(TransportEvent::Kind::disconnected, id, reason);
}

void EnetTransport::Impl::drop_silent(double now_s) {
  if (now_s - looked_s < limits::kLookSeconds) return;
  looked_s = now_s;
  std::vector<PeerId> gone;
  connections.for_each([&](PeerId id, Connection& connection) {
    hurry_oldest(*connection.peer);
    if (connection.liveness.given_up(now_s, connection.peer->incomingDataTotal)) gone.push_back(id);
  });
  for (const PeerId id : gone) {
    const Connection& connection = *connections.find(id);
    const ServerAddress address = machine_order(connection.peer->address);
    if (connection.liveness.connecting()) {
      log.no_answer(id, address);
    } else {
      log.timed_out(id, address, connection.liveness.closing());
    }
    enet_peer_disconnect_now(connection.peer, connection.closing_reason);
    end(id, 0);
  }
  log.review(stats, now_s);
  if (role == enet_filter::Role::client) return;
  if (guard) {
    guard->tidy(now_s, unix_seconds(), [this](const ServerAddress& to, std::span<const std::byte> datagram) {
      send_raw({ENET_HOST_TO_NET_32(to.host), to.port}, datagram);
    });
  }
  traffic.tidy(now_s);
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state != ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) continue;
    hurry_oldest(*peer);
    if (peer->timeoutMaximum == limits::kHalfOpenMostMs) continue;
    enet_peer_timeout(peer, limits::kHalfOpenFactor, limits::kHalfOpenLeastMs, limits::kHalfOpenMostMs);
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

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const EnetListenConfig& config,
                                                             const Shard& shard) {
  const EnetRuntime runtime;  // looking a name up needs it on some systems
  ENetAddress address{.host = ENET_HOST_ANY, .port = config.port};
  if (!config.host.empty() && enet_address_set_host(&address, config.host.c_str()) != 0) {
    return Error{"unknown host '" + config.host + "'"};
  }
  if (config.max_peers == 0 || config.max_peers > ENET_PROTOCOL_MAXIMUM_PEER_ID) {
    return Error{"the number of connections must be between 1 and " +
                 std::to_string(ENET_PROTOCOL_MAXIMUM_PEER_ID)};
  }
  if (config.limits.message_bytes > kMaxControlBytes) {
    return Error{"control messages have " + std::to_string(kMaxControlBytes) + " bytes at most"};
  }
  auto impl = Impl::open(&address, config.max_peers, config.host, shard, config.limits, config.log);
  if (!impl) return Error{impl.error()};
  if (const auto& security = config.security) {
    if (!security->key) return Error{"the key is empty"};
    (*impl)->guard_with(secure::Guard({.key = security->key,
                                       .game = security->game,
                                       .addresses = security->addresses,
                                       .most_sessions = 2 * std::size_t{config.max_peers},
                                       .most_sessions_per_host = security->peers_per_address,
                                       .handshakes_per_second = security->handshakes_per_second,
                                       .opened_per_second = security->tokens_per_second,
                                       .ticket_s = security->ticket_s,
                                       .used = shard.used}));
  }
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(const std::string& host, std::uint16_t port,
                                                              std::uint32_t reason,
                                                              const std::optional<ClientSecurity>& security,
                                                              const LogSink& log) {
  const EnetRuntime runtime;
  ENetAddress address{.host = ENET_HOST_ANY, .port = port};
  if (host.empty() || enet_address_set_host(&address, host.c_str()) != 0) {
    return Error{"unknown host '" + host + "'"};
  }
  if (port == 0) return Error{"the server's UDP port is missing"};
  auto impl = Impl::open(nullptr, 1, host, {}, {}, log);
  if (!impl) return Error{impl.error()};
  (*impl)->role = enet_filter::Role::client;
  ENetPeer* peer = enet_host_connect((*impl)->host.get(), &address, kChannels, reason);
  if (peer == nullptr) return Error{"cannot connect to '" + host + "'"};
  (*impl)->add(peer, true);
  if (security) {
    // ENet begins once the server has let it in; until then its peer keeps nothing but the address.
    (*impl)->guard_with(secure::Guard(security->token, security->game, security->secret));
    (*impl)->knocking = reason;
    enet_peer_reset(peer);
  }
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

bool EnetTransport::is_expired(const ConnectToken& token) {
  return token.expires_s <= unix_seconds();
}

std::string EnetTransport::numeric_host(const std::string& host) {
  const EnetRuntime runtime;
  ENetAddress address{};
  std::array<char, 64> digits{};
  const bool known = !host.empty() && enet_address_set_host(&address, host.c_str()) == 0 &&
                     enet_address_get_host_ip(&address, digits.data(), digits.size()) == 0;
  return known ? std::string(digits.data()) : host;
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
    impl_->stats.refuse(Refusal::too_large);
    return false;
  }
  if (reliable && connection.backlog + payload.size() > impl_->limit.backlog_bytes) {
    // The peer keeps the connection alive but takes nothing in; what it missed can no longer be made good.
    impl_->log.takes_nothing_in(peer, machine_order(connection.peer->address));
    enet_peer_disconnect_now(connection.peer, 0);
    impl_->end(peer, 0);
    return false;
  }
  impl_->unsent = true;
  if (!reliable && (DatagramBatch::kAvailable || impl_->guard)) {
    impl_->post(connection, payload);
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

std::shared_ptr<secure::UsedTokens> EnetTransport::no_tokens_yet() {
  return std::make_shared<secure::UsedTokens>();
}

std::optional<ClientIdentity> EnetTransport::identity(PeerId peer) const {
  const Impl::Connection* const found = impl_->connections.find(peer);
  const auto* const session =
      found == nullptr || !impl_->guard ? nullptr : impl_->guard->find(found->session);
  if (session == nullptr) return std::nullopt;
  return ClientIdentity{session->grant.client_id, session->grant.user_data};
}

std::optional<ConnectToken> EnetTransport::ticket() const {
  const auto* const joined = impl_->guard ? impl_->guard->joined() : nullptr;
  if (joined == nullptr) return std::nullopt;
  const secure::Ticket& ticket = joined->ticket;
  return ConnectToken{ticket.expires_s, ticket.nonce, ticket.sealed, {}, ticket.to_server, ticket.to_client};
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
