// SPDX-License-Identifier: MIT
#include "sim_network.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <utility>

#include <reckoner/harness/sim_transport.hpp>
#include <reckoner/harness/wire_size.hpp>

namespace reckoner::harness {
namespace {

constexpr double kLookS = 0.25;  // between two looks at who is silent

}  // namespace

SimNetwork::Impl::Impl(SimNetworkConfig given)
    : config(std::move(given)), now_s(config.start_s), server(std::make_unique<End>(*this, true, 0)) {
  config.script.advance(0.0, config.links);
}

SimNetwork::Impl::End& SimNetwork::Impl::receiver(Connection& connection, bool down) {
  return down ? *connection.client : *server;
}

void SimNetwork::Impl::push(Happening happening) {
  happening.serial = ++serial;
  queue.push_back(std::move(happening));
  std::ranges::push_heap(queue, std::greater{});
}

// Gives back the memory of a time when there was much more, so that whoever looks for leaks sees none here.
Happening SimNetwork::Impl::take_next() {
  constexpr std::size_t kKept = 1024, kMuch = 4;
  std::ranges::pop_heap(queue, std::greater{});
  Happening next = std::move(queue.back());
  queue.pop_back();
  if (queue.capacity() > kKept && queue.size() < queue.capacity() / kMuch) queue.shrink_to_fit();
  return next;
}

// Sends one datagram now; the happening is what its arrival will be.
void SimNetwork::Impl::transmit(Happening happening, std::size_t payload_bytes, std::size_t wire_bytes) {
  Connection& connection = *connections[happening.connection];
  const bool runs_down = happening.kind == Happening::Kind::acknowledge ? !happening.down : happening.down;
  receiver(connection, !runs_down).count_sent(wire_bytes);
  happening.piece.wire_bytes = wire_bytes;
  const LinkFate fate = connection.flow(runs_down).link.pass(now_s, wire_bytes);
  const bool state = happening.kind == Happening::Kind::state;
  if (config.log_packets && fate.lost()) {
    packets.push_back({now_s, std::nullopt, payload_bytes, wire_bytes, 0, runs_down, false, state});
  }
  for (std::size_t copy = 0; copy < fate.count; ++copy) {
    happening.time_s = fate.arrived_s[copy];
    if (config.log_packets) {
      packets.push_back({now_s, happening.time_s, payload_bytes, wire_bytes, 0, runs_down, copy > 0, state});
    }
    push(happening);
  }
}

bool SimNetwork::Impl::send(std::size_t index, bool down, Channel channel,
                            std::span<const std::byte> payload) {
  if (!connections[index] || !connections[index]->open(down)) return false;
  if (channel == Channel::state) {
    Happening happening;
    happening.connection = index;
    happening.down = down;
    happening.piece.payload.assign(payload.begin(), payload.end());
    transmit(std::move(happening), payload.size(), payload.size() + kStateOverhead);
    return true;
  }
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
    Happening happening = take_next();
    now_s = std::max(now_s, happening.time_s);
    follow_script(now_s);
    handle(happening);
  }
  now_s = to_s;
  follow_script(now_s);
}

void SimNetwork::Impl::handle(Happening& happening) {
  if (!connections[happening.connection]) return;  // forgotten
  Connection& connection = *connections[happening.connection];
  const bool down = happening.down;
  Flow& flow = connection.flow(down);
  const bool arrives_down = happening.kind == Happening::Kind::acknowledge ? !down : down;
  const bool arrives = happening.kind != Happening::Kind::timeout && happening.kind != Happening::Kind::look;
  if (arrives && (connection.gone(!arrives_down) || (!arrives_down && !server_up))) return;
  if (arrives) (arrives_down ? connection.client_heard_s : connection.server_heard_s) = now_s;
  switch (happening.kind) {
    case Happening::Kind::state: {
      End& end = receiver(connection, down);
      end.count_received(happening.piece.wire_bytes);
      if (!connection.open(!down)) return;
      end.give(TransportEvent::Kind::received, happening.connection, Channel::state, 0,
               std::move(happening.piece.payload));
      return;
    }
    case Happening::Kind::reliable: {
      receiver(connection, down).count_received(happening.piece.wire_bytes);
      Happening answer;
      answer.kind = Happening::Kind::acknowledge;
      answer.connection = happening.connection;
      answer.down = down;
      answer.sequence = happening.sequence;
      answer.piece.sent_s = happening.piece.sent_s;
      transmit(std::move(answer), 0, kAcknowledgeBytes);
      if (happening.sequence < flow.next_wanted) return;
      flow.early.emplace(happening.sequence, std::move(happening.piece));
      for (auto next = flow.early.find(flow.next_wanted); next != flow.early.end();
           next = flow.early.find(flow.next_wanted)) {
        Reliable piece = std::move(next->second);
        flow.early.erase(next);
        ++flow.next_wanted;
        deliver(connection, happening.connection, down, piece);
      }
      return;
    }
    case Happening::Kind::acknowledge: {
      receiver(connection, !down).count_received(kAcknowledgeBytes);
      measure(flow, now_s - happening.piece.sent_s);
      const auto found = flow.unacknowledged.find(happening.sequence);
      if (found == flow.unacknowledged.end()) return;
      const Reliable piece = std::move(found->second);
      flow.unacknowledged.erase(found);
      flow.last_acknowledged_s = now_s;
      hurry_oldest(flow, happening.connection, down);
      acknowledged(connection, happening.connection, down, piece);
      return;
    }
    case Happening::Kind::timeout:
      timed_out(connection, happening);
      return;
    case Happening::Kind::goodbye:
      close_side(connection, happening.connection, false, 0);
      return;
    case Happening::Kind::look:
      look(connection, happening);
      return;
  }
}

SimNetwork::SimNetwork(SimNetworkConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
SimNetwork::~SimNetwork() = default;

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
  connection->client_heard_s = connection->server_heard_s = impl_->now_s;
  impl_->connections.push_back(std::move(connection));
  if (impl_->config.silent_s > 0.0) {
    Happening look;
    look.kind = Happening::Kind::look;
    look.connection = index;
    look.time_s = impl_->now_s + kLookS;
    impl_->push(look);
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
  if (connection.client_gone) return;
  const bool stood = connection.client_open;
  connection.client_gone = connection.client_told = connection.closed = true;
  connection.client_open = false;
  connection.up.unacknowledged.clear();
  connection.client->forget_events();
  if (!stood || !says_goodbye) return;
  Happening goodbye;
  goodbye.kind = Happening::Kind::goodbye;
  goodbye.connection = client;
  goodbye.down = false;
  impl_->transmit(std::move(goodbye), 0, kDisconnectBytes);
}

void SimNetwork::set_server_up(bool up) {
  impl_->server_up = up;
  if (up) return;
  for (auto& connection : impl_->connections) {
    if (!connection) continue;
    connection->server_gone = connection->server_told = connection->closed = true;
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
  share_out(std::span(impl_->packets).subspan(first), entities);
}

}  // namespace reckoner::harness
