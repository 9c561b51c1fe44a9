// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <reckoner.h>

namespace reckoner::test {

/// A server and a client over the C API and loopback, in real time or in steps. Keeps the events.
class Pair {
 public:
  reckoner_archetype kind{};
  reckoner_server_config server_config{};
  reckoner_client_config client_config{};
  reckoner_server* server = nullptr;
  reckoner_client* client = nullptr;
  reckoner_client_id peer = 0;  ///< the client, once it has joined
  std::vector<reckoner_client_event> events;
  std::vector<reckoner_server_event> server_events;  ///< without their texts
  std::function<void(double)> each_tick;             ///< called with every tick's time
  double step_s = 0.0;  ///< the time of a step; 0: real time. A busy machine does not disturb a test in steps

  Pair() {
    reckoner_archetype_init(&kind, sizeof kind);
    reckoner_server_config_init(&server_config, sizeof server_config);
    reckoner_client_config_init(&client_config, sizeof client_config);
    server_config.archetypes = client_config.archetypes = &kind;
    server_config.archetype_count = client_config.archetype_count = 1;
    server_config.host = client_config.host = "127.0.0.1";
    server_config.insecure = client_config.insecure = 1;
  }
  ~Pair() {
    reckoner_client_destroy(client);
    reckoner_server_destroy(server);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// Starts the server and the client as configured. True if the client has joined.
  [[nodiscard]] bool start() {
    char why[200] = "";
    if (reckoner_server_create(&server_config, &server, why, sizeof why) != RECKONER_OK) return failed(why);
    client_config.port = reckoner_server_port(server);
    if (reckoner_client_create(&client_config, &client, why, sizeof why) != RECKONER_OK) return failed(why);
    return until([&] { return reckoner_client_status(client) == RECKONER_STATUS_JOINED && peer != 0; });
  }

  [[nodiscard]] double now_s() const {
    if (step_s > 0.0) return stepped_s_;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Runs both ends until `so` returns true. Returns false if that takes ten seconds.
  [[nodiscard]] bool until(const std::function<bool()>& so) {
    const double end_s = now_s() + 10.0;
    while (now_s() < end_s) {
      step();
      if (so()) return true;
      stepped_s_ += step_s;
      if (step_s == 0.0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  void run(double seconds) {
    const double end_s = now_s() + seconds;
    (void)until([&] { return now_s() >= end_s; });
  }

  /// True if the client had an event of this kind for this entity.
  [[nodiscard]] bool had(std::int32_t what, reckoner_entity entity) const {
    for (const auto& event : events) {
      if (event.kind == what && event.entity == entity) return true;
    }
    return false;
  }

  /// The entity's current shown pose; struct_size 0 if it is not shown.
  [[nodiscard]] reckoner_shown shown(reckoner_entity entity) {
    reckoner_shown found{};
    found.struct_size = sizeof found;
    if (reckoner_client_shown_one(client, entity, &found) != RECKONER_OK) found.struct_size = 0;
    return found;
  }

  void step() {
    EXPECT_EQ(reckoner_server_receive(server, now_s()), RECKONER_OK);
    reckoner_server_event server_event{};
    server_event.struct_size = sizeof server_event;
    while (reckoner_server_poll_event(server, &server_event) == RECKONER_OK) {
      if (server_event.kind == RECKONER_SERVER_EVENT_CLIENT_JOINED) peer = server_event.client;
      server_events.push_back(server_event);
    }
    for (double due_s = 0.0;
         reckoner_server_next_tick(server, nullptr, &due_s) == RECKONER_OK && due_s <= now_s();) {
      if (each_tick) each_tick(due_s);
      EXPECT_EQ(reckoner_server_tick(server, now_s()), RECKONER_OK);
    }
    if (client == nullptr) return;
    EXPECT_EQ(reckoner_client_update(client, now_s()), RECKONER_OK);
    reckoner_client_event event{};
    event.struct_size = sizeof event;
    while (reckoner_client_poll_event(client, &event) == RECKONER_OK)
      events.push_back(event);
    std::size_t count = 0;
    (void)reckoner_client_shown(client, nullptr, sizeof(reckoner_shown), 0, &count);
  }

 private:
  static bool failed(const char* why) {
    ADD_FAILURE() << why;
    return false;
  }
  double stepped_s_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A state at rest at (x, y, z), without rotation.
[[nodiscard]] inline reckoner_state at(double x, double y, double z) {
  reckoner_state state;
  reckoner_state_init(&state);
  state.position[0] = x;
  state.position[1] = y;
  state.position[2] = z;
  return state;
}

}  // namespace reckoner::test
