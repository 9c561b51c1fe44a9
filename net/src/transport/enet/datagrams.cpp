// SPDX-License-Identifier: MIT
// Datagrams: checks arriving ones, handles state payloads, passes the others to ENet, handles ENet's events,
// and sends what ENet sends.
#include "net/src/transport/enet/enet_transport_impl.hpp"

#include <cstring>
#include <type_traits>

namespace reckoner {
namespace {

// A reply to port 0, or to an address that no single host has, would fail at every attempt or reach others.
bool answerable(const SocketAddress& from) {
  return from.port != 0 && !from.host.is_any() && !from.host.is_multicast();
}

}  // namespace

// Reads what waits in the socket, at most as much as is read at once. Returns how many datagrams were read.
std::size_t EnetTransport::Impl::read_datagrams() {
  const auto datagrams = intake.read(net);
  for (const DatagramIntake::Datagram& datagram : datagrams)
    arrive(datagram);
  return datagrams.size();
}

void EnetTransport::Impl::arrive(const DatagramIntake::Datagram& datagram) {
  ++stats.datagrams_received;
  stats.wire_bytes_received += wire_size(datagram.from.host, datagram.payload.size());
  if (!answerable(datagram.from) || datagram.payload.empty() || datagram.cut) {
    stats.refuse(Refusal::malformed);
  } else if (guard) {
    receive_sealed(datagram);
  } else {
    receive_unsealed(datagram);
  }
}

void EnetTransport::Impl::receive_unsealed(const DatagramIntake::Datagram& datagram) {
  const std::span<const std::byte> bytes = datagram.payload;
  if (!enet_filter::acceptable(bytes, role, limit.message_bytes)) return stats.refuse(Refusal::malformed);
  if (role == enet_filter::Role::client) {
    if (!race || !race->runs(datagram.from)) return;
    race->decide(datagram.from);
  }
  Connection* const sender = sender_of(datagram.from, bytes);
  if (const auto why = exceeds_traffic(sender, bytes.size())) return stats.refuse(*why);
  if (!full() && receive_state(sender, datagram)) return;
  wait_for_enet(datagram.from, 0, bytes);
}

void EnetTransport::Impl::wait_for_enet(const SocketAddress& from, std::uint32_t session,
                                        std::span<const std::byte> datagram) {
  if (inbox.full()) run_enet();
  if (inbox.full()) return;  // lost, as if the network had lost it
  inbox.push(from, session, datagram);
}

// ENet has read a note (see EnetInbox). Puts the oldest datagram that waits for ENet in its place.
int EnetTransport::Impl::filter(ENetHost* host, ENetEvent* event) {
  constexpr int kSwallow = 1, kPassOn = 0;
  Impl& self = *reinterpret_cast<Pump*>(event)->self;
  const bool is_note =
      host->receivedAddress.host == host->address.host && host->receivedAddress.port == host->address.port;
  const EnetInbox::Entry* const entry = is_note ? self.inbox.pop() : nullptr;
  return entry != nullptr && self.give_to_enet(*entry) ? kPassOn : kSwallow;
}

// Gives a datagram to ENet if it belongs to a connection, or requests one. The checks depend on ENet's state,
// so they happen now and not when the datagram arrived.
bool EnetTransport::Impl::give_to_enet(const EnetInbox::Entry& entry) {
  const auto refuse = [this](Refusal why) {
    stats.refuse(why);
    return false;
  };
  const std::span<const std::byte> bytes = entry.bytes;
  const std::size_t index = enet_filter::peer_of(bytes);
  if (const auto connection = enet_filter::connection_wanted(bytes)) {
    if (guard && !secure::Guard::belongs(*connection, entry.session)) return refuse(Refusal::no_session);
    if (!guard && !addresses.note(*connection, entry.from)) return false;
  } else {
    if (index >= host->peerCount) return guard ? refuse(Refusal::no_session) : false;
    const ENetPeer& peer = host->peers[index];
    if (guard && !secure::Guard::belongs(peer.connectID, entry.session)) return refuse(Refusal::no_session);
    if (!guard && address_of_peer(peer) != entry.from) return false;
    if (const auto why = exceeds_search_cost(connections.find(id_of(&peer)), bytes)) return refuse(*why);
  }
  touched.touch(index);
  // ENet expects a checksum after the header. sending_hook() always computes 0.
  const std::size_t head = enet_filter::head_size(bytes);
  auto* const out = reinterpret_cast<std::byte*>(host->packetData[0]);
  std::fill_n(std::copy_n(bytes.data(), head, out), sizeof(enet_uint32), std::byte{0});
  std::ranges::copy(bytes.subspan(head), out + head + sizeof(enet_uint32));
  host->receivedData = host->packetData[0];
  host->receivedDataLength = bytes.size() + sizeof(enet_uint32);
  return true;
}

// The connection that an acceptable unsealed datagram claims to come from, or null if there is none. A sender
// can forge this.
EnetTransport::Impl::Connection* EnetTransport::Impl::sender_of(const SocketAddress& from,
                                                                std::span<const std::byte> datagram) {
  const std::size_t index = enet_filter::peer_of(datagram);
  if (index >= host->peerCount) return nullptr;
  const ENetPeer& peer = host->peers[index];
  if (enet_filter::session_of(datagram) != peer.incomingSessionID) return nullptr;
  Connection* const connection = connections.find(id_of(&peer));
  return connection != nullptr && address_of(*connection) == from ? connection : nullptr;
}

// The address with which a peer of ENet exchanges datagrams. Unspecified if it is unknown.
SocketAddress EnetTransport::Impl::address_of_peer(const ENetPeer& peer) {
  if (role == enet_filter::Role::client) return server_address();
  if (guard) {
    const auto* const session = guard->find(peer.connectID);
    return session != nullptr ? session->address : SocketAddress{};
  }
  const SocketAddress* const known = addresses.find(peer.connectID);
  return known != nullptr ? *known : SocketAddress{};
}

SocketAddress EnetTransport::Impl::server_address() const {
  return race && !race->started().empty() ? race->started().front() : SocketAddress{};
}

// Charges a datagram to its connection. Returns the reason if a limit refuses it. Only servers limit their
// peers.
std::optional<Refusal> EnetTransport::Impl::exceeds_traffic(Connection* connection, std::size_t bytes) {
  if (connection == nullptr || role == enet_filter::Role::client) return std::nullopt;
  return traffic.refuse(connection->traffic, connection->address.host, bytes, steady_seconds());
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
    if (const Connection* const connection = connections.find(id)) {
      // ENet gives up a connection attempt after the same time as we do. Either may be first.
      if (connection->liveness.connecting() && event.data == 0) {
        log.no_answer(id, address_of(*connection));
      } else {
        log.disconnected(id, address_of(*connection));
      }
    }
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
  connection.address = address_of_peer(*peer);
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
  log.connected(id, address_of(connection));
  push(TransportEvent::Kind::connected, id, reason);
}

void EnetTransport::Impl::handle_packet(PeerId id, std::uint8_t channel, std::span<const std::byte> payload,
                                        double waited_s) {
  const bool is_state = channel == static_cast<std::uint8_t>(Channel::state);
  const std::size_t most = is_state ? kMaxStateBytes : kMaxControlBytes;
  if (!id || channel >= kChannels || payload.size() > most) return stats.refuse(Refusal::too_large);
  stats.payload_bytes_received += payload.size();
  events.push({.peer = id,
               .channel = static_cast<Channel>(channel),
               .payload = payload,
               .waited_s = is_state ? waited_s - pass_s : 0.0});
}

// Handles a datagram that holds only a state payload, as nearly all do, without ENet's queues and
// allocations. Checks the sender as ENet does. ENet would drop repeated datagrams; here, the receiver of the
// payload detects them by the sequence numbers inside. Returns false if ENet must handle the datagram.
bool EnetTransport::Impl::receive_state(Connection* sender, const DatagramIntake::Datagram& datagram) {
  const auto payload = enet_filter::lone_state(datagram.payload);
  if (!payload || sender == nullptr || sender->peer->state != ENET_PEER_STATE_CONNECTED) return false;
  sender->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.payload.size());
  handle_packet(id_of(sender->peer), static_cast<std::uint8_t>(Channel::state), *payload, datagram.waited_s);
  return true;
}

