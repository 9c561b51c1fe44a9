// SPDX-License-Identifier: MIT
#include "server/src/rewind/shown_history.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

constexpr BlendSettings kBlend{BlendCurve::damped, 0.1};
constexpr double kForeverS = 1e9;

Motion random_motion(scenario::Random& random, double time_s) {
  Motion m;
  m.time_s = time_s;
  const auto vector = [&](double size) {
    return glm::dvec3{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  };
  m.state.position = vector(5.0);
  m.state.velocity = glm::vec3{vector(5.0)};
  m.state.acceleration = glm::vec3{vector(5.0)};
  m.state.angular_velocity = glm::vec3{vector(2.0)};
  m.teleports = static_cast<std::uint8_t>(time_s / 3.0);
  return m;
}

SharedMotion shared(const Motion& motion) {
  return std::make_shared<const Motion>(motion);
}

struct Applied {
  double shown_s;
  Motion motion;
};

bool same(const State& a, const State& b) {
  return a.position == b.position && a.velocity == b.velocity && a.orientation == b.orientation;
}

// For any arrival times and any order in which the server learns of them, the reconstruction equals the
// client's pose to the last bit. Every other seed uses a speed limit lower than the motions' speed, so that
// the client chases them, or one that only some blends exceed. Not compared: poses so close to an arrival or
// a teleport that the rounded times of real reports could not tell the two sides apart.
TEST(ShownEntityHistory, EqualsTheClientsPoseBitForBit) {
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      scenario::Random random{seed};
      const auto random_motion = [seed](scenario::Random& from, double time_s) {
        Motion motion = reckoner::random_motion(from, time_s);
        if (seed % 2 == 0) motion.max_speed_mps = seed % 4 == 0 ? 60.0f : 4.0f;
        return motion;
      };
      const Motion first = random_motion(random, 0.0);
      std::vector<Applied> applied;
      double stamp_s = 0.0;
      for (int i = 0; i < 25; ++i) {
        stamp_s += random.uniform(0.02, 0.4);
        const double delay_s =
            path == MotionPath::predict ? random.uniform(0.05, 0.3) : random.uniform(-0.3, 0.3);
        applied.push_back({std::max(0.01, stamp_s + delay_s), random_motion(random, stamp_s)});
      }
      std::vector<Applied> reports = applied;  // in any order, some twice
      reports.insert(reports.end(), applied.begin(), applied.begin() + 5);
      for (std::size_t i = reports.size(); i > 1; --i)
        std::swap(reports[i - 1], reports[random.below(i)]);
      const BlendSettings blend{seed % 3 == 0 ? BlendCurve::cubic : BlendCurve::damped, 0.1};
      ShownEntityHistory seen({1, 0}, shared(first), path);
      seen.appear(0.0);
      for (const Applied& a : reports)
        seen.add(a.shown_s, shared(a.motion), blend, kForeverS);

      std::sort(applied.begin(), applied.end(),
                [](const Applied& a, const Applied& b) { return a.shown_s < b.shown_s; });
      RemoteEntity client(first, path, {.shape = &blend_shape(blend.curve)});
      std::size_t next = 0;
      for (double t = 0.0; t < stamp_s + 0.5; t += 0.013) {
        for (; next < applied.size() && applied[next].shown_s <= t; ++next)
          client.receive(applied[next].motion, applied[next].shown_s, blend.duration_s);
        const bool is_close = std::ranges::any_of(applied, [t](const Applied& a) {
          return std::abs(a.shown_s - t) < 3.0 * kStampUnitS ||
                 std::abs(a.motion.time_s - t) < 3.0 * kStampUnitS;
        });
        if (is_close) continue;
        const auto shown = seen.shown(t);
        ASSERT_TRUE(shown);
        ASSERT_TRUE(same(shown->state, client.shown(t))) << "seed " << seed << " at " << t;
      }
    }
  }
}

