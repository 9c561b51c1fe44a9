// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/enet_transport_impl.hpp"
#include "net/src/transport/enet/server_security.hpp"
#include "net/src/transport/enet/socket/socket_filter.hpp"
#include "net/src/transport/limits/limit_settings.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>
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

Result<std::unique_ptr<EnetTransport::Impl>> EnetTransport::Impl::open(
    const ENetAddress* address, std::size_t peers, const std::string& host_name, const Shard& shard,
    const TransportLimits& limit, const LogSink& log) {
  auto impl = std::make_unique<Impl>(peers, shard, limit, log);
  if (!impl->runtime.usable()) return Error{"ENet does not start on this machine"};
  errno = 0;
  // The first of several hosts binds the port without sharing it, so that no other server can have the port.
  // It shares the port only afterwards. Linux checks the option again whenever another socket binds.
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
  impl->filtered = filter_socket(host.socket, sizeof host.packetData[0]);
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

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const ListenConfig& config) {
  return listen(config, {});
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(const ListenConfig& config, const Shard& shard) {
  const EnetRuntime runtime;  // some systems need it to resolve names
  ENetAddress address{.host = ENET_HOST_ANY, .port = config.port};
  if (!config.host.empty() && enet_address_set_host(&address, config.host.c_str()) != 0) {
    return Error{"unknown host '" + config.host + "'"};
  }
  static_assert(ShardedTransport::kMaxPeersPerHost == ENET_PROTOCOL_MAXIMUM_PEER_ID);
  if (config.max_peers > ShardedTransport::kMaxPeersPerHost) {
    return Error{"one ENet host holds at most " + std::to_string(ShardedTransport::kMaxPeersPerHost) +
                 " connections"};
  }
  if (const auto fault = find_invalid_setting(config)) return *fault;
  auto impl = Impl::open(&address, config.max_peers, config.host, shard, config.limits, config.log);
  if (!impl) return Error{impl.error()};
  std::unique_ptr<EnetTransport> transport(new EnetTransport(std::move(*impl)));
  const ServerSecurity* const security = config.security.get();
  if (security != nullptr) {
    auto gate = gate_config(*security, {ENET_NET_TO_HOST_32(address.host), transport->port()});
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
                                                              const LogSink& log) {
  const EnetRuntime runtime;
  ENetAddress address{.host = ENET_HOST_ANY, .port = port};
  if (host.empty() || enet_address_set_host(&address, host.c_str()) != 0) {
    return Error{"unknown host '" + host + "'"};
  }
  if (port == 0) return Error{"the server's UDP port is missing"};
  if (const ClientSecurity* const shown = security.get(); shown != nullptr && !shown->token.to_server)
    return Error{"the token is empty"};
  auto impl = Impl::open(nullptr, 1, host, {}, {}, log);
  if (!impl) return Error{impl.error()};
  (*impl)->role = enet_filter::Role::client;
  (void)waited_in_socket_s((*impl)->host->socket);  // from now on, the system notes arrival times
  ENetPeer* peer = enet_host_connect((*impl)->host.get(), &address, kChannels, reason);
  if (peer == nullptr) return Error{"cannot connect to '" + host + "'"};
  (*impl)->add(peer, true);
  if (const ClientSecurity* const shown = security.get()) {
    // ENet starts after the server has admitted the client. Until then, ENet's peer only keeps the address.
    (*impl)->set_guard(secure::Guard(shown->token, shown->game, shown->secret));
    (*impl)->pending_connect = reason;
    enet_peer_reset(peer);
  }
  return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(*impl)));
}

std::string EnetTransport::numeric_host(const std::string& host) {
  const EnetRuntime runtime;
  ENetAddress address{};
  std::array<char, 64> digits{};
  const bool known = !host.empty() && enet_address_set_host(&address, host.c_str()) == 0 &&
                     enet_address_get_host_ip(&address, digits.data(), digits.size()) == 0;
  return known ? std::string(digits.data()) : host;
}

// Sleeps until data arrives or a signal interrupts the process, for at most `seconds`. Returns false only if
// the time has passed. Reads nothing that another thread changes.
bool EnetTransport::Impl::sleep(double seconds) const {
  const double whole_ms = std::floor(seconds * 1000.0);
  if (whole_ms < 1.0) {
    // ENet counts whole milliseconds. Sleep through the rest instead of spinning.
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return true;
  }
  // A signal ends the wait too, for programs that check a stop flag.
  enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE | ENET_SOCKET_WAIT_INTERRUPT;
  const int result = enet_socket_wait(host->socket, &condition, static_cast<enet_uint32>(whole_ms));
  return result != 0 || condition != ENET_SOCKET_WAIT_NONE;
}

EnetTransport::EnetTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EnetTransport::~EnetTransport() = default;

void EnetTransport::service(double /*now_s*/) {
  impl_->run_passes();
  impl_->disconnect_silent(steady_seconds());
}

std::optional<TransportEvent> EnetTransport::poll() {
  return impl_->events.pop();
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
    impl_->log.acknowledges_nothing(peer, machine_order(connection.peer->address));
    impl_->give_up(peer);
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
  if (!packet) return false;
  if (reliable) {
    connection.backlog += payload.size();
    packet->userData = &connection.backlog;
    packet->freeCallback = &Impl::release_backlog;
    if (!connection.reliable.send(*connection.peer, std::move(packet))) return false;
    if (connection.reliable.size() == 1) impl_->peers_with_queue.push_back(peer);
  } else {
    if (enet_peer_send(connection.peer, static_cast<enet_uint8>(channel), packet.get()) != 0) return false;
    (void)packet.release();  // ENet owns it now
  }
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
  impl_->unsent = true;
  if (!connection.reliable.empty()) return;  // release_queued() continues the disconnect
  enet_peer_disconnect_later(connection.peer, reason);
  // ENet ends a connection that is not established yet at once, without an event.
  if (connection.peer->state == ENET_PEER_STATE_DISCONNECTED) impl_->end(peer, 0);
}

void EnetTransport::revoke_login(PeerId peer) {
  const Impl::Connection* const found = impl_->connections.find(peer);
  if (found != nullptr && impl_->guard) impl_->guard->revoke_login(found->session);
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
