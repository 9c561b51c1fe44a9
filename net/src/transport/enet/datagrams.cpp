// SPDX-License-Identifier: MIT
// Datagrams between ENet and the socket: examines arriving ones before ENet sees them, handles ENet's events,
// seals outgoing datagrams and opens incoming ones.
#include "net/src/transport/enet/enet_transport_impl.hpp"
#include "net/src/transport/enet/socket/socket_filter.hpp"

#include <cstring>
#include <type_traits>

namespace reckoner {

int EnetTransport::Impl::filter(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  Impl& self = *reinterpret_cast<Pump*>(event)->self;
  // A reply to port 0 or to a broadcast address would fail at every attempt.
  const bool answerable = host->receivedAddress.port != 0 && host->receivedAddress.host != ENET_HOST_ANY &&
                          host->receivedAddress.host != ENET_HOST_BROADCAST;
  const auto datagram = std::as_bytes(std::span(host->receivedData, host->receivedDataLength));
  if (answerable && self.guard) return self.receive_sealed(datagram);
  if (!answerable || !enet_filter::acceptable(datagram, self.role, self.limit.message_bytes)) {
    self.stats.refuse(Refusal::malformed);
    return kSwallow;
  }
  Connection* const sender = self.sender_of(datagram);
  auto why = self.exceeds_traffic(sender, datagram.size());
  if (!why) why = self.exceeds_search_cost(sender, datagram);
  if (why) {
    self.stats.refuse(*why);
    return kSwallow;
  }
  if (!self.full() && self.receive_state(datagram)) return kSwallow;
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
std::optional<Refusal> EnetTransport::Impl::exceeds_traffic(Connection* connection, std::size_t bytes) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return traffic.refuse(connection->traffic, connection->peer->address.host, bytes, steady_seconds());
}

// Charges the search that a datagram would cause in ENet's lists. Returns the reason if a limit refuses it.
std::optional<Refusal> EnetTransport::Impl::exceeds_search_cost(Connection* connection,
                                                                std::span<const std::byte> datagram) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return connection->search_cost.refuse(*connection->peer, datagram, steady_seconds());
}

void EnetTransport::Impl::handle(ENetEvent& event) {
  const PeerId id = id_of(event.peer);
  if (event.type == ENET_EVENT_TYPE_CONNECT) handle_connected(event.peer, event.data);
  if (event.type == ENET_EVENT_TYPE_DISCONNECT && id) {
    log.disconnected(id, machine_order(event.peer->address));
    end(id, event.data);
  }
  if (event.type != ENET_EVENT_TYPE_RECEIVE) return;
  const PacketPtr packet(event.packet);
  handle_packet(id, event.channelID, std::as_bytes(std::span(packet->data, packet->dataLength)));
}

void EnetTransport::Impl::handle_connected(ENetPeer* peer, std::uint32_t reason) {
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

void EnetTransport::Impl::handle_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload,
                                        double waited_s) {
  const std::size_t most =
      channel == static_cast<std::uint8_t>(Channel::state) ? kMaxStateBytes : kMaxControlBytes;
  if (!id || channel >= kChannels || payload.size() > most) return stats.refuse(Refusal::too_large);
  stats.payload_bytes_received += payload.size();
  events.push(
      {.peer = id, .channel = static_cast<Channel>(channel), .payload = payload, .waited_s = waited_s});
}

// How long the datagram that ENet has just read waited in the socket, s. Only for clients, whose clock
// depends on it: a server would spend a system call on each of thousands of datagrams.
double EnetTransport::Impl::waited_s() const {
  return role == enet_filter::Role::client ? waited_in_socket_s(host->socket) : 0.0;
}

// Handles a datagram that holds only a state payload, as nearly all do, without ENet's queues and
// allocations. Checks the sender as ENet does. ENet would drop repeated datagrams; here, the receiver of the
// payload detects them by the sequence numbers inside. Returns false if ENet must handle the datagram.
bool EnetTransport::Impl::receive_state(std::span<const std::byte> datagram) {
  const auto payload = enet_filter::lone_state(datagram);
  const Connection* const connection = payload ? sender_of(datagram) : nullptr;
  if (connection == nullptr || connection->peer->state != ENET_PEER_STATE_CONNECTED) return false;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.size());
  handle_packet(id_of(connection->peer), static_cast<std::uint8_t>(Channel::state), *payload, waited_s());
  return true;
}

