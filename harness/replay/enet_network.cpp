// SPDX-License-Identifier: MIT
#include "harness/replay/enet_network.hpp"

#include "programs/common/loop/clock.hpp"
#include "programs/common/system/sockets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace reckoner::harness {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

// The limit is needed because ENet sends its resends and pings only when it is called.
constexpr double kLongestWaitS = 0.02;

}  // namespace

Result<std::unique_ptr<EnetNetwork>> EnetNetwork::open(const ReplayOptions& options, double start_s,
                                                       std::uint32_t connect_reason) {
  auto server = EnetTransport::listen({.host = kLoopback, .port = 0, .max_peers = 8, .security = Insecure{}});
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
  auto client = EnetTransport::connect(kLoopback, conditioner->port(), connect_reason, Insecure{});
  if (!client) return Error{client.error()};
  return std::unique_ptr<EnetNetwork>(
      new EnetNetwork(std::move(*server), std::move(*client), std::move(*conditioner), start_s));
}

EnetNetwork::EnetNetwork(std::unique_ptr<EnetTransport> server, std::unique_ptr<EnetTransport> client,
                         Conditioner conditioner, double start_s)
    : server_(std::move(server)),
      client_(std::move(client)),
      conditioner_(std::move(conditioner)),
      zero_s_(program::monotonic_s() - start_s),
      now_s_(start_s),
      relay_([this] { conditioner_.run([this] { return stopping_.load(); }); }) {}

EnetNetwork::~EnetNetwork() {
  stop();
}

void EnetNetwork::stop() {
  if (!relay_.joinable()) return;
  stopping_ = true;
  relay_.join();
}

double EnetNetwork::clock_s() const {
  return program::monotonic_s() - zero_s_;
}

double EnetNetwork::next_event_s() const {
  return std::numeric_limits<double>::infinity();
}

void EnetNetwork::advance(double now_s) {
  now_s_ = now_s;
  server_->service(now_s);
  client_->service(now_s);
}

void EnetNetwork::wait_until(double time_s) {
  advance(std::max(now_s_, clock_s()));
  const double seconds = std::clamp(time_s - clock_s(), 0.0, kLongestWaitS);
  std::array<sockets::PollEntry, 2> watched{
      sockets::PollEntry{static_cast<sockets::Handle>(server_->socket()), POLLIN, 0},
      sockets::PollEntry{static_cast<sockets::Handle>(client_->socket()), POLLIN, 0}};
  sockets::poll(watched, seconds);
}

void EnetNetwork::end_tick(std::size_t entities) {
  if (entities > 0) ticks_.push_back({tick_began_s_, entities});
}

std::span<const PacketRecord> EnetNetwork::packets() {
  if (relay_.joinable()) {
    stop();
    collect_packets();
  }
  return packets_;
}

// The conditioner received all datagrams of a tick before the next tick began, so its times show to which
// tick a datagram belongs.
void EnetNetwork::collect_packets() {
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

Result<std::unique_ptr<RealTimeNetwork>> open_real_time_network(const ReplayOptions& options, double start_s,
                                                                std::uint32_t connect_reason) {
  auto opened = EnetNetwork::open(options, start_s, connect_reason);
  if (!opened) return Error{opened.error()};
  return std::unique_ptr<RealTimeNetwork>(std::move(*opened));
}

}  // namespace reckoner::harness
