// SPDX-License-Identifier: MIT
// Different servers and clients are independent, so each may belong to a thread of its own. The thread
// sanitizer runs this test, too.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <reckoner.h>

namespace reckoner::test {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kLimitS = 60.0;  // generous, because the machine may be busy

struct Archetype {
  reckoner_archetype kind{};

  Archetype() { reckoner_archetype_init(&kind, sizeof kind); }
};

/// Serves one entity until `ended`. Returns what went wrong, or an empty text.
std::string serve(std::atomic<std::uint16_t>& port, const std::atomic<bool>& ended) {
  const Archetype archetype;
  reckoner_server_config config{};
  reckoner_server_config_init(&config, sizeof config);
  config.archetypes = &archetype.kind;
  config.archetype_count = 1;
  config.host = "127.0.0.1";
  config.insecure = 1;
  config.receive_thread = 1;
  reckoner_server* server = nullptr;
  char why[200] = "";
  if (reckoner_server_create(&config, &server, why, sizeof why) != RECKONER_OK) return why;
  const std::unique_ptr<reckoner_server, decltype(&reckoner_server_destroy)> owner(server,
                                                                                   &reckoner_server_destroy);
  reckoner_state state;
  reckoner_state_init(&state);
  reckoner_entity car = 0;
  if (reckoner_server_spawn(server, 0, "car", &state, 0, &car) != RECKONER_OK) return "spawn";
  port = reckoner_server_port(server);
  const double start_s = seconds();
  while (!ended) {
    const double now_s = seconds() - start_s;
    (void)reckoner_server_receive(server, now_s);
    for (double due_s = 0.0;
         reckoner_server_next_tick(server, nullptr, &due_s) == RECKONER_OK && due_s <= now_s;) {
      state.position[0] = due_s;
      (void)reckoner_server_move(server, car, &state);
      if (reckoner_server_tick(server, now_s) != RECKONER_OK) return "tick";
    }
    reckoner_server_event event{};
    event.struct_size = sizeof event;
    while (reckoner_server_poll_event(server, &event) == RECKONER_OK) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

/// Joins and watches until the entity has moved a quarter of a metre. Returns what went wrong, or an empty
/// text.
std::string watch(std::uint16_t port) {
  const Archetype archetype;
  reckoner_client_config config{};
  reckoner_client_config_init(&config, sizeof config);
  config.archetypes = &archetype.kind;
  config.archetype_count = 1;
  config.host = "127.0.0.1";
  config.port = port;
  config.insecure = 1;
  config.receive_thread = 1;
  reckoner_client* client = nullptr;
  char why[200] = "";
  if (reckoner_client_create(&config, &client, why, sizeof why) != RECKONER_OK) return why;
  const double start_s = seconds();
  double first_m = -1.0, moved_m = 0.0;
  while (moved_m < 0.25 && seconds() - start_s < kLimitS) {
    const double now_s = seconds() - start_s;
    (void)reckoner_client_update(client, now_s);
    reckoner_client_event event{};
    event.struct_size = sizeof event;
    while (reckoner_client_poll_event(client, &event) == RECKONER_OK) {
    }
    reckoner_shown shown{};
    std::size_t count = 0;
    if (reckoner_client_shown(client, &shown, sizeof shown, 1, &count) == RECKONER_OK && count == 1) {
      if (first_m < 0.0) first_m = shown.state.position[0];
      moved_m = shown.state.position[0] - first_m;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string refusal = reckoner_client_refusal(client);
  reckoner_client_destroy(client);
  return moved_m >= 0.25 ? "" : "the entity moved " + std::to_string(moved_m) + " m; " + refusal;
}

TEST(CTwoThreads, ServerAndClientsEachHaveTheirThread) {
  std::atomic<std::uint16_t> port = 0;
  std::atomic<bool> ended = false;
  std::string served = "did not run";
  std::thread server([&] { served = serve(port, ended); });
  const double start_s = seconds();
  while (port == 0 && seconds() - start_s < kLimitS)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<std::string> watched(3, "did not run");
  std::vector<std::thread> clients;
  for (std::string& one : watched)
    clients.emplace_back([&one, &port] { one = watch(port); });
  for (std::thread& client : clients)
    client.join();
  ended = true;
  server.join();
  EXPECT_EQ(served, "");
  for (const std::string& one : watched)
    EXPECT_EQ(one, "");
}

}  // namespace
}  // namespace reckoner::test