// ENet's checksum function, which ENet calls for each datagram. No other hook sees a complete outgoing
// datagram and can replace it. filter() opens incoming datagrams; ENet calls this function for them too, to
// verify the checksum.
enet_uint32 EnetTransport::Impl::seal_hook(const ENetBuffer* buffers, std::size_t count) {
  constexpr enet_uint32 kAlwaysRight = 0;
  if (count == 1) return kAlwaysRight;  // incoming; an outgoing datagram has at least a header and a command
  static_assert(std::is_standard_layout_v<ENetHost>);
  const auto* const inside = reinterpret_cast<const std::byte*>(buffers) - offsetof(ENetHost, buffers);
  // ENet's compressor is not used. Its context points to the Impl.
  static_cast<Impl*>(reinterpret_cast<const ENetHost*>(inside)->compressor.context)->seal_outgoing();
  return kAlwaysRight;
}

// Replaces ENet's buffers with the sealed datagram. The first buffer ends with the space for the checksum.
// ENet puts the connection's number there until it writes the checksum. This space is not sent.
void EnetTransport::Impl::seal_outgoing() {
  enet_uint32 connection = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < host->bufferCount; ++i) {
    const auto* const data = static_cast<const std::byte*>(host->buffers[i].data);
    std::size_t length = host->buffers[i].dataLength;
    if (i == 0) {
      length -= sizeof connection;
      std::memcpy(&connection, data + length, sizeof connection);
    }
    if (size + length > scratch.size()) return (void)(host->bufferCount = 0);
    std::copy(data, data + length, scratch.begin() + static_cast<std::ptrdiff_t>(size));
    size += length;
  }
  if (const auto* const joined = guard->joined()) {
    enet_filter::want_connection(std::span(scratch).first(size), joined->number);
  }
  secure::Sealer* const sealer =
      guard->sealer_of(connection);  // this number is also the session's, see check_arrival()
  std::span<const std::byte> sealed;
  if (sealer != nullptr) sealed = guard->seal(*sealer, secure::Kind::enet, std::span(scratch).first(size));
  // Nothing leaves unsealed. Without a session, ENet sends an empty datagram.
  host->bufferCount = sealed.empty() ? 0 : 1;
  host->buffers[0].data = const_cast<std::byte*>(sealed.data());  // ENet only reads it
  host->buffers[0].dataLength = sealed.size();
}

void EnetTransport::Impl::send_raw(const ENetAddress& to, std::span<const std::byte> datagram) {
  const ENetBuffer buffer{.data = const_cast<std::byte*>(datagram.data()), .dataLength = datagram.size()};
  if (enet_socket_send(host->socket, &to, &buffer, 1) <= 0) return (void)++stats.service_errors;
  ++host->totalSentPackets;
  host->totalSentData += static_cast<enet_uint32>(datagram.size());
}

// Sends an answer to a handshake or a probe together with others that the same pass causes. During a flood of
// requests, a system call for each challenge would be most of the cost.
void EnetTransport::Impl::send_answer(const ENetAddress& to, std::span<const std::byte> datagram) {
  if (!DatagramBatch::kAvailable || datagram.size() > kMaxStateBytes) return send_raw(to, datagram);
  if (batch.full()) flush_batch();
  batch.add({to.host, to.port}, {}, datagram);
}

// Does the work of filter() where everything is sealed.
int EnetTransport::Impl::receive_sealed(std::span<const std::byte> datagram) {
  constexpr int kSwallow = 1, kPassOn = 0;
  const ENetAddress from = host->receivedAddress;
  const double now_s = steady_seconds();
  const auto arrival = guard->arrive(machine_order(from), datagram, now_s, unix_seconds());
  using What = secure::Guard::Arrival::What;
  if (arrival.moved) {
    ++stats.address_changes;
    log.moved(PeerId{arrival.tag}, arrival.from->address);
    send_to_session(*arrival.from);
  }
  if (arrival.probe) {
    guard->probe(*arrival.from, now_s, [this](const ServerAddress& to, std::span<const std::byte> probe) {
      send_raw(enet_order(to), probe);
    });
  }
  std::optional<Refusal> why = arrival.refusal;
  if (arrival.what == What::answer) {
    send_answer(role == enet_filter::Role::client ? host->peers->address : from, arrival.bytes);
  } else if (arrival.what == What::enet) {
    why = check_arrival(arrival);
    if (!why) return kPassOn;
  } else if (arrival.what == What::state) {
    why = receive_opened(arrival, datagram.size());
  }
  if (why) stats.refuse(*why);
  if (why == Refusal::handshake_limit) log.turned_away(machine_order(from), now_s);
  return kSwallow;
}

