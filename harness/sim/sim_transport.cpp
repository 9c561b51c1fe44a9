// SPDX-License-Identifier: MIT
#include "harness/sim/sim_transport.hpp"

#include "harness/sim/sim_network.hpp"
#include "harness/sim/wire_size.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace reckoner::harness {
namespace {

constexpr double kSilenceCheckS = 0.25;  // interval between two checks for peers that send nothing

}  // namespace

SimNetwork::Impl::Impl(SimNetworkConfig given)
    : config(std::move(given)), now_s(config.start_s), server(std::make_unique<End>(*this, true, 0)) {
  config.script.advance(0.0, config.links);
}

SimNetwork::Impl::End& SimNetwork::Impl::receiver(Connection& connection, bool down) {
  return down ? *connection.client : *server;
}

void SimNetwork::Impl::push(ScheduledEvent scheduled) {
  scheduled.serial = ++serial;
  queue.push_back(std::move(scheduled));
  std::ranges::push_heap(queue, std::greater{});
}

// Removes the next event from the queue. After a burst of events, releases the memory that the queue no
// longer needs. A soak test would take that memory for a leak.
ScheduledEvent SimNetwork::Impl::pop_next() {
  constexpr std::size_t kKept = 1024, kMuch = 4;
  std::ranges::pop_heap(queue, std::greater{});
  ScheduledEvent next = std::move(queue.back());
  queue.pop_back();
  if (queue.capacity() > kKept && queue.size() < queue.capacity() / kMuch) queue.shrink_to_fit();
  return next;
}

// Sends one datagram now. `scheduled` describes its arrival.
void SimNetwork::Impl::transmit(ScheduledEvent scheduled, std::size_t payload_bytes, std::size_t wire_bytes) {
  Connection& connection = *connections[scheduled.connection];
  const bool runs_down =
      scheduled.kind == ScheduledEvent::Kind::acknowledge ? !scheduled.down : scheduled.down;
  receiver(connection, !runs_down).count_sent(wire_bytes);
  scheduled.piece.wire_bytes = wire_bytes;
  const LinkFate fate = connection.flow(runs_down).link.pass(now_s, wire_bytes);
  const bool state = scheduled.kind == ScheduledEvent::Kind::state;
  if (config.log_packets && fate.lost()) {
    packets.push_back({now_s, std::nullopt, payload_bytes, wire_bytes, 0, runs_down, false, state});
  }
  for (std::size_t copy = 0; copy < fate.count; ++copy) {
    scheduled.time_s = fate.arrived_s[copy];
    if (config.log_packets) {
      packets.push_back({now_s, scheduled.time_s, payload_bytes, wire_bytes, 0, runs_down, copy > 0, state});
    }
    push(scheduled);
  }
}

bool SimNetwork::Impl::send(std::size_t index, bool down, std::span<const std::byte> payload) {
  if (!connections[index] || !connections[index]->open(down)) return false;
  ScheduledEvent scheduled;
  scheduled.connection = index;
  scheduled.down = down;
  scheduled.piece.payload.assign(payload.begin(), payload.end());
  transmit(std::move(scheduled), payload.size(), payload.size() + kStateOverhead);
  return true;
}

bool SimNetwork::Impl::send_message(std::size_t index, bool down, std::span<const std::byte> payload) {
  if (!connections[index] || !connections[index]->open(down)) return false;
  const bool whole = payload.size() <= kFragmentBytes;
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(kFragmentBytes, payload.size() - at);
    Reliable piece;
    piece.piece = at + size == payload.size() ? Piece::last_part : Piece::part;
    piece.payload.assign(payload.begin() + at, payload.begin() + at + size);
    piece.wire_bytes = size + (whole ? kControlOverhead : kFragmentOverhead);
    send_reliable(index, down, std::move(piece));
    at += size;
  } while (at < payload.size());
  return true;
}

void SimNetwork::Impl::advance(double to_s) {
  assert(to_s >= now_s);
  const auto follow_script = [this](double time_s) {
    if (!config.script.advance(time_s - config.start_s, config.links)) return;
    for (auto& connection : connections) {
      if (!connection || !connection->follows_script) continue;
      connection->up.link.set_options(config.links.up);
      connection->down.link.set_options(config.links.down);
    }
  };
  while (!queue.empty() && queue.front().time_s <= to_s) {
    ScheduledEvent scheduled = pop_next();
    now_s = std::max(now_s, scheduled.time_s);
    follow_script(now_s);
    handle(scheduled);
  }
  now_s = to_s;
  follow_script(now_s);
}

