// SPDX-License-Identifier: MIT
// ENet's passes, sending, and the detection of silent peers.
#include "net/src/messages/messages.hpp"
#include "net/src/transport/enet/enet_transport_impl.hpp"
#include "net/src/transport/enet/reliable_sending.hpp"
#include "net/src/transport/socket/socket_filter.hpp"

#include <utility>
#include <vector>

namespace reckoner {

// ENet drops unreliable packets on its own for three reasons: late acknowledgements, a peer's
// THROTTLE_CONFIGURE, and the bandwidth that a peer announces. But the sender's policy must decide what is
// sent. So this function undoes all three before every pass in which ENet may send. Each of the three needs a
// datagram from the peer, so the function visits only peers with a new datagram. With a thousand peers, a
// visit to all of them would be most of the cost of a pass.
void EnetTransport::Impl::hold_throttle_open() {
  host->bandwidthThrottleEpoch = enet_time_get();  // so that the next pass does not distribute bandwidth
  touched.drain([this](std::size_t index) {
    ENetPeer& peer = host->peers[index];
    // While connecting, both ends compare these numbers and disconnect if they differ.
    if (peer.state != ENET_PEER_STATE_CONNECTED && peer.state != ENET_PEER_STATE_DISCONNECT_LATER) return;
    peer.packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleDeceleration = 0;
    peer.windowSize = ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE;
  });
}

// Sends a state payload without ENet's queues, which take four allocations and several list walks for each
// packet. Without a guard, the bytes are those that ENet would send: one unsequenced command, alone in a
// datagram.
void EnetTransport::Impl::post(Connection& connection, std::span<const std::byte> payload) {
  const SocketAddress to = address_of(connection);
  if (guard) {
    if (connection.sealer == nullptr) return;
    return queue(to, {}, guard->seal(*connection.sealer, secure::Kind::state, payload));
  }
  ENetPeer& peer = *connection.peer;
  const auto head = enet_filter::lone_state_head(peer.outgoingPeerID, peer.outgoingSessionID,
                                                 ++peer.outgoingUnsequencedGroup, payload.size());
  queue(to, head, payload);
}

void EnetTransport::Impl::flush_batch() {
  if (batch.empty()) return;
  const DatagramBatch::Outcome outcome = batch.flush(net);
  stats.datagrams_sent += outcome.sent;
  stats.wire_bytes_sent += outcome.wire_bytes;
  stats.service_errors += outcome.errors;
}

bool EnetTransport::Impl::run_passes() {
  pass_s = steady_seconds();
  release_queued();
  return pump();
}

// Hands held packets to ENet. When none of a connection's packets are held any more, its pending disconnect
// continues.
void EnetTransport::Impl::release_queued() {
  std::erase_if(peers_with_queue, [this](PeerId id) {
    Connection* const connection = connections.find(id);
    if (connection == nullptr) return true;
    connection->reliable.release(*connection->peer);
    if (!connection->reliable.empty()) return false;
    if (connection->liveness.closing())
      enet_peer_disconnect_later(connection->peer, connection->closing_reason);
    return true;
  });
}

// Sends and receives until nothing is left. Returns true if a datagram has arrived.
bool EnetTransport::Impl::pump() {
  unsent = false;
  flush_batch();
  if (role == enet_filter::Role::client) {
    const double now_s = steady_seconds();
    find_server(now_s);
    if (pending_connect) connect_admitted(now_s);
  }
  std::size_t arrived = 0;
  for (bool more = true; more;) {
    const std::size_t before = arrived;
    do {
      const std::size_t got = full() ? 0 : read_datagrams();
      arrived += got;
      more = got == intake.capacity();
    } while (more && arrived - before < limits::kDatagramsPerPass);
    run_enet();
    more = more && arrived < limits::kDatagramsPerService && !full();
  }
  if (pending_connect) connect_admitted(steady_seconds());  // answers a challenge
  flush_batch();
  unsent = false;
  end_replaced();
  end_refused();
  flush_batch();
  count_drops();
  return arrived > 0;
}

// Lets ENet handle the datagrams that wait for it, and send. A peer that connects or disconnects ends a pass
// of ENet in the middle. The pass is then repeated for the other peers.
void EnetTransport::Impl::run_enet() {
  int errors = 0;
  for (int round = 0; round < limits::kRounds && errors < limits::kMaxEnetErrors; ++round) {
    if (full()) break;  // the rest waits in the inbox and in the socket
    inbox.send_notes(*host);
    const enet_uint32 before = host->totalReceivedPackets;
    hold_throttle_open();
    Pump pump{.self = this};
    const int result = enet_host_service(host.get(), &pump.event, 0);
    const enet_uint32 received_now = host->totalReceivedPackets - before;
    bool to_its_end = result == 0;
    if (result > 0) {
      // ENet delivers what it received in this pass at the end of the pass, and older packets at the start.
      to_its_end = pump.event.type == ENET_EVENT_TYPE_RECEIVE && received_now > 0;
      handle(pump.event);
      // Packets that find no room stay in ENet, which bounds them for each peer.
      while (!full() && enet_host_check_events(host.get(), &pump.event) > 0)
        handle(pump.event);
    }
    errors = result < 0 ? errors + 1 : 0;
    if (!to_its_end) continue;
    inbox.all_read();
    if (inbox.empty()) return;
  }
  if (errors > 0) ++stats.service_errors;
}

// Disconnects older connections that a newer token or ticket has replaced, and sends them the reason. A
// client that came back with a ticket continues its game session. For the game, the older connection of such
// a client is merely lost.
void EnetTransport::Impl::end_replaced() {
  if (!guard) return;
  guard->end_replaced([this](std::uint32_t tag, bool by_another_login) {
    const PeerId id{tag};
    Connection* const connection = connections.find(id);
    if (connection == nullptr) return;
    const std::uint32_t reason = pack({EndReason::replaced, 0});
    log.replaced(id, address_of(*connection));
    enet_peer_disconnect_now(connection->peer, reason);
    end(id, by_another_login ? reason : 0);
  });
}

// The server has refused or ignored a client's token. Nothing else will arrive.
void EnetTransport::Impl::end_refused() {
  if (!guard || !pending_connect) return;
  const auto fault = guard->token_fault(pass_s);
  const PeerId id = id_of(host->peers);
  if (!fault || !id) return;
  if (fault == secure::TokenFault::ignored) {
    log.token_ignored(id, server_address());
  } else {
    log.token_refused(id, server_address());
  }
  end(id, pack({EndReason::token, static_cast<std::uint32_t>(*fault)}));
}

// ENet has reset the peer before this call, which also released the peer's packets.
void EnetTransport::Impl::end(PeerId id, std::uint32_t reason) {
  Connection* const connection = connections.find(id);
  if (connection == nullptr) return;
  connection->peer->data = nullptr;
  if (guard) guard->release(connection->session, steady_seconds());
  pending_connect.reset();
  connections.remove(id);
  push(TransportEvent::Kind::disconnected, id, reason);
}

// Disconnects at once, even if data is still in flight to the peer. The event carries `reason`.
void EnetTransport::Impl::give_up(PeerId id, std::uint32_t reason) {
  const Connection& connection = *connections.find(id);
  enet_peer_disconnect_now(connection.peer, connection.closing_reason);
  end(id, reason);
}

// True if a connection cannot continue. When a peer's waiting data reaches the limit, ENet accepts nothing
// reliable from the peer, not even the packet for which the data waits. Two checks in a row must find this,
// because data that arrived in order also waits for a moment. Does not count while our own game does not
// poll.
bool EnetTransport::Impl::stuck(Connection& connection) const {
  const bool most = !full() && connection.peer->totalWaitingData >= host->maximumWaitingData;
  return std::exchange(connection.waiting_full, most) && most;
}

void EnetTransport::Impl::disconnect_silent(double now_s) {
  if (now_s - silence_checked_s < limits::kSilenceCheckSeconds) return;
  silence_checked_s = now_s;
  std::vector<PeerId> gone, beyond;
  connections.for_each([&](PeerId id, Connection& connection) {
    limit_resend_wait(*connection.peer);
    if (connection.liveness.given_up(now_s, connection.peer->incomingDataTotal)) {
      gone.push_back(id);
    } else if (stuck(connection)) {
      beyond.push_back(id);
    }
  });
  for (const PeerId id : beyond) {
    stats.refuse(Refusal::peer_limit);
    log.waits_too_long(id, address_of(*connections.find(id)));
    give_up(id);
  }
  for (const PeerId id : gone) {
    const Connection& connection = *connections.find(id);
    const SocketAddress address = address_of(connection);
    const bool ignored = pending_connect && guard->was_ignored();
    if (ignored) {
      log.token_ignored(id, address);
    } else if (connection.liveness.connecting()) {
      log.no_answer(id, address);
    } else {
      log.timed_out(id, address, connection.liveness.closing());
    }
    give_up(id,
            ignored ? pack({EndReason::token, static_cast<std::uint32_t>(secure::TokenFault::ignored)}) : 0);
  }
  log.review(stats, now_s);
  if (role == enet_filter::Role::client) return;
  if (guard) {
    guard->tidy(now_s, unix_seconds(), [this](const SocketAddress& to, std::span<const std::byte> datagram) {
      queue(to, {}, datagram);
    });
  } else if (inbox.empty()) {
    addresses.prune(*host);
  }
  traffic.tidy(now_s);
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state != ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) continue;
    limit_resend_wait(*peer);
    if (peer->timeoutMaximum == limits::kHalfOpenMostMs) continue;
    enet_peer_timeout(peer, limits::kHalfOpenFactor, limits::kHalfOpenLeastMs, limits::kHalfOpenMostMs);
  }
}

void EnetTransport::Impl::count_drops() {
  if (const auto dropped = dropped_for_socket(net.descriptor())) stats.system_drops = *dropped;
  if (guard && guard->gate() != nullptr) stats.challenges = guard->gate()->counts().challenged;
}

}  // namespace reckoner
