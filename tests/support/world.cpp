// SPDX-License-Identifier: MIT
#include "world.hpp"

#include "client/src/testing/test_switches.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace reckoner::test {
namespace {

harness::SimNetworkConfig network_config(const WorldConfig& config) {
  harness::SimNetworkConfig out;
  out.links = config.links;
  out.seed = config.seed;
  out.log_packets = config.log_packets;
  out.silence_timeout_s = config.silence_timeout_s;
  out.arrival_times = config.arrival_times;
  out.start_s = config.server.epoch_s;
  const auto script = harness::LinkScript::parse(config.script);
  assert(script);
  out.script = *script;
  return out;
}

// A blend with the default duration lasts as many frames at other frame rates.
void set_blend(PlayoutConfig& playout, double frame_rate_hz) {
  if (playout.blend_s == PlayoutConfig{}.blend_s) playout.blend_s *= 60.0 / frame_rate_hz;
}

}  // namespace

World::World(WorldConfig config)
    : config_(std::move(config)),
      network_(network_config(config_)),
      door_(config_.door ? config_.door(network_.server()) : nullptr),
      server_(
          std::make_unique<Server>(make_test_server(config_.server, server_transport(), config_.switches))),
      start_s_(config_.server.epoch_s) {}

std::size_t World::add_client(ClientConfig config, LocalClock clock) {
  return add_client(std::move(config), clock, network_.add_client(kProtocolVersion));
}

std::size_t World::add_client(ClientConfig config, LocalClock clock, const harness::LinkPair& links) {
  return add_client(std::move(config), clock, network_.add_client(kProtocolVersion, links));
}

std::size_t World::add_client(ClientConfig config, LocalClock clock, Transport& transport) {
  auto player = std::make_unique<Player>();
  player->tap = std::make_unique<Tap>(transport);
  player->connection = network_.newest_client();
  player->clock = clock;
  set_blend(config.playout, config_.frame_rate_hz);
  player->client = std::make_unique<Client>(make_test_client(std::move(config), *player->tap));
  clients_.push_back(std::move(player));
  return clients_.size() - 1;
}

std::size_t World::add_dialing_client(ClientConfig config, LocalClock clock) {
  auto player = std::make_unique<Player>();
  player->dialer = std::make_unique<harness::SimDialer>(network_, kProtocolVersion, clients_.size() + 1);
  player->clock = clock;
  set_blend(config.playout, config_.frame_rate_hz);
  player->client = std::make_unique<Client>(make_test_client(std::move(config), *player->dialer));
  clients_.push_back(std::move(player));
  return clients_.size() - 1;
}

void World::kill_client(std::size_t client) {
  Player& player = *clients_[client];
  player.client.reset();
  const auto connection = player.dialer ? player.dialer->client() : player.connection;
  if (connection) network_.drop_client(*connection, false);
}

void World::kill_server() {
  server_.reset();
  network_.set_server_up(false);
}

void World::start_server(bool shuffled) {
  ServerConfig config = config_.server;
  config.epoch_s = network_.now_s();
  network_.set_server_up(true);
  server_ = std::make_unique<Server>(make_test_server(config, server_transport(), config_.switches));
  const auto begin = [&](Body& body) {
    body.id = *server_->spawn(body.archetype, body.name, body.path(config.epoch_s));
  };
  if (shuffled) {
    std::for_each(bodies_.rbegin(), bodies_.rend(), begin);
  } else {
    std::for_each(bodies_.begin(), bodies_.end(), begin);
  }
}

EntityId World::add_body(Truth path, std::vector<double> teleports, const std::string& name,
                         std::size_t archetype) {
  const double time_s = server_->tick_time_s(server_->next_tick());
  const EntityId id = *server_->spawn(archetype, name, path(time_s));
  Body body{id, name, archetype, std::move(path), std::move(teleports), 0};
  while (body.teleported < body.teleports.size() && body.teleports[body.teleported] <= time_s)
    ++body.teleported;
  bodies_.push_back(std::move(body));
  return id;
}