// ENet's checksum function, which ENet calls for each datagram. No other hook sees a complete outgoing
// datagram and can replace it. ENet calls this function for incoming datagrams, too, to verify the checksum.
enet_uint32 EnetTransport::Impl::sending_hook(const ENetBuffer* buffers, std::size_t count) {
  constexpr enet_uint32 kAlwaysRight = 0;
  if (count == 1) return kAlwaysRight;  // incoming; an outgoing datagram has at least a header and a command
  static_assert(std::is_standard_layout_v<ENetHost>);
  const auto* const inside = reinterpret_cast<const std::byte*>(buffers) - offsetof(ENetHost, buffers);
  // ENet's compressor is not used. Its context points to the Impl.
  static_cast<Impl*>(reinterpret_cast<const ENetHost*>(inside)->compressor.context)->take_outgoing();
  return kAlwaysRight;
}

// Takes a datagram from ENet, seals it and sends it. ENet sends a note instead. The first buffer ends with
// the space for the checksum. ENet puts the connection's number there until it writes the checksum. This
// space is not sent.
void EnetTransport::Impl::take_outgoing() {
  enet_uint32 connection = 0;
  std::size_t size = 0;
  bool fits = true;
  for (std::size_t i = 0; i < host->bufferCount; ++i) {
    const auto* const data = static_cast<const std::byte*>(host->buffers[i].data);
    std::size_t length = host->buffers[i].dataLength;
    if (i == 0) {
      length -= sizeof connection;
      std::memcpy(&connection, data + length, sizeof connection);
    }
    fits = fits && size + length <= scratch.size();
    if (!fits) break;
    std::copy(data, data + length, scratch.begin() + static_cast<std::ptrdiff_t>(size));
    size += length;
  }
  host->bufferCount = 1;
  host->buffers[0] = EnetInbox::note();
  if (!fits) return;
  std::span<const std::byte> datagram = std::span(scratch).first(size);
  if (guard) {
    if (const auto* const joined = guard->joined()) {
      enet_filter::want_connection(std::span(scratch).first(size), joined->number);
    }
    // The connection's number is also the session's, see give_to_enet(). Nothing leaves unsealed.
    secure::Sealer* const sealer = guard->sealer_of(connection);
    datagram =
        sealer != nullptr ? guard->seal(*sealer, secure::Kind::enet, datagram) : std::span<const std::byte>();
  }
  if (datagram.empty()) return;
  if (role == enet_filter::Role::client) return queue_to_server(datagram);
  if (guard) {
    if (const auto* const session = guard->find(connection)) queue(session->address, {}, datagram);
  } else if (const SocketAddress* const to = addresses.find(connection)) {
    queue(*to, {}, datagram);
  }
}

