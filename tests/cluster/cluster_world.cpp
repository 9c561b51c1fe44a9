// SPDX-License-Identifier: MIT
#include "cluster_world.hpp"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner::test {

SimulatorProcess::SimulatorProcess(cluster::SimHub& hub, const ClusterConfig& config, std::string name,
                                   std::uint32_t number)
    : config_(config),
      bus_(std::make_unique<cluster::SimBus>(hub)),
      entry_(std::make_unique<WorldEntry>(config, std::move(name), ProcessId{number}, *bus_)) {}

void SimulatorProcess::run(double now_s) {
  if (paused || !error_.empty()) return;
  if (entry_) {
    const auto entered = entry_->service(now_s);
    if (!entered) return;
    if (!*entered) {
      error_ = entered->error();
      return;
    }
    const WorldMember member = **entered;
    entry_.reset();
    auto created = Simulator::create(config_, member, *bus_, now_s);
    if (!created) {
      error_ = created.error();
      return;
    }
    simulator_.emplace(std::move(*created));
  }
  simulator_->receive(now_s);
  while (simulator_->tick_time_s(simulator_->next_tick()) <= now_s) {
    play();
    simulator_->tick(now_s);
  }
}

void SimulatorProcess::play() {
  Simulator& s = *simulator_;
  while (auto event = s.poll_event())
    events.push_back(std::move(*event));
  while (const auto message = s.poll_message()) {
    messages[message->entity].emplace_back(
        message->sender,
        std::string(reinterpret_cast<const char*>(message->payload.data()), message->payload.size()));
    if (echo) (void)s.send(message->entity, message->sender, message->payload);
  }
  while (!to_spawn.empty() && s.ready()) {
    const auto id = s.spawn(0, "body", to_spawn.back());
    if (!id) break;
    spawned.push_back(*id);
    to_spawn.pop_back();
  }
  const double dt_s = 1.0 / config_.tick_rate_hz;
  const double half_x = 0.5 * config_.columns * config_.cell_m, half_y = 0.5 * config_.rows * config_.cell_m;
  for (const EntityId id : s.held()) {
    State state = *s.server().state(id);
    const auto turn = static_cast<float>(0.2 * dt_s * static_cast<double>(1 + id.slot() % 3));
    const glm::vec3 v = state.velocity;
    state.velocity = {v.x - turn * v.y, v.y + turn * v.x, v.z};
    if (std::abs(state.position.x) > half_x)
      state.velocity.x = std::copysign(state.velocity.x, static_cast<float>(-state.position.x));
    if (std::abs(state.position.y) > half_y)
      state.velocity.y = std::copysign(state.velocity.y, static_cast<float>(-state.position.y));
    state.velocity *= 10.0f / glm::length(state.velocity);
    state.acceleration = (state.velocity - v) / static_cast<float>(dt_s);
    if (glm::length(state.acceleration) > 100.0f) state.acceleration = glm::vec3{0.0f};
    state.position += glm::dvec3{state.velocity} * dt_s;
    (void)s.move(id, state);
  }
}

GatewayProcess::GatewayProcess(cluster::SimHub& hub, const ClusterConfig& world, const std::string& name,
                               std::uint32_t number, const GatewayConfig& given)
    : config(world),
      settings(given),
      bus(std::make_unique<cluster::SimBus>(hub)),
      entry(std::make_unique<WorldEntry>(config, name, ProcessId{number}, *bus)) {}

void GatewayProcess::run(double now_s) {
  network.advance(now_s);
  if (entry) {
    const auto entered = entry->service(now_s);
    if (!entered) return;
    ASSERT_TRUE(*entered) << entered->error();
    const WorldMember member = **entered;
    entry.reset();
    auto created = Gateway::create(config, settings, member, *bus, network.server(), now_s);
    ASSERT_TRUE(created) << created.error();
    gateway.emplace(std::move(*created));
  }
  gateway->receive(now_s);
  while (const auto message = gateway->server().poll_message()) {
    if (message->payload.size() <= 8) continue;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i)
      number |= std::to_integer<std::uint64_t>(message->payload[i]) << (8 * i);
    refused += gateway->send(message->sender, entity_id_of(number), message->payload.subspan(8)) ? 0 : 1;
  }
  while (gateway->tick_time_s(gateway->next_tick()) <= now_s)
    gateway->tick(now_s);
  for (auto& client : clients)
    client->update(now_s);
}

Client& GatewayProcess::add_client() {
  ClientConfig of_client;
  of_client.archetypes = config.archetypes;
  auto created = Client::create(of_client, network.add_client(kProtocolVersion));
  EXPECT_TRUE(created);
  clients.push_back(std::make_unique<Client>(std::move(*created)));
  return *clients.back();
}

ClusterConfig small_world(double tick_rate_hz) {
  ClusterConfig config;
  config.tick_rate_hz = tick_rate_hz;
  config.cell_m = 50.0;
  config.columns = 4;
  config.rows = 2;
  config.hysteresis_m = 2.0;
  config.archetypes[0].has_orientation = false;
  config.archetypes[0].max_speed_mps = 100.0;
  return config;
}

std::vector<State> bodies(std::size_t count, const ClusterConfig& config, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5; };
  std::vector<State> all(count);
  for (State& state : all) {
    state.position = {share() * config.columns * config.cell_m, share() * config.rows * config.cell_m, 0.0};
    const double angle = 6.28318 * share();
    state.velocity = {static_cast<float>(10.0 * std::cos(angle)), static_cast<float>(10.0 * std::sin(angle)),
                      0.0f};
  }
  return all;
}

}  // namespace reckoner::test
