// SPDX-License-Identifier: MIT
#include "net/src/transport/udp/udp_client.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/transport/other_transport.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/transport/server_peer.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace reckoner {
namespace {

constexpr std::size_t kReads = 8;  // datagrams that are read at once

}  // namespace

Result<std::unique_ptr<UdpClient>> UdpClient::connect(const std::string& host, std::uint16_t port,
                                                      std::uint16_t version,
                                                      const OrInsecure<ClientSecurity>& security,
                                                      const LogSink& log, const ResolveHost& resolve) {
  const SocketLibrary library;
  errno = 0;
  const auto literal = parse_host(host);
  const bool needs_one = literal && literal->host.is_ipv4() && has_route({literal->host, port});
  UdpSocket socket = needs_one ? UdpSocket::open(IpFamilies::ipv4) : UdpSocket::open_any();
  if (!socket) return socket_error(nullptr, host);
  const ClientSecurity* const shown = security.get();
  return std::unique_ptr<UdpClient>(
      new UdpClient(host, port, std::move(socket),
                    shown != nullptr ? secure::Guard(shown->token, shown->game, shown->secret, version)
                                     : secure::Guard(version),
                    shown != nullptr, log, resolve));
}

UdpClient::UdpClient(const std::string& host, std::uint16_t port, UdpSocket&& socket, secure::Guard guard,
                     bool has_security, const LogSink& log, const ResolveHost& resolve)
    : log_(log),
      host_(host),
      has_security_(has_security),
      port_(std::move(socket), kReads),
      guard_(std::move(guard)),
      now_s_(steady_seconds()),
      upkeep_(now_s_, true, limits_.silence_s) {
  port_.note_arrival_times();
  lookup_.emplace(host, port, resolve);
}

UdpClient::~UdpClient() {
  if (phase_ != Phase::connected) return;
  write_last_close();
  port_.flush();
}

void UdpClient::service(double /*now_s*/) {
  (void)pass();
  service_s_ = now_s_;
}

// Sends and receives until nothing is left. Returns true if a datagram has arrived.
bool UdpClient::pass() {
  now_s_ = steady_seconds();
  if (phase_ == Phase::connecting) {
    find_server();
    send_handshake();
  }
  port_.flush();
  const bool arrived = port_.read([this](const DatagramIntake::Datagram& datagram) { arrive(datagram); },
                                  [this] { return is_full(); });
  if (phase_ == Phase::connecting) send_handshake();  // answers a challenge
  if (now_s_ - kept_up_s_ >= SessionUpkeep::kVisitS) keep_up();
  port_.flush();
  port_.count_drops();
  return arrived;
}

bool UdpClient::is_full() const {
  return events_.size() >= limits_.waiting_events || events_.bytes() >= limits_.waiting_event_bytes;
}

// Finds the addresses of the server and starts attempts with them, one after the other.
void UdpClient::find_server() {
  if (lookup_) {
    const auto found = lookup_->poll();
    if (!found) return;
    lookup_.reset();
    race_.emplace(*found);
  }
  if (!race_ || race_->winner()) return;
  if (!challenger_) {
    race_->start_due(now_s_, [this](const SocketAddress& address) {
      if (!has_route(address)) return false;
      if (!last_to_server_.empty()) port_.queue(address, last_to_server_);
      return true;
    });
  }
  if (!race_->lost()) return;
  log_.no_address(kServerPeer, host_);
  end(0);
}

void UdpClient::send_handshake() {
  if (phase_ != Phase::connecting || !race_ || race_->started().empty()) return;
  const auto message = guard_.to_send(now_s_);
  if (!message) return;
  if (message->size() == secure::Request::kBytes) challenger_.reset();  // the handshake starts again
  if (challenger_) return port_.queue(*challenger_, *message);
  queue_to_server(*message);
}

