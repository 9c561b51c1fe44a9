// SPDX-License-Identifier: MIT
// A call that a client refuses says why, and changes nothing.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr EntityId kUnknown{0xffff};

TEST(RefusedCall, ClientWithoutConnectionSendsNothing) {
  World world({});
  world.add_client();
  const std::array text{std::byte{1}};
  EXPECT_EQ(world.client(0).send(text, Delivery::reliable).error(), CallError::no_connection);
  EXPECT_EQ(world.client(0).send(text, Delivery::unreliable).error(), CallError::no_connection);
}

TEST(RefusedCall, ClientSaysWhy) {
  World world({});
  world.add_client();
  const EntityId seen = world.add_body(Circle{});
  const EntityId own = world.add_body(Circle{});
  world.run_to(1.0);
  ASSERT_TRUE(world.server().give(own, world.server().clients()[0]));
  world.run_to(2.0);
  Client& client = world.updated(0);
  ASSERT_EQ(client.status(), ClientStatus::joined);

  const std::array text{std::byte{1}};
  EXPECT_TRUE(client.send(text, Delivery::reliable));
  EXPECT_EQ(client.send({}, Delivery::reliable).error(), CallError::message_empty);
  const std::vector<std::byte> long_text(kMaxReliableBytes + 1);
  EXPECT_EQ(client.send(long_text, Delivery::reliable).error(), CallError::message_too_long);
  EXPECT_EQ(client.send(text, Delivery::reliable, kNan).error(), CallError::invalid_time);
  CallError full = CallError::none;
  for (int i = 0; i < 10'000 && full == CallError::none; ++i)
    full = client.send(text, Delivery::reliable).error();
  EXPECT_EQ(full, CallError::queue_full);

  PlayoutConfig playout = client.playout();
  playout.blend_s = -1.0;
  EXPECT_EQ(client.set_playout(playout).error(), CallError::out_of_range);
  EXPECT_NE(client.playout().blend_s, -1.0);
  EXPECT_EQ(client.set_origin({kNan, 0.0, 0.0}).error(), CallError::not_finite);
  EXPECT_EQ(client.set_user_value(kUnknown, 1).error(), CallError::unknown_entity);
  EXPECT_EQ(client.drop_prediction(kUnknown).error(), CallError::unknown_entity);

  const ShownEntity* shown = world.shown(0, seen);
  ASSERT_NE(shown, nullptr);
  State state = shown->shown;
  EXPECT_TRUE(client.correct(seen, state));
  EXPECT_EQ(client.correct(kUnknown, state).error(), CallError::unknown_entity);
  EXPECT_EQ(client.correct(own, state).error(), CallError::owned);
  EXPECT_EQ(client.correct(seen, state, kMaxAnticipationS + 1.0).error(), CallError::out_of_range);
  state.position.x = kNan;
  EXPECT_EQ(client.correct(seen, state).error(), CallError::not_finite);
}

}  // namespace
}  // namespace reckoner::test