void World::remove_body(EntityId id) {
  (void)server_->despawn(id);
  std::erase_if(bodies_, [&](const Body& body) { return body.id == id; });
}

void World::run_to(double time_s) {
  constexpr double kRoundingS = 1e-9;
  for (;;) {
    double tick_s = std::numeric_limits<double>::infinity();
    if (server_) tick_s = std::max(server_->tick_time_s(server_->next_tick()), suspended_until_s_);
    const double frame_s = start_s_ + static_cast<double>(frames_) / config_.frame_rate_hz + 1e-4;
    const double next_s = std::min({tick_s, frame_s, network_.next_event_s()});
    if (next_s > time_s + kRoundingS) break;
    network_.advance(std::max(next_s, network_.now_s()));
    deliver(network_.now_s());
    if (tick_s <= next_s) {
      tick(tick_s);
    } else if (frame_s <= next_s) {
      frame(frame_s);
    }
  }
  network_.advance(std::max(time_s, network_.now_s()));
}

double World::local_s(std::size_t client, double time_s) const {
  const LocalClock& clock = clients_[client]->clock;
  return clock.other ? clock.other(time_s) : clock.offset_s + time_s * clock.rate;
}

void World::deliver(double time_s) {
  if (server_ && network_.server_has_events() && time_s >= suspended_until_s_) server_->receive(time_s);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const Player& player = *clients_[i];
    const auto connection = player.dialer ? player.dialer->client() : player.connection;
    const bool arrived =
        (connection && network_.client_has_events(*connection)) || (player.tap && player.tap->has_injected());
    const bool awake = time_s >= player.suspended_until_s && !config_.updates_per_frame;
    if (arrived && player.client && awake) player.client->update(local_s(i, time_s));
  }
}

void World::tick(double time_s) {
  server_->receive(time_s);
  if (before_tick) before_tick(time_s);
  for (Body& body : bodies_) {
    const State truth = body.path(time_s);
    if (body.teleported < body.teleports.size() && body.teleports[body.teleported] <= time_s) {
      ++body.teleported;
      (void)server_->teleport(body.id, truth);
    } else {
      (void)server_->move(body.id, truth);
    }
  }
  server_->tick(time_s);
  while (auto event = server_->poll_event())
    server_events_.push_back(std::move(*event));
  if (after_tick) after_tick(time_s);
}

void World::frame(double time_s) {
  ++frames_;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Player& player = *clients_[i];
    if (!player.client || time_s < player.suspended_until_s) continue;
    player.client->update(local_s(i, time_s));
    while (const auto event = player.client->poll_event())
      player.events.push_back(*event);
    if (config_.sampled) {
      (void)player.client->shown_poses();
    } else {
      const auto shown = player.client->shown();
      player.shown.assign(shown.begin(), shown.end());
    }
    while (const auto event = player.client->poll_event()) {
      player.events.push_back(*event);
      ++player.late_events;
    }
    if (on_frame) on_frame(i, time_s, player.shown);
  }
}

Client& World::updated(std::size_t i) {
  client(i).update(local_s(i, now_s()));
  return client(i);
}

std::size_t World::count(std::size_t client, ClientEvent::Kind kind) const {
  const auto& events = clients_[client]->events;
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [&](const ClientEvent& e) { return e.kind == kind; }));
}

std::size_t World::count(ServerEvent::Kind kind) const {
  return static_cast<std::size_t>(std::count_if(server_events_.begin(), server_events_.end(),
                                                [&](const ServerEvent& e) { return e.kind == kind; }));
}

const ShownEntity* World::shown(std::size_t client, EntityId id) const {
  const auto& shown = clients_[client]->shown;
  const auto found =
      std::find_if(shown.begin(), shown.end(), [&](const ShownEntity& e) { return e.id == id; });
  return found == shown.end() ? nullptr : &*found;
}

harness::LinkPair both_ways(const harness::LinkOptions& options) {
  return {options, options};
}

harness::LinkPair network(const std::string& name) {
  const auto options = harness::find_network(name);
  assert(options);
  return both_ways(*options);
}

}  // namespace reckoner::test
