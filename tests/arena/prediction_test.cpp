// SPDX-License-Identifier: MIT
// Avatars that the server moves and their players predict, and the ball that they push.
#include "examples/arena/figures/figures.hpp"
#include "examples/arena/player.hpp"
#include "examples/arena/server_game.hpp"
#include "harness/sim/sim_transport.hpp"

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace arena {
namespace {

using reckoner::ShownEntity;

TEST(ArenaControls, AnInputKeepsWhatAPlayerCanFeel) {
  const Controls controls{.walk = {0.5, -1.0}, .aim_rad = -3.0, .dash = true, .fires = {false, true}};
  const Controls read = from_input(to_input(controls), 0.0);
  EXPECT_NEAR(read.walk.x, 0.5, 0.005);
  EXPECT_NEAR(read.walk.y, -1.0, 1e-9);
  EXPECT_NEAR(read.aim_rad, -3.0, 1e-4);
  EXPECT_TRUE(read.dash);
  EXPECT_FALSE(read.jump);
  EXPECT_EQ(read.fires, controls.fires);
  EXPECT_EQ(to_input(read), to_input(controls));
}

// Inputs come from strangers: any bytes are controls, and no controls make a body leave the arena.
TEST(ArenaControls, AnyBytesAreAnInput) {
  std::mt19937 random(3);
  const std::vector<Box> solid = solids({});
  Body body({.position = {0.0, 12.0, 0.0}}, kPlayerBuild);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(random() % 12);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random());
    body.step(from_input(bytes, 1.0), 1.0 / kTickHz, {solid, platform_state(i / kTickHz)});
    ASSERT_LE(std::abs(body.state().position.x), kHalfSideM);
    ASSERT_LE(std::abs(body.state().position.y), kHalfSideM);
    ASSERT_LE(glm::length(glm::dvec2(body.state().velocity)), kDashMps + 0.01);
  }
}

// A correction carries a body completely: what is restored goes on with the same numbers.
TEST(ArenaStep, ARestoredBodyGoesOnAlike) {
  std::mt19937 random(5);
  const std::vector<Box> solid = solids({});
  Body body({.position = {0.0, 5.0, 0.0}}, kPlayerBuild);
  bool was_aboard = false;
  for (int i = 0; i < 3000; ++i) {
    const double time_s = i / kTickHz;
    const reckoner::State platform = platform_state(time_s), later = platform_state(time_s + 1.0 / kTickHz);
    const glm::dvec2 to = glm::dvec2(platform.position) - glm::dvec2(body.state().position);
    Controls controls{.walk =
                          i % 300 < 200 && !body.aboard() ? to : direction_of(uniform(random, 0.0, 6.28))};
    controls.jump = random() % 40 == 0;
    controls.dash = random() % 90 == 0;
    controls.fires = {true, true};
    body.step(controls, 1.0 / kTickHz, {solid, platform});
    was_aboard = was_aboard || body.aboard();
    Body other({}, kPlayerBuild);
    other.restore(body.in_world(platform), body.memory_bytes(), platform);
    EXPECT_TRUE(std::ranges::equal(other.memory_bytes(), body.memory_bytes()));
    Body next = body;
    next.step(controls, 1.0 / kTickHz, {solid, later});
    other.step(controls, 1.0 / kTickHz, {solid, later});
    ASSERT_LT(glm::distance(other.in_world(later).position, next.in_world(later).position), 1e-6) << i;
    ASSERT_TRUE(std::ranges::equal(other.memory_bytes(), next.memory_bytes())) << i;
  }
  EXPECT_TRUE(was_aboard);
}

// Whatever pushes it, the ball stays in the arena, and never gets stuck in a corner.
TEST(ArenaStep, TheBallStaysInTheArena) {
  std::mt19937 random(11);
  const std::vector<Box> solid = solids({});
  for (int run = 0; run < 20; ++run) {
    reckoner::State ball{.position = {uniform(random, -14.0, 14.0), 12.0, 0.0}};
    Body body({.position = {0.0, 10.0, 0.0}}, kPlayerBuild);
    for (int i = 0; i < 1200; ++i) {
      const Actor actor{&body, chase(body.state(), glm::dvec2(ball.position))};
      step({&actor, 1}, &ball, {solid, {}}, 1.0 / kTickHz);
      ASSERT_LE(std::abs(ball.position.x), kHalfSideM - kBallRadiusM + 1e-6);
      ASSERT_LE(ball.position.y, kHalfSideM - kBallRadiusM + 1e-6);
      ASSERT_GE(ball.position.y, 8.25 - 0.1) << "through a wall or a closed door";
      ASSERT_LE(glm::length(ball.velocity), 18.01f);
    }
  }
}

// A server and one player over a bad network, without scripts.
struct PlayedGame {
  explicit PlayedGame(const char* network_name, Authority authority = Authority::predicted)
      : network({.links = {*reckoner::harness::find_network(network_name),
                           *reckoner::harness::find_network(network_name)},
                 .seed = 3,
                 .arrival_times = true}),
        server(std::move(*reckoner::Server::create(ServerGame::config(), network.server()))),
        game(server),
        transport(network.add_client(reckoner::kProtocolVersion)),
        client(std::move(*reckoner::Client::create(Player::config(), transport))),
        player(client, "visitor", authority) {}

