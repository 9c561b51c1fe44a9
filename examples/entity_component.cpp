// SPDX-License-Identifier: MIT
// An entity-component loop over plain arrays. On the server, one system moves the entities and another system
// publishes them. On the client, a system copies the shown poses into the arrays that the game draws. Exits
// with 0 if the client shows every entity within 0.5 m of its true position.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr std::size_t kBoids = 200;

// snip: server
struct World {  // the game's components, one array each; row i is entity i
  std::vector<glm::dvec3> position;
  std::vector<glm::vec3> velocity;
  std::vector<reckoner::EntityId> published;
};

void steer(World& world, float step_s) {  // a spring pulls every entity towards the origin
  for (std::size_t i = 0; i < world.position.size(); ++i) {
    const glm::vec3 pull = glm::vec3(world.position[i]) * -0.2f;
    world.velocity[i] += pull * step_s;
    world.position[i] += glm::dvec3(world.velocity[i] * step_s);
  }
}

void publish(const World& world, reckoner::Server& server) {
  for (std::size_t i = 0; i < world.position.size(); ++i) {
    reckoner::State state;
    state.position = world.position[i];
    state.velocity = world.velocity[i];
    (void)server.move(world.published[i], state);
  }
}
// snip: end

// snip: client
struct Scene {  // the poses that the game draws; row i belongs to the entity in slot i
  std::vector<glm::dvec3> position;
  std::vector<glm::quat> orientation;
  std::vector<bool> visible;
};

void fill_in(Scene& scene, reckoner::Client& client) {
  const reckoner::ShownPoses poses = client.shown_poses();  // all entities in one call
  std::fill(scene.visible.begin(), scene.visible.end(), false);
  for (std::size_t i = 0; i < poses.ids.size(); ++i) {
    const std::size_t row = poses.ids[i].slot();
    if (row >= scene.position.size()) {
      scene.position.resize(row + 1);
      scene.orientation.resize(row + 1);
      scene.visible.resize(row + 1);
    }
    scene.position[row] = poses.positions[i];
    scene.orientation[row] = poses.orientations[i];
    scene.visible[row] = true;
  }
}
// snip: end

World made(reckoner::Server& server) {
  World world;
  for (std::size_t i = 0; i < kBoids; ++i) {
    const double angle = static_cast<double>(i);
    reckoner::State state;
    state.position = {10.0 * std::cos(angle), 10.0 * std::sin(angle), 0.1 * angle};
    state.velocity = {-3.0 * std::sin(angle), 3.0 * std::cos(angle), 0.0};
    world.position.push_back(state.position);
    world.velocity.push_back(state.velocity);
    world.published.push_back(*server.spawn(0, "boid", state));
  }
  return world;
}

}  // namespace

int main() {
  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return 1;
  auto connecting = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = (*listening)->port(), .security = reckoner::Insecure{}});
  if (!connecting) return 1;
  reckoner::ServerConfig config;
  config.archetypes[0].has_orientation = false;
  reckoner::ClientConfig client_config;
  client_config.archetypes = config.archetypes;
  auto server = reckoner::Server::create(config, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  auto client = reckoner::Client::create(client_config, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;
  World world = made(*server);
  Scene scene;

  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 3.0;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double) {
      steer(world, 1.0f / 60.0f);
      publish(world, *server);
    });
    client->update(now_s);
    while (client->poll_event()) {
    }
    fill_in(scene, *client);
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }

  std::size_t shown = 0;
  double worst_m = 0.0;
  for (std::size_t i = 0; i < kBoids; ++i) {
    const std::size_t row = world.published[i].slot();
    if (row >= scene.visible.size() || !scene.visible[row]) continue;
    ++shown;
    worst_m = std::max(worst_m, glm::distance(scene.position[row], world.position[i]));
  }
  std::printf("%zu of %zu shown, at most %.3f m off\n", shown, kBoids, worst_m);
  return shown == kBoids && worst_m < 0.5 ? 0 : 1;
}
