// SPDX-License-Identifier: MIT
// After a silence, a pause or a suspension, a client soon shows what a client shows that saw everything.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test::catch_up {
namespace {

constexpr double kFrameHz = 60.0;
constexpr double kPromisedS = 0.5;  // after the first newer motion or confirmation
constexpr double kCloseM = 0.05;
constexpr double kSpeedMps = 30.0;
constexpr double kDelayS = 0.2;
constexpr double kEventAtS = 8.0;  // when the silence, the pause or the suspension begins

struct CatchUpCase {
  PlayoutMode mode = PlayoutMode::present;
  double top_mps = 40.0;
  double away_s = 3.0;
};

ClientConfig showing(PlayoutMode mode) {
  ClientConfig config;
  config.playout.mode = mode;
  config.playout.delay_s = kDelayS;
  return config;
}

WorldConfig config_with(double top_mps, const std::string& script = {}) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0});  // without jitter, both clients have the same clock
  config.script = script;
  config.frame_rate_hz = kFrameHz;
  config.server.archetypes[0].max_speed_mps = top_mps;
  return config;
}

ClientConfig with_archetype(ClientConfig config, double top_mps) {
  config.archetypes[0].max_speed_mps = top_mps;
  return config;
}

std::string outage(double away_s) {
  return std::to_string(kEventAtS) + " loss=100\n" + std::to_string(kEventAtS + away_s) + " loss=0\n";
}

/// Compares what client 0 shows of one body with what client 1 shows, which misses nothing.
class Comparison {
 public:
  Comparison(World& world, EntityId id, double from_s) : world_(world), id_(id), from_s_(from_s) {}

  void add(std::size_t client, double time_s) {
    if (client == 0) return note_events();
    const ShownEntity* late = world_.shown(0, id_);
    const ShownEntity* seen = world_.shown(1, id_);
    if (late == nullptr || seen == nullptr) return;
    const bool fading = world_.client(0).debug(id_)->fading;
    if (time_s < from_s_) {
      before_.reset();
      return;
    }
    if (!fading && !arrived_s_) arrived_s_ = time_s;
    off_m_ = glm::distance(late->shown.position, seen->shown.position);
    if (off_m_ > kCloseM) wrong_until_s_ = time_s;
    if (before_ && !snapped_now_)
      fastest_mps_ = std::max(fastest_mps_, glm::distance(late->shown.position, *before_) * kFrameHz);
    if (!snapped_now_)
      fastest_velocity_mps_ = std::max(fastest_velocity_mps_, double{glm::length(late->shown.velocity)});
    before_ = late->shown.position;
    snapped_now_ = false;
  }

  /// From the first arrival to the last frame that was wrong, s.
  [[nodiscard]] double settled_after_s() const {
    return std::max(0.0, wrong_until_s_ + 1.0 / kFrameHz - arrived_s_.value_or(-1e9));
  }
  [[nodiscard]] bool arrived() const { return arrived_s_.has_value(); }
  [[nodiscard]] double arrived_s() const { return arrived_s_.value_or(-1e9); }
  /// Largest speed from one picture to the next, except for frames with an event `snapped`.
  [[nodiscard]] double fastest_mps() const { return std::max(fastest_mps_, fastest_velocity_mps_); }
  [[nodiscard]] std::size_t snaps() const { return snaps_; }
  [[nodiscard]] double off_m() const { return off_m_; }

 private:
  void note_events() {
    const auto& events = world_.events(0);
    for (; polled_ < events.size(); ++polled_) {
      if (events[polled_].kind != ClientEvent::Kind::snapped || events[polled_].entity != id_) continue;
      snapped_now_ = true;
      ++snaps_;
    }
  }

  World& world_;
  EntityId id_;
  double from_s_;
  std::size_t polled_ = 0;
  bool snapped_now_ = false;
  std::size_t snaps_ = 0;
  std::optional<double> arrived_s_;
  double wrong_until_s_ = -1e9;
  double off_m_ = 0.0;
  std::optional<glm::dvec3> before_;
  double fastest_mps_ = 0.0;
  double fastest_velocity_mps_ = 0.0;
};

