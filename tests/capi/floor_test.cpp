// SPDX-License-Identifier: MIT
// reckoner_archetype::floor: a body that falls stays on the ground at a client that gets no update.
#include "pair.hpp"

#include <cmath>

namespace reckoner::test {
namespace {

struct Ground {
  double height_m = 0.0;
  int calls = 0;

  static double at(void* user, const double position[3]) {
    auto& self = *static_cast<Ground*>(user);
    ++self.calls;
    return std::isfinite(position[0]) ? self.height_m : 0.0;
  }
};

// Lets a body fall from 1 m above 5 m, and returns the height at which it is shown two seconds later.
double height_after_fall(Pair& pair) {
  EXPECT_TRUE(pair.start());
  reckoner_state state{};
  state.position[2] = 6.0;
  state.orientation[3] = 1.0f;
  state.acceleration[2] = -9.81f;
  reckoner_entity body = 0;
  EXPECT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &state, nullptr, nullptr, 0, 0, 0, 0, &body),
            RECKONER_OK);
  pair.run(2.0);
  return pair.shown(body).state.position[2];
}

TEST(CFloor, MayBeAPlane) {
  Pair pair;
  pair.kind.floor = RECKONER_FLOOR_PLANE;
  pair.kind.floor_height_m = 5.0;
  EXPECT_NEAR(height_after_fall(pair), 5.0, 0.05);
}

TEST(CFloor, MayBeATerrain) {
  Ground ground{.height_m = 5.0};
  Pair pair;
  pair.kind.floor = RECKONER_FLOOR_TERRAIN;
  pair.kind.floor_at = Ground::at;
  pair.kind.floor_user = &ground;
  EXPECT_NEAR(height_after_fall(pair), 5.0, 0.05);
  EXPECT_GT(ground.calls, 50);
}

TEST(CFloor, WithoutOneBodiesFallOn) {
  Pair pair;
  EXPECT_LT(height_after_fall(pair), -5.0);
}

TEST(CFloor, BadOnesAreRefused) {
  Pair pair;
  char why[200] = "";
  pair.kind.floor = RECKONER_FLOOR_TERRAIN;  // without a function
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  pair.kind.floor = 3;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  pair.kind.floor = RECKONER_FLOOR_PLANE;
  pair.kind.floor_up[0] = 1.0;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_NE(std::string(why).find("floor.up"), std::string::npos) << why;
}

}  // namespace
}  // namespace reckoner::test
