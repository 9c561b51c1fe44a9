// SPDX-License-Identifier: MIT
// ENet's passes, what leaves with them, and who has fallen silent.
#include "net/src/transport/enet/hurry.hpp"
#include "net/src/transport/enet/impl.hpp"
#include "net/src/transport/enet/socket_screen.hpp"
#include "net/src/wire/messages.hpp"

#include <utility>
#include <vector>

namespace reckoner {

// Acknowledgements that come late, a peer's THROTTLE_CONFIGURE and the bandwidth it announces all make ENet
// drop unreliable packets on its own. The sender's policy decides what is sent, so all three are undone
// before every pass in which ENet may send. All three take a datagram from the peer, so only those are looked
// at of whom one was let through: with a thousand peers, walking all of them is what a pass costs.
void EnetTransport::Impl::hold_throttle_open() {
  host->bandwidthThrottleEpoch = enet_time_get();  // so that the next pass does not share out bandwidth
  touched.take([this](std::size_t index) {
    ENetPeer& peer = host->peers[index];
    // While connecting, both ends compare these numbers and part if they differ.
    if (peer.state != ENET_PEER_STATE_CONNECTED && peer.state != ENET_PEER_STATE_DISCONNECT_LATER) return;
    peer.packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer.packetThrottleDeceleration = 0;
    peer.windowSize = ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE;
  });
}

// Sends a state payload past ENet's queues, which take four allocations and a walk over lists each: in the
// same bytes that ENet would make of it, an unsequenced command alone in a datagram.
void EnetTransport::Impl::post(Connection& connection, std::span<const std::byte> payload) {
  ENetPeer& peer = *connection.peer;
  if (batch.full()) flush_batch();
  if (guard) {
    if (connection.sealer == nullptr) return;
    const auto sealed = guard->seal(*connection.sealer, secure::Kind::state, payload);
    if (!DatagramBatch::kAvailable) return send_raw(peer.address, sealed);
    return batch.add({peer.address.host, peer.address.port}, sealed.first(secure::kSealBytes),
                     sealed.subspan(secure::kSealBytes));
  }
  const auto head = enet_filter::lone_state_head(peer.outgoingPeerID, peer.outgoingSessionID,
                                                 ++peer.outgoingUnsequencedGroup, payload.size());
  batch.add({peer.address.host, peer.address.port}, head, payload);
}

void EnetTransport::Impl::flush_batch() {
  if (batch.empty()) return;
  const DatagramBatch::Outcome outcome = batch.flush(host->socket);
  host->totalSentPackets += outcome.sent;
  host->totalSentData += outcome.bytes;
  stats.service_errors += outcome.errors;
}

bool EnetTransport::Impl::turn() {
  release_held();
  return pump();
}

// Who is to be disconnected is once nothing is held back any more.
void EnetTransport::Impl::release_held() {
  std::erase_if(holding, [this](PeerId id) {
    Connection* const connection = connections.find(id);
    if (connection == nullptr) return true;
    connection->held.release(*connection->peer);
    if (!connection->held.empty()) return false;
    if (connection->liveness.closing())
      enet_peer_disconnect_later(connection->peer, connection->closing_reason);
    return true;
  });
}

// Sends and receives until nothing is left. An error (one datagram too long for ENet's buffer, one address
// that cannot be sent to) ends a pass of ENet's in the middle, so the pass is repeated for the others; so
// does a peer that comes or goes. A pass that went to its end found the socket empty, unless it read all it
// may.
bool EnetTransport::Impl::pump() {
  const enet_uint32 start = host->totalReceivedPackets;
  unsent = false;
  flush_batch();
  if (knocking) knock();
  for (int round = 0; round < limits::kRounds && !full(); ++round) {
    if (host->totalReceivedPackets - start >= limits::kDatagramsPerService) break;
    const enet_uint32 before = host->totalReceivedPackets;
    hold_throttle_open();
    Pump pump{.self = this};
    const int result = enet_host_service(host.get(), &pump.event, 0);
    const enet_uint32 received_now = host->totalReceivedPackets - before;
    bool to_its_end = result == 0;
    if (result > 0) {
      // What was received is handed out at the end of a pass, and what was left over at the start of one.
      to_its_end = pump.event.type == ENET_EVENT_TYPE_RECEIVE && received_now > 0;
      take(pump.event);
      // What finds no room stays with ENet, and is bounded there for each peer.
      while (!full() && enet_host_check_events(host.get(), &pump.event) > 0)
        take(pump.event);
    } else if (result < 0) {
      ++stats.service_errors;
    }
    if (to_its_end && received_now < limits::kDatagramsPerPass && !more_behind_empty()) break;
  }
  end_replaced();
  count_wire();
  return host->totalReceivedPackets != start;
}

// A pass that ended at an empty datagram, which ENet takes for an empty socket, left the others unread.
bool EnetTransport::Impl::more_behind_empty() {
  if (screened) return false;
  const Skipped skipped = skip_empty(host->socket, limits::kMostSkipped);
  for (int i = 0; i < skipped.empty; ++i)
    stats.refuse(Refusal::malformed);
  return skipped.more;
}

// Whoever has come with something newer takes the place of an older connection, which is told why. A client
// that has come back by itself goes on with what it had: for the game its older connection is merely lost.
void EnetTransport::Impl::end_replaced() {
  if (!guard) return;
  guard->end_replaced([this](std::uint32_t tag, bool by_another_login) {
    const PeerId id{tag};
    Connection* const connection = connections.find(id);
    if (connection == nullptr) return;
    const std::uint32_t reason = pack({EndReason::replaced, 0});
    log.replaced(id, machine_order(connection->peer->address));
    enet_peer_disconnect_now(connection->peer, reason);
    end(id, by_another_login ? reason : 0);
  });
}

// ENet has reset the peer by now, which also released its packets.
void EnetTransport::Impl::end(PeerId id, std::uint32_t reason) {
  Connection* const connection = connections.find(id);
  if (connection == nullptr) return;
  connection->peer->data = nullptr;
  if (guard) guard->release(connection->session, steady_seconds());
  knocking.reset();
  connections.remove(id);
  push(TransportEvent::Kind::disconnected, id, reason);
}

// At once, whatever may still be under way to it.
void EnetTransport::Impl::give_up(PeerId id) {
  const Connection& connection = *connections.find(id);
  enet_peer_disconnect_now(connection.peer, connection.closing_reason);
  end(id, 0);
}

// Once as much waits as may, ENet takes nothing reliable of the peer any more, not even what the rest waits
// for. Twice in a row, because what arrived in order waits for a moment too; longer if it is our game that
// does not poll.
bool EnetTransport::Impl::stuck(Connection& connection) const {
  const bool most = !full() && connection.peer->totalWaitingData >= host->maximumWaitingData;
  return std::exchange(connection.waiting_full, most) && most;
}

void EnetTransport::Impl::drop_silent(double now_s) {
  if (now_s - looked_s < limits::kLookSeconds) return;
  looked_s = now_s;
  std::vector<PeerId> gone, beyond;
  connections.for_each([&](PeerId id, Connection& connection) {
    hurry_oldest(*connection.peer);
    if (connection.liveness.given_up(now_s, connection.peer->incomingDataTotal)) {
      gone.push_back(id);
    } else if (stuck(connection)) {
      beyond.push_back(id);
    }
  });
  for (const PeerId id : beyond) {
    stats.refuse(Refusal::peer_limit);
    log.waits_too_long(id, machine_order(connections.find(id)->peer->address));
    give_up(id);
  }
  for (const PeerId id : gone) {
    const Connection& connection = *connections.find(id);
    const ServerAddress address = machine_order(connection.peer->address);
    if (connection.liveness.connecting()) {
      log.no_answer(id, address);
    } else {
      log.timed_out(id, address, connection.liveness.closing());
    }
    give_up(id);
  }
  log.review(stats, now_s);
  if (role == enet_filter::Role::client) return;
  if (guard) {
    guard->tidy(now_s, unix_seconds(), [this](const ServerAddress& to, std::span<const std::byte> datagram) {
      send_raw(enet_order(to), datagram);
    });
  }
  traffic.tidy(now_s);
  for (ENetPeer* peer = host->peers; peer != host->peers + host->peerCount; ++peer) {
    if (peer->state != ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) continue;
    hurry_oldest(*peer);
    if (peer->timeoutMaximum == limits::kHalfOpenMostMs) continue;
    enet_peer_timeout(peer, limits::kHalfOpenFactor, limits::kHalfOpenLeastMs, limits::kHalfOpenMostMs);
  }
}

void EnetTransport::Impl::count_wire() {
  sent.look(host->totalSentData, host->totalSentPackets);
  received.look(host->totalReceivedData, host->totalReceivedPackets);
  if (const auto dropped = dropped_for_socket(host->socket)) stats.system_drops = *dropped;
  stats.datagrams_sent = sent.datagrams();
  stats.datagrams_received = received.datagrams();
  stats.wire_bytes_sent = sent.bytes();
  stats.wire_bytes_received = received.bytes();
}

}  // namespace reckoner
