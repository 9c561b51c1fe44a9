// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/enet_transport.hpp"

#include "net/src/transport/other_transport.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/transport/server_peer.hpp"
#include "net/src/transport/socket/socket_filter.hpp"
#include "net/src/transport/socket/udp_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace reckoner {
namespace {

using enet_protocol::kChannels;
using enet_protocol::kPayloadChannel;

// Every path that carries IPv6 passes packets of 1280 bytes (RFC 8200, 5), and so do practically all others.
// 40 of them are the IPv6 header and 8 the UDP header.
constexpr std::uint32_t kMtu = 1232;
// ENet turns a larger packet into reliable fragments.
constexpr std::size_t kFragmentHeaders = sizeof(ENetProtocolHeader) + sizeof(ENetProtocolSendFragment);
static_assert(kMtu >= kMaxDatagramBytes + kFragmentHeaders);

// Packets of one peer that wait in ENet. They wait only during a pass, in which ENet reads 256 datagrams.
constexpr std::size_t kMaxWaitingBytes = 1024 * 1024;

constexpr int kSocketBufferBytes = 4 * 1024 * 1024;  // requested; the system may grant less

// ENet ends a connection if a reliable command is not acknowledged for this time. That is only a backup:
// Liveness judges by everything that the peer sends, so that a lossy connection stays open while datagrams
// flow. ENet doubles the time between two attempts, so only about ten attempts fit. The timeout is the larger
// of these two.
constexpr double kTimeoutMs = 120'000.0;
constexpr double kTimeoutSilences = 2.0;  // multiples of TransportLimits::silence_s

// ENet pings a peer if no reliable command was acknowledged for this interval. At ENet's default of 500 ms,
// pings are a tenth of the traffic of a Reckoner connection at 10 updates a second, which sends often enough
// without them. A peer that sends nothing else still answers three pings before Liveness gives it up. The
// interval is the smaller of kPingMs and the silence limit divided by kPingsPerSilence.
constexpr double kPingMs = 3000.0;
constexpr double kPingsPerSilence = 3.3;

// A request to connect occupies a peer of ENet until the client confirms it. A forged one is never confirmed.
constexpr double kHalfOpenS = 3.0;

// Bounds for one pass. It ends even if datagrams arrive faster than it reads them, or if every datagram
// causes an error.
constexpr int kMaxRounds = 1024;
constexpr int kMaxErrors = 256;
constexpr std::uint32_t kMaxDatagrams = 16'384;

constexpr double kCheckS = 0.05;  // s between two checks, each of which visits all peers

constexpr std::string_view kUseUdp = "; use the transport \"udp\"";

// Global, because ENet has one allocator per process.
ENetCallbacks enet_memory{std::malloc, std::free, nullptr};

SocketAddress address_of(const ENetAddress& address) {
  return {IpAddress(ENET_NET_TO_HOST_32(address.host)), address.port};
}

ENetAddress to_enet(const SocketAddress& address) {
  return {ENET_HOST_TO_NET_32(address.host.ipv4()), address.port};
}

bool is_ipv4(const SocketAddress& address) {
  return address.host.is_ipv4();
}

std::size_t most_bytes(const ENetPeer& peer) {
  return std::min<std::size_t>(kMaxDatagramBytes, peer.mtu - kFragmentHeaders);
}

PeerId id_of(const ENetPeer& peer) {
  return PeerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(peer.data))};
}

void set_id(ENetPeer& peer, PeerId id) {
  peer.data = reinterpret_cast<void*>(std::uintptr_t{id.value});
}

// The address to listen on. Looks a name up, which may take seconds.
Result<ENetAddress> listen_address(const ListenConfig& config) {
  if (config.host.empty()) return ENetAddress{ENET_HOST_ANY, config.port};
  const auto found = resolve_host(config.host);
  if (found.empty()) return Error{"unknown host '" + config.host + "'"};
  const auto ipv4 = std::ranges::find_if(found, is_ipv4);
  if (ipv4 == found.end()) {
    return Error{"the transport \"enet\" has no IPv6, which the address '" + config.host + "' needs" +
                 std::string(kUseUdp)};
  }
  return to_enet({ipv4->host, config.port});
}

}  // namespace

int start_enet() {
  return enet_initialize_with_callbacks(ENET_VERSION, &enet_memory);
}

