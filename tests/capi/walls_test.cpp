// SPDX-License-Identifier: MIT
// reckoner_archetype::wall_boxes, wall_reach and velocity, and reckoner_client_anticipate().
#include "pair.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::test::walls {
namespace {

// Lets a body run along x with 10 m/s, and returns where it is shown a second later.
double reached_m(Pair& pair) {
  EXPECT_TRUE(pair.start());
  reckoner_state state{};
  state.orientation[3] = 1.0f;
  state.velocity[0] = 10.0f;
  reckoner_entity body = 0;
  EXPECT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &state, nullptr, nullptr, 0, 0, 0, 0, &body),
            RECKONER_OK);
  pair.run(1.0);
  return pair.shown(body).state.position[0];
}

void at_three(void* user, const double* /*from*/, const double to[3], double reached[3]) {
  ++*static_cast<int*>(user);
  reached[0] = std::min(3.0, to[0]);
}

TEST(CWalls, MayBeBoxes) {
  const reckoner_wall_box box{{5.0, 0.0, 0.0}, {1.0, 9.0, 9.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
  Pair pair;
  pair.kind.wall_boxes = &box;
  pair.kind.wall_count = 1;
  pair.kind.wall_margin_m = 0.5;
  EXPECT_NEAR(reached_m(pair), 3.5, 0.01);
}

TEST(CWalls, MayBeAFunction) {
  int calls = 0;
  Pair pair;
  pair.kind.wall_reach = at_three;
  pair.kind.wall_user = &calls;
  EXPECT_NEAR(reached_m(pair), 3.0, 0.01);
  EXPECT_GT(calls, 50);
}

TEST(CWalls, WithoutThemBodiesRunOn) {
  Pair pair;
  EXPECT_GT(reached_m(pair), 7.0);
}

TEST(CWalls, BadOnesAreRefused) {
  reckoner_wall_box box{{5.0, 0.0, 0.0}, {1.0, 9.0, 9.0}, {0.0f, 0.0f, 0.0f, 0.0f}};
  Pair pair;
  char why[200] = "";
  pair.kind.wall_count = 1;  // without boxes
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  pair.kind.wall_boxes = &box;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_NE(std::string(why).find("walls.boxes[0].orientation"), std::string::npos) << why;
  box.orientation[3] = 1.0f;
  for (const int velocity : {-1, 3}) {
    pair.kind.velocity = velocity;
    EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
              RECKONER_ERROR_ARGUMENT);
  }
}

TEST(CVelocity, IsEstimatedIfTheGameGivesNone) {
  for (const int source :
       {RECKONER_VELOCITY_AUTOMATIC, RECKONER_VELOCITY_GIVEN, RECKONER_VELOCITY_ESTIMATED}) {
    Pair pair;
    pair.kind.velocity = source;
    ASSERT_TRUE(pair.start());
    reckoner_state state{};
    state.orientation[3] = 1.0f;
    reckoner_entity body = 0;
    ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "body", &state, 0, &body), RECKONER_OK);
    double begin_s = -1.0;
    pair.each_tick = [&](double t) {
      if (begin_s < 0.0) begin_s = t;
      state.position[0] = 6.0 * (t - begin_s);
      EXPECT_EQ(reckoner_server_move(pair.server, body, &state), RECKONER_OK);
    };
    pair.run(1.0);
    const bool given = source == RECKONER_VELOCITY_GIVEN;
    EXPECT_NEAR(pair.shown(body).state.velocity[0], given ? 0.0 : 6.0, given ? 12.0 : 1.5) << source;
    reckoner_state now{};
    ASSERT_EQ(reckoner_server_state(pair.server, body, &now), RECKONER_OK);
    if (given) {
      EXPECT_EQ(now.velocity[0], 0.0f);
    }
  }
}

TEST(CCorrection, MayAnticipateAHit) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_state state{};
  state.orientation[3] = 1.0f;
  reckoner_entity ball = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "ball", &state, 0, &ball), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.shown(ball).struct_size != 0; }));
  state.velocity[0] = 5.0f;
  EXPECT_EQ(reckoner_client_anticipate(pair.client, ball, &state, -1.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_anticipate(pair.client, ball, &state, 11.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_anticipate(pair.client, ball, nullptr, 0.5), RECKONER_ERROR_ARGUMENT);
  ASSERT_EQ(reckoner_client_anticipate(pair.client, ball, &state, 0.6), RECKONER_OK);
  pair.run(0.4);
  EXPECT_NEAR(pair.shown(ball).state.position[0], 2.0, 0.5);
  pair.run(1.5);
  EXPECT_NEAR(pair.shown(ball).state.position[0], 0.0, 0.01);
}

}  // namespace
}  // namespace reckoner::test::walls