// Asks for poses after every motion, or only from time to time: the blends of forgotten motions were then not
// all computed. A chase may begin never, at some motions, or at nearly all.
TEST(ShownEntityHistory, ForgettingOldMotionsKeepsRecentPoses) {
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    for (const float max_mps : {std::numeric_limits<float>::infinity(), 120.0f, 60.0f, 4.0f}) {
      for (const int asks_each : {1, 40}) {
        SCOPED_TRACE(testing::Message() << "interpolates " << (path == MotionPath::interpolate) << ", "
                                        << max_mps << " m/s, asks each " << asks_each);
        scenario::Random random{4};
        const auto next_motion = [&](double time_s) {
          Motion motion = random_motion(random, time_s);
          motion.max_speed_mps = max_mps;
          return motion;
        };
        const Motion first = next_motion(0.0);
        ShownEntityHistory all({1, 0}, shared(first), path);
        ShownEntityHistory recent({1, 0}, shared(first), path);
        all.appear(0.0);
        recent.appear(0.0);
        double stamp_s = 0.0;
        for (int i = 1; i < 240; ++i) {
          stamp_s += random.uniform(0.02, 0.2);
          const double shown_s = stamp_s + (path == MotionPath::predict ? 0.1 : random.uniform(-0.3, 0.1));
          const Motion motion = next_motion(stamp_s);
          all.add(shown_s, shared(motion), kBlend, kForeverS);
          recent.add(shown_s, shared(motion), kBlend, 1.5);
          for (double back = 0.0; i % asks_each == 0 && back < 1.0; back += 0.09) {
            const auto a = all.shown(shown_s - back);
            const auto b = recent.shown(shown_s - back);
            ASSERT_EQ(a.has_value(), b.has_value());
            ASSERT_TRUE(!a || same(a->state, b->state)) << i << " " << back;
          }
        }
      }
    }
  }
}

// A client could claim that all motions arrived at the same instant, or each one earlier than the one before.
// Without limits, the server would forget nothing and would compute every blend again.
TEST(ShownEntityHistory, CostIsLimitedForAnyReportedInstants) {
  for (const double step_s : {0.0, -5e-4, 5e-4}) {
    SCOPED_TRACE(step_s);
    scenario::Random random{5};
    ShownEntityHistory seen({1, 0}, shared(random_motion(random, 0.0)), MotionPath::predict);
    seen.appear(0.0);
    std::size_t carried = 0;
    const auto carry = [&](const State& state, FrameId, FrameId, double, double) {
      ++carried;
      return std::optional(state);
    };
    for (int i = 1; i <= 2000; ++i) {
      Motion motion = random_motion(random, i / 60.0);
      motion.frame.value =
          static_cast<std::uint64_t>(i % 2);  // alternating pictures, so that each blend calls `carry`
      const std::size_t before = carried;
      seen.add(1.0 + step_s * i, shared(motion), kBlend, 1.5, carry);
      ASSERT_LE(carried - before, ShownEntityHistory::kMaxReplayed + 1) << i;
      ASSERT_LE(seen.steps(), ShownEntityHistory::kMaxSteps) << i;
      ASSERT_GE(seen.steps(), std::min<std::size_t>(static_cast<std::size_t>(i) + 1, 200)) << i;
    }
    EXPECT_EQ(seen.newest_s(), 2000 / 60.0) << "what is forgotten is the oldest";
  }
}

TEST(ShownHistory, IgnoresReportsWithAWrongClock) {
  ShownHistory seen(MotionPath::predict, kBlend, 1.0);
  scenario::Random random{1};
  const EntityId id{3, 0};
  seen.announced_in(0, id, shared(random_motion(random, 0.0)), 9.8);
  seen.acknowledged(Ack{0}, 9.9);
  ShowingReport report;
  report.clock = static_cast<std::uint16_t>(static_cast<int>(11.0 / kStampUnitS));
  seen.process(report, 10.0);  // a second ahead
  EXPECT_FALSE(seen.shown_at(10.0, 10.0));
  report.clock = static_cast<std::uint16_t>(static_cast<int>(9.8 / kStampUnitS));
  report.count = 1;  // the datagram 0, just now
  seen.process(report, 10.0);
  EXPECT_FALSE(seen.shown_at(9.8, 10.0)) << "the client's clock has just begun";
  report.clock = static_cast<std::uint16_t>(static_cast<int>(9.95 / kStampUnitS));
  report.count = 0;
  seen.process(report, 10.0);
  EXPECT_EQ(seen.status(9.97, 10.0), RewindStatus::pending);
  ASSERT_TRUE(seen.shown_at(9.95, 10.0));
  EXPECT_NEAR(*seen.shown_at(9.95, 10.0), 9.95, 1e-3);
  EXPECT_TRUE(seen.shown(id, 9.96));
  EXPECT_FALSE(seen.shown({3, 1}, 9.96));
  seen.forget(id);
  EXPECT_FALSE(seen.shown(id, 9.96));
}