void SimNetwork::Impl::handle(ScheduledEvent& scheduled) {
  if (!connections[scheduled.connection]) return;  // the connection has been deleted
  Connection& connection = *connections[scheduled.connection];
  const bool down = scheduled.down;
  Flow& flow = connection.flow(down);
  const bool arrives_down = scheduled.kind == ScheduledEvent::Kind::acknowledge ? !down : down;
  const bool arrives = scheduled.kind != ScheduledEvent::Kind::timeout &&
                       scheduled.kind != ScheduledEvent::Kind::check_silence;
  if (arrives && (connection.sender_gone(!arrives_down) || (!arrives_down && !server_up))) return;
  if (arrives) (arrives_down ? connection.client_received_s : connection.server_received_s) = now_s;
  switch (scheduled.kind) {
    case ScheduledEvent::Kind::state: {
      End& end = receiver(connection, down);
      end.count_received(scheduled.piece.wire_bytes);
      if (!connection.open(!down)) return;
      end.queue_event(TransportEvent::Kind::received, scheduled.connection, 0,
                      std::move(scheduled.piece.payload));
      return;
    }
    case ScheduledEvent::Kind::reliable: {
      receiver(connection, down).count_received(scheduled.piece.wire_bytes);
      ScheduledEvent answer;
      answer.kind = ScheduledEvent::Kind::acknowledge;
      answer.connection = scheduled.connection;
      answer.down = down;
      answer.sequence = scheduled.sequence;
      answer.piece.sent_s = scheduled.piece.sent_s;
      transmit(std::move(answer), 0, kAcknowledgeBytes);
      if (scheduled.sequence < flow.next_wanted) return;
      flow.out_of_order.emplace(scheduled.sequence, std::move(scheduled.piece));
      for (auto next = flow.out_of_order.find(flow.next_wanted); next != flow.out_of_order.end();
           next = flow.out_of_order.find(flow.next_wanted)) {
        Reliable piece = std::move(next->second);
        flow.out_of_order.erase(next);
        ++flow.next_wanted;
        deliver(connection, scheduled.connection, down, piece);
      }
      return;
    }
    case ScheduledEvent::Kind::acknowledge: {
      receiver(connection, !down).count_received(kAcknowledgeBytes);
      measure(flow, now_s - scheduled.piece.sent_s);
      const auto found = flow.unacknowledged.find(scheduled.sequence);
      if (found == flow.unacknowledged.end()) return;
      const Reliable piece = std::move(found->second);
      flow.unacknowledged.erase(found);
      flow.last_acknowledged_s = now_s;
      shorten_oldest_timeout(flow, scheduled.connection, down);
      acknowledged(connection, scheduled.connection, down, piece);
      return;
    }
    case ScheduledEvent::Kind::timeout:
      timed_out(connection, scheduled);
      return;
    case ScheduledEvent::Kind::goodbye:
      close_side(connection, scheduled.connection, false, 0);
      return;
    case ScheduledEvent::Kind::check_silence:
      check_silence(connection, scheduled);
      return;
  }
}

SimNetwork::SimNetwork(SimNetworkConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
SimNetwork::~SimNetwork() = default;

bool SimNetwork::send_message(std::size_t client, bool to_client, std::span<const std::byte> message) {
  if (client >= impl_->connections.size() || !impl_->connections[client]) return false;
  return impl_->receiver(*impl_->connections[client], !to_client).send_message(client, message);
}

Transport& SimNetwork::server() {
  return *impl_->server;
}

const Transport& SimNetwork::server() const {
  return *impl_->server;
}

Transport& SimNetwork::add_client(std::uint32_t reason) {
  Transport& client = add_client(reason, impl_->config.links);
  impl_->connections.back()->follows_script = true;
  return client;
}

Transport& SimNetwork::add_client(std::uint32_t reason, const LinkPair& links) {
  const std::size_t index = impl_->connections.size();
  auto connection = std::make_unique<Impl::Connection>(links, impl_->config.seed, index);
  connection->client = std::make_unique<Impl::End>(*impl_, false, index);
  connection->connect_reason = reason;
  Transport& client = *connection->client;
  connection->client_received_s = connection->server_received_s = impl_->now_s;
  impl_->connections.push_back(std::move(connection));
  if (impl_->config.silence_timeout_s > 0.0) {
    ScheduledEvent check_silence;
    check_silence.kind = ScheduledEvent::Kind::check_silence;
    check_silence.connection = index;
    check_silence.time_s = impl_->now_s + kSilenceCheckS;
    impl_->push(check_silence);
  }
  impl_->send_reliable(index, false, {Piece::connect, {}, 0, kConnectBytes, 0.0, 0.0});
  return client;
}

std::size_t SimNetwork::newest_client() const {
  return impl_->connections.size() - 1;
}

void SimNetwork::drop_client(std::size_t client, bool says_goodbye) {
  if (!impl_->connections[client]) return;
  Impl::Connection& connection = *impl_->connections[client];
  if (connection.client_dropped) return;
  const bool stood = connection.client_open;
  connection.client_dropped = connection.client_notified = connection.closed = true;
  connection.client_open = false;
  connection.up.unacknowledged.clear();
  connection.client->forget_events();
  if (!stood || !says_goodbye) return;
  ScheduledEvent goodbye;
  goodbye.kind = ScheduledEvent::Kind::goodbye;
  goodbye.connection = client;
  goodbye.down = false;
  impl_->transmit(std::move(goodbye), 0, kDisconnectBytes);
}

void SimNetwork::set_server_up(bool up) {
  impl_->server_up = up;
  if (up) return;
  for (auto& connection : impl_->connections) {
    if (!connection) continue;
    connection->server_stopped = connection->server_notified = connection->closed = true;
    connection->server_open = false;
    connection->down.unacknowledged.clear();
  }
  impl_->server->forget_events();
}

double SimNetwork::next_event_s() const {
  return impl_->queue.empty() ? std::numeric_limits<double>::infinity() : impl_->queue.front().time_s;
}

void SimNetwork::advance(double now_s) {
  impl_->advance(now_s);
}
double SimNetwork::now_s() const {
  return impl_->now_s;
}
bool SimNetwork::server_has_events() const {
  return impl_->server->has_events();
}

bool SimNetwork::client_has_events(std::size_t client) const {
  return impl_->connections[client] && impl_->connections[client]->client->has_events();
}

std::span<const PacketRecord> SimNetwork::packets() const {
  return impl_->packets;
}

void SimNetwork::note_entities(std::size_t first, std::size_t entities) {
  distribute_entities(std::span(impl_->packets).subspan(first), entities);
}

}  // namespace reckoner::harness