// Until the server has answered, the datagram goes to all of its addresses whose turn has come.
void UdpClient::queue_to_server(std::span<const std::byte> datagram) {
  if (!race_) return;
  if (!race_->winner()) last_to_server_.assign(datagram.begin(), datagram.end());
  for (const SocketAddress& to : race_->started())
    port_.queue(to, datagram);
}

SocketAddress UdpClient::server_address() const {
  return race_ && !race_->started().empty() ? race_->started().front() : SocketAddress{};
}

void UdpClient::arrive(const DatagramIntake::Datagram& datagram) {
  const bool is_from_server = race_ && race_->runs(datagram.from);
  const bool is_connecting = phase_ == Phase::connecting;
  if (is_connecting && is_from_server && is_notice(datagram.payload, kServerUsesEnet)) {
    port_.stats.refuse(Refusal::other_transport);
    server_uses_enet_ = !challenger_;
    // A client with a token goes on, because the notice may be forged.
    if (server_uses_enet_ && !has_security_) give_up();
    return;
  }
  // Only with a seal is a datagram the server's wherever it comes from.
  if (!has_security_ && !is_from_server) return port_.stats.refuse(Refusal::no_session);
  // Each address of a server answers with its own cookie. The first one counts.
  if (is_connecting && is_from_server && challenger_ && *challenger_ != datagram.from)
    return port_.stats.refuse(Refusal::repeated);
  const auto arrival = guard_.arrive(datagram.from, datagram.payload, now_s_, unix_seconds());
  if (arrival.refusal) return port_.stats.refuse(*arrival.refusal);
  if (is_connecting && is_from_server) challenger_ = datagram.from;
  // A copy of the answer may come from anywhere, and sooner than the original.
  if (is_connecting && guard_.joined() != nullptr) begin();
  handle(arrival, datagram);
}

void UdpClient::begin() {
  race_->decide(challenger_ ? *challenger_ : server_address());
  phase_ = Phase::connected;
  server_uses_enet_ = false;
  upkeep_.connected(now_s_);
  log_.connected(kServerPeer, server_address());
  events_.push({.kind = TransportEvent::Kind::connected, .peer = kServerPeer});
  write(secure::Kind::alive, {});  // the server learns that its answer has arrived
}

void UdpClient::handle(const secure::Guard::Arrival& arrival, const DatagramIntake::Datagram& datagram) {
  using What = secure::Guard::Arrival::What;
  if (arrival.what == What::answer) return queue_to_server(arrival.bytes);
  if (arrival.what == What::close) {
    write(secure::Kind::closed, {});
    if (phase_ != Phase::connected) return;
    log_.disconnected(kServerPeer, server_address());
    return end(upkeep_.is_closing() ? 0 : arrival.reason);
  }
  if (phase_ != Phase::connected || arrival.what == What::nothing) return;
  if (arrival.what == What::closed) {
    if (upkeep_.is_closing()) end(0);
    return;
  }
  upkeep_.received();
  if (arrival.what != What::datagram) return;
  port_.stats.payload_bytes_received += arrival.bytes.size();
  events_.push({.peer = kServerPeer, .payload = arrival.bytes, .waited_s = datagram.waited_s}, now_s_);
}

void UdpClient::write(secure::Kind kind, std::span<const std::byte> content) {
  queue_to_server(guard_.write(kind, content));
}

void UdpClient::write_close() {
  queue_to_server(guard_.write_close(upkeep_.reason()));
}

// Nothing repeats this close.
void UdpClient::write_last_close() {
  for (int copy = 0; copy < SessionUpkeep::kLastCopies; ++copy)
    write_close();
}

void UdpClient::end(std::uint32_t reason) {
  if (phase_ == Phase::ended) return;
  phase_ = Phase::ended;
  events_.push({.kind = TransportEvent::Kind::disconnected, .peer = kServerPeer, .reason = reason});
}

