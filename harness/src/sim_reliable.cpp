// SPDX-License-Identifier: MIT
// The control channel of SimNetwork: what ENet does to be reliable.
#include "sim_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <reckoner/harness/wire_size.hpp>

namespace reckoner::harness {
namespace {

constexpr double kFirstTimeoutS = 0.5;  // ENET_PEER_DEFAULT_ROUND_TRIP_TIME
constexpr double kHurryS = 0.25;        // kHurryMs of net/src/enet/hurry.hpp, which this is after
constexpr double kGiveUpS = 30.0;       // ENET_PEER_TIMEOUT_MAXIMUM
// Mean and mean deviation of |N(0,1)|.
constexpr double kHalfNormalMean = 0.798;
constexpr double kHalfNormalDeviation = 0.48;

}  // namespace

// What the links' delays make likely, or longer if acknowledgements have taken longer, behind a queue.
double SimNetwork::Impl::retransmit_after_s(const Flow& flow) const {
  const double latency_ms = config.links.up.latency_ms + config.links.down.latency_ms;
  const double jitter_ms = config.links.up.jitter_ms + config.links.down.jitter_ms;
  const double likely_ms = latency_ms + (kHalfNormalMean + 4.0 * kHalfNormalDeviation) * jitter_ms;
  return std::max({0.001, 0.001 * likely_ms, flow.round_trip_s + 4.0 * flow.deviation_s});
}

// As ENet smooths it, which is as V. Jacobson has it (1988).
void SimNetwork::Impl::measure(Flow& flow, double round_trip_s) {
  if (flow.round_trip_s == 0.0) {
    flow.round_trip_s = round_trip_s;
    flow.deviation_s = round_trip_s / 2.0;
    return;
  }
  const double off_s = round_trip_s - flow.round_trip_s;
  flow.deviation_s += (std::abs(off_s) - flow.deviation_s) / 4.0;
  flow.round_trip_s += off_s / 8.0;
}

double SimNetwork::Impl::first_timeout_s(const Flow& flow, const Reliable& piece) const {
  const bool connecting = piece.piece == Piece::connect || piece.piece == Piece::verify;
  return connecting ? kFirstTimeoutS : retransmit_after_s(flow);
}

void SimNetwork::Impl::send_reliable(std::size_t index, bool down, Reliable piece) {
  Flow& flow = connections[index]->flow(down);
  const std::uint32_t sequence = flow.next_sent++;
  piece.first_sent_s = piece.sent_s = now_s;
  piece.timeout_s = first_timeout_s(flow, piece);
  Happening arrival;
  arrival.kind = Happening::Kind::reliable;
  arrival.connection = index;
  arrival.down = down;
  arrival.sequence = sequence;
  arrival.piece = piece;
  const std::size_t wire_bytes = piece.wire_bytes;
  const std::size_t payload_bytes = piece.payload.size();
  const auto kept = flow.unacknowledged.emplace(sequence, std::move(piece)).first;
  transmit(std::move(arrival), payload_bytes, wire_bytes);
  expect(index, down, sequence, kept->second);
}

void SimNetwork::Impl::deliver(Connection& connection, std::size_t index, bool down, Reliable& piece) {
  switch (piece.piece) {
    case Piece::connect:
      send_reliable(index, true, {Piece::verify, {}, 0, kVerifyConnectBytes, 0.0, 0.0});
      return;
    case Piece::verify:
      connection.client_open = !connection.closed;
      connection.client->give(TransportEvent::Kind::connected, index, Channel::control, 0, {});
      return;
    case Piece::disconnect:
      close_side(connection, index, down, piece.reason);
      return;
    case Piece::part:
    case Piece::last_part:
      break;
  }
  // What the client says first may overtake its acknowledgement of the connection.
  if (!down) open_server_side(connection, index);
  Flow& flow = connection.flow(down);
  flow.message.insert(flow.message.end(), piece.payload.begin(), piece.payload.end());
  if (piece.piece == Piece::part) return;
  Bytes message = std::exchange(flow.message, {});
  if (!connection.open(!down)) return;
  receiver(connection, down)
      .give(TransportEvent::Kind::received, index, Channel::control, 0, std::move(message));
}

void SimNetwork::Impl::acknowledged(Connection& connection, std::size_t index, bool down,
                                    const Reliable& piece) {
  if (piece.piece == Piece::verify) open_server_side(connection, index);
  if (piece.piece == Piece::disconnect) close_side(connection, index, !down, piece.reason);
}

void SimNetwork::Impl::open_server_side(Connection& connection, std::size_t index) {
  if (connection.server_open || connection.closed) return;
  if (!connection.server_told) return;  // it is closing already
  connection.server_open = true;
  connection.server_told = false;
  server->give(TransportEvent::Kind::connected, index, Channel::control, connection.connect_reason, {});
}

void SimNetwork::Impl::close_side(Connection& connection, std::size_t index, bool client_side,
                                  std::uint32_t reason) {
  (client_side ? connection.client_open : connection.server_open) = false;
  connection.closed = true;
  bool& told = client_side ? connection.client_told : connection.server_told;
  if (std::exchange(told, true)) return;
  End& end = client_side ? *connection.client : *server;
  end.give(TransportEvent::Kind::disconnected, index, Channel::control, reason, {});
}

void SimNetwork::Impl::close(Connection& connection, std::size_t index) {
  close_side(connection, index, true, 0);
  close_side(connection, index, false, 0);
}

// Each end judges for itself.
void SimNetwork::Impl::look(Connection& connection, const Happening& happening) {
  constexpr double kAgainS = 0.25;
  const std::size_t index = happening.connection;
  const bool answered = connection.client_open || connection.client_told;
  const double patience_s = answered ? config.silent_s : config.silent_s / 2.0;
  const bool client_there = !connection.client_told && !connection.client_gone;
  if (client_there && now_s - connection.client_heard_s >= patience_s) {
    connection.up.unacknowledged.clear();
    close_side(connection, index, true, 0);
  }
  if (connection.server_open && now_s - connection.server_heard_s >= config.silent_s) {
    connection.down.unacknowledged.clear();
    close_side(connection, index, false, 0);
  }
  const bool over = connection.client_told && connection.server_told;
  if (over) {
    const double since_s = std::max(connection.client_heard_s, connection.server_heard_s);
    // Whoever still has the client's end has dropped it; nothing is on its way to it any more.
    const bool forgotten = connection.client_gone && now_s - since_s >= config.silent_s;
    if (forgotten) connections[index].reset();
    if (forgotten) return;
  }
  Happening again = happening;
  again.time_s = now_s + kAgainS;
  push(std::move(again));
}

// The oldest, which the others wait for, comes again sooner than they do.
void SimNetwork::Impl::hurry_oldest(Flow& flow, std::size_t index, bool down) {
  if (flow.unacknowledged.empty()) return;
  auto& [sequence, oldest] = *flow.unacknowledged.begin();
  const double wait_s = std::max(kHurryS, first_timeout_s(flow, oldest));
  if (oldest.timeout_s <= wait_s) return;
  oldest.timeout_s = std::max(wait_s, now_s - oldest.sent_s);
  expect(index, down, sequence, oldest);
}

void SimNetwork::Impl::expect(std::size_t index, bool down, std::uint32_t sequence, const Reliable& piece) {
  Happening timeout;
  timeout.kind = Happening::Kind::timeout;
  timeout.connection = index;
  timeout.down = down;
  timeout.sequence = sequence;
  timeout.piece.sent_s = piece.sent_s;
  timeout.time_s = piece.sent_s + piece.timeout_s;
  push(std::move(timeout));
}

void SimNetwork::Impl::timed_out(Connection& connection, const Happening& happening) {
  Flow& flow = connection.flow(happening.down);
  const auto found = flow.unacknowledged.find(happening.sequence);
  if (found == flow.unacknowledged.end()) return;
  Reliable& piece = found->second;
  if (piece.sent_s != happening.piece.sent_s) return;  // sent again since, sooner than this
  if (now_s - std::max(piece.first_sent_s, flow.last_acknowledged_s) >= kGiveUpS) {
    close(connection, happening.connection);
    return;
  }
  Happening again = happening;
  again.kind = Happening::Kind::reliable;
  piece.sent_s = now_s;
  again.piece = piece;
  piece.timeout_s *= 2.0;
  transmit(std::move(again), piece.payload.size(), piece.wire_bytes);
  expect(happening.connection, happening.down, happening.sequence, piece);
  hurry_oldest(flow, happening.connection, happening.down);
}

}  // namespace reckoner::harness