  // Calls `picture` after each picture.
  template <class Function>
  void run(double seconds, Controls (*controls)(double now_s, const PlayedGame& match), Function picture) {
    for (const double end_s = now_s + seconds; now_s < end_s; now_s += 1.0 / pictures_hz) {
      network.advance(now_s);
      game.receive(now_s);
      while (server.tick_time_s(server.next_tick()) <= now_s + 1e-9)
        game.tick(now_s);
      player.frame(now_s, controls(now_s, *this));
      picture();
    }
  }

  reckoner::harness::SimNetwork network;
  reckoner::Server server;
  ServerGame game;
  reckoner::Transport& transport;
  reckoner::Client client;
  Player player;
  double now_s = 0.0, pictures_hz = kTickHz;
};

// Walks in a circle of 5 m in an outer hall.
Controls circle(double now_s, const PlayedGame& match) {
  const auto at = match.player.avatar_state();
  const double side = at && at->position.y < 0.0 ? -1.0 : 1.0;
  const glm::dvec2 middle{0.0, 12.0 * side};
  const glm::dvec2 goal = middle + glm::dvec2{4.0, 2.0} * direction_of(0.9 * now_s);
  const glm::dvec2 to = at ? goal - glm::dvec2(at->position) : glm::dvec2(0.0);
  return {.walk = 2.0 * to, .aim_rad = 0.5 * now_s};
}

// The largest step of the drawn avatar from one picture to the next, and of its velocity.
struct DrawnMotion {
  double step_m = 0.0, velocity_step_mps = 0.0;
  std::optional<glm::dvec3> position, velocity;

  void add(const Player& player) {
    const auto at = player.avatar_state();
    if (!at) return;
    if (position) {
      const glm::dvec3 now = (at->position - *position) * kTickHz;
      step_m = std::max(step_m, glm::distance(at->position, *position));
      if (velocity) velocity_step_mps = std::max(velocity_step_mps, glm::distance(now, *velocity));
      velocity = now;
    }
    position = at->position;
  }
};

TEST(ArenaPrediction, TheAuthorityChangesWithoutAPop) {
  PlayedGame match("intercity");
  match.game.kick_off({0.0, 0.0}, {0.0, 0.0});
  match.run(5.0, circle, [] {});
  ASSERT_TRUE(match.player.predictor().avatar());
  using enum Authority;
  for (const Authority next : {own, predicted, server, predicted, own, server, own, predicted}) {
    DrawnMotion change;
    change.add(match.player);
    match.player.set_authority(next);
    match.run(1.5, circle, [&] { change.add(match.player); });
    EXPECT_EQ(match.player.moves_at_once(), next != server);
    EXPECT_EQ(static_cast<bool>(match.player.predictor().avatar()), next == predicted);
    EXPECT_EQ(match.server.owner(match.player.avatar()).has_value(), next == own);
    // A step of 5 m/s is 0.083 m. Between two authorities, the body goes from one instant to another, which
    // is up to 1 m, within a blend: 0.2 s of a Hermite cubic change the velocity by up to 5 m/s in a picture.
    EXPECT_LT(change.step_m, 0.25) << name_of(next);
    EXPECT_LT(change.velocity_step_mps, 6.0) << name_of(next);
  }
}

// Without prediction, the avatar answers a round trip after the key; otherwise in the next two pictures.
TEST(ArenaPrediction, OnlyTheServersAuthorityMakesThePlayerWait) {
  for (const Authority authority : {Authority::own, Authority::predicted, Authority::server}) {
    PlayedGame match("intercity", authority);
    const auto stand = [](double, const PlayedGame&) { return Controls{}; };
    match.run(5.0, stand, [] {});
    const auto from = match.player.avatar_state();
    ASSERT_TRUE(from);
    int pictures = 0, answered = 0;
    match.run(
        1.0,
        [](double, const PlayedGame&) {
          return Controls{.walk = {1.0, 0.0}};
        },
        [&] {
          ++pictures;
          const bool moved = glm::distance(match.player.avatar_state()->position, from->position) > 0.002;
          if (moved && answered == 0) answered = pictures;
        });
    if (authority == Authority::server)
      EXPECT_GT(answered, 6);
    else
      EXPECT_LE(answered, 3) << name_of(authority);
    EXPECT_GT(answered, 0) << name_of(authority);
  }
}