// A client in ahead mode shows a later instant than the server's present. It is believed up to 0.25 s, and
// what it has seen is an extrapolation of what the server has sent, and nothing else.
TEST(ShownHistory, BoundsHowFarAheadAClientIs) {
  for (const double ahead_s : {0.02, 0.1, 0.24, 0.26, 0.5, 2.0}) {
    ShownHistory seen(MotionPath::predict, kBlend, 1.0);
    const EntityId id{3, 0};
    const Motion first{.state = {.position = {1.0, 0.0, 0.0}, .velocity = {8.0f, 0.0f, 0.0f}}, .time_s = 9.0};
    seen.announced_in(0, id, shared(first), 9.0);
    seen.acknowledged(Ack{0}, 9.1);
    std::size_t refused = 0;
    for (double now_s = 9.1; now_s < 11.0; now_s += 0.05) {
      ShowingReport report;
      report.clock = static_cast<std::uint16_t>(ShowingReport::units(now_s + ahead_s));
      report.count = now_s < 9.12 ? 1 : 0;  // the datagram 0, just now
      refused += seen.process(report, now_s, true) == Refusal::from_future ? 1u : 0u;
      // The enemy turns, and the client has not got that yet.
      if (now_s > 10.0 && now_s < 10.05) {
        Motion turned = first;
        turned.time_s = 10.0;
        turned.state.position.x = 9.0;
        turned.state.velocity = {0.0f, 8.0f, 0.0f};
        seen.sent(1, id, shared(turned), now_s);
      }
      const auto shown_s = seen.shown_at(now_s + ahead_s, now_s);
      if (ahead_s > 0.25) {
        EXPECT_FALSE(shown_s);
      } else if (now_s > 9.6) {
        ASSERT_TRUE(shown_s);
        const auto state = seen.shown(id, *shown_s);
        ASSERT_TRUE(state);
        EXPECT_NEAR(state->position.x, 1.0 + 8.0 * (now_s + ahead_s - 9.0), 0.01);
        EXPECT_EQ(state->position.y, 0.0);
      }
      EXPECT_EQ(seen.status(now_s + 0.26, now_s), RewindStatus::unavailable);
    }
    EXPECT_EQ(refused > 0, ahead_s > 0.25) << ahead_s;
  }
}

// No report tells when the spawn arrived, and one lists an update of the entity. The client has the entity,
// so the pose is that of the update, or unknown.
TEST(ShownHistory, UpdateBeforeTheGuessedSpawnCounts) {
  ShownHistory seen(MotionPath::predict, kBlend, 1.0);
  const EntityId id{3, 0};
  const auto report_at = [&](double clock_s, bool lists_update) {
    ShowingReport report;
    report.clock = static_cast<std::uint16_t>(static_cast<int>(clock_s / kStampUnitS) & 0xffff);
    report.count = lists_update ? 1 : 0;
    report.arrivals[0] = {.sequence = 1, .ago = 0};
    seen.process(report, clock_s);
  };
  report_at(5.0, false);
  const Motion spawned{.state = {.position = {1.0, 0.0, 0.0}}, .time_s = 5.0};
  const Motion moved{.state = {.position = {9.0, 0.0, 0.0}}, .time_s = 5.2};
  seen.announced_in(0, id, shared(spawned), 5.0);
  seen.acknowledged(Ack{0}, 5.2);
  seen.sent(1, id, shared(moved), 5.2);
  seen.acknowledged(Ack{1}, 5.3);
  report_at(5.3, true);
  bool is_known = false;
  for (double time_s = 5.4; time_s < 8.0; time_s += 0.1) {
    report_at(time_s, false);
    const auto shown_s = seen.shown_at(time_s - 0.02, time_s);
    const auto state = shown_s ? seen.shown(id, *shown_s) : std::nullopt;
    if (!state) continue;
    EXPECT_NEAR(state->position.x, 9.0, 0.01) << time_s;
    is_known = true;
  }
  EXPECT_TRUE(is_known);
}

