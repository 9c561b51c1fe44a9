// SPDX-License-Identifier: MIT
#include "scenario/feed.hpp"

#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/builtin.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

using Kind = FeedItem::Kind;

// Parabolas with steady rotation. Entity i exists within its lifetime only and may jump once.
class Scripted final : public Source {
 public:
  struct Life {
    double first_s;
    double last_s;
    double jump_s = std::numeric_limits<double>::infinity();
  };
  explicit Scripted(std::vector<Life> lives) : lives_(std::move(lives)) {
    for (const Life& life : lives_)
      entities_.push_back({.first_s = life.first_s, .last_s = life.last_s});
  }
  std::size_t size() const override { return lives_.size(); }
  const SourceEntity& entity(std::size_t index) const override { return entities_[index]; }
  Pose pose(std::size_t index, double t) const override {
    EXPECT_GE(t, lives_[index].first_s);
    EXPECT_LE(t, lives_[index].last_s);
    ++asked_;
    const double jump = t >= lives_[index].jump_s ? 1000.0 : 0.0;
    return {position(t) + glm::dvec3{jump, 0.0, 0.0}, glm::quat(rotation_exp(kSpin * t))};
  }
  bool teleports_within(std::size_t index, double from, double to) const override {
    return lives_[index].jump_s > from && lives_[index].jump_s <= to;
  }
  bool in_gap(std::size_t, double) const override { return false; }
  double start_s() const override { return 0.0; }
  double end_s() const override { return 100.0; }
  int asked() const { return asked_; }

  static glm::dvec3 position(double t) { return {3.0 * t, 2.0 - t, 0.5 * 8.0 * t * t}; }
  inline static const glm::dvec3 kSpin{0.4, -1.0, 2.0};

 private:
  std::vector<Life> lives_;
  std::vector<SourceEntity> entities_;
  mutable int asked_ = 0;
};

TEST(Feed, TicksAreMultiplesOfTheIntervalWithoutDrift) {
  const Scripted source({{0.0, 1e9}});
  Feed feed(source, 0.3, 60.0);
  for (int k = 0; k < 5000; ++k) {
    ASSERT_EQ(feed.next_time_s(), 0.3 + k / 60.0);
    ASSERT_EQ(feed.next().size(), 1u);
  }
}

TEST(Feed, DerivesVelocityAccelerationAndTurnRateBackwards) {
  const Scripted source({{0.0, 100.0}});
  Feed feed(source, 0.0, 50.0);
  constexpr double kDt = 1.0 / 50.0;
  for (int k = 0; k < 20; ++k) {
    const double t = feed.next_time_s();
    const FeedItem item = feed.next().front();
    EXPECT_EQ(item.kind, k == 0 ? Kind::spawn : Kind::move);
    EXPECT_EQ(item.truth.position, Scripted::position(t));
    if (k == 0) {
      EXPECT_EQ(item.truth.velocity, glm::vec3(0.0f));
      EXPECT_EQ(item.truth.angular_velocity, glm::vec3(0.0f));
    } else {
      EXPECT_NEAR(item.truth.velocity.x, 3.0f, 1e-5f);
      EXPECT_NEAR(item.truth.velocity.z, 8.0 * (t - 0.5 * kDt), 1e-5);
      EXPECT_LT(glm::length(item.truth.angular_velocity - glm::vec3(Scripted::kSpin)), 1e-4f);
    }
    EXPECT_NEAR(item.truth.acceleration.z, k < 3 ? 0.0 : 8.0, 1e-4) << k;
    EXPECT_NEAR(item.truth.acceleration.x, 0.0, 1e-4) << k;
  }
}

TEST(Feed, SpawnsAndDespawnsAtTicks) {
  // The second lifetime begins between ticks. The third lies between two ticks and never appears.
  const Scripted source({{0.0, 0.5}, {0.25, 0.6}, {0.33, 0.37}, {0.7, 0.8}});
  Feed feed(source, 0.0, 10.0);
  std::vector<std::vector<std::pair<std::size_t, Kind>>> seen;
  while (!feed.finished()) {
    auto& tick = seen.emplace_back();
    for (const FeedItem& item : feed.next())
      tick.emplace_back(item.entity, item.kind);
  }
  const std::vector<std::vector<std::pair<std::size_t, Kind>>> wanted = {
      {{0, Kind::spawn}},
      {{0, Kind::move}},
      {{0, Kind::move}},
      {{0, Kind::move}, {1, Kind::spawn}},
      {{0, Kind::move}, {1, Kind::move}},
      {{0, Kind::move}, {1, Kind::move}},
      {{0, Kind::despawn}, {1, Kind::move}},
      {{1, Kind::despawn}, {3, Kind::spawn}},
      {{3, Kind::move}},
      {{3, Kind::despawn}},
  };
  EXPECT_EQ(seen, wanted);
  EXPECT_TRUE(feed.next().empty());
}

