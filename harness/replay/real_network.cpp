// SPDX-License-Identifier: MIT
#include "harness/replay/real_network.hpp"

#include "programs/common/loop/clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace reckoner::harness {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

// Two sockets cannot be watched at once without their descriptors, so each wait is short.
constexpr double kLongestWaitS = 0.001;

// A message that has not arrived after this time is sent again, s.
constexpr double kSendAgainS = 0.25;

}  // namespace

Result<std::unique_ptr<RealNetwork>> RealNetwork::open(const ReplayOptions& options, double start_s) {
  const std::string transport = options.transport == ReplayTransport::enet ? "enet" : "udp";
  auto server = NetworkTransport::listen(
      {.host = kLoopback, .port = 0, .max_peers = 8, .security = Insecure{}, .transport = transport});
  if (!server) return Error{server.error()};
  ConditionerOptions relay;
  relay.listen_host = kLoopback;
  relay.to_host = kLoopback;
  relay.to_port = (*server)->port();
  relay.links = options.links;
  relay.script = options.link_script;
  relay.seed = options.seed;
  relay.log_packets = options.log_packets;
  auto conditioner = Conditioner::open(std::move(relay));
  if (!conditioner) return Error{conditioner.error()};
  auto client = NetworkTransport::connect(
      {.host = kLoopback, .port = conditioner->port(), .security = Insecure{}, .transport = transport});
  if (!client) return Error{client.error()};
  return std::unique_ptr<RealNetwork>(
      new RealNetwork(std::move(*server), std::move(*client), std::move(*conditioner), start_s));
}

RealNetwork::RealNetwork(std::unique_ptr<NetworkTransport> server, std::unique_ptr<NetworkTransport> client,
                         Conditioner conditioner, double start_s)
    : server_(std::move(server)),
      client_(std::move(client)),
      server_end_(*this, *server_),
      client_end_(*this, *client_),
      conditioner_(std::move(conditioner)),
      zero_s_(program::monotonic_s() - start_s),
      now_s_(start_s),
      relay_([this] { conditioner_.run([this] { return stopping_.load(); }); }) {}

RealNetwork::~RealNetwork() {
  stop();
}

void RealNetwork::stop() {
  if (!relay_.joinable()) return;
  stopping_ = true;
  relay_.join();
}

double RealNetwork::clock_s() const {
  return program::monotonic_s() - zero_s_;
}

double RealNetwork::next_event_s() const {
  return std::numeric_limits<double>::infinity();
}

std::optional<TransportEvent> RealNetwork::End::poll() {
  auto event = ForwardingTransport::poll();
  if (!event) return event;
  if (this == &network_.server_end_) {
    if (event->kind == TransportEvent::Kind::connected) network_.client_peer_ = event->peer;
  } else if (event->kind == TransportEvent::Kind::received) {
    std::erase_if(network_.messages_, [&](const Message& message) {
      return std::ranges::equal(message.payload, event->payload);
    });
  }
  return event;
}

// The client's end is in this process, so the network knows what has arrived without acknowledgements.
void RealNetwork::send_message(std::span<const std::byte> message) {
  messages_.push_back({{message.begin(), message.end()}, now_s_});
  server_->send(client_peer_, message);
}

void RealNetwork::advance(double now_s) {
  now_s_ = now_s;
  for (Message& message : messages_) {
    if (now_s - message.sent_s < kSendAgainS) continue;
    message.sent_s = now_s;
    server_->send(client_peer_, message.payload);
  }
  server_->service(now_s);
  client_->service(now_s);
}

void RealNetwork::wait_until(double time_s) {
  advance(std::max(now_s_, clock_s()));
  client_->sleep_until_readable(std::clamp(time_s - clock_s(), 0.0, kLongestWaitS));
}

void RealNetwork::end_tick(std::size_t entities) {
  if (entities > 0) ticks_.push_back({tick_began_s_, entities});
}

std::span<const PacketRecord> RealNetwork::packets() {
  if (relay_.joinable()) {
    stop();
    collect_packets();
  }
  return packets_;
}

// The conditioner received all datagrams of a tick before the next tick began, so its times show to which
// tick a datagram belongs.
void RealNetwork::collect_packets() {
  const auto seen = conditioner_.packets();
  packets_.assign(seen.begin(), seen.end());
  for (PacketRecord& packet : packets_) {
    packet.sent_s -= zero_s_;
    if (packet.arrived_s) *packet.arrived_s -= zero_s_;
  }
  const auto first_since = [this](double time_s) {
    const auto found =
        std::lower_bound(packets_.begin(), packets_.end(), time_s,
                         [](const PacketRecord& packet, double since_s) { return packet.sent_s < since_s; });
    return static_cast<std::size_t>(found - packets_.begin());
  };
  for (std::size_t i = 0; i < ticks_.size(); ++i) {
    const std::size_t first = first_since(ticks_[i].began_s);
    const std::size_t last = i + 1 < ticks_.size() ? first_since(ticks_[i + 1].began_s) : packets_.size();
    distribute_entities(std::span(packets_).subspan(first, last - first), ticks_[i].entities);
  }
}

Result<std::unique_ptr<RealTimeNetwork>> open_real_time_network(const ReplayOptions& options,
                                                                double start_s) {
  auto opened = RealNetwork::open(options, start_s);
  if (!opened) return Error{opened.error()};
  return std::unique_ptr<RealTimeNetwork>(std::move(*opened));
}

}  // namespace reckoner::harness
