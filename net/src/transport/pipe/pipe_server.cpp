// SPDX-License-Identifier: MIT
#include "net/src/config/settings.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <reckoner/net/pipe_server.hpp>

namespace reckoner {
namespace {

// A client of this project never sends a refused message. A few may come from a client of another version.
constexpr std::size_t kMaxRefused = 32;

constexpr std::array kPipeServerSettings{
    setting<&PipeServerConfig::max_peers>("max_peers", "", "streams", 1.0, 65'535.0, "", "streams at once"),
    setting<&PipeServerConfig::max_peers_per_host>("max_peers_per_host", "", "streams", 1.0, 65'535.0, "",
                                                   "streams at once from one IPv4 address or IPv6 /64"),
    setting<&PipeServerConfig::join_s>("join_s", "", "s", 0.1, 60.0, "",
                                       "a stream that has not joined after this time is closed, s"),
};

}  // namespace

std::optional<Error> find_invalid_setting(const PipeServerConfig& config) {
  if (auto error = find_invalid<PipeServerConfig>(kPipeServerSettings, config)) return error;
  return find_invalid_setting(config.limits);
}

struct PipeServer::Impl {
  struct Peer {
    StreamId stream = 0;
    IpAddress host;
    Admission admission;
    PipePath path;
    bool joined = false;
    double opened_s = 0.0;
    double heard_s = 0.0;
    std::size_t refused = 0;
    TrafficMeter traffic;
  };

  Impl(const PipeServerConfig& settings, PipeStreams used_streams, PipeGate used_gate)
      : config(settings),
        streams(std::move(used_streams)),
        gate(std::move(used_gate)),
        table(settings.max_peers),
        traffic(settings.limits) {}

  void handle(PeerId id, Peer& peer, const pipe::Message& message, double waited_s) {
    using Kind = pipe::Kind;
    if (message.kind == Kind::bye) return end(id, 0, false, message.reason);
    if (message.kind == Kind::hello && !peer.joined) return admit(id, peer, message);
    if (message.kind != Kind::state || !peer.joined) return refuse(peer, Refusal::unexpected);
    if (events.size() >= config.limits.waiting_events || events.bytes() >= config.limits.waiting_event_bytes)
      return refuse(peer, Refusal::peer_limit);
    stats.payload_bytes_received += message.body.size();
    events.push(
        {.kind = TransportEvent::Kind::received, .peer = id, .payload = message.body, .waited_s = waited_s});
  }

  void admit(PeerId id, Peer& peer, const pipe::Message& hello) {
    Admission admission = gate.admit(hello.body, peer.host);
    if (admission.refusal) {
      stats.refuse(*admission.refusal);
      return end(id, 0, true);
    }
    end_replaced();
    peer.joined = true;
    peer.admission = admission;
    (void)put(peer, {.kind = pipe::Kind::welcome}, false);
    if (!status.empty())
      (void)put(peer, {.kind = pipe::Kind::status, .body = std::as_bytes(std::span(status))}, false);
    events.push({.kind = TransportEvent::Kind::connected, .peer = id, .reason = hello.reason});
  }

  void refuse(Peer& peer, Refusal why) {
    stats.refuse(why);
    ++peer.refused;
  }

  bool put(const Peer& peer, const pipe::Message& message, bool may_drop) {
    pipe::write(message, buffer);
    if (!streams.send(peer.stream, buffer, may_drop)) return false;
    ++stats.datagrams_sent;
    stats.wire_bytes_sent += buffer.size();
    return true;
  }

  // Forgets a peer and closes its stream. Sends `reason` to the client if `tell`. The server learns the
  // reason `reported`.
  void end(PeerId id, std::uint32_t reason, bool tell, std::uint32_t reported = 0) {
    Peer* const peer = table.find(id);
    if (peer == nullptr) return;
    if (tell) (void)put(*peer, {.kind = pipe::Kind::bye, .reason = reason}, false);
    streams.close(peer->stream);
    if (peer->joined)
      events.push({.kind = TransportEvent::Kind::disconnected, .peer = id, .reason = reported});
    ids.erase(peer->stream);
    if (const auto host = at_host.find(peer->host.limited_host()); --host->second == 0) at_host.erase(host);
    table.remove(id);
  }

  // Ends the peers whose places newer logins have taken, over this transport or over another one.
  void end_replaced() {
    if (!gate.next_replaced) return;
    while (const auto session = gate.next_replaced()) {
      PeerId found;
      table.for_each([&](PeerId id, const Peer& peer) {
        if (peer.joined && *session != 0 && peer.admission.session == *session) found = id;
      });
      const std::uint32_t reason = pack({EndReason::replaced, 0});
      end(found, reason, true, reason);
    }
  }