// The server moves the avatar, so on other screens it stands still on the platform.
TEST(ArenaPrediction, APredictedAvatarBoardsThePlatform) {
  PlayedGame match("intercity");
  const auto to_platform = [](double now_s, const PlayedGame& m) {
    const auto at = m.player.avatar_state();
    return at ? chase(*at, glm::dvec2(platform_state(now_s).position)) : Controls{};
  };
  const auto boarded = [&] { return static_cast<bool>(match.server.frame_of(match.player.avatar())); };
  const auto stand = [](double, const PlayedGame&) { return Controls{}; };
  const auto& corrections = match.player.predictor().corrections();
  const auto differs = static_cast<std::size_t>(reckoner::CorrectionReason::differs);
  // The others shoot: a hit takes the avatar off the platform, and it goes there again.
  for (int attempt = 0; attempt < 10; ++attempt) {
    for (int i = 0; i < 20 && !boarded(); ++i)
      match.run(1.0, to_platform, [] {});
    ASSERT_TRUE(boarded());
    match.run(1.0, stand, [] {});
    const std::size_t before = corrections[differs];
    const auto local = match.server.state(match.player.avatar());
    match.run(5.0, stand, [] {});
    if (!boarded()) continue;
    ASSERT_TRUE(local);
    EXPECT_LT(glm::distance(match.server.state(match.player.avatar())->position, local->position), 1e-6);
    EXPECT_EQ(corrections[differs], before) << "both sides compute the same ride";
    return;
  }
  FAIL() << "the avatar was always hit";
}

// A ball rolls past a player who stands there. It becomes predicted and ceases to be, and is drawn smoothly.
TEST(ArenaPrediction, TheBallComesAndGoesWithoutAPop) {
  PlayedGame game("intercity");
  const auto stand = [](double, const PlayedGame&) { return Controls{}; };
  game.run(5.0, stand, [] {});
  const auto at = game.player.avatar_state();
  ASSERT_TRUE(at);
  const double side = at->position.y < 0.0 ? -1.0 : 1.0, from = at->position.x < 0.0 ? 1.0 : -1.0;
  game.game.kick_off({from * 12.0, at->position.y + 1.5 * side}, {from * -14.0, 0.0});
  game.run(0.4, stand, [] {});  // the teleport is drawn
  std::optional<glm::dvec3> before;
  double step_m = 0.0;
  int began = 0, ended = 0;
  bool predicted = game.player.predictor().predicts_ball();
  game.run(5.0, stand, [&] {
    const ShownEntity* ball = game.player.find(game.game.ball());
    ASSERT_NE(ball, nullptr);
    if (before) step_m = std::max(step_m, glm::distance(*before, ball->shown.position));
    before = ball->shown.position;
    const bool now = game.player.predictor().predicts_ball();
    began += now && !predicted, ended += !now && predicted;
    predicted = now;
  });
  EXPECT_GE(began, 1);
  EXPECT_GE(ended, 1);
  // It rolls at up to 14 m/s, 0.23 m in a picture, and goes over from one instant to another within a blend.
  EXPECT_LT(step_m, 0.5);
}

// The player's machine predicts the pad, too, and shows nothing between its two ends.
TEST(ArenaPrediction, APadIsOneJump) {
  PlayedGame game("intercity");
  game.pictures_hz = 144.0;  // some lie between two ticks
  const auto stand = [](double, const PlayedGame&) { return Controls{}; };
  game.run(5.0, stand, [] {});
  const auto to_pad = [](double, const PlayedGame& now) {
    const auto at = now.player.avatar_state();
    if (!at || std::abs(at->position.x) > 14.5) return Controls{};
    const glm::dvec2 pad{std::copysign(14.0, at->position.x), std::copysign(14.0, at->position.y)};
    return chase(*at, pad);
  };
  std::vector<double> steps_m;
  std::optional<glm::dvec3> before;
  game.run(5.0, to_pad, [&] {
    const auto at = game.player.avatar_state();
    ASSERT_TRUE(at);
    if (before) steps_m.push_back(glm::distance(at->position, *before));
    before = at->position;
  });
  std::vector<std::size_t> jumps;
  for (std::size_t i = 0; i < steps_m.size(); ++i) {
    if (steps_m[i] > 0.5) jumps.push_back(i);
  }
  ASSERT_FALSE(jumps.empty());
  for (std::size_t i = 1; i < jumps.size(); ++i)
    EXPECT_GT(jumps[i] - jumps[i - 1], 10u) << "a picture between the ends";
}

// Four players over a bad network push the ball around.
TEST(ArenaPrediction, FourPlayersPushTheBall) {
  for (const char* network : {"intercity", "mobile"}) {
    FigureOptions options{.link = *reckoner::harness::find_network(network), .seconds = 30.0, .seed = 4};
    options.chase_ball = true;
    const OwnFigures predicted = play(options).own;
    options.authority = Authority::server;
    const OwnFigures waiting = play(options).own;
    EXPECT_GT(predicted.kicks, 20u);
    EXPECT_GT(predicted.ball_predicted_share, 0.3);
    EXPECT_LT(predicted.error_p95_m, 0.1);
    // An error of 10 m, the longest that fades, moves the ball by up to 1.25 m in a picture beside its own
    // motion.
    EXPECT_LT(predicted.ball_step_m, 1.5);
    EXPECT_LT(predicted.repeated_share, 0.01);
    EXPECT_LT(predicted.ball_error_p95_m, waiting.ball_error_p95_m) << network;
  }
}

}  // namespace
}  // namespace arena