// Arrivals of unsent datagrams and repeated arrivals are ignored.
TEST(ShownHistory, FalseReportsChangeNothing) {
  ShownHistory seen(MotionPath::predict, kBlend, 1.0);
  scenario::Random random{1};
  const EntityId id{1, 0};
  seen.announced_in(0, id, shared(random_motion(random, 9.0)), 9.8);
  seen.acknowledged(Ack{0}, 9.9);
  ShowingReport report;
  report.count = 1;  // the datagram 0, just now
  report.clock = static_cast<std::uint16_t>(static_cast<int>(9.9 / kStampUnitS));
  seen.acknowledged(Ack{100, {0xffffffffu}}, 9.95);
  seen.process(report, 9.95);
  const State before = *seen.shown(id, 9.92);
  for (int i = 0; i < 1000; ++i) {
    report.count = ShowingReport::kMaxArrivals;
    for (auto& arrival : report.arrivals)
      arrival = {static_cast<Sequence>(random.next()), static_cast<std::uint32_t>(random.below(30'000))};
    report.delay = static_cast<std::uint32_t>(random.below(ShowingReport::kMaxDelay));
    report.clock = static_cast<std::uint16_t>(random.next());
    seen.acknowledged(Ack{static_cast<Sequence>(random.next()), {0xffffffffu}}, 9.95);
    seen.process(report, 9.95);
  }
  EXPECT_TRUE(same(*seen.shown(id, 9.92), before));
}

// Reports of applied datagrams may arrive many datagrams later.
TEST(ShownHistory, RemembersTheDatagramsOfALongFlight) {
  constexpr int kFlight = 700;
  scenario::Random random{7};
  const Motion first = random_motion(random, 9.0);
  ShownHistory seen(MotionPath::predict, kBlend, 1.0);
  std::vector<Motion> motions;
  const auto id = [](int i) { return EntityId{static_cast<std::uint32_t>(i) + 1, 0}; };
  const auto number = [](int i) { return static_cast<Sequence>(65'300 + i); };
  for (int i = 0; i < kFlight; ++i)
    seen.announced_in(number(-1), id(i), shared(first), 9.0);
  seen.acknowledged(Ack{number(-1)}, 9.05);
  ShowingReport report;
  report.clock = static_cast<std::uint16_t>(std::lround(9.05 / kStampUnitS));
  report.count = 1;
  report.arrivals[0] = {number(-1), 0};
  seen.process(report, 9.06);
  for (int i = 0; i < kFlight; ++i) {
    motions.push_back(random_motion(random, 9.1));
    seen.sent(number(i), id(i), shared(motions.back()), 9.1 + 0.0002 * i);
  }
  for (int i = 0; i < kFlight; i += 23) {
    report.clock = static_cast<std::uint16_t>(std::lround(9.4 / kStampUnitS));
    report.count = 1;
    report.arrivals[0] = {number(i), 0};
    seen.acknowledged(Ack{number(i)}, 9.45);
    seen.process(report, 9.45);
    RemoteEntity entity(first, MotionPath::predict, {.shape = &blend_shape(kBlend.curve)});
    entity.receive(motions[static_cast<std::size_t>(i)], 9.4, kBlend.duration_s);
    const auto shown = seen.shown(id(i), 9.4 + 0.5 * kBlend.duration_s);
    ASSERT_TRUE(shown) << i;
    EXPECT_LT(glm::distance(shown->position, entity.shown(9.4 + 0.5 * kBlend.duration_s).position), 1e-3)
        << i;
  }
}

// A client that reads its socket once per picture applies several datagrams at one instant. After a teleport,
// the first of them is shown without a blend, and the next is blended.
TEST(ShownHistory, KeepsTheOrderOfArrivalsAtOneInstant) {
  scenario::Random random{5};
  const EntityId id{1, 0};
  const Motion first = random_motion(random, 9.0);
  Motion early = random_motion(random, 9.1);
  Motion late = random_motion(random, 9.12);
  early.teleports = late.teleports = static_cast<std::uint8_t>(first.teleports + 1u);
  constexpr double kAppliedS = 9.2;
  const auto in_order = [&](const std::array<Sequence, 2>& applied) {
    ShownHistory seen(MotionPath::predict, kBlend, 1.0);
    seen.announced_in(0, id, shared(first), 9.0);
    seen.acknowledged(Ack{0}, 9.05);
    ShowingReport report;
    report.count = 1;  // the datagram 0, just now
    report.clock = static_cast<std::uint16_t>(std::lround(9.05 / kStampUnitS));
    seen.process(report, 9.06);
    seen.sent(1, id, shared(early), 9.1);
    seen.sent(2, id, shared(late), 9.12);
    seen.acknowledged(Ack{2, {1}}, 9.3);
    report.clock = static_cast<std::uint16_t>(std::lround(kAppliedS / kStampUnitS));
    report.count = 2;
    report.arrivals[0] = {applied[1], 0};  // the newest comes first
    report.arrivals[1] = {applied[0], 0};
    seen.process(report, 9.3);
    return *seen.shown(id, kAppliedS + 0.5 * kBlend.duration_s);
  };
  const auto of_client = [&](const Motion& one, const Motion& other) {
    RemoteEntity entity(first, MotionPath::predict, {.shape = &blend_shape(kBlend.curve)});
    entity.receive(one, kAppliedS, kBlend.duration_s);
    entity.receive(other, kAppliedS, kBlend.duration_s);
    return entity.shown(kAppliedS + 0.5 * kBlend.duration_s);
  };
  EXPECT_LT(glm::distance(in_order({1, 2}).position, of_client(early, late).position), 1e-3);
  EXPECT_LT(glm::distance(in_order({2, 1}).position, of_client(late, early).position), 1e-3);
  EXPECT_GT(glm::distance(in_order({1, 2}).position, in_order({2, 1}).position), 0.01);
}

}  // namespace
}  // namespace reckoner