bool EnetTransport::set_allocator(const NetworkAllocator& allocator) {
  if (allocator.allocate == nullptr || allocator.release == nullptr) return false;
  return EnetRuntime::before_start([&] { enet_memory = {allocator.allocate, allocator.release, nullptr}; });
}

EnetTransport::EnetTransport(std::size_t peers, const TransportLimits& limits, const LogSink& log)
    : log_(log),
      limits_(limits),
      traffic_(limits),
      peers_(peers),
      connections_(peers),
      half_open_since_s_(peers) {}

// Returns false, and sets errno, if there is no socket.
bool EnetTransport::open(const ENetAddress& address) {
  errno = 0;
  host_.reset(enet_host_create(&address, peers_, kChannels, 0, 0));
  if (!host_) return false;
  host_->intercept = &EnetTransport::intercept;
  host_->maximumPacketSize = kMaxDatagramBytes;
  host_->maximumWaitingData = kMaxWaitingBytes;
  host_->mtu = kMtu;
  for (std::size_t i = 0; i < host_->peerCount; ++i)
    host_->peers[i].mtu = kMtu;
  (void)enet_socket_set_option(host_->socket, ENET_SOCKOPT_RCVBUF, kSocketBufferBytes);
  (void)enet_socket_set_option(host_->socket, ENET_SOCKOPT_SNDBUF, kSocketBufferBytes);
  // ENet ends a pass at an empty datagram and returns an error for an overlong one.
  (void)filter_socket(static_cast<std::intptr_t>(host_->socket), ENET_PROTOCOL_MAXIMUM_MTU);
  return true;
}

