// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/transport/enet/enet_transport_impl.hpp"
#include "net/src/transport/enet/server_security.hpp"
#include "net/src/transport/limits/limit_settings.hpp"
#include "net/src/transport/socket/socket_filter.hpp"

#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

namespace reckoner {
namespace {

// Global, because ENet has one allocator per process.
ENetCallbacks enet_memory{std::malloc, std::free, nullptr};

}  // namespace

std::optional<Error> find_invalid_setting(const ListenConfig& config) {
  if (auto fault = find_invalid<ListenConfig>(kListenSettings, config)) return fault;
  if (auto fault = find_invalid_setting(config.limits)) return fault;
  const ServerSecurity* const security = config.security.get();
  if (security == nullptr) return std::nullopt;
  return find_invalid_setting(*security, config.host.empty());
}

int start_enet() {
  return enet_initialize_with_callbacks(ENET_VERSION, &enet_memory);
}

bool set_enet_allocator(const EnetAllocator& allocator) {
  if (allocator.allocate == nullptr || allocator.release == nullptr) return false;
  return EnetRuntime::before_start([&] { enet_memory = {allocator.allocate, allocator.release, nullptr}; });
}

namespace {

// A socket for a server. The first of several hosts binds the port without sharing it, so that no other
// server can have the port. It shares the port only afterwards. Linux checks the option again whenever
// another socket binds.
Result<UdpSocket> open_server_socket(const ListenConfig& config, bool shares, bool joins) {
  SocketAddress address;
  if (!config.host.empty()) {
    const auto found = resolve_host(config.host);
    if (found.empty()) return Error{"unknown host '" + config.host + "'"};
    address = found.front();
  }
  address.port = config.port;
  const auto open = [&](IpFamilies families) -> Result<UdpSocket> {
    errno = 0;
    UdpSocket socket = UdpSocket::open(families);
    if (!socket) return socket_error(&config.port, config.host);
    if (joins && !share_port(socket.descriptor())) return Error{"this system cannot share a UDP port"};
    if (!socket.bind(address)) return socket_error(&config.port, config.host);
    if (shares && !joins && !share_port(socket.descriptor()))
      return Error{"this system cannot share a UDP port"};
    return socket;
  };
  if (!config.host.empty()) return open(address.host.is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  // A system without IPv6 opens no such socket, or binds none.
  auto both = open(IpFamilies::both);
  return both || errno == EADDRINUSE ? std::move(both) : open(IpFamilies::ipv4);
}

}  // namespace

Result<std::unique_ptr<EnetTransport::Impl>> EnetTransport::Impl::open(UdpSocket&& socket,
                                                                       enet_filter::Role role,
                                                                       std::size_t peers, const Shard& shard,
                                                                       const TransportLimits& limit,
                                                                       const LogSink& log) {
  auto impl = std::make_unique<Impl>(std::move(socket), role, peers, shard, limit, log);
  if (!impl->runtime.usable()) return Error{"ENet does not start on this machine"};
  // ENet's socket is private: connected to itself, see EnetInbox.
  ENetAddress loopback{};
  constexpr std::uint32_t kLoopback = 0x7F000001;
  loopback.host = ENET_HOST_TO_NET_32(kLoopback);
  errno = 0;
  impl->host.reset(enet_host_create(&loopback, peers, kChannels, 0, 0));
  if (!impl->host) return socket_error(nullptr, {});
  ENetHost& host = *impl->host;
#ifndef __APPLE__  // which lets no connected socket name the receiver, as ENet does
  (void)enet_socket_connect(host.socket, &host.address);
#endif
  host.maximumPacketSize = limit.message_bytes;
  host.maximumWaitingData = limit.waiting_bytes;
  host.intercept = &Impl::filter;
  host.checksum = &Impl::sending_hook;
  host.compressor.context = impl.get();
  host.mtu = limits::kMtu;
  for (ENetPeer* peer = host.peers; peer != host.peers + host.peerCount; ++peer) {
    peer->mtu = limits::kMtu;
    peer->data = nullptr;
  }
  (void)filter_socket(impl->net.descriptor(), DatagramIntake::kLongest);
  impl->net.set_buffers(limits::kSocketBufferBytes);
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
  flush_batch();
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const ListenConfig& config) {
  return listen(config, {});
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const ListenConfig& config, const Shard& shard) {
  const EnetRuntime runtime;  // some systems need it to resolve names
  static_assert(ShardedTransport::kMaxPeersPerHost == ENET_PROTOCOL_MAXIMUM_PEER_ID);
  if (config.max_peers > ShardedTransport::kMaxPeersPerHost) {
    return Error{"one ENet host holds at most " + std::to_string(ShardedTransport::kMaxPeersPerHost) +
                 " connections"};
  }
  if (const auto fault = find_invalid_setting(config)) return *fault;
  auto socket = open_server_socket(config, shard.bits > 0, shard.number > 0);
  if (!socket) return Error{socket.error()};
  const SocketAddress bound = socket->local();
  auto impl = Impl::open(std::move(*socket), enet_filter::Role::server, config.max_peers, shard,
                         config.limits, config.log);
  if (!impl) return Error{impl.error()};
  std::unique_ptr<EnetTransport> transport(new EnetTransport(std::move(*impl)));
  const ServerSecurity* const security = config.security.get();
  if (security != nullptr) {
    auto gate = gate_config(*security, bound);
    if (!gate) return Error{gate.error()};
    gate->most_sessions = 2 * std::size_t{config.max_peers};
    gate->used = shard.used;
    gate->limits = config.limits;
    transport->impl_->set_guard(secure::Guard(*gate));
  }
  if (shard.number == 0) transport->impl_->log.opened(security, transport->port());
  return transport;
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(const std::string& host, std::uint16_t port,
                                                              std::uint32_t reason,
                                                              const OrInsecure<ClientSecurity>& security,
                                                              const LogSink& log,
                                                              const ResolveHost& resolve) {
  const EnetRuntime runtime;
  if (host.empty()) return Error{"the server's host name is empty"};
  if (port == 0) return Error{"the server's UDP port is missing"};
  if (const ClientSecurity* const shown = security.get(); shown != nullptr && !shown->token.to_server)
    return Error{"the token is empty"};
  errno = 0;
  const auto literal = parse_host(host);
  const bool needs_one = literal && literal->host.is_ipv4() && has_route({literal->host, port});
  UdpSocket socket = needs_one ? UdpSocket::open(IpFamilies::ipv4) : UdpSocket::open_any();
  if (!socket) return socket_error(nullptr, host);
  auto impl = Impl::open(std::move(socket), enet_filter::Role::client, 1, {}, {}, log);
  if (!impl) return Error{impl.error()};
  DatagramIntake::note_arrival_times((*impl)->net);
  (*impl)->server_name = host;
  (*impl)->lookup.emplace(host, port, resolve);
  ENetHost& own = *(*impl)->host;
  // A server without security tells connections apart by their numbers, which ENet counts from this seed.
  // ENet's own seed depends on the second and on an address in memory, so two attempts could have the same
  // number.
  secure::fill_random(std::as_writable_bytes(std::span(&own.randomSeed, 1)));
  ENetPeer* peer = enet_host_connect(&own, &own.address, kChannels, reason);
  if (peer == nullptr) return Error{"cannot connect to '" + host + "'"};
  (*impl)->add(peer, true);
  if (const ClientSecurity* const shown = security.get()) {
    // ENet starts after the server has admitted the client. Until then, ENet's peer only keeps its place.
    (*impl)->set_guard(secure::Guard(shown->token, shown->game, shown->secret));
    (*impl)->pending_connect = reason;
    enet_peer_reset(peer);
  }
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

// Sleeps until data arrives or a signal interrupts the process, for at most `seconds`. Returns false only if
// the time has passed. Reads nothing that another thread changes.
bool EnetTransport::Impl::sleep(double seconds) const {
  return net.wait(seconds);
}

EnetTransport::EnetTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EnetTransport::~EnetTransport() = default;

void EnetTransport::service(double /*now_s*/) {
  impl_->run_passes();
  impl_->service_s = impl_->pass_s;
  impl_->disconnect_silent(steady_seconds());
  impl_->flush_batch();
}

std::optional<TransportEvent> EnetTransport::poll() {
  auto event = impl_->events.pop();
  const bool is_state =
      event && event->kind == TransportEvent::Kind::received && event->channel == Channel::state;
  // A pass before the last service() may have read the payload, for example that of a flush().
  if (is_state) event->waited_s = std::max(0.0, impl_->service_s + event->waited_s);
  return event;
}

bool EnetTransport::send(PeerId peer, Channel channel, std::span<const std::byte> payload) {
  Impl::Connection* const found = impl_->connections.find(peer);
  if (found == nullptr) return false;
  Impl::Connection& connection = *found;
  if (connection.peer->state != ENET_PEER_STATE_CONNECTED || connection.liveness.closing()) return false;
  const bool reliable = channel == Channel::control;
  if (payload.size() > (reliable ? kMaxControlBytes : impl_->max_state_bytes(connection.peer))) {
    impl_->stats.refuse(Refusal::too_large);
    return false;
  }
  if (reliable && connection.backlog + payload.size() > impl_->limit.backlog_bytes) {
    // The peer keeps the connection alive but acknowledges no control data. It cannot catch up any more.
    impl_->log.acknowledges_nothing(peer, impl_->address_of(connection));
    impl_->give_up(peer);
    return false;
  }
  impl_->unsent = true;
  if (!reliable) {
    impl_->post(connection, payload);
    impl_->stats.payload_bytes_sent += payload.size();
    return true;
  }
  PacketPtr packet(enet_packet_create(payload.data(), payload.size(), ENET_PACKET_FLAG_RELIABLE));
  if (!packet) return false;
  connection.backlog += payload.size();
  packet->userData = &connection.backlog;
  packet->freeCallback = &Impl::release_backlog;
  if (!connection.reliable.send(*connection.peer, std::move(packet))) return false;
  if (connection.reliable.size() == 1) impl_->peers_with_queue.push_back(peer);
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
  // With a program of the right version, the player may use the token again.
  if (impl_->guard && unpack_end_code(reason).reason == EndReason::version)
    impl_->guard->give_back(connection.session);
  connection.closing_reason = reason;
  impl_->unsent = true;
  if (!connection.reliable.empty()) return;  // release_queued() continues the disconnect
  enet_peer_disconnect_later(connection.peer, reason);
  // ENet ends a connection that is not established yet at once, without an event.
  if (connection.peer->state == ENET_PEER_STATE_DISCONNECTED) impl_->end(peer, 0);
}

PeerLogin EnetTransport::login(PeerId peer) const {
  const Impl::Connection* const found = impl_->connections.find(peer);
  if (found == nullptr) return {};
  if (impl_->guard) return impl_->guard->login(found->session);
  return {.host = impl_->address_of(*found).host.limited_host()};
}

void EnetTransport::revoke_login(const PeerLogin& login) {
  if (impl_->guard) impl_->guard->revoke_login(login, steady_seconds(), unix_milliseconds());
}

std::shared_ptr<secure::UsedTokens> EnetTransport::used_tokens() const {
  const secure::Gate* const gate = impl_->guard ? impl_->guard->gate() : nullptr;
  return gate == nullptr ? nullptr : gate->used();
}

std::shared_ptr<secure::UsedTokens> EnetTransport::make_used_tokens(const ServerSecurity& security) {
  return std::make_shared<secure::UsedTokens>(token_limits(security));
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

std::string EnetTransport::problem() const {
  if (!impl_->race || !impl_->race->lost()) return {};
  return "this machine found no usable address for '" + impl_->server_name + "'";
}

const TransportStats& EnetTransport::stats() const {
  return impl_->stats;
}

std::uint16_t EnetTransport::port() const {
  return impl_->net.local().port;
}

std::intptr_t EnetTransport::socket() const {
  return impl_->net.descriptor();
}

bool EnetTransport::flush(bool always) {
  if (!impl_->events.empty()) return true;
  if (!always && !impl_->unsent) return false;
  return impl_->run_passes() || !impl_->events.empty();
}

void EnetTransport::wait(double seconds) {
  wait_in_slices(
      seconds, [this](bool always) { return flush(always); },
      [this](double slice_s) { return impl_->sleep(slice_s); });
}

void EnetTransport::sleep_until_readable(double seconds) {
  (void)impl_->sleep(seconds);
}

}  // namespace reckoner
