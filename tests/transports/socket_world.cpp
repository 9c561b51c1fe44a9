// SPDX-License-Identifier: MIT
#include "socket_world.hpp"

#include "tests/support/loopback.hpp"

#include <string>
#include <utility>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr std::uint64_t kGame = 12;
constexpr double kFrameS = 1.0 / 60.0;

// The transport "enet" has no IPv6, whatever address the other tests use.
std::string host_of(const TransportRow& row) {
  return std::string(row.transport) == "enet" ? "127.0.0.1" : loopback();
}

Bytes copy(const GameMessage& message) {
  return {message.payload.begin(), message.payload.end()};
}

}  // namespace

SocketWorld::SocketWorld(const TransportRow& row, SocketWorldConfig config) : row_(row), host_(host_of(row)) {
  ListenConfig listening = listen_config(config.server.max_clients + kSpareConnections);
  listening.limits = config.limits;
  auto transport = NetworkTransport::listen(listening);
  EXPECT_TRUE(transport) << transport.error();
  transport_ = std::move(*transport);
  auto created = Server::create(std::move(config.server), *transport_);
  EXPECT_TRUE(created) << created.error();
  server_.emplace(std::move(*created));
}

ListenConfig SocketWorld::listen_config(std::uint32_t peers) const {
  ListenConfig config{.host = host_, .max_peers = peers, .security = Insecure{}, .transport = row_.transport};
  if (row_.has_key) {
    // All clients have one address here.
    config.security = ServerSecurity{.key = key_,
                                     .game = kGame,
                                     .any_server = true,
                                     .peers_per_address = peers,
                                     .handshakes_per_second = 0.0};
  }
  return config;
}

std::uint16_t SocketWorld::add_network(const harness::LinkOptions& both_ways) {
  harness::ConditionerOptions options;
  options.listen_host = host_;
  options.to_host = host_;
  options.to_port = port();
  options.links = {both_ways, both_ways};
  options.seed = networks_.size() + 1;
  auto opened = harness::Conditioner::open(std::move(options));
  EXPECT_TRUE(opened) << opened.error();
  return networks_.emplace_back(std::move(*opened)).port();
}

void SocketWorld::set_networks(const harness::LinkOptions& both_ways) {
  for (harness::Conditioner& network : networks_)
    EXPECT_FALSE(network.set_links({both_ways, both_ways}));
}

OrInsecure<ClientSecurity> SocketWorld::security_of(const TransportRow& row) {
  if (!row.has_key) return Insecure{};
  ConnectGrant grant{.client_id = ++players_made_, .expires_s = unix_s() + 60};
  grant.servers = {{parse_host(host_)->host, port()}};
  return ClientSecurity{*issue_token(grant, key_, kGame), kGame};
}

SocketPlayer& SocketWorld::dial(std::uint16_t port, ClientConfig config) {
  auto player = std::make_unique<SocketPlayer>();
  player->dialer = std::make_unique<NetworkDialer>(
      ConnectConfig{.host = host_, .port = port, .security = security_of(row_), .transport = row_.transport});
  auto created = Client::create(std::move(config), *player->dialer);
  EXPECT_TRUE(created) << created.error();
  player->client.emplace(std::move(*created));
  return *players_.emplace_back(std::move(player));
}

SocketPlayer& SocketWorld::dial_as(const TransportRow& row) {
  const TransportRow own = std::exchange(row_, row);
  SocketPlayer& player = dial(port());
  row_ = own;
  return player;
}

SocketPlayer& SocketWorld::join(std::uint16_t port, ClientConfig config) {
  SocketPlayer& player = dial(port, std::move(config));
  EXPECT_TRUE(until([&] { return player.has_joined() || player.is_over(); }));
  EXPECT_TRUE(player.has_joined()) << player.client->refusal();
  return player;
}

void SocketWorld::join_all(std::size_t clients, std::uint16_t port) {
  for (std::size_t i = 0; i < clients; ++i)
    dial(port);
  EXPECT_TRUE(until([&] { return all(&SocketPlayer::has_joined); }));
}

EntityId SocketWorld::add_body(Path path) {
  const EntityId id = *server_->spawn(0, "body", path(server_->tick_time_s(server_->next_tick())));
  EXPECT_TRUE(id);
  bodies_.push_back({id, std::move(path)});
  return id;
}

void SocketWorld::turn() {
  serve();
  for (harness::Conditioner& network : networks_)
    network.step(0.0);
  const bool draws = now_s() >= next_frame_s_;
  if (draws) next_frame_s_ = now_s() + kFrameS;
  for (const auto& player : players_)
    play(*player, draws);
}

void SocketWorld::serve() {
  server_->receive(now_s());
  while (const auto message = server_->poll_message())
    messages_[message->sender.value].push_back(copy(*message));
  while (now_s() >= server_->tick_time_s(server_->next_tick())) {
    const double tick_s = server_->tick_time_s(server_->next_tick());
    if (before_tick) before_tick();
    for (const Body& body : bodies_)
      EXPECT_TRUE(server_->move(body.id, body.path(tick_s)));
    server_->tick(now_s());
  }
  while (auto event = server_->poll_event())
    events_.push_back(std::move(*event));
}

void SocketWorld::play(SocketPlayer& player, bool draws) {
  const double time_s = local_s();
  player.client->update(time_s);
  while (const auto event = player.client->poll_event())
    player.events.push_back(*event);
  while (const auto message = player.client->poll_message())
    player.messages.push_back(copy(*message));
  if (!draws) return;
  const auto shown = player.client->shown();
  player.shown.assign(shown.begin(), shown.end());
  if (on_frame) on_frame(player);
}

ClientId SocketWorld::newest_client() const {
  ClientId newest;
  for (const ServerEvent& event : events_) {
    if (event.kind == ServerEvent::Kind::client_joined) newest = event.client;
  }
  return newest;
}

void Sight::add(const SocketPlayer& player) {
  ++frames_;
  const ShownEntity* const entity = player.find(body_);
  if (entity == nullptr) return (void)++wrong_;
  const glm::dvec3 at = entity->shown.position;
  if (glm::distance(at, path_(entity->shown_time_s).position) > tolerance_m_) ++wrong_;
  if (last_) distance_m_ += glm::distance(at, *last_);
  last_ = at;
}

}  // namespace reckoner::test
