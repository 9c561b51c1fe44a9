// SPDX-License-Identifier: MIT
// RemoteEntity with changes of frame.
#include "tests/support/voyage.hpp"

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

constexpr double kFrameBlendS = 0.1;
constexpr FrameId kShip{7};

Motion walking(double time_s, const glm::dvec3& place, const glm::vec3& velocity, FrameId frame = {}) {
  Motion m;
  m.state.position = place;
  m.state.velocity = velocity;
  m.time_s = time_s;
  m.frame = frame;
  return m;
}

TEST(RemoteFrames, BlendsOntoAMotionInAnotherFrame) {
  RemoteEntity entity(walking(1.0, {10.0, 0.0, 0.0}, {1.0f, 0.0f, 0.0f}));
  EXPECT_EQ(entity.frame(1.2), FrameId{});
  // The shown pose, converted to the new frame.
  State there = test::standing({0.25, 0.05, 0.0});
  there.velocity = {0.3f, 0.0f, 0.0f};
  const Motion aboard = walking(1.1, {0.2, 0.0, 0.0}, {0.0f, 0.0f, 0.0f}, kShip);
  ASSERT_TRUE(entity.receive(aboard, 1.2, kFrameBlendS, kAlwaysValid, there));
  EXPECT_EQ(entity.frame(1.2), kShip);
  EXPECT_LT(glm::distance(entity.shown(1.2).position, there.position), 1e-9);
  EXPECT_LT(glm::distance(entity.shown(1.2).velocity, there.velocity), 1e-6f);
  EXPECT_LT(glm::distance(entity.shown(2.0).position, aboard.state.position), 1e-9);
  // The correction is gentle: no velocity step from one picture to the next is above 0.1 m/s.
  for (double t = 1.2; t < 2.0; t += 1.0 / 60.0)
    EXPECT_LT(glm::distance(entity.shown(t).velocity, entity.shown(t + 1.0 / 60.0).velocity), 0.1f) << t;
}

TEST(RemoteFrames, SnapsWithoutTheShownPoseInTheNewFrame) {
  RemoteEntity entity(walking(1.0, {10.0, 0.0, 0.0}, {1.0f, 0.0f, 0.0f}));
  const Motion aboard = walking(1.1, {0.2, 0.0, 0.0}, {0.0f, 0.0f, 0.0f}, kShip);
  ASSERT_TRUE(entity.receive(aboard, 1.2, kFrameBlendS));
  EXPECT_EQ(entity.shown(1.2).position, aboard.state.position);
}

TEST(RemoteFrames, BlendOfOneFrameIsNotAppliedInAnother) {
  RemoteEntity entity(walking(1.0, {10.0, 0.0, 0.0}, {1.0f, 0.0f, 0.0f}), MotionPath::interpolate);
  ASSERT_TRUE(entity.receive(walking(2.0, {0.0, 5.0, 0.0}, {}, kShip), 1.5, kFrameBlendS));
  entity.correct(test::standing({10.0, 3.0, 0.0}), 1.95, 1.0);
  EXPECT_GT(entity.shown(1.99).position.y, 2.5);
  EXPECT_EQ(entity.shown(2.0).position, (glm::dvec3{0.0, 5.0, 0.0}));
}

// In buffered mode, the entity interpolates in the old frame up to the change of frame.
TEST(RemoteFrames, InterpolatesAcrossAChangeOfFrame) {
  const test::Voyage ship;
  const auto deck = [&](double t) { return out_of_frame(ship(t), test::standing({3.0, 1.0, 0.0})); };
  RemoteEntity entity(Motion{.state = deck(1.0), .time_s = 1.0}, MotionPath::interpolate);
  ASSERT_TRUE(entity.receive(Motion{.state = test::standing({3.0, 1.0, 0.0}), .time_s = 1.2, .frame = kShip},
                             1.05, kFrameBlendS));
  const auto change = entity.next_frame(1.05);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, FrameId{});
  EXPECT_EQ(change->to.frame, kShip);
  entity.bridge(*change, out_of_frame(ship(1.2), change->to.state), 1.05, kFrameBlendS);
  EXPECT_FALSE(entity.next_frame(1.1));
  for (double t = 1.11; t < 1.2; t += 0.01)
    EXPECT_LT(glm::distance(entity.shown(t).position, deck(t).position), 5e-3) << t;
  EXPECT_FALSE(entity.crossing(FrameId{}, 1.19));
  const auto crossing = entity.crossing(FrameId{}, 1.21);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->time_s, 1.2);
  EXPECT_LT(glm::distance(crossing->shown.position, deck(1.2).position), 1e-3);
  entity.continue_in_new_frame(into_frame(ship(1.2), crossing->shown), crossing->time_s, kFrameBlendS);
  EXPECT_LT(glm::distance(entity.shown(1.21).position, glm::dvec3(3.0, 1.0, 0.0)), 2e-3);
  EXPECT_FALSE(entity.crossing(kShip, 1.3));
}

