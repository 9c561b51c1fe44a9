// SPDX-License-Identifier: MIT
// A game's own server with clients over UDP and, for its browser build, over its own WebSocket. One key, one
// set of tokens and one Server serve both. The WebSockets are queues here; a game uses its web server's.
// docs/INTEGRATION.md quotes the parts between the "snip" lines. Exits with 0 if the client over the stream
// showed an entity, the server knew the client by its token, and the token was not valid twice.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/pipe_transport.hpp>
#include <reckoner/net/token_gate.hpp>
#include <reckoner/server/server.hpp>

namespace {

/// Stands for the game's WebSocket library, with TLS: streams of whole messages, each in order.
class WebSockets {
 public:
  struct Arrival {
    enum class Kind : std::uint8_t { opened, message, closed };
    Kind kind = Kind::message;
    std::uint64_t socket = 0;
    reckoner::IpAddress host{};  // of opened
    std::vector<std::byte> bytes{};
  };
  std::optional<Arrival> poll() {
    if (arrivals.empty()) return std::nullopt;
    Arrival next = std::move(arrivals.front());
    arrivals.pop_front();
    return next;
  }
  bool send(std::uint64_t socket, std::span<const std::byte> message, bool may_drop) {
    std::deque<std::vector<std::byte>>& waiting = to_clients[socket];
    if (may_drop && waiting.size() > 100) return false;
    waiting.emplace_back(message.begin(), message.end());
    return true;
  }
  void close(std::uint64_t socket) { closed.insert(socket); }

  std::deque<Arrival> arrivals;
  std::map<std::uint64_t, std::deque<std::vector<std::byte>>> to_clients;
  std::set<std::uint64_t> closed;
};

// snip: time
reckoner::TokenTime present() {
  using namespace std::chrono;
  return {duration<double>(steady_clock::now().time_since_epoch()).count(),
          static_cast<std::uint64_t>(
              duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count())};
}
// snip: end

/// A browser build of the game.
struct Browser {
  using Kind = WebSockets::Arrival::Kind;

  Browser(WebSockets& all, std::uint64_t number, std::span<const std::byte> token)
      : sockets(all),
        socket(number),
        transport(
            [this](std::span<const std::byte> message) {
              sockets.arrivals.push_back({Kind::message, socket, {}, {message.begin(), message.end()}});
              return true;
            },
            token),
        client(std::move(*reckoner::Client::create({}, transport))) {
    sockets.arrivals.push_back({Kind::opened, socket, reckoner::IpAddress(0x7f000001), {}});
    transport.opened();
  }
  void receive(double now_s) {
    for (const auto& message : std::exchange(sockets.to_clients[socket], {}))
      transport.received(message, now_s);
    if (sockets.closed.contains(socket)) transport.closed();
    client.update(now_s);
  }

  WebSockets& sockets;
  std::uint64_t socket;
  reckoner::PipeTransport transport;
  reckoner::Client client;
};

}  // namespace

int main() {
  WebSockets sockets;
  const reckoner::ServerSecurity security{.key = reckoner::SecretKey::make(), .any_server = true};
  // snip: server
  auto udp = reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = security});
  if (!udp) return std::fprintf(stderr, "%s\n", udp.error().c_str()), 1;
  const auto gate = reckoner::TokenGate::create(security, {.transport = udp->get()});
  if (!gate) return std::fprintf(stderr, "%s\n", gate.error().c_str()), 1;
  auto pipes = reckoner::PipeServer::create(
      {},
      {.send = [&](reckoner::StreamId stream, std::span<const std::byte> message,
                   bool may_drop) { return sockets.send(stream, message, may_drop); },
       .close = [&](reckoner::StreamId stream) { sockets.close(stream); }},
      gate->pipe_gate(present));
  if (!pipes) return std::fprintf(stderr, "%s\n", pipes.error().c_str()), 1;

  reckoner::JoinedTransport both(**udp, *pipes);
  auto server = reckoner::Server::create({}, both);
  // snip: end
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  (void)server->spawn(0, "car", {});

  const std::uint64_t unix_s = present().unix_ms / 1000;
  reckoner::ConnectGrant grant{.client_id = 7001, .expires_s = unix_s + 60};
  grant.servers = {{.host = 0x7f000001, .port = (*udp)->port()}};
  const auto token = *reckoner::write_token(*reckoner::issue_token(grant, security.key, 0));
  Browser player(sockets, 1, token), thief(sockets, 2, token);
  std::uint64_t joined_as = 0;
  bool shown = false;
  for (double now_s = 0.0; now_s < 2.0; now_s += 1.0 / 60.0) {
    // snip: arrivals
    using Kind = WebSockets::Arrival::Kind;
    while (const auto arrival = sockets.poll()) {
      if (arrival->kind == Kind::opened && !pipes->opened(arrival->socket, arrival->host, now_s))
        sockets.close(arrival->socket);
      if (arrival->kind == Kind::message) pipes->received(arrival->socket, arrival->bytes, now_s);
      if (arrival->kind == Kind::closed) pipes->closed(arrival->socket);
    }
    server->receive(now_s);
    // snip: end
    while (const auto event = server->poll_event()) {
      const reckoner::PeerId peer = server->peer(event->client);
      const auto identity = reckoner::JoinedTransport::is_of_second(peer)
                                ? pipes->identity(reckoner::JoinedTransport::own_id(peer))
                                : (*udp)->identity(peer);
      if (identity) joined_as = identity->client_id;
    }
    if (server->tick_time_s(server->next_tick()) <= now_s) server->tick(now_s);
    player.receive(now_s);
    thief.receive(now_s);
    shown = shown || !player.client.shown().empty();
  }
  const bool refused = thief.client.status() == reckoner::ClientStatus::disconnected;
  std::printf("joined as %d, %s; the second use of the token was %s\n", static_cast<int>(joined_as),
              shown ? "shown" : "not shown", refused ? "refused" : "accepted");
  return shown && joined_as == grant.client_id && refused ? 0 : 1;
}