void watch(World& world, std::vector<Comparison*> comparisons) {
  world.on_frame = [&world, all = std::move(comparisons)](std::size_t client, double time_s,
                                                          std::span<const ShownEntity>) {
    (void)world;
    for (Comparison* one : all)
      one->add(client, time_s);
  };
}

double promised_s(PlayoutMode mode) {
  return kPromisedS + (mode == PlayoutMode::present ? 0.0 : kDelayS);
}

std::vector<CatchUpCase> all_cases() {
  std::vector<CatchUpCase> all;
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    for (const double top_mps : {35.0, 40.0, 1000.0}) {
      for (const double away_s : {1.3, 1.8, 3.0, 10.0, 30.0})
        all.push_back({mode, top_mps, away_s});
    }
  }
  return all;
}

// A car that drives straight on needs only a confirmation. One on a curve needs a motion. Nothing is faster
// than three times the usual speed, except for a jump with an event.
TEST(CatchUp, AfterASilenceWithinHalfASecond) {
  for (const CatchUpCase& c : all_cases()) {
    for (const bool turns : {false, true}) {
      SCOPED_TRACE(testing::Message() << "mode " << static_cast<int>(c.mode) << ", top speed " << c.top_mps
                                      << " m/s, away for " << c.away_s << " s, turns " << turns);
      World world(config_with(c.top_mps, outage(c.away_s)));
      const Truth path = turns ? Truth{Circle{.radius_m = 60.0, .turn_rps = kSpeedMps / 60.0}}
                               : Truth{Straight{.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f}}};
      const EntityId id = world.add_body(path);
      const ClientConfig client = with_archetype(showing(c.mode), c.top_mps);
      world.add_client(client);
      world.add_client(client, {}, config_with(c.top_mps).links);
      const double back_s = kEventAtS + c.away_s;
      Comparison seen(world, id, back_s);
      watch(world, {&seen});
      world.run_to(back_s + 3.0);
      ASSERT_TRUE(seen.arrived());
      // The server sends a datagram at least every quarter of a second, and a confirmation needs the next
      // one.
      EXPECT_LT(seen.arrived_s(), back_s + 0.7);
      EXPECT_LE(seen.settled_after_s(), promised_s(c.mode));
      // The body itself drives at 30 m/s, and a motion on the curve is a little faster.
      EXPECT_LE(seen.fastest_mps(), 3.0 * kSpeedMps * 1.05);
      if (c.away_s < 1.5) {
        EXPECT_EQ(seen.snaps(), 0u);
      }
      if (c.away_s > 5.0 && !turns) {
        EXPECT_GE(seen.snaps(), 1u);
      }
      EXPECT_LE(seen.snaps(), 2u);  // at an old motion that was sent again, and at its confirmation
    }
  }
}

TEST(CatchUp, AfterAPauseWithinHalfASecond) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    for (const double pause_s : {0.3, 0.6, 5.0}) {
      SCOPED_TRACE(testing::Message()
                   << "mode " << static_cast<int>(mode) << ", pause of " << pause_s << " s");
      World world(config_with(40.0));
      const EntityId id = world.add_body(Circle{.radius_m = 60.0, .turn_rps = kSpeedMps / 60.0});
      const ClientConfig client = with_archetype(showing(mode), 40.0);
      world.add_client(client);
      world.add_client(client);
      world.run_to(kEventAtS);
      world.updated(0).set_paused(true);
      Comparison seen(world, id, kEventAtS + pause_s);
      watch(world, {&seen});
      world.run_to(kEventAtS + pause_s);
      world.updated(0).set_paused(false);
      world.run_to(kEventAtS + pause_s + 3.0);
      EXPECT_LE(seen.settled_after_s(), kPromisedS + 1.0 / kFrameHz);
      EXPECT_LE(seen.fastest_mps(), 3.0 * kSpeedMps * 1.05);
      EXPECT_EQ(seen.snaps(), pause_s > 2.0 ? 1u : 0u);
    }
  }
}

