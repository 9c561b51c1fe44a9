// SPDX-License-Identifier: MIT
#include "web/src/channel/channel_server.hpp"

#include "net/src/transport/socket/datagram_batch.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/socket_filter.hpp"
#include "net/src/transport/socket/socket_library.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "web/src/channel/server_channel.hpp"

#include <utility>

namespace reckoner::web {
namespace {

constexpr int kSocketBufferBytes = 1024 * 1024;
// So that a flood does not keep the server from its ticks: what is left waits in the socket.
constexpr int kMostReads = 64;

}  // namespace

struct ChannelServer::Impl {
  explicit Impl(UdpSocket opened) : socket(std::move(opened)) {}

  void put(const SocketAddress& to, std::span<const std::byte> datagram) {
    if (datagram.size() > DatagramBatch::kMaxDatagram) return;
    if (batch.full()) flush();
    batch.add(to, {}, datagram);
  }
  void flush() {
    if (!batch.empty()) errors += batch.flush(socket).errors;
  }

  SocketLibrary library;
  UdpSocket socket;
  DatagramIntake intake{DatagramIntake::kMost};
  DatagramBatch batch;
  std::uint64_t errors = 0;
  std::unique_ptr<ChannelHub> hub;
  mutable TransportStats stats;
};

ChannelServer::ChannelServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChannelServer::~ChannelServer() {
  impl_->hub.reset();  // tells the browsers
  impl_->flush();
}

Result<std::unique_ptr<ChannelServer>> ChannelServer::create(const ChannelServerConfig& config) {
  const auto host = config.host.empty() ? std::optional(SocketAddress{}) : parse_host(config.host);
  if (!host) return Error{"host: '" + config.host + "' is no IP address of this machine"};
  const SocketLibrary library;
  const bool is_any = config.host.empty();
  UdpSocket socket = is_any ? UdpSocket::open_any()
                            : UdpSocket::open(host->host.is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  SocketAddress address = *host;
  address.port = config.port;
  if (!socket || !socket.bind(address)) return socket_error(&config.port, config.host);
  socket.set_buffers(kSocketBufferBytes);
  (void)filter_socket(socket.descriptor(), DatagramIntake::kLongest);
  DatagramIntake::note_arrival_times(socket);

  ChannelConfig channels = config.channels;
  if (channels.address.host.is_any()) channels.address = *host;
  if (channels.address.port == 0) channels.address.port = socket.local().port;
  auto impl = std::make_unique<Impl>(std::move(socket));
  Impl* const self = impl.get();
  auto hub = ChannelHub::create(
      channels,
      [self](const SocketAddress& to, std::span<const std::byte> datagram) { self->put(to, datagram); });
  if (!hub) return Error{hub.error()};
  impl->hub = std::move(*hub);
  return std::unique_ptr<ChannelServer>(new ChannelServer(std::move(impl)));
}

Result<std::string> ChannelServer::open_offer(StreamId stream, const IpAddress& host, std::string_view offer,
                                              double now_s, const std::optional<SocketAddress>& reached) {
  return impl_->hub->open_offer(stream, host, offer, now_s, reached);
}

void ChannelServer::close(StreamId stream) {
  impl_->hub->close(stream);
  impl_->flush();
}

void ChannelServer::pass_on(PipeServer& pipes, double now_s) {
  service(now_s);
  while (const auto event = poll()) {
    switch (event->kind) {
      case ChannelEvent::Kind::opened:
        pipes.set_path(event->stream, {.is_ordered = false, .max_datagram_bytes = kChannelDatagramBytes});
        break;
      case ChannelEvent::Kind::message:
        pipes.received(event->stream, event->payload, now_s, event->waited_s);
        break;
      case ChannelEvent::Kind::closed:
        pipes.set_path(event->stream, {});
        break;
    }
  }
}

void ChannelServer::service(double now_s) {
  Impl& s = *impl_;
  for (int i = 0; i < kMostReads; ++i) {
    const auto datagrams = s.intake.read(s.socket);
    for (const auto& each : datagrams) {
      if (!each.cut && !each.payload.empty()) s.hub->receive(each.from, each.payload, now_s, each.waited_s);
    }
    if (datagrams.size() < s.intake.capacity()) break;
  }
  s.hub->service(now_s);
  s.flush();
}

std::optional<ChannelEvent> ChannelServer::poll() {
  return impl_->hub->poll();
}

bool ChannelServer::send(StreamId stream, std::span<const std::byte> message) {
  return impl_->hub->send(stream, message);
}

void ChannelServer::flush() {
  impl_->flush();
}

bool ChannelServer::is_open(StreamId stream) const {
  return impl_->hub->is_open(stream);
}

std::uint16_t ChannelServer::port() const {
  return impl_->socket.local().port;
}

std::size_t ChannelServer::peers() const {
  return impl_->hub->peers();
}

std::size_t ChannelServer::half_open() const {
  return impl_->hub->half_open();
}

std::uint64_t ChannelServer::replaced() const {
  return impl_->hub->replaced();
}

const TransportStats& ChannelServer::stats() const {
  impl_->stats = impl_->hub->stats();
  impl_->stats.service_errors += impl_->errors;
  impl_->stats.system_drops = dropped_for_socket(impl_->socket.descriptor()).value_or(0);
  return impl_->stats;
}

}  // namespace reckoner::web
