// SPDX-License-Identifier: MIT
#include "net/src/transport/udp/udp_server.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/secure/server_security.hpp"
#include "net/src/transport/other_transport.hpp"
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reckoner {
namespace {

Result<UdpSocket> open_socket(const ListenConfig& config) {
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
    if (!socket || !socket.bind(address)) return socket_error(&config.port, config.host);
    return socket;
  };
  if (!config.host.empty()) return open(address.host.is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  // A system without IPv6 opens no such socket, or binds none.
  auto both = open(IpFamilies::both);
  return both || errno == EADDRINUSE ? std::move(both) : open(IpFamilies::ipv4);
}

// The gate of a server without security. It limits no single address: everybody may join, so many sessions
// from one address gain an attacker nothing.
secure::GateConfig open_gate() {
  return {.is_open = true, .most_sessions_per_host = SIZE_MAX, .handshakes_per_second = 0.0};
}

}  // namespace

Result<std::unique_ptr<UdpServer>> UdpServer::listen(const ListenConfig& config) {
  const SocketLibrary library;  // some systems need it to resolve names
  if (const auto fault = find_invalid_setting(config)) return *fault;
  auto socket = open_socket(config);
  if (!socket) return Error{socket.error()};
  const ServerSecurity* const security = config.security.get();
  Result<secure::GateConfig> gate =
      security != nullptr ? gate_config(*security, socket->local()) : open_gate();
  if (!gate) return Error{gate.error()};
  // Sessions without a connection, and those that have just ended, need room besides the connections.
  gate->most_sessions = 2 * std::size_t{config.max_peers};
  gate->limits = config.limits;
  std::unique_ptr<UdpServer> server(new UdpServer(config, std::move(*socket), *gate));
  server->log_.opened(security, server->port());
  return server;
}

UdpServer::UdpServer(const ListenConfig& config, UdpSocket&& socket, const secure::GateConfig& gate)
    : log_(config.log),
      limits_(config.limits),
      max_peers_(config.max_peers),
      has_security_(config.security.get() != nullptr),
      port_(std::move(socket), DatagramIntake::kMost),
      guard_(gate),
      connections_(config.max_peers),
      now_s_(steady_seconds()) {}

UdpServer::~UdpServer() {
  connections_.for_each([this](PeerId, Connection& connection) {
    write_last_close(*connection.session, connection.upkeep.reason());
  });
  port_.flush();
}

void UdpServer::service(double /*now_s*/) {
  (void)pass();
  service_s_ = now_s_;
}

// Sends and receives until nothing is left. Returns true if a datagram has arrived.
bool UdpServer::pass() {
  now_s_ = steady_seconds();
  port_.flush();
  const bool arrived = port_.read([this](const DatagramIntake::Datagram& datagram) { arrive(datagram); },
                                  [this] { return is_full(); });
  end_replaced();
  if (now_s_ - kept_up_s_ >= SessionUpkeep::kVisitS) keep_up();
  port_.flush();
  port_.count_drops();
  port_.stats.challenges = guard_.gate()->counts().challenged;
  return arrived;
}

bool UdpServer::is_full() const {
  return events_.size() >= limits_.waiting_events || events_.bytes() >= limits_.waiting_event_bytes;
}

void UdpServer::arrive(const DatagramIntake::Datagram& datagram) {
  if (is_enet_request(datagram.payload)) {
    port_.stats.refuse(Refusal::other_transport);
    log_.other_transport(datagram.from, "enet", now_s_);
    return port_.queue(datagram.from, kServerUsesUdp);
  }
  const auto arrival = guard_.arrive(datagram.from, datagram.payload, now_s_, unix_seconds());
  if (arrival.moved) {
    ++port_.stats.address_changes;
    log_.moved(PeerId{arrival.tag}, arrival.from->address);
  }
  if (arrival.probe) {
    guard_.probe(*arrival.from, now_s_, [this](const SocketAddress& to, std::span<const std::byte> probe) {
      port_.queue(to, probe);
    });
  }
  if (arrival.refusal) {
    port_.stats.refuse(*arrival.refusal);
    if (arrival.refusal == Refusal::handshake_limit) log_.turned_away(datagram.from, now_s_);
    if (arrival.refusal == Refusal::old_version) log_.old_version(datagram.from, now_s_);
  }
  handle(arrival, datagram);
}

void UdpServer::handle(const secure::Guard::Arrival& arrival, const DatagramIntake::Datagram& datagram) {
  using What = secure::Guard::Arrival::What;
  if (arrival.what == What::answer) return port_.queue(datagram.from, arrival.bytes);
  if (arrival.what == What::nothing) return;
  secure::Gate::Session& session = *arrival.from;
  Connection* connection = arrival.tag != 0 ? connections_.find(PeerId{arrival.tag}) : nullptr;
  if (arrival.what == What::close) return receive_close(arrival, connection);
  if (arrival.what == What::closed) {
    if (connection != nullptr && connection->upkeep.is_closing()) end(PeerId{arrival.tag}, 0);
    return;
  }
  if (connection == nullptr) connection = establish(session);
  if (connection == nullptr) return;
  connection->upkeep.received();
  if (arrival.what != What::datagram) return;
  port_.stats.payload_bytes_received += arrival.bytes.size();
  events_.push({.peer = PeerId{session.tag}, .payload = arrival.bytes, .waited_s = datagram.waited_s},
               now_s_);
}

// The client has spoken in its session. Returns null if it gets no connection.
UdpServer::Connection* UdpServer::establish(secure::Gate::Session& session) {
  if (session.is_over) {
    port_.stats.refuse(Refusal::no_session);
    return nullptr;
  }
  const auto refuse = [&](Refusal why, EndReason reason) -> Connection* {
    port_.stats.refuse(why);
    write_last_close(session, pack({reason, 0}));
    guard_.release(session.number, now_s_);
    return nullptr;
  };
  if (connections_.size() == max_peers_) {
    log_.turned_away(session.address, now_s_);
    return refuse(Refusal::handshake_limit, EndReason::full);
  }
  const PeerId id = connections_.add({&session, SessionUpkeep(now_s_, false, limits_.silence_s)});
  if (!guard_.bind(session.number, id.value)) {
    // Its token has begun another session meanwhile, or the player was kicked.
    connections_.remove(id);
    const bool is_kicked = guard_.login(session.number).is_revoked;
    return refuse(Refusal::token_reused, is_kicked ? EndReason::kicked : EndReason::replaced);
  }
  log_.connected(id, session.address);
  events_.push({.kind = TransportEvent::Kind::connected, .peer = id, .reason = session.version});
  write(session, secure::Kind::alive, {});  // the client stops its greetings
  return connections_.find(id);
}

void UdpServer::receive_close(const secure::Guard::Arrival& arrival, Connection* connection) {
  write(*arrival.from, secure::Kind::closed, {});
  if (connection == nullptr) {
    // The client left before it said anything else.
    if (!arrival.from->is_over) guard_.release(arrival.from->number, now_s_);
    return;
  }
  const PeerId id{arrival.tag};
  log_.disconnected(id, arrival.from->address);
  end(id, connection->upkeep.is_closing() ? 0 : arrival.reason);
}

void UdpServer::write(secure::Gate::Session& session, secure::Kind kind, std::span<const std::byte> content) {
  port_.queue(session.address, guard_.write(session, kind, content));
}

void UdpServer::write_close(secure::Gate::Session& session, std::uint32_t reason) {
  port_.queue(session.address, guard_.write_close(session, reason));
}

// Nothing repeats this close.
void UdpServer::write_last_close(secure::Gate::Session& session, std::uint32_t reason) {
  for (int copy = 0; copy < SessionUpkeep::kLastCopies; ++copy)
    write_close(session, reason);
}

// Ends older connections that a newer token or ticket has replaced. A client that came back with a ticket
// continues its game session. For the game, the older connection of such a client is merely lost.
void UdpServer::end_replaced() {
  guard_.end_replaced([this](std::uint32_t tag, bool by_another_login) {
    const PeerId id{tag};
    Connection* const connection = connections_.find(id);
    if (connection == nullptr) return;
    const std::uint32_t reason = pack({EndReason::replaced, 0});
    log_.replaced(id, connection->session->address);
    write_last_close(*connection->session, reason);
    end(id, by_another_login ? reason : 0);
  });
}

// Forgets a connection. Its session stays for a moment, to answer what the client repeats.
void UdpServer::end(PeerId id, std::uint32_t reason) {
  guard_.release(connections_.find(id)->session->number, now_s_);
  connections_.remove(id);
  events_.push({.kind = TransportEvent::Kind::disconnected, .peer = id, .reason = reason});
}

// Visits all connections: gives up the silent ones, and sends what is due in the others.
void UdpServer::keep_up() {
  kept_up_s_ = now_s_;
  std::vector<PeerId> silent;
  connections_.for_each([&](PeerId id, Connection& connection) {
    // What the client has sent waits in the socket while the events are full.
    if (!is_full() && connection.upkeep.is_given_up(now_s_)) return silent.push_back(id);
    const auto due = connection.upkeep.due(now_s_);
    if (due == SessionUpkeep::Due::alive) write(*connection.session, secure::Kind::alive, {});
    if (due == SessionUpkeep::Due::close) write_close(*connection.session, connection.upkeep.reason());
  });
  for (const PeerId id : silent) {
    Connection& connection = *connections_.find(id);
    log_.timed_out(id, connection.session->address, connection.upkeep.is_closing());
    write_last_close(*connection.session, connection.upkeep.reason());
    end(id, 0);
  }
  log_.review(port_.stats, now_s_);
  guard_.tidy(now_s_, unix_seconds(), [this](const SocketAddress& to, std::span<const std::byte> ticket) {
    port_.queue(to, ticket);
  });
}

// A pass before the last service() may have read the datagram, for example that of a flush().
std::optional<TransportEvent> UdpServer::poll() {
  return events_.pop(service_s_);
}

bool UdpServer::send(PeerId peer, std::span<const std::byte> datagram) {
  Connection* const connection = connections_.find(peer);
  if (connection == nullptr || connection->upkeep.is_closing() || datagram.empty()) return false;
  if (datagram.size() > kMaxDatagramBytes) {
    port_.stats.refuse(Refusal::too_large);
    return false;
  }
  write(*connection->session, secure::Kind::datagram, datagram);
  connection->upkeep.sent(now_s_);
  port_.stats.payload_bytes_sent += datagram.size();
  return true;
}

std::size_t UdpServer::max_datagram_bytes(PeerId peer) const {
  return connections_.find(peer) == nullptr ? 0 : kMaxDatagramBytes;
}

void UdpServer::disconnect(PeerId peer, std::uint32_t reason) {
  Connection* const connection = connections_.find(peer);
  if (connection == nullptr || connection->upkeep.is_closing()) return;
  // With a program of the right version, the player may use the token again.
  if (unpack_end_code(reason).reason == EndReason::version) guard_.give_back(connection->session->number);
  connection->upkeep.close(reason, steady_seconds());
  write_close(*connection->session, reason);
}

PeerLogin UdpServer::login(PeerId peer) const {
  const Connection* const connection = connections_.find(peer);
  return connection == nullptr ? PeerLogin{} : guard_.login(connection->session->number);
}

void UdpServer::revoke_login(const PeerLogin& login) {
  guard_.revoke_login(login, steady_seconds(), unix_milliseconds());
}

std::optional<ClientIdentity> UdpServer::identity(PeerId peer) const {
  const Connection* const connection = connections_.find(peer);
  if (connection == nullptr || !has_security_) return std::nullopt;
  const ConnectGrant& grant = connection->session->grant;
  return ClientIdentity{grant.client_id, grant.user_data};
}

std::shared_ptr<secure::UsedTokens> UdpServer::used_tokens() const {
  return has_security_ ? guard_.gate()->used() : nullptr;
}

bool UdpServer::flush(bool always) {
  if (!events_.empty()) return true;
  if (!always && !port_.has_queued()) return false;
  return pass() || !events_.empty();
}

void UdpServer::wait(double seconds) {
  wait_in_slices(
      seconds, [this](bool always) { return flush(always); },
      [this](double slice_s) { return port_.sleep(slice_s); });
}

}  // namespace reckoner