// A browser stops a hidden page: no call of the client for ten minutes.
TEST(CatchUp, AfterALongSuspensionWithinHalfASecond) {
  for (const double away_s : {2.0, 20.0, 600.0}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
      SCOPED_TRACE(testing::Message()
                   << "mode " << static_cast<int>(mode) << ", away for " << away_s << " s");
      World world(config_with(1000.0));
      const EntityId id = world.add_body(Straight{.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f}});
      world.add_client(showing(mode));
      world.add_client(showing(mode));
      world.run_to(kEventAtS);
      world.suspend_client(0, kEventAtS + away_s);
      Comparison seen(world, id, kEventAtS + away_s);
      watch(world, {&seen});
      world.run_to(kEventAtS + away_s + 4.0);
      ASSERT_TRUE(seen.arrived());
      EXPECT_LE(seen.settled_after_s(), promised_s(mode));
      EXPECT_LT(seen.off_m(), kCloseM);
    }
  }
}

// The connection is lost and the session resumes.
TEST(CatchUp, AfterAResumedSessionWithinHalfASecond) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    SCOPED_TRACE(testing::Message() << "mode " << static_cast<int>(mode));
    constexpr double kAwayS = 15.0;
    World world(config_with(40.0, outage(kAwayS)));
    const EntityId id = world.add_body(Circle{.radius_m = 60.0, .turn_rps = kSpeedMps / 60.0});
    const ClientConfig client = with_archetype(showing(mode), 40.0);
    world.add_dialing_client(client);
    world.add_client(client, {}, config_with(40.0).links);
    Comparison seen(world, id, kEventAtS + kAwayS);
    watch(world, {&seen});
    world.run_to(kEventAtS + kAwayS + 15.0);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::resumed), 1u);
    ASSERT_TRUE(seen.arrived());
    EXPECT_LE(seen.settled_after_s(), promised_s(mode));
    EXPECT_LT(seen.off_m(), kCloseM);
  }
}

// A change of the mode in the middle of a silence, or just after it, changes nothing in the promise.
TEST(CatchUp, WhileTheModeChanges) {
  constexpr double kAwayS = 6.0;
  for (const double at_s : {kEventAtS + 3.0, kEventAtS + kAwayS - 0.2, kEventAtS + kAwayS + 0.2}) {
    for (const bool to_present : {true, false}) {
      SCOPED_TRACE(testing::Message() << "at " << at_s << " s, to present mode " << to_present);
      World world(config_with(40.0, outage(kAwayS)));
      const EntityId id = world.add_body(Circle{.radius_m = 60.0, .turn_rps = kSpeedMps / 60.0});
      const PlayoutMode from = to_present ? PlayoutMode::delayed : PlayoutMode::present;
      const ClientConfig client = with_archetype(showing(from), 40.0);
      world.add_client(client);
      world.add_client(client, {}, config_with(40.0).links);
      Comparison seen(world, id, kEventAtS + kAwayS);
      watch(world, {&seen});
      world.run_to(at_s);
      PlayoutConfig to = client.playout;
      to.mode = to_present ? PlayoutMode::present : PlayoutMode::delayed;
      to.blend_s = frames_to_seconds(6.5, kFrameHz);
      for (const std::size_t i : {0u, 1u})
        ASSERT_TRUE(world.updated(i).set_playout(to));
      world.run_to(kEventAtS + kAwayS + 4.0);
      EXPECT_LE(seen.settled_after_s(), kPromisedS + kDelayS);
      EXPECT_LT(seen.off_m(), kCloseM);
    }
  }
}

