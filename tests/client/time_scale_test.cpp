// SPDX-License-Identifier: MIT
// Slow motion, fast motion and a stopped world: scaled clocks at both ends.
#include "client/src/testing/test_switches.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/test_switches.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/scaled_clock.hpp>

namespace reckoner::test {
namespace {

/// A message from the server's game to its clients' games: the time scale, and the server time from which it
/// applies.
struct Change {
  double from_s;
  double scale;
};

constexpr double kLeadTimeS = 0.3;  // lead time of an announcement, server time
constexpr double kStepS = 1e-3;
constexpr int kStepsAFrame = 8;
constexpr double kScaledFrameS = kStepS * kStepsAFrame;

struct ScaleChange {
  double announced_s;  ///< real time
  double scale;
};
struct RunResult;

class Game {
 public:
  Game(PlayoutMode mode, std::uint64_t seed, bool follows_link)
      : network(links(seed)),
        server(make_test_server({.follow_link = follows_link}, network.server())),
        client(make_test_client(watching(mode), network.add_client(kProtocolVersion))) {
    id = *server.spawn(0, "body", path(0.0));
  }

  static harness::SimNetworkConfig links(std::uint64_t seed) {
    harness::SimNetworkConfig config;
    config.seed = seed;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});
    return config;
  }
  ClientConfig watching(PlayoutMode mode) {
    ClientConfig config;
    config.playout = {
        .mode = mode, .delay_s = 0.15, .blend_curve = BlendCurve::cubic, .blend_s = 6.5 * kScaledFrameS};
    config.log = [this](const LogRecord& record) { clock_steps += record.event == "clock stepped" ? 1 : 0; };
    return config;
  }

  // Runs both games and the network to real time `real_s`.
  void step(double real_s) {
    network.advance(real_s);
    const double now_s = world.at(real_s);
    server.receive(now_s);
    for (double due_s; (due_s = server.tick_time_s(server.next_tick())) <= now_s;) {
      EXPECT_TRUE(server.move(id, path(due_s)));
      server.tick(now_s);
    }
    if (coming && now_s >= coming->from_s) {
      ASSERT_TRUE(world.set_scale(coming->scale, real_s));
      coming.reset();
    }

    client_real_s = 1000.0 + real_s;  // the client's machine has another clock
    const double local_s = mine.at(client_real_s);
    client.update(local_s);
    while (client.poll_event()) {
    }
    while (const auto message = client.poll_message()) {
      Change change;
      ASSERT_EQ(message->payload.size(), sizeof change);
      std::memcpy(&change, message->payload.data(), sizeof change);
      received = change;
    }
    const auto server_s = client.server_time_s();
    if (received && server_s && *server_s >= received->from_s) {
      ASSERT_TRUE(mine.set_scale(received->scale, client_real_s));
      received.reset();
    }
  }
  /// Runs both games until real time `until_s`, with changes of the time scale.
  [[nodiscard]] RunResult run(std::span<const ScaleChange> paces, double until_s);

  void announce(double scale, double real_s) {
    // A stopped world never reaches a later time, so the change applies as soon as it arrives.
    const double ahead_s = world.scale_at(real_s) > 0.0 ? kLeadTimeS : 0.0;
    coming = Change{world.at(real_s) + ahead_s, scale};
    std::array<std::byte, sizeof(Change)> bytes;
    std::memcpy(bytes.data(), &*coming, sizeof(Change));
    ASSERT_EQ(server.broadcast(bytes, Delivery::reliable), 1u);
  }

  Circle path{.radius_m = 5.0, .turn_rps = 1.0};
  harness::SimNetwork network;
  ScaledClock world;
  ScaledClock mine{.real_s = 1000.0, .game_s = 50.0};
  int clock_steps = 0;
  Server server;
  Client client;
  EntityId id;
  std::optional<Change> coming, received;
  double client_real_s = 0.0;
};

// Results of a run, in real time.
struct RunResult {
  double off_m = 0.0;              ///< largest distance from the body's position at the intended instant
  double velocity_step_mps = 0.0;  ///< largest change of velocity per picture, m/s; in fast motion
                                   ///< divided by the scale squared
  double rest_m = 0.0;             ///< largest displacement in one frame of a stopped world
  std::vector<double> mean_mps{};  ///< mean speed in the second second after each change
  int frames = 0;
};