  PipeServerConfig config;
  PipeStreams streams;
  PipeGate gate;
  PeerTable<Peer> table;
  std::unordered_map<StreamId, PeerId> ids;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_host;
  TrafficLimit traffic;
  EventQueue events;
  TransportStats stats;
  std::vector<std::byte> buffer;
  std::vector<PeerId> late;
  std::string status;
};

Result<PipeServer> PipeServer::create(const PipeServerConfig& config, PipeStreams streams, PipeGate gate) {
  assert(streams.send && streams.close && gate.admit);
  if (auto error = find_invalid_setting(config)) return *error;
  return PipeServer(std::make_unique<Impl>(config, std::move(streams), std::move(gate)));
}

PipeServer::PipeServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PipeServer::~PipeServer() = default;
PipeServer::PipeServer(PipeServer&&) noexcept = default;
PipeServer& PipeServer::operator=(PipeServer&&) noexcept = default;

bool PipeServer::opened(StreamId stream, const IpAddress& host, double now_s) {
  Impl& s = *impl_;
  const auto at_host = s.at_host.find(host.limited_host());
  const bool crowded = at_host != s.at_host.end() && at_host->second >= s.config.max_peers_per_host;
  if (s.table.size() >= s.config.max_peers || crowded || s.ids.contains(stream)) {
    s.stats.refuse(Refusal::peer_limit);
    return false;
  }
  Impl::Peer peer;
  peer.stream = stream;
  peer.host = host;
  peer.opened_s = peer.heard_s = now_s;
  s.ids[stream] = s.table.add(peer);
  ++s.at_host[host.limited_host()];
  return true;
}

void PipeServer::received(StreamId stream, std::span<const std::byte> bytes, double now_s, double waited_s) {
  Impl& s = *impl_;
  const auto found = s.ids.find(stream);
  if (found == s.ids.end()) return;
  const PeerId id = found->second;
  Impl::Peer& peer = *s.table.find(id);
  ++s.stats.datagrams_received;
  s.stats.wire_bytes_received += bytes.size();
  if (const auto why = s.traffic.refuse(peer.traffic, peer.host, bytes.size(), now_s)) {
    s.refuse(peer, *why);
  } else if (const auto message = pipe::read(bytes)) {
    peer.heard_s = now_s;
    s.handle(id, peer, *message, waited_s);
  } else {
    s.refuse(peer, Refusal::malformed);
  }
  // handle() may have removed the peer.
  if (const Impl::Peer* const still = s.table.find(id); still && still->refused > kMaxRefused)
    s.end(id, 0, true);
}

void PipeServer::set_path(StreamId stream, const PipePath& path) {
  const auto found = impl_->ids.find(stream);
  if (found == impl_->ids.end()) return;
  PipePath& own = impl_->table.find(found->second)->path;
  own = path;
  own.max_datagram_bytes = std::clamp<std::size_t>(path.max_datagram_bytes, 1, kMaxDatagramBytes);
}

void PipeServer::closed(StreamId stream) {
  if (const auto found = impl_->ids.find(stream); found != impl_->ids.end())
    impl_->end(found->second, 0, false);
}

void PipeServer::refused(Refusal why) {
  impl_->stats.refuse(why);
}

void PipeServer::send_status(std::string_view text) {
  Impl& s = *impl_;
  if (text.size() > kMaxStatusBytes) return;
  s.status = text;
  const pipe::Message message{.kind = pipe::Kind::status, .body = std::as_bytes(std::span(s.status))};
  s.table.for_each([&](PeerId, const Impl::Peer& peer) {
    if (peer.joined) (void)s.put(peer, message, true);
  });
}

std::size_t PipeServer::streams() const {
  return impl_->table.size();
}

std::optional<ClientIdentity> PipeServer::identity(PeerId id) const {
  const Impl::Peer* const peer = impl_->table.find(id);
  return peer == nullptr ? std::nullopt : peer->admission.identity;
}

void PipeServer::service(double now_s) {
  Impl& s = *impl_;
  s.end_replaced();
  s.late.clear();
  s.table.for_each([&](PeerId id, const Impl::Peer& peer) {
    const bool late = !peer.joined && now_s - peer.opened_s > s.config.join_s;
    if (late || now_s - peer.heard_s > s.config.limits.silence_s) s.late.push_back(id);
  });
  for (const PeerId id : s.late)
    s.end(id, 0, true);
  s.traffic.tidy(now_s);
}

std::optional<TransportEvent> PipeServer::poll() {
  return impl_->events.pop();
}

bool PipeServer::send(PeerId id, std::span<const std::byte> datagram) {
  const Impl::Peer* const peer = impl_->table.find(id);
  if (peer == nullptr || !peer->joined || datagram.empty() || datagram.size() > kMaxDatagramBytes)
    return false;
  impl_->stats.payload_bytes_sent += datagram.size();
  (void)impl_->put(*peer, {.kind = pipe::Kind::state, .body = datagram}, true);
  return true;  // a datagram may be lost
}

std::size_t PipeServer::max_datagram_bytes(PeerId id) const {
  const Impl::Peer* const peer = impl_->table.find(id);
  return peer != nullptr && peer->joined ? peer->path.max_datagram_bytes : 0;
}

bool PipeServer::is_ordered(PeerId id) const {
  const Impl::Peer* const peer = impl_->table.find(id);
  return peer == nullptr || peer->path.is_ordered;
}

void PipeServer::disconnect(PeerId id, std::uint32_t reason) {
  impl_->end(id, reason, true);
}

PeerLogin PipeServer::login(PeerId id) const {
  const Impl::Peer* const peer = impl_->table.find(id);
  if (peer == nullptr) return {};
  PeerLogin login = peer->admission.login;
  login.host = peer->host.limited_host();
  login.is_revoked = impl_->gate.is_revoked && impl_->gate.is_revoked(login);
  return login;
}

void PipeServer::revoke_login(const PeerLogin& login) {
  if (impl_->gate.revoke) impl_->gate.revoke(login);
}

const TransportStats& PipeServer::stats() const {
  return impl_->stats;
}

}  // namespace reckoner