// Connecting, and messages that always arrive.

namespace reckoner::harness {
namespace {

constexpr double kFirstTimeoutS = 0.5;    // ENET_PEER_DEFAULT_ROUND_TRIP_TIME
constexpr double kOldestTimeoutS = 0.25;  // as Reckoner set ENet when the baselines were measured
constexpr double kGiveUpS = 30.0;         // ENET_PEER_TIMEOUT_MAXIMUM
// Mean and mean deviation of |N(0,1)|.
constexpr double kHalfNormalMean = 0.798;
constexpr double kHalfNormalDeviation = 0.48;

}  // namespace

// Returns the round trip plus four deviations, as measured from acknowledgements, but at least as much as the
// delays of the links imply. The measured time is longer if acknowledgements take longer, for example behind
// a queue.
double SimNetwork::Impl::retransmit_after_s(const Flow& flow) const {
  const double latency_ms = config.links.up.latency_ms + config.links.down.latency_ms;
  const double jitter_ms = config.links.up.jitter_ms + config.links.down.jitter_ms;
  const double likely_ms = latency_ms + (kHalfNormalMean + 4.0 * kHalfNormalDeviation) * jitter_ms;
  return std::max({0.001, 0.001 * likely_ms, flow.round_trip_s + 4.0 * flow.deviation_s});
}

// Smooths the round-trip time like ENet, which follows V. Jacobson (1988).
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
  ScheduledEvent arrival;
  arrival.kind = ScheduledEvent::Kind::reliable;
  arrival.connection = index;
  arrival.down = down;
  arrival.sequence = sequence;
  arrival.piece = piece;
  const std::size_t wire_bytes = piece.wire_bytes;
  const std::size_t payload_bytes = piece.payload.size();
  const auto kept = flow.unacknowledged.emplace(sequence, std::move(piece)).first;
  transmit(std::move(arrival), payload_bytes, wire_bytes);
  schedule_timeout(index, down, sequence, kept->second);
}

void SimNetwork::Impl::deliver(Connection& connection, std::size_t index, bool down, Reliable& piece) {
  switch (piece.piece) {
    case Piece::connect:
      send_reliable(index, true, {Piece::verify, {}, 0, kVerifyConnectBytes, 0.0, 0.0});
      return;
    case Piece::verify:
      connection.client_open = !connection.closed;
      connection.client->queue_event(TransportEvent::Kind::connected, index, 0, {});
      return;
    case Piece::disconnect:
      close_side(connection, index, down, piece.reason);
      return;
    case Piece::part:
    case Piece::last_part:
      break;
  }
  // The client's first message may arrive before its acknowledgement of the connection.
  if (!down) open_server_side(connection, index);
  Flow& flow = connection.flow(down);
  flow.message.insert(flow.message.end(), piece.payload.begin(), piece.payload.end());
  if (piece.piece == Piece::part) return;
  Bytes message = std::exchange(flow.message, {});
  if (!connection.open(!down)) return;
  receiver(connection, down).queue_event(TransportEvent::Kind::received, index, 0, std::move(message));
}

