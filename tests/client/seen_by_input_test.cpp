// SPDX-License-Identifier: MIT
// A shot that is an input: the server knows which picture the player saw.
#include "tests/support/world.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

State running(double time_s) {
  State runner;
  runner.position = {8.0 * time_s, 3.0 * std::sin(2.0 * time_s), 0.0};
  runner.velocity = {8.0f, static_cast<float>(6.0 * std::cos(2.0 * time_s)), 0.0f};
  return runner;
}

// A player fires ten times a second, and the server looks in the tick of the input. Returns the largest
// distance between what the server finds and what was drawn, m.
double worst_error_m(const PlayoutConfig& playout, std::size_t least) {
  WorldConfig config{.links = network("intercity")};
  config.server.rewind_s = 1.0;
  World world(config);
  ClientConfig client;
  client.playout = playout;
  world.add_client(client);
  const EntityId runner = world.add_body(running);
  std::map<Tick, glm::dvec3> drawn;  // by the tick of the input
  double worst_m = 0.0;
  std::size_t found = 0;
  world.before_tick = [&](double) {
    Server& server = world.server();
    if (server.clients().empty()) return;
    const PlayerInput input = server.input(server.clients()[0]);
    const auto fired = drawn.find(server.next_tick());
    if (fired == drawn.end() || input.repeated > 0 || input.bytes.empty()) return;
    if (const auto seen = server.pose_seen_by(server.clients()[0], runner, input.seen_s)) {
      worst_m = std::max(worst_m, glm::distance(seen->position, fired->second));
      ++found;
    }
  };
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    const std::array input{std::byte{1}};
    while (const auto step = world.client(0).next_step(input)) {
      if (time_s > 5.0 && step->tick % 6 == 0 && shown.size() == 1)
        drawn[step->tick] = shown[0].shown.position;
    }
  };
  world.run_to(15.0);
  EXPECT_GT(found, least);
  return worst_m;
}

// The time has the precision of a millisecond, and the runner up to 10 m/s.
TEST(SeenByInput, ServerFindsThePictureOfTheShot) {
  EXPECT_LT(worst_error_m({.mode = PlayoutMode::present}, 80), 0.02);
  EXPECT_LT(worst_error_m({.mode = PlayoutMode::delayed, .delay_s = 0.2}, 80), 0.02);
  EXPECT_LT(worst_error_m({.mode = PlayoutMode::ahead}, 80), 0.02);
}

}  // namespace
}  // namespace reckoner::test
