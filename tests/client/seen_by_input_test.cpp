// SPDX-License-Identifier: MIT
// A shot that is an input: the server knows which picture the player saw.
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

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

// A player fires ten times a second, and the server looks in the tick of the input. Returns the distances
// between what the server finds and what was drawn, m, smallest first.
std::vector<double> errors_m(const PlayoutConfig& playout, std::size_t least) {
  WorldConfig config{.links = network("intercity")};
  config.server.rewind_s = 1.0;
  World world(config);
  ClientConfig client;
  client.playout = playout;
  world.add_client(client);
  const EntityId runner = world.add_body(running);
  std::map<Tick, glm::dvec3> drawn;  // by the tick of the input
  std::vector<double> errors_m;
  world.before_tick = [&](double) {
    Server& server = world.server();
    if (server.clients().empty()) return;
    const PlayerInput input = server.input(server.clients()[0]);
    const auto fired = drawn.find(server.next_tick());
    if (fired == drawn.end() || input.repeated > 0 || input.bytes.empty()) return;
    if (const auto seen = server.pose_seen_by(server.clients()[0], runner, input.seen_s)) {
      errors_m.push_back(glm::distance(seen->position, fired->second));
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
  EXPECT_GT(errors_m.size(), least);
  std::ranges::sort(errors_m);
  return errors_m;
}

// The time has the precision of a millisecond, and the runner up to 10 m/s. If the datagram that carried the
// input first is lost, the time has that of a tick.
TEST(SeenByInput, ServerFindsThePictureOfTheShot) {
  for (const PlayoutConfig& playout : {PlayoutConfig{.mode = PlayoutMode::present},
                                       PlayoutConfig{.mode = PlayoutMode::delayed, .delay_s = 0.2},
                                       PlayoutConfig{.mode = PlayoutMode::ahead}}) {
    const std::vector<double> errors = errors_m(playout, 80);
    EXPECT_LT(errors[errors.size() * 95 / 100], 0.02);
    EXPECT_LT(errors.back(), 10.0 / 60.0 + 0.02);
  }
}

}  // namespace
}  // namespace reckoner::test
