// SPDX-License-Identifier: MIT
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/transport/server_peer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reckoner/net/pipe_transport.hpp>

namespace reckoner {
namespace {

// Events that wait for poll(), bytes. A page in a background tab does not poll for minutes.
constexpr std::size_t kMaxWaitingInPipe = 4 * 1024 * 1024;

}  // namespace

struct PipeTransport::Impl {
  enum class Phase : std::uint8_t { opening, joining, joined, closed };

  bool put(const pipe::Message& message) {
    pipe::write(message, buffer);
    if (!send(buffer)) return false;
    ++stats.datagrams_sent;
    stats.wire_bytes_sent += buffer.size();
    return true;
  }

  void end(std::uint32_t reason) {
    if (phase == Phase::closed) return;
    phase = Phase::closed;
    events.push({.kind = TransportEvent::Kind::disconnected, .peer = kServerPeer, .reason = reason});
  }

  void handle(const pipe::Message& message, double now_s) {
    using Kind = pipe::Kind;
    if (message.kind == Kind::bye) return end(message.reason);
    if (message.kind == Kind::welcome && phase == Phase::joining) {
      phase = Phase::joined;
      events.push({.kind = TransportEvent::Kind::connected, .peer = kServerPeer});
    } else if (message.kind == Kind::status && phase == Phase::joined) {
      status.assign(reinterpret_cast<const char*>(message.body.data()), message.body.size());
    } else if (message.kind == Kind::state && phase == Phase::joined) {
      if (events.bytes() > kMaxWaitingInPipe) return stats.refuse(Refusal::too_many);
      stats.payload_bytes_received += message.body.size();
      events.push({.peer = kServerPeer, .payload = message.body}, now_s);
    } else {
      stats.refuse(Refusal::unexpected);
    }
  }

  Send send;
  std::vector<std::byte> token;
  PipePath path;
  Phase phase = Phase::opening;
  EventQueue events;
  double service_s = 0.0;
  std::string status;
  TransportStats stats;
  std::vector<std::byte> buffer;
};

PipeTransport::PipeTransport(Send send, std::span<const std::byte> token) : impl_(std::make_unique<Impl>()) {
  impl_->send = std::move(send);
  impl_->token.assign(token.begin(), token.end());
}
PipeTransport::~PipeTransport() = default;

void PipeTransport::opened() {
  if (impl_->phase != Impl::Phase::opening) return;
  impl_->phase = Impl::Phase::joining;
  (void)impl_->put({.kind = pipe::Kind::hello, .reason = kProtocolVersion, .body = impl_->token});
}

void PipeTransport::received(std::span<const std::byte> bytes, double now_s) {
  if (impl_->phase == Impl::Phase::closed) return;
  ++impl_->stats.datagrams_received;
  impl_->stats.wire_bytes_received += bytes.size();
  if (const auto message = pipe::read(bytes)) {
    impl_->handle(*message, now_s);
  } else {
    impl_->stats.refuse(Refusal::malformed);
  }
}

void PipeTransport::set_path(const PipePath& path) {
  impl_->path = path;
  impl_->path.max_datagram_bytes = std::clamp<std::size_t>(path.max_datagram_bytes, 1, kMaxDatagramBytes);
}

void PipeTransport::closed() {
  impl_->end(0);
}

const std::string& PipeTransport::status() const {
  return impl_->status;
}

void PipeTransport::service(double now_s) {
  impl_->service_s = now_s;
}

std::optional<TransportEvent> PipeTransport::poll() {
  return impl_->events.pop(impl_->service_s);
}

bool PipeTransport::send(PeerId peer, std::span<const std::byte> datagram) {
  if (datagram.empty() || datagram.size() > kMaxDatagramBytes || max_datagram_bytes(peer) == 0) return false;
  impl_->stats.payload_bytes_sent += datagram.size();
  return impl_->put({.kind = pipe::Kind::state, .body = datagram});
}

std::size_t PipeTransport::max_datagram_bytes(PeerId peer) const {
  return peer == kServerPeer && impl_->phase == Impl::Phase::joined ? impl_->path.max_datagram_bytes : 0;
}

bool PipeTransport::is_ordered(PeerId) const {
  return impl_->path.is_ordered;
}

void PipeTransport::disconnect(PeerId peer, std::uint32_t reason) {
  if (peer != kServerPeer || impl_->phase == Impl::Phase::closed) return;
  (void)impl_->put({.kind = pipe::Kind::bye, .reason = reason});
  impl_->end(0);
}

const TransportStats& PipeTransport::stats() const {
  return impl_->stats;
}

}  // namespace reckoner