// Handles an opened state payload.
std::optional<Refusal> EnetTransport::Impl::receive_opened(const secure::Guard::Arrival& arrival,
                                                           std::size_t bytes) {
  const PeerId id = role == enet_filter::Role::client ? id_of(host->peers) : PeerId{arrival.tag};
  Connection* const connection = connections.find(id);
  if (connection == nullptr) return Refusal::no_session;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(bytes);
  handle_packet(id, static_cast<std::uint8_t>(Channel::state), arrival.bytes, waited_s());
  return std::nullopt;
}

// Gives all ENet peers of a session the address that its client has proven.
void EnetTransport::Impl::send_to_session(const secure::Gate::Session& session) {
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state != ENET_PEER_STATE_DISCONNECTED && peer->connectID == session.number)
      peer->address = enet_order(session.address);
  }
}

// Passes an opened datagram to ENet if it belongs to the connection on its session, or requests that
// connection. Otherwise returns the reason.
std::optional<Refusal> EnetTransport::Impl::check_arrival(const secure::Guard::Arrival& arrival) {
  if (!enet_filter::acceptable(arrival.bytes, role, limit.message_bytes)) return Refusal::malformed;
  const std::size_t index = enet_filter::peer_of(arrival.bytes);
  if (const auto connection = enet_filter::connection_wanted(arrival.bytes)) {
    if (!secure::Guard::belongs(*connection, arrival.session)) return Refusal::no_session;
  } else {
    if (index >= host->peerCount) return Refusal::no_session;
    const ENetPeer& peer = host->peers[index];
    if (!secure::Guard::belongs(peer.connectID, arrival.session)) return Refusal::no_session;
    if (const auto why = exceeds_search_cost(connections.find(id_of(&peer)), arrival.bytes)) return why;
  }
  // ENet replies to the address that a datagram seems to come from. It also recognises a repeated request by
  // that address, although the repetition may come from elsewhere. So ENet sees every datagram of a session
  // with the address that the session's client has proven.
  host->receivedAddress =
      arrival.from != nullptr ? enet_order(arrival.from->address) : host->peers[index].address;
  touched.touch(index);
  // ENet expects a checksum after the header. seal_hook() always computes 0.
  const std::size_t head = enet_filter::head_size(arrival.bytes);
  auto* const out = reinterpret_cast<std::byte*>(host->packetData[0]);
  std::fill_n(std::copy_n(arrival.bytes.data(), head, out), sizeof(enet_uint32), std::byte{0});
  std::ranges::copy(arrival.bytes.subspan(head), out + head + sizeof(enet_uint32));
  host->receivedData = host->packetData[0];
  host->receivedDataLength = arrival.bytes.size() + sizeof(enet_uint32);
  return std::nullopt;
}

void EnetTransport::Impl::set_guard(secure::Guard&& given) {
  guard.emplace(std::move(given));
  host->checksum = &Impl::seal_hook;
  host->compressor.context = this;
  host->mtu = limits::kMtu - secure::kSealBytes;
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer)
    peer->mtu = host->mtu;
}

// A client's handshake, before ENet starts.
void EnetTransport::Impl::connect_admitted() {
  ENetPeer* const peer = host->peers;
  const ENetAddress server = peer->address;
  if (const auto message = guard->to_send(steady_seconds())) send_raw(server, *message);
  const auto* const joined = guard->joined();
  if (joined == nullptr || !id_of(peer)) return;
  enet_host_connect(host.get(), &server, kChannels, *pending_connect);  // uses the only peer again
  peer->connectID = joined->number;  // seal_outgoing() requests this number
  pending_connect.reset();
}

}  // namespace reckoner