TEST(RemoteFrames, TeleportIntoAFrameSnaps) {
  RemoteEntity entity(walking(1.0, {10.0, 0.0, 0.0}, {1.0f, 0.0f, 0.0f}), MotionPath::interpolate);
  Motion aboard = walking(2.0, {0.0, 5.0, 0.0}, {}, kShip);
  aboard.teleports = 1;
  ASSERT_TRUE(entity.receive(aboard, 1.5, kFrameBlendS));
  EXPECT_FALSE(entity.next_frame(1.5));
  EXPECT_FALSE(entity.crossing(FrameId{}, 2.1));
  EXPECT_EQ(entity.shown(2.0).position, aboard.state.position);
}

TEST(RemoteFrames, LeavesAFrameThatEnds) {
  RemoteEntity entity(walking(1.0, {1.0, 0.0, 0.0}, {}, kShip));
  ASSERT_TRUE(entity.receive(walking(1.2, {1.0, 1.0, 0.0}, {}, kShip), 1.3, kFrameBlendS));
  EXPECT_TRUE(entity.has_motion_in(kShip));
  entity.leave_frame(kShip, walking(1.25, {101.0, 1.0, 0.0}, {}));
  EXPECT_FALSE(entity.has_motion_in(kShip));
  EXPECT_EQ(entity.oldest().time_s, 1.25);
  EXPECT_EQ(entity.newest().time_s, 1.25);
  EXPECT_EQ(entity.frame(1.3), FrameId{});
  entity.correct(test::standing({101.0, 0.5, 0.0}), 1.3, kFrameBlendS);
  EXPECT_LT(glm::distance(entity.shown(1.3).position, glm::dvec3(101.0, 0.5, 0.0)), 1e-9);
}

TEST(RemoteFrames, OlderMotionsInAnEndedFrameAreForgotten) {
  RemoteEntity entity(walking(1.0, {1.0, 0.0, 0.0}, {}, kShip), MotionPath::interpolate);
  ASSERT_TRUE(entity.receive(walking(1.2, {5.0, 1.0, 0.0}, {}), 1.3, kFrameBlendS));
  entity.leave_frame(kShip, walking(1.25, {101.0, 1.0, 0.0}, {}));
  EXPECT_FALSE(entity.has_motion_in(kShip));
  EXPECT_EQ(entity.oldest().time_s, 1.2);
  EXPECT_EQ(entity.newest().time_s, 1.2);
}

// The first motion outside a frame that ends may arrive before or after the end. A server that reconstructs
// what a client showed does not know which.
TEST(RemoteFrames, CorrectsAlikeWhicheverArrivesFirstOfAnEndAndTheNextMotion) {
  const Motion outside = walking(1.3, {101.0, 0.0, 0.0}, {});
  const Motion hit = walking(1.9, {101.0, 0.0, 0.0}, {2.0f, 0.0f, 0.0f});
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    const auto corrected = [&](bool end_first) {
      RemoteEntity entity(walking(1.0, {1.0, 0.0, 0.0}, {}, kShip), path);
      const auto end = [&] { entity.leave_frame(kShip, walking(1.25, {101.0, 0.0, 0.0}, {})); };
      if (end_first) end();
      EXPECT_TRUE(
          entity.receive(outside, 1.4, kFrameBlendS, kAlwaysValid, test::standing({101.0, 0.0, 0.0})));
      if (!end_first) end();
      EXPECT_TRUE(entity.receive(hit, 2.0, kFrameBlendS));
      return entity.blend().duration_s();
    };
    EXPECT_GT(corrected(true), 1.5 * kFrameBlendS);
    EXPECT_EQ(corrected(true), corrected(false));
  }
}

// A motion that was received in time goes on when the frame that the entity has left ends.
TEST(RemoteFrames, EndOfAFrameThatAnEntityHasLeftChangesNothing) {
  RemoteEntity entity(walking(1.0, {1.0, 0.0, 0.0}, {}, kShip));
  ASSERT_TRUE(entity.receive(walking(1.2, {5.0, 1.0, 0.0}, {}), 1.3, kFrameBlendS, kAlwaysValid,
                             test::standing({5.0, 0.5, 0.0})));
  const State before = entity.shown(1.35);
  entity.leave_frame(kShip, walking(1.25, {101.0, 1.0, 0.0}, {}));
  EXPECT_EQ(entity.shown(1.35).position, before.position);
  EXPECT_EQ(entity.blend().start_s(), 1.3);
}

TEST(RemoteFrames, EntityThatIsAFrameIsCorrectedGently) {
  const auto largest_step = [](bool carries) {
    RemoteEntity ship(walking(1.0, {0.0, 0.0, 0.0}, {5.0f, 0.0f, 0.0f}));
    if (carries) ship.set_lever(15.0);
    Motion next = walking(1.2, {1.05, 0.0, 0.0}, {5.0f, 0.0f, 0.0f});
    EXPECT_TRUE(ship.receive(next, 1.3, kFrameBlendS));
    float most = 0.0f;
    for (double t = 1.3; t < 2.0; t += 1.0 / 60.0)
      most = std::max(most, glm::distance(ship.shown(t).velocity, ship.shown(t + 1.0 / 60.0).velocity));
    return most;
  };
  EXPECT_GT(largest_step(false), 0.3f);
  EXPECT_LT(largest_step(true), 0.1f);
}

}  // namespace
}  // namespace reckoner