// A cart drives on the deck of a ship that turns. The ship's jump is not the cart's jump.
TEST(CatchUp, OfAnEntityInAFrame) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    for (const double away_s : {2.5, 10.0}) {
      SCOPED_TRACE(testing::Message()
                   << "mode " << static_cast<int>(mode) << ", away for " << away_s << " s");
      World world(config_with(40.0, outage(away_s)));
      const EntityId ship = world.add_body(Circle{.radius_m = 200.0, .turn_rps = 0.05});
      const Circle deck{.radius_m = 8.0, .turn_rps = 0.8};
      const EntityId cart = *world.server().spawn(0, "cart", deck(0.0), ship);
      world.before_tick = [&](double time_s) { (void)world.server().move(cart, deck(time_s)); };
      const ClientConfig client = with_archetype(showing(mode), 40.0);
      world.add_client(client);
      world.add_client(client, {}, config_with(40.0).links);
      Comparison of_ship(world, ship, kEventAtS + away_s);
      Comparison of_cart(world, cart, kEventAtS + away_s);
      watch(world, {&of_ship, &of_cart});
      world.run_to(kEventAtS + away_s + 4.0);
      ASSERT_TRUE(of_ship.arrived() && of_cart.arrived());
      EXPECT_LE(of_ship.settled_after_s(), promised_s(mode));
      // It is shown in the world, so it is as late as the later one of the two.
      const double late_s = std::max(0.0, of_ship.arrived_s() - of_cart.arrived_s());
      EXPECT_LE(of_cart.settled_after_s(), promised_s(mode) + late_s);
      EXPECT_EQ(of_cart.snaps(), 0u);
    }
  }
}

// Entities at rest get only a confirmation. They do not move, and nothing is reported about them. An entity
// that slowly moves on is not affected by one that jumps.
TEST(CatchUp, OthersDoNotNoticeAJump) {
  World world(config_with(40.0, outage(10.0)));
  const EntityId car = world.add_body(Straight{.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f}});
  const EntityId parked = world.add_body(Still{.place = {5.0, 5.0, 0.0}});
  const EntityId slow = world.add_body(Straight{.start = {0.0, 9.0, 0.0}, .velocity = {0.5f, 0.0f, 0.0f}});
  const ClientConfig client = with_archetype(showing(PlayoutMode::present), 40.0);
  world.add_client(client);
  world.add_client(client, {}, config_with(40.0).links);
  Comparison of_car(world, car, kEventAtS), of_parked(world, parked, kEventAtS),
      of_slow(world, slow, kEventAtS);
  watch(world, {&of_car, &of_parked, &of_slow});
  world.run_to(kEventAtS + 14.0);
  EXPECT_EQ(of_car.snaps(), 1u);
  EXPECT_EQ(of_parked.snaps(), 0u);
  EXPECT_EQ(of_slow.snaps(), 0u);
  EXPECT_LT(of_parked.fastest_mps(), 1e-3);
  EXPECT_LT(of_slow.fastest_mps(), 20.0);  // 4 m in half a second
  EXPECT_LT(of_slow.off_m(), kCloseM);
  EXPECT_EQ(world.count(1, ClientEvent::Kind::snapped), 0u);
}

// A game that polls before it asks for the frame learns of the jump in the frame that shows it. shown_poses()
// and shown() agree.
TEST(CatchUp, SampleAgreesWithFrame) {
  World world(config_with(40.0, outage(10.0)));
  (void)world.add_body(Straight{.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f}});
  (void)world.add_body(Circle{.radius_m = 3.0});
  (void)world.add_body(Still{});
  world.add_client(with_archetype(showing(PlayoutMode::present), 40.0));
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < kEventAtS) return;
    const ShownPoses poses = world.client(0).shown_poses();
    ASSERT_EQ(poses.ids.size(), shown.size());
    for (const ShownEntity& entity : shown) {
      const auto place = std::ranges::find(poses.ids, entity.id) - poses.ids.begin();
      ASSERT_LT(glm::distance(poses.positions[static_cast<std::size_t>(place)], entity.shown.position), 1e-4)
          << time_s;
      ++compared;
    }
  };
  world.run_to(kEventAtS + 13.0);
  EXPECT_GT(compared, 2000u);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::snapped), 1u);
  EXPECT_EQ(world.late_events(0), 0u);
}

}  // namespace
}  // namespace reckoner::test::catch_up
