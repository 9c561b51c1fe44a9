// SPDX-License-Identifier: MIT
// A client walks its own avatar on a ship that the server moves.
#include "pair.hpp"

#include <cmath>

namespace reckoner::test {
namespace {

TEST(CFrames, OutOfFrameAndIntoFrameAreInverse) {
  reckoner_state ship = at(100.0, -20.0, 3.0);
  ship.velocity[0] = 7.0f;
  ship.orientation[2] = ship.orientation[3] = std::sqrt(0.5f);  // a quarter turn to the left
  ship.angular_velocity[2] = 0.1f;
  reckoner_state man = at(2.0, 0.0, 1.0);
  man.velocity[1] = 1.0f;
  reckoner_state outside, inside;
  reckoner_out_of_frame(&ship, &man, &outside);
  EXPECT_NEAR(outside.position[0], 100.0, 1e-5);
  EXPECT_NEAR(outside.position[1], -18.0, 1e-5);
  // The sum of the ship's velocity, the man's velocity and the velocity from the rotation.
  EXPECT_NEAR(outside.velocity[0], 7.0f - 1.0f - 0.2f, 1e-4f);
  reckoner_into_frame(&ship, &outside, &inside);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(inside.position[i], man.position[i], 1e-5);
    EXPECT_NEAR(inside.velocity[i], man.velocity[i], 1e-4f);
  }
  reckoner_into_frame(&ship, &outside, &outside);  // in place
  EXPECT_EQ(outside.position[0], inside.position[0]);
}

TEST(CFrames, OwnerEntersAndLeavesAFrame) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const auto sailing = [](double time_s) {
    reckoner_state ship = at(7.0 * time_s, 0.0, 0.0);
    ship.velocity[0] = 7.0f;
    return ship;
  };
  const reckoner_state start = sailing(pair.now_s());
  const reckoner_state ashore = at(start.position[0], 8.0, 0.0);
  reckoner_entity ship = 0, avatar = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "ship", &start, 0, &ship), RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "avatar", &ashore, 0, &avatar), RECKONER_OK);
  reckoner_ownership_rules rules;
  reckoner_ownership_rules_init(&rules, sizeof rules);
  EXPECT_EQ(rules.frame_reach_m, 100.0);
  EXPECT_EQ(rules.max_turning_mps, 0.0);
  EXPECT_EQ(reckoner_server_set_boardable(pair.server, ship, 1), RECKONER_OK);
  EXPECT_EQ(reckoner_server_set_boardable(pair.server, ship + 77, 1), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_set_boardable(nullptr, ship, 1), RECKONER_ERROR_ARGUMENT);
  ASSERT_EQ(reckoner_server_give(pair.server, avatar, pair.peer, &rules), RECKONER_OK);
  pair.each_tick = [&](double time_s) {
    const reckoner_state state = sailing(time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, ship, &state), RECKONER_OK);
  };
  ASSERT_TRUE(pair.until(
      [&] { return pair.had(RECKONER_CLIENT_EVENT_GIVEN, avatar) && pair.shown(ship).struct_size != 0; }));
  reckoner_entity frame = 7;
  EXPECT_EQ(reckoner_client_owned_frame(pair.client, avatar, &frame), RECKONER_NOTHING);
  EXPECT_EQ(frame, 0u);

  const reckoner_state on_deck = at(3.0, 1.0, 2.0);
  EXPECT_EQ(reckoner_client_move_in(pair.client, avatar, &on_deck, ship + 7), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_client_move_in(pair.client, avatar, &on_deck, avatar), RECKONER_ERROR_REFUSED);
  ASSERT_TRUE(pair.until([&] {
    EXPECT_EQ(reckoner_client_move_in(pair.client, avatar, &on_deck, ship), RECKONER_OK);
    return reckoner_server_frame_of(pair.server, avatar, &frame) == RECKONER_OK;
  }));
  EXPECT_EQ(frame, ship);
  const double aboard_s = pair.now_s();  // the shown time must reach the change of frame
  ASSERT_TRUE(pair.until([&] {
    EXPECT_EQ(reckoner_client_move_in(pair.client, avatar, &on_deck, ship), RECKONER_OK);
    return pair.now_s() > aboard_s + 0.8;
  }));
  const reckoner_shown shown = pair.shown(avatar);
  EXPECT_EQ(shown.frame, ship);
  EXPECT_NEAR(shown.local.position[0], 3.0, 1e-3);
  EXPECT_NEAR(shown.state.position[0] - pair.shown(ship).state.position[0], 3.0, 1e-3);

  // The server moves the avatar to another place on deck: the correction is in the ship's frame.
  const reckoner_state at_the_bow = at(10.0, 0.0, 2.0);
  ASSERT_EQ(reckoner_server_teleport(pair.server, avatar, &at_the_bow), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_CORRECTED, avatar); }));
  ASSERT_EQ(reckoner_client_owned_frame(pair.client, avatar, &frame), RECKONER_OK);
  EXPECT_EQ(frame, ship);
  reckoner_state own;
  ASSERT_EQ(reckoner_client_owned(pair.client, avatar, &own), RECKONER_OK);
  EXPECT_NEAR(own.position[0], 10.0, 0.05);
}

}  // namespace
}  // namespace reckoner::test