TEST(Feed, ItemsAreOrderedByEntity) {
  const Scripted source({{0.3, 9.0}, {0.0, 9.0}, {0.3, 9.0}, {0.1, 9.0}, {0.2, 9.0}});
  Feed feed(source, 0.0, 10.0);
  for (int k = 0; k < 6; ++k) {
    const auto items = feed.next();
    EXPECT_TRUE(std::ranges::is_sorted(items, {}, &FeedItem::entity));
    if (k == 5) {
      EXPECT_EQ(items.size(), 5u);
    }
  }
}

TEST(Feed, StartingLateSkipsEndedEntities) {
  const Scripted source({{0.0, 1.0}, {0.0, 5.0}});
  Feed feed(source, 2.0, 10.0);
  const auto items = feed.next();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].entity, 1u);
  EXPECT_EQ(items[0].kind, Kind::spawn);
}

TEST(Feed, TeleportRestartsTheHistory) {
  const Scripted source({{0.0, 9.0, 0.45}});
  Feed feed(source, 0.0, 10.0);
  for (int k = 0; k < 12; ++k) {
    const FeedItem item = feed.next().front();
    if (k == 5) {
      EXPECT_EQ(item.kind, Kind::teleport);
      EXPECT_GT(item.truth.position.x, 1000.0);
      EXPECT_EQ(item.truth.velocity, glm::vec3(0.0f));
      EXPECT_EQ(item.truth.acceleration, glm::vec3(0.0f));
      EXPECT_EQ(item.truth.angular_velocity, glm::vec3(0.0f));
    } else if (k > 0) {
      EXPECT_EQ(item.kind, Kind::move);
      EXPECT_NEAR(item.truth.velocity.x, 3.0f, 1e-4f);
      EXPECT_NEAR(item.truth.acceleration.z, k < 3 || (k > 5 && k < 8) ? 0.0f : 8.0f, 1e-3f) << k;
    }
  }
}

TEST(Feed, QueriesOnlyLivingEntities) {
  std::vector<Scripted::Life> lives(10'000, {50.0, 60.0});
  lives[77] = {0.0, 10.0};
  const Scripted source(lives);
  Feed feed(source, 0.0, 10.0);
  for (int k = 0; k < 100; ++k)
    ASSERT_EQ(feed.next().size(), 1u);
  EXPECT_EQ(source.asked(), 100);
}

TEST(Feed, IsDeterministic) {
  const auto source = make_builtin("hop", 5, 3);
  ASSERT_TRUE(source);
  Feed a(**source, 0.0, 60.0);
  Feed b(**source, 0.0, 60.0);
  int teleports = 0;
  for (int k = 0; k < 60 * 25; ++k) {
    const auto items_a = a.next();
    const auto items_b = b.next();
    ASSERT_EQ(items_a.size(), items_b.size());
    for (std::size_t i = 0; i < items_a.size(); ++i) {
      ASSERT_EQ(items_a[i].kind, items_b[i].kind);
      ASSERT_EQ(items_a[i].truth.position, items_b[i].truth.position);
      ASSERT_EQ(items_a[i].truth.velocity, items_b[i].truth.velocity);
      ASSERT_LT(glm::length(items_a[i].truth.velocity), 15.0f);
      teleports += items_a[i].kind == Kind::teleport ? 1 : 0;
    }
  }
  EXPECT_GE(teleports, 10);  // five entities jump every 10 s, for 25 s
  EXPECT_LE(teleports, 15);
}

// In a frame, velocity is the difference of local poses, from the first tick in that frame on.
TEST(Feed, VelocityInAFrameIsTheDifferenceOfLocalPoses) {
  const auto ship = make_builtin("ship", 16, 2);
  ASSERT_TRUE(ship);
  constexpr double kRate = 60.0;
  Feed feed(**ship, 0.0, kRate);
  int framed = 0, changes = 0, still = 0;
  std::vector<std::optional<std::size_t>> before(16);
  for (int tick = 0; tick < 60 * 45; ++tick) {
    const double time_s = feed.next_time_s();
    for (const FeedItem& item : feed.next()) {
      const auto frame = (*ship)->frame_of(item.entity, time_s);
      ASSERT_EQ(item.frame, frame);
      const bool changed = tick > 0 && frame != before[item.entity];
      before[item.entity] = frame;
      changes += changed ? 1 : 0;
      if (!frame) {
        EXPECT_EQ(item.local.position, item.truth.position);
        EXPECT_EQ(item.local.velocity, item.truth.velocity);
        continue;
      }
      ++framed;
      const Pose now = (*ship)->pose_in(item.entity, frame, time_s);
      const Pose then = (*ship)->pose_in(item.entity, frame, time_s - 1.0 / kRate);
      EXPECT_EQ(item.local.position, now.position);
      if (tick == 0) continue;
      EXPECT_LT(glm::distance(glm::dvec3{item.local.velocity}, (now.position - then.position) * kRate), 1e-3);
      still += item.local.velocity == glm::vec3{0.0f} ? 1 : 0;
    }
  }
  EXPECT_GT(framed, 10'000);
  EXPECT_GT(still, 5'000);  // exactly at rest
  EXPECT_GE(changes, 8);
}

}  // namespace
}  // namespace reckoner::scenario