// Adds a datagram to the batch, so that it is sent together with others. During a flood of requests, a system
// call for each challenge would be most of the cost.
void EnetTransport::Impl::queue(const SocketAddress& to, std::span<const std::byte> head,
                                std::span<const std::byte> payload) {
  if (head.size() + payload.size() > DatagramBatch::kMaxDatagram) return;
  if (batch.full()) flush_batch();
  batch.add(to, head, payload);
  unsent = true;
}

// Until the server has answered, the datagram goes to all of its addresses whose turn has come.
void EnetTransport::Impl::queue_to_server(std::span<const std::byte> datagram) {
  if (!race || !race->winner()) last_to_server.assign(datagram.begin(), datagram.end());
  if (!race) return;
  for (const SocketAddress& to : race->started())
    queue(to, {}, datagram);
}

void EnetTransport::Impl::receive_sealed(const DatagramIntake::Datagram& datagram) {
  const SocketAddress& from = datagram.from;
  const double now_s = steady_seconds();
  const bool joining = role == enet_filter::Role::client && pending_connect;
  // Each address of a server answers with its own cookie. The first one counts.
  if (joining && challenger && *challenger != from && race->runs(from)) return;
  const auto arrival = guard->arrive(from, datagram.payload, now_s, unix_seconds());
  if (joining && !arrival.refusal && race && race->runs(from)) {
    challenger = from;
    if (guard->joined() != nullptr) race->decide(from);
  }
  using What = secure::Guard::Arrival::What;
  if (arrival.moved) {
    ++stats.address_changes;
    log.moved(PeerId{arrival.tag}, arrival.from->address);
    send_to_session(*arrival.from);
  }
  if (arrival.probe) {
    guard->probe(*arrival.from, now_s,
                 [this](const SocketAddress& to, std::span<const std::byte> probe) { queue(to, {}, probe); });
  }
  std::optional<Refusal> why = arrival.refusal;
  if (arrival.what == What::answer) {
    if (role == enet_filter::Role::client) {
      queue_to_server(arrival.bytes);
    } else {
      queue(from, {}, arrival.bytes);
    }
  } else if (arrival.what == What::enet) {
    if (enet_filter::acceptable(arrival.bytes, role, limit.message_bytes)) {
      wait_for_enet(from, arrival.session, arrival.bytes);
    } else {
      why = Refusal::malformed;
    }
  } else if (arrival.what == What::state) {
    why = receive_opened(arrival, datagram);
  }
  if (why) stats.refuse(*why);
  if (why == Refusal::handshake_limit) log.turned_away(from, now_s);
}

