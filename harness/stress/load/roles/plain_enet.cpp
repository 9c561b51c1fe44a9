// SPDX-License-Identifier: MIT
#include "harness/stress/load/roles/plain_enet.hpp"

#include "net/src/transport/socket/udp_socket.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <enet/enet.h>

namespace reckoner::harness {
namespace {

constexpr std::size_t kChannels = 2;
constexpr enet_uint8 kStateChannel = 1;
constexpr int kSocketBufferBytes = 4 * 1024 * 1024;
constexpr std::size_t kLargestPayload = 1200;
constexpr enet_uint32 kDatagramsPerPass = 256;  // ENet's own limit; there may be more datagrams afterwards

struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;

HostPtr make_host(const ENetAddress* address, std::size_t peers) {
  HostPtr host(enet_host_create(address, peers, kChannels, 0, 0));
  if (!host) return host;
  (void)enet_socket_set_option(host->socket, ENET_SOCKOPT_RCVBUF, kSocketBufferBytes);
  (void)enet_socket_set_option(host->socket, ENET_SOCKOPT_SNDBUF, kSocketBufferBytes);
  return host;
}

// Keep a peer that is silent only because it waits for a processor.
void extend_timeout(ENetPeer& peer) {
  constexpr enet_uint32 kAnyFactor = 1024, kMinMs = 30'000, kMaxMs = 60'000;
  enet_peer_timeout(&peer, kAnyFactor, kMinMs, kMaxMs);
}

// Stop ENet from dropping packets, because packets that it does not send cost nothing.
void disable_throttle(ENetPeer& peer) {
  extend_timeout(peer);
  peer.packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
  peer.packetThrottleDeceleration = 0;
}

bool send_unsequenced(ENetPeer* peer, std::size_t bytes) {
  static constexpr std::array<enet_uint8, kLargestPayload> kPayload{};
  ENetPacket* const packet =
      enet_packet_create(kPayload.data(), std::min(bytes, kLargestPayload), ENET_PACKET_FLAG_UNSEQUENCED);
  if (packet == nullptr) return false;
  if (enet_peer_send(peer, kStateChannel, packet) == 0) return true;
  enet_packet_destroy(packet);
  return false;
}

// Calls `handle(event)` for every event, and repeats ENet's passes until the socket is empty.
template <class Handle>
void service_all(ENetHost* host, Handle handle) {
  enet_uint32 before = 0;
  do {
    before = host->totalReceivedPackets;
    host->bandwidthThrottleEpoch = enet_time_get();
    ENetEvent event{};
    for (int result = enet_host_service(host, &event, 0); result > 0;
         result = enet_host_check_events(host, &event))
      handle(event);
  } while (host->totalReceivedPackets - before >= kDatagramsPerPass);
}

}  // namespace

struct PlainServer::Impl {
  HostPtr host;
  std::vector<ENetPeer*> clients;  // in the order of connecting; null: disconnected
  std::uint64_t payload_bytes_sent = 0;
  std::uint64_t payloads_received = 0;
  // ENet's counter of sent bytes, which has only 32 bits, and the sum of its changes.
  enet_uint32 seen_data = 0;
  std::uint64_t sent_bytes = 0;

  void handle(ENetEvent& event) {
    switch (event.type) {
      case ENET_EVENT_TYPE_CONNECT:
        disable_throttle(*event.peer);
        clients.push_back(event.peer);
        break;
      case ENET_EVENT_TYPE_DISCONNECT:
        std::replace(clients.begin(), clients.end(), event.peer, static_cast<ENetPeer*>(nullptr));
        break;
      case ENET_EVENT_TYPE_RECEIVE:
        ++payloads_received;
        enet_packet_destroy(event.packet);
        break;
      case ENET_EVENT_TYPE_NONE:
        break;
    }
  }
};

PlainServer::PlainServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PlainServer::~PlainServer() = default;

Result<std::unique_ptr<PlainServer>> PlainServer::listen(std::size_t max_clients) {
  if (enet_initialize() != 0) return Error{"cannot initialise ENet"};
  auto impl = std::make_unique<Impl>();
  ENetAddress address{.host = ENET_HOST_ANY, .port = 0};
  (void)enet_address_set_host_ip(&address, "127.0.0.1");
  impl->host = make_host(&address, max_clients);
  if (!impl->host) return Error{"a plain ENet server cannot open its socket"};
  return std::unique_ptr<PlainServer>(new PlainServer(std::move(impl)));
}

std::uint16_t PlainServer::port() const {
  ENetAddress address{};
  return enet_socket_get_address(impl_->host->socket, &address) == 0 ? address.port : std::uint16_t{0};
}

std::size_t PlainServer::client_count() const {
  return impl_->clients.size();
}

void PlainServer::send(std::size_t client, std::size_t bytes) {
  if (client >= impl_->clients.size() || impl_->clients[client] == nullptr) return;
  if (send_unsequenced(impl_->clients[client], bytes)) impl_->payload_bytes_sent += bytes;
}

void PlainServer::service() {
  service_all(impl_->host.get(), [this](ENetEvent& event) { impl_->handle(event); });
  const enet_uint32 data = impl_->host->totalSentData;
  impl_->sent_bytes += data - std::exchange(impl_->seen_data, data);
}

PlainCounts PlainServer::counts() const {
  const ENetHost& host = *impl_->host;
  return {host.totalSentPackets, host.totalReceivedPackets,
          impl_->sent_bytes + (kUdpHeaderBytes + kIpv4HeaderBytes) * host.totalSentPackets,
          impl_->payload_bytes_sent, impl_->payloads_received};
}

struct PlainClient::Impl {
  HostPtr host;
  ENetPeer* peer = nullptr;
  bool connected = false;
  bool lost = false;
};

PlainClient::PlainClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PlainClient::~PlainClient() = default;

Result<std::unique_ptr<PlainClient>> PlainClient::connect(const std::string& host, std::uint16_t port) {
  if (enet_initialize() != 0) return Error{"cannot initialise ENet"};
  auto impl = std::make_unique<Impl>();
  impl->host = make_host(nullptr, 1);
  ENetAddress address{.host = ENET_HOST_ANY, .port = port};
  if (!impl->host || enet_address_set_host(&address, host.c_str()) != 0) {
    return Error{"a plain ENet client cannot open its socket"};
  }
  impl->peer = enet_host_connect(impl->host.get(), &address, kChannels, 0);
  if (impl->peer == nullptr) return Error{"a plain ENet client cannot connect"};
  extend_timeout(*impl->peer);
  return std::unique_ptr<PlainClient>(new PlainClient(std::move(impl)));
}

bool PlainClient::connected() const {
  return impl_->connected;
}

bool PlainClient::lost() const {
  return impl_->lost;
}

std::size_t PlainClient::service() {
  std::size_t payloads = 0;
  service_all(impl_->host.get(), [&](ENetEvent& event) {
    if (event.type == ENET_EVENT_TYPE_CONNECT) {
      disable_throttle(*event.peer);
      impl_->connected = true;
    } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
      impl_->lost = true;
    } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
      ++payloads;
      enet_packet_destroy(event.packet);
    }
  });
  return payloads;
}

void PlainClient::send(std::size_t bytes) {
  if (impl_->connected && !impl_->lost) (void)send_unsequenced(impl_->peer, bytes);
}

}  // namespace reckoner::harness