void UdpClient::keep_up() {
  kept_up_s_ = now_s_;
  log_.review(port_.stats, now_s_);
  if (phase_ == Phase::ended) return;
  if (phase_ == Phase::connecting) {
    // The server has refused or ignored the token. Nothing else will arrive.
    if (const auto fault = guard_.token_fault(now_s_)) {
      if (*fault == secure::TokenFault::ignored) {
        log_.token_ignored(kServerPeer, server_address());
      } else {
        log_.token_refused(kServerPeer, server_address());
      }
      return end(pack({EndReason::token, static_cast<std::uint32_t>(*fault)}));
    }
    if (upkeep_.is_given_up(now_s_)) give_up();
    return;
  }
  // What the server has sent waits in the socket while the events are full.
  if (!is_full() && upkeep_.is_given_up(now_s_)) {
    log_.timed_out(kServerPeer, server_address(), upkeep_.is_closing());
    write_last_close();
    return end(0);
  }
  const auto due = upkeep_.due(now_s_);
  if (due == SessionUpkeep::Due::alive) write(secure::Kind::alive, {});
  if (due == SessionUpkeep::Due::close) write_close();
}

// The time for connecting is over.
void UdpClient::give_up() {
  if (has_security_ && guard_.was_ignored()) {
    log_.token_ignored(kServerPeer, server_address());
    return end(pack({EndReason::token, static_cast<std::uint32_t>(secure::TokenFault::ignored)}));
  }
  if (server_uses_enet_) {
    log_.wrong_transport(kServerPeer, server_address(), "enet");
  } else {
    log_.no_answer(kServerPeer, server_address());
  }
  end(0);
}

// A pass before the last service() may have read the datagram, for example that of a flush().
std::optional<TransportEvent> UdpClient::poll() {
  return events_.pop(service_s_);
}

bool UdpClient::send(PeerId peer, std::span<const std::byte> datagram) {
  if (peer != kServerPeer || phase_ != Phase::connected || upkeep_.is_closing() || datagram.empty())
    return false;
  if (datagram.size() > kMaxDatagramBytes) {
    port_.stats.refuse(Refusal::too_large);
    return false;
  }
  write(secure::Kind::datagram, datagram);
  upkeep_.sent(now_s_);
  port_.stats.payload_bytes_sent += datagram.size();
  return true;
}

std::size_t UdpClient::max_datagram_bytes(PeerId peer) const {
  return peer == kServerPeer && phase_ == Phase::connected ? kMaxDatagramBytes : 0;
}

void UdpClient::disconnect(PeerId peer, std::uint32_t reason) {
  if (peer != kServerPeer || phase_ == Phase::ended || upkeep_.is_closing()) return;
  if (phase_ == Phase::connecting) return end(0);
  upkeep_.close(reason, steady_seconds());
  write_close();
}

std::optional<ConnectToken> UdpClient::ticket() const {
  const auto* const joined = has_security_ ? guard_.joined() : nullptr;
  if (joined == nullptr) return std::nullopt;
  const secure::Ticket& ticket = joined->ticket;
  return ConnectToken{ticket.expires_s, ticket.nonce, ticket.sealed, {}, ticket.to_server, ticket.to_client};
}

std::string UdpClient::problem() const {
  if (phase_ == Phase::connected) return {};
  if (race_ && race_->lost()) return "this machine found no usable address for '" + host_ + "'";
  if (server_uses_enet_) return "the server uses the transport \"enet\"";
  if (!has_security_ && guard_.was_ignored())
    return "the server answers, but does not admit this client: it requires a token, or is full";
  return {};
}

bool UdpClient::flush(bool always) {
  if (!events_.empty()) return true;
  if (!always && !port_.has_queued()) return false;
  return pass() || !events_.empty();
}

void UdpClient::wait(double seconds) {
  wait_in_slices(
      seconds, [this](bool always) { return flush(always); },
      [this](double slice_s) { return port_.sleep(slice_s); });
}

}  // namespace reckoner