// Handles an opened state payload.
std::optional<Refusal> EnetTransport::Impl::receive_opened(const secure::Guard::Arrival& arrival,
                                                           const DatagramIntake::Datagram& datagram) {
  const auto find = [&]() -> Connection* {
    if (role == enet_filter::Role::client) return connections.find(id_of(host->peers));
    const auto* const session = guard->find(arrival.session);
    return session != nullptr ? connections.find(PeerId{session->tag}) : nullptr;
  };
  Connection* connection = find();
  if (connection == nullptr && !inbox.empty()) {
    run_enet();  // what establishes the connection may have arrived just before
    connection = find();
  }
  if (connection == nullptr) return Refusal::no_session;
  connection->peer->incomingDataTotal += static_cast<enet_uint32>(datagram.payload.size());
  handle_packet(id_of(connection->peer), static_cast<std::uint8_t>(Channel::state), arrival.bytes,
                datagram.waited_s);
  return std::nullopt;
}

// From now on, the connection of a session sends to the address that its client has proven.
void EnetTransport::Impl::send_to_session(const secure::Gate::Session& session) {
  if (Connection* const connection = connections.find(PeerId{session.tag}))
    connection->address = session.address;
}

void EnetTransport::Impl::set_guard(secure::Guard&& given) {
  guard.emplace(std::move(given));
  host->mtu = limits::kMtu - secure::kSealBytes;
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer)
    peer->mtu = host->mtu;
}

// A client's first steps: finds the addresses of the server and starts attempts with them, one after the
// other.
void EnetTransport::Impl::find_server(double now_s) {
  if (lookup) {
    const auto found = lookup->poll();
    if (!found) return;
    lookup.reset();
    race.emplace(*found);
  }
  if (!race || race->winner()) return;
  if (!challenger) {
    race->start_due(now_s, [this](const SocketAddress& address) {
      if (!has_route(address)) return false;
      if (!last_to_server.empty()) queue(address, {}, last_to_server);
      return true;
    });
  }
  const PeerId id = id_of(host->peers);
  if (!race->lost() || !id) return;
  log.no_address(id, server_name);
  enet_peer_reset(host->peers);
  end(id, 0);
}

// A client's handshake, before ENet starts.
void EnetTransport::Impl::connect_admitted(double now_s) {
  ENetPeer* const peer = host->peers;
  if (!race || race->started().empty() || !id_of(peer)) return;
  if (const auto message = guard->to_send(now_s)) {
    if (message->size() == secure::Request::kBytes) challenger.reset();  // the handshake starts again
    if (challenger) {
      queue(*challenger, {}, *message);
    } else {
      queue_to_server(*message);
    }
  }
  const auto* const joined = guard->joined();
  if (joined == nullptr || !id_of(peer)) return;
  enet_host_connect(host.get(), &host->address, kChannels, *pending_connect);  // uses the only peer again
  peer->connectID = joined->number;  // take_outgoing() requests this number
  pending_connect.reset();
}

}  // namespace reckoner