Error EnetTransport::no_security() {
  return Error{"the transport \"enet\" has no security" + std::string(kUseUdp)};
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const ListenConfig& config) {
  const EnetRuntime runtime;  // some systems need it to resolve names
  if (config.security.get() != nullptr) return no_security();
  if (const auto fault = find_invalid_setting(config)) return *fault;
  if (config.max_peers > kMaxPeers) {
    return Error{"the transport \"enet\" has at most " + std::to_string(kMaxPeers) + " connections" +
                 std::string(kUseUdp)};
  }
  const auto address = listen_address(config);
  if (!address) return Error{address.error()};
  if (!runtime.usable()) return Error{"ENet does not start on this machine"};
  std::unique_ptr<EnetTransport> transport(new EnetTransport(config.max_peers, config.limits, config.log));
  if (!transport->open(*address)) return socket_error(&config.port, config.host);
  transport->log_.opened(nullptr, transport->port());
  return transport;
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(const std::string& host, std::uint16_t port,
                                                              std::uint16_t version, const LogSink& log,
                                                              const ResolveHost& resolve) {
  // Each attempt to connect is a peer of ENet.
  std::unique_ptr<EnetTransport> transport(new EnetTransport(AddressRace::kMost, {}, log));
  if (!transport->runtime_.usable()) return Error{"ENet does not start on this machine"};
  transport->search_.emplace(EnetSearch{.host = host, .version = version, .lookup = {host, port, resolve}});
  if (!transport->open({ENET_HOST_ANY, 0})) return socket_error(nullptr, host);
  transport->connections_.add(
      {.liveness = {steady_seconds(), true, transport->limits_.silence_s}});  // kServerPeer
  return transport;
}

EnetTransport::~EnetTransport() {
  if (!host_) return;
  enet_host_flush(host_.get());
  connections_.for_each([](PeerId, Connection& connection) {
    if (connection.peer != nullptr) enet_peer_disconnect_now(connection.peer, connection.end_reason);
  });
}

// ENet has received a datagram.
int EnetTransport::intercept(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  static_assert(std::is_standard_layout_v<Pump>);  // a pointer to its first member points to it
  EnetTransport& self = *reinterpret_cast<Pump*>(event)->self;
  const std::span datagram(host->receivedData, host->receivedDataLength);
  host->receivedDataLength = self.passable_bytes(address_of(host->receivedAddress), std::as_bytes(datagram));
  return host->receivedDataLength == 0 ? kSwallow : kPassOn;
}

// Returns how many bytes of an arrived datagram ENet may read. 0: none.
std::size_t EnetTransport::passable_bytes(const SocketAddress& from, std::span<const std::byte> datagram) {
  const auto refuse = [this](Refusal why) {
    stats_.refuse(why);
    return std::size_t{0};
  };
  if (!enet_filter::answerable(from)) return refuse(Refusal::malformed);
  if (search_ && is_notice(datagram, kServerUsesUdp)) {
    if (is_connecting() && search_->race && search_->race->runs(from)) search_->noticed_udp = true;
    return refuse(Refusal::other_transport);
  }
  const auto role = search_ ? enet_filter::Role::client : enet_filter::Role::server;
  const std::size_t bytes = enet_filter::passable_bytes(datagram, role);
  if (bytes == 0 && !search_ && is_udp_request(datagram)) {
    answer_udp(from);
    return refuse(Refusal::other_transport);
  }
  if (bytes < datagram.size()) stats_.refuse(Refusal::malformed);
  if (bytes == 0) return 0;
  Connection* const sender = sender_of(from, datagram);
  if (sender == nullptr) return bytes;
  ++sender->arrived;
  if (search_) return bytes;  // only servers limit their peers
  const auto why = traffic_.refuse(sender->traffic, from.host, datagram.size(), steady_seconds());
  return why ? refuse(*why) : bytes;
}

// A client uses the transport "udp". It would only time out. The answer is shorter than its request.
void EnetTransport::answer_udp(const SocketAddress& from) {
  log_.other_transport(from, "udp", steady_seconds());
  TransportNotice notice = kServerUsesEnet;
  ENetBuffer buffer{};
  buffer.data = notice.data();
  buffer.dataLength = notice.size();
  const ENetAddress to = to_enet(from);
  if (enet_socket_send(host_->socket, &to, &buffer, 1) <= 0) return;
  ++stats_.datagrams_sent;
  stats_.wire_bytes_sent += wire_size(from.host, notice.size());
}

// The connection that a datagram claims to come from, or null if there is none. A sender can forge this.
EnetConnection* EnetTransport::sender_of(const SocketAddress& from, std::span<const std::byte> datagram) {
  const std::size_t index = enet_filter::peer_of(datagram);
  if (index >= host_->peerCount) return nullptr;
  Connection* const connection = connections_.find(id_of(host_->peers[index]));
  return connection != nullptr && connection->address == from ? connection : nullptr;
}

void EnetTransport::service(double /*now_s*/) {
  pump();
  check_peers(steady_seconds());
}

// Sends and receives until nothing is left. Returns true if a datagram has arrived.
bool EnetTransport::pump() {
  unsent_ = false;
  if (is_connecting()) find_server(steady_seconds());
  int errors = 0;
  for (int round = 0; round < kMaxRounds && errors < kMaxErrors && !is_full(); ++round) {
    if (host_->totalReceivedPackets >= kMaxDatagrams) break;
    Pump pump{.self = this};
    const int result = enet_host_service(host_.get(), &pump.event, 0);
    if (result > 0) {
      handle(pump.event);
      while (!is_full() && enet_host_check_events(host_.get(), &pump.event) > 0)
        handle(pump.event);
    } else if (result < 0) {
      // One peer's error ends the pass. The next pass serves the other peers.
      ++stats_.service_errors;
      ++errors;
    } else if (!sleep(0.0)) {
      break;  // nothing waits in the socket
    }
  }
  if (is_connecting() && search_->noticed_udp) {
    log_.wrong_transport(kServerPeer, server_address(), "udp");
    fail_to_connect("the server uses the transport \"udp\"");
  }
  return count_traffic();
}

void EnetTransport::handle(const ENetEvent& event) {
  ENetPeer& peer = *event.peer;
  const PeerId id = id_of(peer);
  const Connection* const connection = connections_.find(id);
  switch (event.type) {
    case ENET_EVENT_TYPE_CONNECT:
      return handle_connected(peer, event.data);
    case ENET_EVENT_TYPE_DISCONNECT:
      if (connection == nullptr || connection->peer != &peer) return;  // one of several attempts of a client
      log_.disconnected(id, connection->address);
      return end(id, connection->liveness.closing() ? 0 : event.data);
    case ENET_EVENT_TYPE_RECEIVE: {
      const PacketPtr packet(event.packet);
      stats_.payload_bytes_received += packet->dataLength;
      events_.push({.peer = id, .payload = std::as_bytes(std::span(packet->data, packet->dataLength))});
      return;
    }
    default:
      return;
  }
}

void EnetTransport::handle_connected(ENetPeer& peer, std::uint32_t data) {
  if (search_) {
    reset_attempts(&peer);
    search_->race->decide(address_of(peer.address));
  } else {
    set_id(peer, connections_.add({.liveness = {steady_seconds(), false, limits_.silence_s}}));
  }
  const PeerId id = id_of(peer);
  Connection& connection = *connections_.find(id);
  connection.peer = &peer;
  connection.address = address_of(peer.address);
  connection.liveness.connected(steady_seconds());
  peer.mtu = std::min(peer.mtu, kMtu);  // ENet 1.3.17 takes the client's
  const double silence_ms = 1000.0 * limits_.silence_s;
  const auto timeout_ms = static_cast<enet_uint32>(std::max(kTimeoutMs, kTimeoutSilences * silence_ms));
  enet_peer_timeout(&peer, ENET_PEER_TIMEOUT_LIMIT, timeout_ms, timeout_ms);
  enet_peer_ping_interval(&peer, static_cast<enet_uint32>(std::min(kPingMs, silence_ms / kPingsPerSilence)));
  // With a deceleration of 0, ENet's throttle never drops a packet. The function sets the values at both
  // ends; see enet_filter::keeps_sending().
  enet_peer_throttle_configure(&peer, ENET_PEER_PACKET_THROTTLE_INTERVAL, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
  log_.connected(id, connection.address);
  events_.push({.kind = TransportEvent::Kind::connected, .peer = id, .reason = data});
}

// A client's first steps: finds the addresses of the server and starts attempts with them, one after the
// other.
void EnetTransport::find_server(double now_s) {
  EnetSearch& search = *search_;
  if (!search.race) {
    auto found = search.lookup.poll();
    if (!found) return;
    search.has_ipv6 = std::erase_if(*found, [](const SocketAddress& each) { return !is_ipv4(each); }) > 0;
    search.race.emplace(*found);
  }
  search.race->start_due(now_s, [&](const SocketAddress& address) {
    if (!has_route(address)) return false;
    const ENetAddress to = to_enet(address);
    ENetPeer* const attempt = enet_host_connect(host_.get(), &to, kChannels, search.version);
    if (attempt != nullptr) set_id(*attempt, kServerPeer);
    return attempt != nullptr;
  });
  if (!search.race->lost()) return;
  log_.no_address(kServerPeer, search.host);
  fail_to_connect("this machine found no usable IPv4 address for '" + search.host + "'" +
                  (search.has_ipv6 ? "; the transport \"udp\" can use its IPv6 address" : ""));
}

// True at a client that is neither connected nor has given up.
bool EnetTransport::is_connecting() const {
  const Connection* const connection = search_ ? connections_.find(kServerPeer) : nullptr;
  return connection != nullptr && connection->peer == nullptr;
}

void EnetTransport::fail_to_connect(std::string problem) {
  search_->problem = std::move(problem);
  end(kServerPeer, 0);
}

// Forgets a client's attempts to connect.
void EnetTransport::reset_attempts(const ENetPeer* except) {
  for (std::size_t i = 0; i < host_->peerCount; ++i) {
    if (&host_->peers[i] != except) enet_peer_reset(&host_->peers[i]);
  }
}

// ENet has ended or forgotten the peer before this call.
void EnetTransport::end(PeerId id, std::uint32_t reason) {
  ENetPeer* const peer = connections_.find(id)->peer;
  if (peer != nullptr) set_id(*peer, {});
  if (peer == nullptr) reset_attempts(nullptr);
  connections_.remove(id);
  events_.push({.kind = TransportEvent::Kind::disconnected, .peer = id, .reason = reason});
}

// Adds what ENet has counted to the statistics. Returns true if a datagram has arrived.
bool EnetTransport::count_traffic() {
  constexpr std::uint64_t kHeaders = kIpv4HeaderBytes + kUdpHeaderBytes;
  const std::uint64_t sent = std::exchange(host_->totalSentPackets, 0);
  const std::uint64_t received = std::exchange(host_->totalReceivedPackets, 0);
  stats_.datagrams_sent += sent;
  stats_.datagrams_received += received;
  stats_.wire_bytes_sent += std::exchange(host_->totalSentData, 0) + sent * kHeaders;
  stats_.wire_bytes_received += std::exchange(host_->totalReceivedData, 0) + received * kHeaders;
  return received > 0;
}

// Gives up the peers that are silent, and those that do not confirm a connect or a disconnect. Judges nobody
// while events wait and the socket is therefore not read.
void EnetTransport::check_peers(double now_s) {
  if (now_s - checked_s_ < kCheckS || is_full()) return;
  checked_s_ = now_s;
  if (const auto dropped = dropped_for_socket(static_cast<std::intptr_t>(host_->socket)))
    stats_.system_drops = *dropped;
  std::vector<PeerId> gone;
  connections_.for_each([&](PeerId id, Connection& connection) {
    if (connection.liveness.given_up(now_s, connection.arrived)) gone.push_back(id);
  });
  for (const PeerId id : gone) {
    const Connection& connection = *connections_.find(id);
    if (connection.liveness.connecting()) {
      log_.no_answer(id, server_address());
    } else {
      log_.timed_out(id, connection.address, connection.liveness.closing());
    }
    if (connection.peer != nullptr) enet_peer_disconnect_now(connection.peer, connection.end_reason);
    end(id, 0);
  }
  log_.review(stats_, now_s);
  if (search_) return;
  traffic_.tidy(now_s);
  end_half_open(now_s);
}

// ENet's own limit would keep a half-open peer longer, because it looks only when it sends again.
void EnetTransport::end_half_open(double now_s) {
  for (std::size_t i = 0; i < host_->peerCount; ++i) {
    double& since_s = half_open_since_s_[i];
    if (host_->peers[i].state != ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) {
      since_s = 0.0;
    } else if (since_s == 0.0) {
      since_s = now_s;
    } else if (now_s - since_s >= kHalfOpenS) {
      enet_peer_reset(&host_->peers[i]);
      since_s = 0.0;
    }
  }
}

bool EnetTransport::send(PeerId id, std::span<const std::byte> datagram) {
  const Connection* const connection = connections_.find(id);
  if (connection == nullptr || connection->peer == nullptr || connection->liveness.closing()) return false;
  if (datagram.empty()) return false;  // the filter of the other end would refuse it
  ENetPeer& peer = *connection->peer;
  if (datagram.size() > most_bytes(peer)) {
    stats_.refuse(Refusal::too_large);
    return false;
  }
  PacketPtr packet(enet_packet_create(datagram.data(), datagram.size(), ENET_PACKET_FLAG_UNSEQUENCED));
  if (!packet || enet_peer_send(&peer, kPayloadChannel, packet.get()) < 0) return false;
  (void)packet.release();  // ENet owns it now
  stats_.payload_bytes_sent += datagram.size();
  unsent_ = true;
  return true;
}

std::size_t EnetTransport::max_datagram_bytes(PeerId peer) const {
  const Connection* const connection = connections_.find(peer);
  return connection == nullptr || connection->peer == nullptr ? 0 : most_bytes(*connection->peer);
}

void EnetTransport::disconnect(PeerId peer, std::uint32_t reason) {
  Connection* const connection = connections_.find(peer);
  if (connection == nullptr || !connection->liveness.close(steady_seconds())) return;
  connection->end_reason = reason;
  if (connection->peer == nullptr) return end(peer, 0);
  enet_peer_disconnect_later(connection->peer, reason);
  unsent_ = true;
}

PeerLogin EnetTransport::login(PeerId peer) const {
  const Connection* const connection = connections_.find(peer);
  return connection == nullptr ? PeerLogin{} : PeerLogin{.host = connection->address.host.limited_host()};
}

SocketAddress EnetTransport::server_address() const {
  const auto& race = search_->race;
  return race && !race->started().empty() ? race->started().front() : SocketAddress{};
}

bool EnetTransport::is_full() const {
  return events_.size() >= limits_.waiting_events || events_.bytes() >= limits_.waiting_event_bytes;
}

void EnetTransport::wait(double seconds) {
  const auto flush = [this](bool always) {
    if (!events_.empty()) return true;
    return (always || unsent_) && (pump() || !events_.empty());
  };
  wait_in_slices(seconds, flush, [this](double slice_s) { return sleep(slice_s); });
}

// Sleeps until data arrives or a signal interrupts the process, for at most `seconds`. Returns false only if
// the time has passed. Reads nothing that another thread changes.
bool EnetTransport::sleep(double seconds) const {
  const double whole_ms = std::floor(1000.0 * std::clamp(seconds, 0.0, 3600.0));
  enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE | ENET_SOCKET_WAIT_INTERRUPT;
  const int result = enet_socket_wait(host_->socket, &condition, static_cast<enet_uint32>(whole_ms));
  if (result != 0 || condition != ENET_SOCKET_WAIT_NONE) return true;
  if (whole_ms == 0.0 && seconds > 0.0) nap(seconds);  // ENet waits for whole milliseconds only
  return false;
}

}  // namespace reckoner
