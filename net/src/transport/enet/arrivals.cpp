// SPDX-License-Identifier: MIT
// What comes from the network: looked at before ENet sees it, and taken from ENet.
#include "net/src/transport/enet/impl.hpp"

namespace reckoner {

int EnetTransport::Impl::filter(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  Impl& self = *reinterpret_cast<Pump*>(event)->self;
  // Nobody can be answered at port 0 or a broadcast address: sending there fails, once per attempt.
  const bool answerable = host->receivedAddress.port != 0 && host->receivedAddress.host != ENET_HOST_ANY &&
                          host->receivedAddress.host != ENET_HOST_BROADCAST;
  const auto datagram = std::as_bytes(std::span(host->receivedData, host->receivedDataLength));
  if (answerable && self.guard) return self.take_sealed(datagram);
  if (!answerable || !enet_filter::acceptable(datagram, self.role, self.limit.message_bytes)) {
    self.stats.refuse(Refusal::malformed);
    return kSwallow;
  }
  Connection* const sender = self.sender_of(datagram);
  auto why = self.beyond_share(sender, datagram.size());
  if (!why) why = self.beyond_work(sender, datagram);
  if (why) {
    self.stats.refuse(*why);
    return kSwallow;
  }
  if (!self.full() && self.take_state(datagram)) return kSwallow;
  self.touched.touch(enet_filter::peer_of(datagram));
  return kPassOn;
}

// The connection that an acceptable datagram comes from, as far as an unsealed one can tell. Null: none.
EnetTransport::Impl::Connection* EnetTransport::Impl::sender_of(std::span<const std::byte> datagram) {
  const std::size_t index = enet_filter::peer_of(datagram);
  if (index >= host->peerCount) return nullptr;
  const ENetPeer& peer = host->peers[index];
  const bool from_it = host->receivedAddress.host == peer.address.host &&
                       host->receivedAddress.port == peer.address.port &&
                       enet_filter::session_of(datagram) == peer.incomingSessionID;
  return from_it ? connections.find(id_of(&peer)) : nullptr;
}

// Servers alone hold their peers to limits.
std::optional<Refusal> EnetTransport::Impl::beyond_share(Connection* connection, std::size_t bytes) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return traffic.refuse(connection->traffic, connection->peer->address.host, bytes, steady_seconds());
}

// The same for what it would cost in ENet's lists.
std::optional<Refusal> EnetTransport::Impl::beyond_work(Connection* connection,
                                                        std::span<const std::byte> datagram) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return connection->work.refuse(*connection->peer, datagram, steady_seconds());
}

void EnetTransport::Impl::take(ENetEvent& event) {
  const PeerId id = id_of(event.peer);
  if (event.type == ENET_EVENT_TYPE_CONNECT) take_connected(event.peer, event.data);
  if (event.type == ENET_EVENT_TYPE_DISCONNECT && id) {
    log.disconnected(id, machine_order(event.peer->address));
    end(id, event.data);
  }
  if (event.type != ENET_EVENT_TYPE_RECEIVE) return;
  const PacketPtr packet(event.packet);
  take_packet(id, event.channelID, std::as_bytes(std::span(packet->data, packet->dataLength)));
}

void EnetTransport::Impl::take_connected(ENetPeer* peer, std::uint32_t reason) {
  PeerId id = id_of(peer);
  if (peer->channelCount < kChannels) {  // the other end has the last word on their number
    stats.refuse(Refusal::malformed);
    enet_peer_disconnect_now(peer, 0);
    if (id) end(id, 0);
    return;
  }
  if (!id) id = add(peer, false);
  Connection& connection = *connections.find(id);
  if (guard) {
    connection.session = peer->connectID;
    connection.sealer = guard->sealer_of(connection.session);
    if (!guard->hold(connection.session, id.value)) {  // its token has let it in elsewhere meanwhile
      stats.refuse(Refusal::token_reused);
      enet_peer_disconnect_now(peer, 0);
      peer->data = nullptr;
      connections.remove(id);
      return;
    }
  }
  connection.liveness.connected(steady_seconds());
  touched.touch(static_cast<std::size_t>(peer - host->peers));  // from now on its throttle may be held
  const double silence_ms = 1000.0 * limit.silence_s;
  const auto timeout_ms =
      static_cast<enet_uint32>(std::max(limits::kTimeoutMs, limits::kTimeoutSilences * silence_ms));
  enet_peer_timeout(peer, limits::kTimeoutFactor, timeout_ms, timeout_ms);
  enet_peer_ping_interval(
      peer, static_cast<enet_uint32>(std::min(limits::kPingMs, silence_ms / limits::kPingsPerSilence)));
  log.connected(id, machine_order(peer->address));
  push(TransportEvent::Kind::connected, id, reason);
}

void EnetTransport::Impl::take_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload) {
  const std::size_t most =
      channel == static_cast<std::uint8_t>(Channel::state) ? kMaxStateBytes : kMaxControlBytes;
  if (!id || channel >= kChannels || payload.size() > most) return stats.refuse(Refusal::too_large);
  stats.payload_bytes_received += payload.size();
  events.push({.peer = id, .channel = static_cast<Channel>(channel), .payload = payload});
}

// Takes a datagram that holds nothing but a state payload, as nearly all do, past ENet's queues and
// allocations. Whose it is is checked as ENet does; repeated ones, which ENet would drop, are told by the
// sequence numbers inside. False: it is for ENet to judge.
bool EnetTransport::Impl::take_state(std::span<const std::byte> datagram) {
  const auto payload = enet_filter::lone_state(datagram);
  const Connection* const connection = payload ? sender_of(datagram) : nullptr;
  if (connection == nullptr || connection->peer->state != ENET_PEER_STATE_CONNECTED) return false;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.size());
  take_packet(id_of(connection->peer), static_cast<std::uint8_t>(Channel::state), *payload);
  return true;
}

}  // namespace reckoner