RunResult Game::run(std::span<const ScaleChange> paces, double until_s) {
  RunResult seen;
  seen.mean_mps.resize(paces.size());
  std::size_t next = 0;
  std::optional<glm::dvec3> last, before_last;
  for (int i = 0; i * kStepS < until_s; ++i) {
    const double real_s = kStepS * i;
    if (next < paces.size() && real_s >= paces[next].announced_s) announce(paces[next++].scale, real_s);
    step(real_s);
    if (i % kStepsAFrame != 0 || real_s < 2.5) continue;
    const auto shown = client.shown();
    if (shown.size() != 1) return {};
    const glm::dvec3 at = shown[0].shown.position;
    seen.off_m = std::max(seen.off_m, glm::distance(at, path(shown[0].shown_time_s).position));
    const double pace = mine.scale_at(client_real_s);
    if (last) {
      const double moved_m = glm::distance(at, *last);
      const double since_s = next > 0 ? real_s - paces[next - 1].announced_s : 0.0;
      if (since_s >= 2.0 && since_s < 3.0) seen.mean_mps[next - 1] += moved_m;
      if (pace <= 0.0 && since_s >= 1.5) seen.rest_m = std::max(seen.rest_m, moved_m);
    }
    if (before_last) {
      const double velocity_step_mps = glm::distance(at - *last, *last - *before_last) / kScaledFrameS;
      seen.velocity_step_mps =
          std::max(seen.velocity_step_mps, velocity_step_mps / std::max(1.0, pace * pace));
    }
    before_last = last;
    last = at;
    ++seen.frames;
  }
  return seen;
}

// From one picture to the next, the velocity changes by 0.04 m/s on the circle, by 0.16 m/s while the scale
// rises by 1, and by 0.9 m/s in the middle of a correction of the allowed 5 cm. These are means over links
// that delay different datagrams. A jump between two scales changes it by 4 m/s or more.
constexpr double kMeanKink = 1.2;
constexpr double kMaxKink = 4.0;

// Mean distance from the intended position over these links, m.
constexpr double kMeanOffM = 0.15;
constexpr double kMaxOffM = 0.3;

constexpr std::uint64_t kSeeds = 12;

class TimeScale : public testing::TestWithParam<PlayoutMode> {};

TEST_P(TimeScale, SlowMotionAndStopAreShownWithoutAJump) {
  constexpr ScaleChange kPaces[] = {{4.0, 0.2}, {8.0, 1.0}, {11.5, 0.0}, {15.0, 1.0}};
  double kinks = 0.0, off_m = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Game game(GetParam(), seed, true);
    const RunResult seen = game.run(kPaces, 20.0);
    EXPECT_GT(seen.frames, 2000);
    EXPECT_EQ(game.client.status(), ClientStatus::joined);
    EXPECT_EQ(game.clock_steps, 0);
    EXPECT_LT(seen.off_m, kMaxOffM);
    EXPECT_LT(seen.velocity_step_mps, kMaxKink);
    EXPECT_NEAR(seen.mean_mps[0], 1.0, 0.05);
    EXPECT_NEAR(seen.mean_mps[1], 5.0, 0.2);
    EXPECT_LT(seen.rest_m, 1e-6);
    EXPECT_NEAR(seen.mean_mps[3], 5.0, 0.2);
    kinks += seen.velocity_step_mps / kSeeds;
    off_m += seen.off_m / kSeeds;
  }
  EXPECT_LT(kinks, kMeanKink);
  EXPECT_LT(off_m, kMeanOffM);
}

// A game that is paused has a chat, and a menu that ends the pause.
TEST_P(TimeScale, ReliableMessagesTravelBothWaysWhileTheWorldIsStopped) {
  Game game(GetParam(), 1, true);
  constexpr ScaleChange kStop[] = {{4.0, 0.0}};
  (void)game.run(kStop, 6.0);
  ASSERT_EQ(game.mine.scale_at(game.client_real_s), 0.0);
  constexpr std::array kText{std::byte{1}, std::byte{2}};
  ASSERT_TRUE(game.client.send(kText, Delivery::reliable));
  game.announce(0.0, 6.0);
  const std::uint64_t before = game.client.stats().messages_received;
  for (double real_s = 6.0; real_s < 7.0; real_s += kStepS) {
    game.step(real_s);
    game.client.flush();
  }
  EXPECT_EQ(game.server.stats().messages_received, 1u);
  EXPECT_EQ(game.client.stats().messages_received - before, 1u);
}

// In game time, all delays are then longer. This must not be mistaken for a queue.
TEST_P(TimeScale, FastMotionIsShownWithoutAJump) {
  constexpr ScaleChange kPaces[] = {{4.0, 2.0}, {9.0, 1.0}};
  double kinks = 0.0, off_m = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Game game(GetParam(), seed, false);
    const RunResult seen = game.run(kPaces, 14.0);
    EXPECT_GT(seen.frames, 1400);
    EXPECT_EQ(game.clock_steps, 0);
    EXPECT_LT(seen.off_m, kMaxOffM);
    EXPECT_LT(seen.velocity_step_mps, kMaxKink);
    EXPECT_NEAR(seen.mean_mps[0], 10.0, 0.3);
    EXPECT_NEAR(seen.mean_mps[1], 5.0, 0.2);
    kinks += seen.velocity_step_mps / kSeeds;
    off_m += seen.off_m / kSeeds;
  }
  EXPECT_LT(kinks, kMeanKink);
  EXPECT_LT(off_m, kMeanOffM);
}

INSTANTIATE_TEST_SUITE_P(Modes, TimeScale,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

}  // namespace
}  // namespace reckoner::test