void SimNetwork::Impl::acknowledged(Connection& connection, std::size_t index, bool down,
                                    const Reliable& piece) {
  if (piece.piece == Piece::verify) open_server_side(connection, index);
  if (piece.piece == Piece::disconnect) close_side(connection, index, !down, piece.reason);
}

void SimNetwork::Impl::open_server_side(Connection& connection, std::size_t index) {
  if (connection.server_open || connection.closed) return;
  if (!connection.server_notified) return;  // the server has already asked to close the connection
  connection.server_open = true;
  connection.server_notified = false;
  server->queue_event(TransportEvent::Kind::connected, index, connection.connect_reason, {});
}

void SimNetwork::Impl::close_side(Connection& connection, std::size_t index, bool client_side,
                                  std::uint32_t reason) {
  (client_side ? connection.client_open : connection.server_open) = false;
  connection.closed = true;
  bool& notified = client_side ? connection.client_notified : connection.server_notified;
  if (std::exchange(notified, true)) return;
  End& end = client_side ? *connection.client : *server;
  end.queue_event(TransportEvent::Kind::disconnected, index, reason, {});
}

void SimNetwork::Impl::close(Connection& connection, std::size_t index) {
  close_side(connection, index, true, 0);
  close_side(connection, index, false, 0);
}

// Checks whether the client or the server has received nothing for too long. Each of them decides for itself.
void SimNetwork::Impl::check_silence(Connection& connection, const ScheduledEvent& scheduled) {
  constexpr double kAgainS = 0.25;
  const std::size_t index = scheduled.connection;
  const bool answered = connection.client_open || connection.client_notified;
  const double patience_s = answered ? config.silence_timeout_s : config.silence_timeout_s / 2.0;
  const bool client_there = !connection.client_notified && !connection.client_dropped;
  if (client_there && now_s - connection.client_received_s >= patience_s) {
    connection.up.unacknowledged.clear();
    close_side(connection, index, true, 0);
  }
  if (connection.server_open && now_s - connection.server_received_s >= config.silence_timeout_s) {
    connection.down.unacknowledged.clear();
    close_side(connection, index, false, 0);
  }
  const bool over = connection.client_notified && connection.server_notified;
  if (over) {
    const double since_s = std::max(connection.client_received_s, connection.server_received_s);
    // The game has dropped the client, and no datagram to it is in flight.
    const bool forgotten = connection.client_dropped && now_s - since_s >= config.silence_timeout_s;
    if (forgotten) connections[index].reset();
    if (forgotten) return;
  }
  ScheduledEvent again = scheduled;
  again.time_s = now_s + kAgainS;
  push(std::move(again));
}

// The oldest packet delays all others, so it gets a shorter timeout.
void SimNetwork::Impl::shorten_oldest_timeout(Flow& flow, std::size_t index, bool down) {
  if (flow.unacknowledged.empty()) return;
  auto& [sequence, oldest] = *flow.unacknowledged.begin();
  const double wait_s = std::max(kOldestTimeoutS, first_timeout_s(flow, oldest));
  if (oldest.timeout_s <= wait_s) return;
  oldest.timeout_s = std::max(wait_s, now_s - oldest.sent_s);
  schedule_timeout(index, down, sequence, oldest);
}

void SimNetwork::Impl::schedule_timeout(std::size_t index, bool down, std::uint32_t sequence,
                                        const Reliable& piece) {
  ScheduledEvent timeout;
  timeout.kind = ScheduledEvent::Kind::timeout;
  timeout.connection = index;
  timeout.down = down;
  timeout.sequence = sequence;
  timeout.piece.sent_s = piece.sent_s;
  timeout.time_s = piece.sent_s + piece.timeout_s;
  push(std::move(timeout));
}

void SimNetwork::Impl::timed_out(Connection& connection, const ScheduledEvent& scheduled) {
  Flow& flow = connection.flow(scheduled.down);
  const auto found = flow.unacknowledged.find(scheduled.sequence);
  if (found == flow.unacknowledged.end()) return;
  Reliable& piece = found->second;
  if (piece.sent_s != scheduled.piece.sent_s) return;  // a newer copy was sent before this timeout
  if (now_s - std::max(piece.first_sent_s, flow.last_acknowledged_s) >= kGiveUpS) {
    close(connection, scheduled.connection);
    return;
  }
  ScheduledEvent again = scheduled;
  again.kind = ScheduledEvent::Kind::reliable;
  piece.sent_s = now_s;
  again.piece = piece;
  piece.timeout_s *= 2.0;
  transmit(std::move(again), piece.payload.size(), piece.wire_bytes);
  schedule_timeout(scheduled.connection, scheduled.down, scheduled.sequence, piece);
  shorten_oldest_timeout(flow, scheduled.connection, scheduled.down);
}

}  // namespace reckoner::harness
