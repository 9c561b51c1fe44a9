// SPDX-License-Identifier: MIT
// What the client knows after a datagram, without a network: the contents of datagrams are plain data.
#include "client/src/world/world.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr Tick kNow = 100;
constexpr EntityId kCrate{1, 1};

class AppliedDatagrams : public testing::Test {
 protected:
  AppliedDatagrams() {
    WelcomeMessage welcome;
    welcome.tick_rate_hz = 50.0;
    welcome.tick = kNow;
    clock_.begin(welcome, 0.0);
  }

  [[nodiscard]] Motion motion_at(double x_m, Tick tick) const {
    Motion motion;
    motion.state.position.x = x_m;
    motion.time_s = clock_.time_of(tick);
    return motion;
  }
  [[nodiscard]] NewEntity spawn(EntityId id, std::uint32_t number) const {
    NewEntity entity;
    entity.number = number;
    entity.entity = id;
    entity.motion_tick = kNow;
    entity.motion = motion_at(1.0, kNow);
    return entity;
  }
  [[nodiscard]] MotionUpdate update(EntityId id, double x_m, Tick tick) const {
    MotionUpdate update;
    update.slot = static_cast<std::uint32_t>(id.slot());
    update.tick = tick;
    update.motion = motion_at(x_m, tick);
    return update;
  }
  bool apply(EntityChange change, std::uint32_t processed = 0) {
    DecodedDatagram datagram;
    datagram.tick = kNow;
    datagram.entity_changes.push_back(std::move(change));
    return world_.apply(datagram, processed, 0.0);
  }
  bool apply(const MotionUpdate& update) {
    DecodedDatagram datagram;
    datagram.tick = update.tick;
    datagram.motions.push_back(update);
    return world_.apply(datagram, 0, 0.0);
  }
  [[nodiscard]] const KnownEntity* find(EntityId id) const { return world_.entities.find(id); }

  ClientConfig config_;
  ClientTestSwitches switches_;
  SessionClock clock_;
  PlayoutClock playout_{config_.playout};
  ShowingReporter showing_;
  OwnedSection owned_motions_;
  ClientStats stats_;
  World world_{config_, switches_, clock_, playout_, showing_, owned_motions_, stats_};
};

TEST_F(AppliedDatagrams, ASpawnAddsAnEntityAndWantsAnAcknowledgement) {
  EXPECT_TRUE(apply(spawn(kCrate, 1)));
  ASSERT_NE(find(kCrate), nullptr);
  EXPECT_EQ(find(kCrate)->remote.newest().state.position.x, 1.0);
  EXPECT_TRUE(world_.spawns.contains(1));
  EXPECT_FALSE(apply(spawn(kCrate, 1)));  // a copy
  EXPECT_EQ(stats_.updates_stale, 1u);
}

TEST_F(AppliedDatagrams, ANewerMotionReplacesTheOldOne) {
  (void)apply(spawn(kCrate, 1));
  EXPECT_FALSE(apply(update(kCrate, 2.0, kNow + 1)));
  EXPECT_EQ(find(kCrate)->remote.newest().state.position.x, 2.0);
  EXPECT_EQ(stats_.updates_applied, 1u);
  (void)apply(update(kCrate, 3.0, kNow - 1));  // older than the entity
  EXPECT_EQ(find(kCrate)->remote.newest().state.position.x, 2.0);
  EXPECT_EQ(stats_.updates_stale, 1u);
}

TEST_F(AppliedDatagrams, AnEndRemovesTheEntity) {
  (void)apply(spawn(kCrate, 1));
  (void)apply(EndedEntity{.number = 1, .entity = kCrate, .tick = kNow + 1});
  EXPECT_EQ(find(kCrate), nullptr);
  EXPECT_FALSE(apply(spawn(kCrate, 1)));  // the end has overtaken a copy of the spawn
  EXPECT_EQ(find(kCrate), nullptr);
}

TEST_F(AppliedDatagrams, AnEndWaitsForTheMessagesBefore) {
  (void)apply(spawn(kCrate, 1));
  (void)apply(EndedEntity{.number = 1, .entity = kCrate, .tick = kNow + 1, .after_messages = 3}, 2);
  EXPECT_NE(find(kCrate), nullptr);
  world_.end_waiting(2);
  EXPECT_NE(find(kCrate), nullptr);
  world_.end_waiting(3);
  EXPECT_EQ(find(kCrate), nullptr);
}

TEST_F(AppliedDatagrams, EntitiesBeyondTheLimitAreRefused) {
  config_.max_entities = 1;
  (void)apply(spawn(kCrate, 1));
  EXPECT_FALSE(apply(spawn({2, 1}, 2)));
  EXPECT_EQ(find({2, 1}), nullptr);
  EXPECT_EQ(world_.entities.size(), 1u);
  EXPECT_EQ(stats_.entities_refused, 1u);
}

TEST_F(AppliedDatagrams, ARefusedPredictionFails) {
  const EntityId predicted = world_.predictions.add(5, 0, motion_at(0.0, kNow), 100.0);
  (void)apply(PredictionRefusal{5});
  EXPECT_EQ(world_.predictions.find(predicted), nullptr);
  std::deque<ClientEvent> events;
  world_.events.move_to(events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().kind, ClientEvent::Kind::prediction_failed);
  EXPECT_EQ(events.front().entity, predicted);
}

}  // namespace
}  // namespace reckoner
