// SPDX-License-Identifier: MIT
// Receiving: examines datagrams before ENet sees them, and handles ENet's events.
#include "net/src/transport/enet/impl.hpp"

namespace reckoner {

int EnetTransport::Impl::filter(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  Impl& self = *reinterpret_cast<Pump*>(event)->self;
  // A reply to port 0 or to a broadcast address would fail at every attempt.
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

// The connection that an acceptable unsealed datagram claims to come from, or null if there is none. A sender
// can forge this.
EnetTransport::Impl::Connection* EnetTransport::Impl::sender_of(std::span<const std::byte> datagram) {
  const std::size_t index = enet_filter::peer_of(datagram);
  if (index >= host->peerCount) return nullptr;
  const ENetPeer& peer = host->peers[index];
  const bool from_it = host->receivedAddress.host == peer.address.host &&
                       host->receivedAddress.port == peer.address.port &&
                       enet_filter::session_of(datagram) == peer.incomingSessionID;
  return from_it ? connections.find(id_of(&peer)) : nullptr;
}

// Charges a datagram to its connection. Returns the reason if a limit refuses it. Only servers limit their
// peers.
std::optional<Refusal> EnetTransport::Impl::beyond_share(Connection* connection, std::size_t bytes) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return traffic.refuse(connection->traffic, connection->peer->address.host, bytes, steady_seconds());
}

// Charges the search that a datagram would cause in ENet's lists. Returns the reason if a limit refuses it.
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
  if (peer->channelCount < kChannels) {  // the other end chooses the final number
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
    if (!guard->hold(connection.session, id.value)) {  // its token has begun another session meanwhile
      stats.refuse(Refusal::token_reused);
      enet_peer_disconnect_now(peer, 0);
      peer->data = nullptr;
      connections.remove(id);
      return;
    }
  }
  connection.liveness.connected(steady_seconds());
  touched.touch(static_cast<std::size_t>(peer - host->peers));  // from now on its throttle may be held open
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

// Handles a datagram that holds only a state payload, as nearly all do, without ENet's queues and
// allocations. Checks the sender as ENet does. ENet would drop repeated datagrams; here, the receiver of the
// payload detects them by the sequence numbers inside. Returns false if ENet must handle the datagram.
bool EnetTransport::Impl::take_state(std::span<const std::byte> datagram) {
  const auto payload = enet_filter::lone_state(datagram);
  const Connection* const connection = payload ? sender_of(datagram) : nullptr;
  if (connection == nullptr || connection->peer->state != ENET_PEER_STATE_CONNECTED) return false;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.size());
  take_packet(id_of(connection->peer), static_cast<std::uint8_t>(Channel::state), *payload);
  return true;
}

}  // namespace reckoner
