// SPDX-License-Identifier: MIT
#include "net/src/transport/pipe/pipe_server.hpp"

#include <utility>

namespace reckoner::pipe {
namespace {

// A client of this project never sends a refused message. A few may come from a client of another version.
constexpr std::size_t kMaxRefused = 32;

}  // namespace

PipeServer::PipeServer(PipeServerConfig config, Streams streams)
    : config_(config), streams_(std::move(streams)), table_(config.max_peers), traffic_(config.limits) {}

bool PipeServer::opened(StreamId stream, const IpAddress& host, double now_s) {
  const auto at_host = at_host_.find(host.limited_host());
  const bool crowded = at_host != at_host_.end() && at_host->second >= config_.max_peers_per_host;
  if (table_.size() >= config_.max_peers || crowded || ids_.contains(stream)) {
    stats_.refuse(Refusal::peer_limit);
    return false;
  }
  Peer peer;
  peer.stream = stream;
  peer.host = host;
  peer.opened_s = peer.heard_s = now_s;
  ids_[stream] = table_.add(peer);
  ++at_host_[host.limited_host()];
  return true;
}

void PipeServer::received(StreamId stream, std::span<const std::byte> bytes, double now_s, double waited_s) {
  const auto found = ids_.find(stream);
  if (found == ids_.end()) return;  // it was closed meanwhile
  const PeerId id = found->second;
  Peer& peer = *table_.find(id);
  ++stats_.datagrams_received;
  stats_.wire_bytes_received += bytes.size();
  if (const auto why = traffic_.refuse(peer.traffic, peer.host, bytes.size(), now_s)) {
    refuse(peer, *why);
  } else if (const auto message = read(bytes)) {
    peer.heard_s = now_s;
    handle(id, peer, *message, now_s, waited_s);
  } else {
    refuse(peer, Refusal::malformed);
  }
  // handle() may have removed the peer.
  if (const Peer* const still = table_.find(id); still && still->refused > kMaxRefused) end(id, 0, true);
}

void PipeServer::handle(PeerId id, Peer& peer, const Message& message, double now_s, double waited_s) {
  if (message.kind == Kind::bye) return end(id, 0, false, message.reason);
  if (message.kind == Kind::hello && !peer.joined) {
    const Admission admission = streams_.admit(message.body, now_s);
    if (admission.refusal) {
      stats_.refuse(*admission.refusal);
      return end(id, 0, true);
    }
    peer.joined = true;
    peer.login = admission.login;
    peer.seat = admission.seat;
    (void)put(peer, {.kind = Kind::welcome}, false);
    if (!status_.empty())
      (void)put(peer, {.kind = Kind::status, .body = std::as_bytes(std::span(status_))}, false);
    events_.push({.kind = TransportEvent::Kind::connected, .peer = id, .reason = message.reason});
    return;
  }
  const bool payload = message.kind == Kind::control || message.kind == Kind::state;
  if (!payload || !peer.joined) return refuse(peer, Refusal::unexpected);
  if (events_.size() >= config_.limits.waiting_events ||
      events_.bytes() >= config_.limits.waiting_event_bytes)
    return refuse(peer, Refusal::peer_limit);
  stats_.payload_bytes_received += message.body.size();
  events_.push({.kind = TransportEvent::Kind::received,
                .peer = id,
                .channel = message.kind == Kind::state ? Channel::state : Channel::control,
                .payload = message.body,
                .waited_s = waited_s});
}

void PipeServer::refuse(Peer& peer, Refusal why) {
  stats_.refuse(why);
  ++peer.refused;
}

void PipeServer::closed(StreamId stream) {
  if (const auto found = ids_.find(stream); found != ids_.end()) end(found->second, 0, false);
}

bool PipeServer::put(const Peer& peer, const Message& message, bool may_drop) {
  write(message, buffer_);
  if (!streams_.send(peer.stream, buffer_, may_drop)) return false;
  ++stats_.datagrams_sent;
  stats_.wire_bytes_sent += buffer_.size();
  return true;
}

// Forgets a peer and closes its stream. Says goodbye to the client with `reason` if `tell`. The server learns
// the reason `reported`.
void PipeServer::end(PeerId id, std::uint32_t reason, bool tell, std::uint32_t reported) {
  Peer* const peer = table_.find(id);
  if (peer == nullptr) return;
  if (tell) (void)put(*peer, {.kind = Kind::bye, .reason = reason}, false);
  streams_.close(peer->stream);
  if (peer->joined)
    events_.push({.kind = TransportEvent::Kind::disconnected, .peer = id, .reason = reported});
  ids_.erase(peer->stream);
  if (const auto host = at_host_.find(peer->host.limited_host()); --host->second == 0) at_host_.erase(host);
  table_.remove(id);
}

void PipeServer::send_status(std::string_view text) {
  if (text.size() > kMaxStatusBytes) return;
  status_ = text;
  table_.for_each([&](PeerId, Peer& peer) {
    if (peer.joined) (void)put(peer, {.kind = Kind::status, .body = std::as_bytes(std::span(text))}, true);
  });
}

void PipeServer::service(double now_s) {
  late_.clear();
  table_.for_each([&](PeerId id, Peer& peer) {
    const bool late = !peer.joined && now_s - peer.opened_s > config_.join_s;
    if (late || now_s - peer.heard_s > config_.limits.silence_s) late_.push_back(id);
  });
  for (const PeerId id : late_)
    end(id, 0, true);
  traffic_.tidy(now_s);
}

bool PipeServer::send(PeerId id, Channel channel, std::span<const std::byte> payload) {
  Peer* const peer = table_.find(id);
  const std::size_t most = channel == Channel::state ? kMaxStateBytes : kMaxControlBytes;
  if (peer == nullptr || !peer->joined || payload.empty() || payload.size() > most) return false;
  stats_.payload_bytes_sent += payload.size();
  if (channel == Channel::state) {
    (void)put(*peer, {.kind = Kind::state, .body = payload}, true);
    return true;  // a state payload may be lost
  }
  if (put(*peer, {.kind = Kind::control, .body = payload}, false)) return true;
  // The client does not read what it is sent. The missing payload could not be sent again.
  end(id, 0, true);
  return false;
}

void PipeServer::disconnect(PeerId id, std::uint32_t reason) {
  end(id, reason, true);
}

void PipeServer::end_seat(std::uint32_t seat, std::uint32_t reason) {
  PeerId found;
  table_.for_each([&](PeerId id, const Peer& peer) {
    if (peer.joined && peer.seat == seat) found = id;
  });
  end(found, reason, true, reason);
}

PeerLogin PipeServer::login(PeerId id) const {
  const Peer* const peer = table_.find(id);
  if (peer == nullptr) return {};
  PeerLogin login = peer->login;
  login.host = peer->host.limited_host();
  login.is_revoked = streams_.is_revoked && streams_.is_revoked(login);
  return login;
}

}  // namespace reckoner::pipe
