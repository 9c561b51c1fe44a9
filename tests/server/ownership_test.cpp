// SPDX-License-Identifier: MIT
#include "match.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// The 95th percentile of the other client's error is small but not zero, over links that lose different
// datagrams.
TEST(Ownership, OtherClientsSeeTheAvatarNearItsTruePosition) {
  constexpr std::uint64_t kSeeds = 15;
  std::vector<double> p95_m;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Match match("wifi", "mobile", seed);
    const EntityId avatar = match.spawn_avatar();
    match.world().run_to(3.0);
    ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
    match.world().run_to(20.0);
    p95_m.push_back(match.error_m(1, 4.0, 0.95));
    EXPECT_GT(p95_m.back(), 0.001);
  }
  std::ranges::sort(p95_m);
  EXPECT_LT(p95_m[kSeeds / 2], 0.15);
  EXPECT_LT(p95_m[kSeeds * 8 / 10], 0.35);
}

TEST(Ownership, OtherClientsSeeTheOwnersMotion) {
  Match match;
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  EXPECT_EQ(match.server().owner(avatar), Match::id(0));
  EXPECT_FALSE(match.server().move(avatar, State{}));
  match.world().run_to(20.0);
  EXPECT_EQ(match.world().count(0, ClientEvent::Kind::given), 1u);
  EXPECT_EQ(match.world().count(1, ClientEvent::Kind::given), 0u);
  EXPECT_LT(match.error_m(0, 4.0, 1.0), 0.15) << "the owner sees it where it is, but for its clock";
  const OwnershipStats& stats = match.server().ownership_stats();
  EXPECT_GT(stats.accepted, 50u);
  EXPECT_EQ(stats.corrected, 0u);
  EXPECT_EQ(stats.ahead, 0u);
  EXPECT_EQ(stats.too_many, 0u);
  // The age covers the whole path: at least the delay from the owner to the server and from the server to the
  // client.
  const ShownEntity* shown = match.world().shown(1, avatar);
  ASSERT_NE(shown, nullptr);
  EXPECT_GT(shown->age_s, 0.12);
}

TEST(Ownership, OwnerNeverSeesItsEntityDelayed) {
  Match match("wifi", "mobile", 2, 12.0, PlayoutMode::adaptive);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(10.0);
  EXPECT_LT(match.error_m(0, 5.0, 1.0), 0.2);
  EXPECT_GT(match.error_m(1, 5.0, 0.5), 0.5);  // the other client shows the past, as configured
  const ShownEntity* own = match.world().shown(0, avatar);
  const ShownEntity* other = match.world().shown(1, avatar);
  ASSERT_TRUE(own != nullptr && other != nullptr);
  EXPECT_GT(own->shown_time_s, other->shown_time_s + 0.1);
}

TEST(Ownership, LostMotionsAreRepaired) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Match match("lan", "lan", seed);
    const EntityId avatar = match.spawn_avatar();
    match.story = [](double t) {
      return t < 9.0 ? weave(t) : [] {
        State rest = weave(9.0);
        rest.velocity = glm::vec3{0.0f};
        return rest;
      }();
    };
    match.world().run_to(3.0);
    ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
    match.world().run_to(5.0);
    // Of the client's datagrams that carry data, one in three is lost at random. At the end, all of them are
    // lost. If exactly every third were lost, a repair could be lost again and again.
    std::minstd_rand draw(static_cast<std::minstd_rand::result_type>(seed));
    Tap& tap = match.world().tap(0);
    tap.drop_sent = [&](std::span<const std::byte>) {
      const double now_s = match.world().now_s();
      return (draw() % 3 == 0 || (now_s > 8.9 && now_s < 9.3));
    };
    match.world().run_to(12.0);
    const ShownEntity* shown = match.world().shown(1, avatar);
    ASSERT_NE(shown, nullptr);
    EXPECT_LT(glm::distance(shown->shown.position, weave(9.0).position), 0.05) << seed;
  }
}

// The owner's player opens a menu for a while. Without the brake, the avatar would run on at the other
// client, 24 m in 3 s, and be thrown back.
void expect_rest_while_idle(bool paused, double idle_s, const std::string& network) {
  constexpr double kSpeedMps = 8.0;
  constexpr double kBeginS = 6.0;
  Match match(network, network, 3, 10.0);
  double shift_m = 0.0;
  match.story = [&](double t) {
    State s;
    s.position = {kSpeedMps * t + shift_m, 0.0, 0.0};
    s.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f};
    return s;
  };
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(kBeginS);
  match.owner_idle = true;
  World& world = match.world();
  if (paused) world.updated(0).set_paused(true);
  match.world().run_to(kBeginS + idle_s);
  if (idle_s > 2.0) {
    const ShownEntity* seen = match.world().shown(1, avatar);
    ASSERT_NE(seen, nullptr);
    EXPECT_LT(glm::length(seen->shown.velocity), 0.01f);
    // 0.25 s until the client notices and 0.5 s of braking
    EXPECT_NEAR(seen->shown.position.x, kSpeedMps * (kBeginS + (paused ? 0.25 : 0.5)), 0.6);
    const auto continues = world.updated(0).owned(avatar);
    ASSERT_TRUE(continues);
    EXPECT_NEAR(continues->position.x, seen->shown.position.x, 0.05);
  }
  match.owner_idle = false;
  if (paused) world.updated(0).set_paused(false);
  // The game is told to continue from the brake. Its first call of move() only asks for that.
  const bool braked = paused || idle_s > 0.25;
  double back_s = kBeginS + idle_s;
  const auto before = match.story;
  if (braked) {
    match.story = [&](double) { return world.client(0).owned(avatar).value_or(State{}); };
    while (match.world().count(0, ClientEvent::Kind::corrected) == 0 && back_s < kBeginS + idle_s + 0.1)
      match.world().run_to(back_s += 1.0 / 240.0);
    EXPECT_EQ(match.world().count(0, ClientEvent::Kind::corrected), 1u);
    match.story = before;
    const auto from = world.updated(0).owned(avatar);
    ASSERT_TRUE(from);
    shift_m = from->position.x - kSpeedMps * back_s;
  }
  match.world().run_to(kBeginS + idle_s + 5.0);
  EXPECT_EQ(match.server().ownership_stats().corrected, 0u);
  EXPECT_EQ(match.world().count(0, ClientEvent::Kind::corrected), braked ? 1u : 0u);
  for (const std::size_t client : {0u, 1u}) {
    const auto& shown = match.shown_poses[client];
    double fastest_mps = 0.0;
    for (std::size_t i = 1; i < shown.size(); ++i) {
      if (shown[i - 1].first < kBeginS - 1.0) continue;
      const double step_m = glm::distance(shown[i].second.position, shown[i - 1].second.position);
      fastest_mps = std::max(fastest_mps, step_m / (shown[i].first - shown[i - 1].first));
    }
    if (client == 1) {
      EXPECT_LT(fastest_mps, 10.5);
    }
    EXPECT_NEAR(shown.back().second.position.x, match.story(shown.back().first).position.x, 1.0);
  }
}

TEST(Ownership, EntityOfAPausedOwnerComesToRest) {
  for (const char* network : {"lan", "intercity", "mobile"}) {
    for (const double idle_s : {0.2, 0.4, 1.0, 3.0, 30.0}) {
      for (const bool paused : {true, false}) {
        SCOPED_TRACE(std::string(network) + (paused ? ", paused, " : ", idle, ") + std::to_string(idle_s) +
                     " s");
        expect_rest_while_idle(paused, idle_s, network);
      }
    }
  }
}

// An owner that runs in a circle and blinks 8 m to the other side every second.
struct Blinks {
  std::uint64_t teleports = 0;  // accepted by the server
  std::uint64_t corrected = 0;
  std::size_t declared = 0;
  std::size_t seen = 0;      // events at the other client
  double between_m = 1e9;    // how near to the middle of the circle the other client drew it
  double fastest_mps = 0.0;  // largest drawn speed at the other client, without the blinks
  double longest_m = 0.0;    // longest distance of the server's avatar from one tick to the next
};

Blinks play_blinks(const char* link, OwnershipRules rules, PlayoutMode mode = PlayoutMode::present) {
  constexpr double kRadiusM = 4.0;
  constexpr double kBeginS = 3.0;
  WorldConfig config = Match::world_config(12.0, 2);
  config.links = network(link);
  World world(config);
  ClientConfig client;
  client.playout.mode = mode;
  world.add_client(client);
  world.run_to(1.0);
  world.add_client(client);
  world.run_to(2.0);
  const auto path = [](double t) {
    State s;
    const double blinks = std::max(0.0, std::floor(t - kBeginS));
    const double angle = 1.5 * t + std::numbers::pi * blinks;
    s.position = {kRadiusM * std::cos(angle), kRadiusM * std::sin(angle), 0.0};
    s.velocity = {static_cast<float>(-1.5 * kRadiusM * std::sin(angle)),
                  static_cast<float>(1.5 * kRadiusM * std::cos(angle)), 0.0f};
    return s;
  };
  const EntityId avatar = *world.server().spawn(0, "avatar", path(2.0));
  EXPECT_TRUE(world.server().give(avatar, {1}, rules));
  Blinks out;
  std::optional<glm::dvec3> placed;
  world.after_tick = [&](double) {
    const glm::dvec3 now = world.server().state(avatar)->position;
    out.longest_m = std::max(out.longest_m, glm::distance(placed.value_or(now), now));
    placed = now;
  };
  double last_s = 2.0;
  std::optional<glm::dvec3> before;
  world.on_frame = [&](std::size_t index, double t, std::span<const ShownEntity>) {
    if (index == 0) {
      if (!world.client(0).owned(avatar)) return;
      const bool blinks = t > kBeginS && std::floor(t - kBeginS) > std::floor(last_s - kBeginS) && t > 3.5;
      const CallResult moved =
          blinks ? world.client(0).teleport(avatar, path(t)) : world.client(0).move(avatar, path(t));
      if (blinks && moved) ++out.declared;
      last_s = t;
    } else if (const ShownEntity* shown = world.shown(1, avatar); shown != nullptr && t > 2.8) {
      const glm::dvec3 at = shown->shown.position;
      out.between_m = std::min(out.between_m, glm::length(at));
      const double step_m = glm::distance(at, before.value_or(at));
      if (step_m < kRadiusM) out.fastest_mps = std::max(out.fastest_mps, step_m * config.frame_rate_hz);
      before = at;
    }
  };
  world.run_to(30.0);
  out.teleports = world.server().ownership_stats().teleports;
  out.corrected = world.server().ownership_stats().corrected;
  out.seen = world.count(1, ClientEvent::Kind::teleported);
  return out;
}

TEST(Ownership, OwnerMayTeleportWithinTheRules) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      SCOPED_TRACE(link);
      const Blinks allowed = play_blinks(link, {.max_teleport_m = 9.0, .teleport_interval_s = 0.5}, mode);
      EXPECT_GT(allowed.declared, 25u);
      EXPECT_GE(allowed.teleports + 1, allowed.declared);  // the last may be in flight
      EXPECT_EQ(allowed.corrected, 0u);
      EXPECT_GE(allowed.seen + 2, allowed.declared);
      EXPECT_GT(allowed.between_m, 3.0) << "drawn between the ends";
      EXPECT_LT(allowed.fastest_mps, 12.6);
    }
  }
}

// The server moves an entity in the tick in which it takes it from its owner, and never again. Its motion can
// arrive before the message that the client no longer owns the entity.
TEST(Ownership, RevokedEntityIsShownWhereTheServerMovedIt) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(link) + ", seed " + std::to_string(seed));
      WorldConfig config;
      config.links = network(link);
      config.seed = seed;
      World world(config);
      world.add_client();
      world.run_to(3.0);
      const EntityId avatar = *world.server().spawn(0, "avatar", State{});
      ASSERT_TRUE(world.server().give(avatar, {1}, {}));
      world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
        if (world.client(0).owned(avatar)) (void)world.client(0).move(avatar, State{});
      };
      world.run_to(6.0);
      ASSERT_TRUE(world.updated(0).owned(avatar));
      ASSERT_TRUE(world.server().revoke(avatar));
      State elsewhere;
      elsewhere.position = {3.0, 0.0, 0.0};
      ASSERT_TRUE(world.server().move(avatar, elsewhere));
      world.run_to(12.0);
      EXPECT_FALSE(world.updated(0).owned(avatar));
      const ShownEntity* shown = world.shown(0, avatar);
      ASSERT_NE(shown, nullptr);
      EXPECT_LT(glm::distance(shown->shown.position, elsewhere.position), 0.05);
    }
  }
}

TEST(Ownership, TeleportsBeyondTheRulesAreCorrected) {
  for (const OwnershipRules& rules : {OwnershipRules{}, OwnershipRules{.max_teleport_m = 5.0},
                                      OwnershipRules{.max_teleport_m = 9.0, .teleport_interval_s = 100.0}}) {
    const Blinks refused = play_blinks("intercity", rules);
    // After a correction, what is left of a blink can be short enough for the rules.
    constexpr double kOrdinaryM = 12.6 * 0.2;  // at the top speed, between two motions
    const bool may_be_short = rules.max_teleport_m > 0.0 && rules.teleport_interval_s == 0.0;
    EXPECT_LE(refused.teleports, rules.teleport_interval_s > 0.0 ? 1u : may_be_short ? 3u : 0u);
    EXPECT_LE(refused.longest_m, rules.max_teleport_m + kOrdinaryM);
    EXPECT_GT(refused.corrected, 0u);
    EXPECT_LT(refused.fastest_mps, 12.6);
  }
  const Blinks trusted = play_blinks("intercity", {.policy = OwnerPolicy::accept});
  EXPECT_GE(trusted.teleports + 1, trusted.declared);
  EXPECT_EQ(trusted.corrected, 0u);
}

// An owner's frames lie between the ticks that stamp its motions. A body that dashes almost at its top speed
// and stops in an instant must not look faster than it is.
TEST(Ownership, StopBetweenTwoTicksIsNotCorrected) {
  WorldConfig config = Match::world_config(16.0, 1);
  config.links = network("lan");
  config.frame_rate_hz = 59.0;  // the frames move against the ticks
  World world(config);
  world.add_client();
  world.run_to(1.0);
  const auto dash = [](double t) {  // for 0.2 s in every 0.6 s
    constexpr double kDashMps = 14.0;
    State s;
    const double period = std::floor(t / 0.6);
    const double dashed_s = std::min(0.2, t - 0.6 * period);
    s.position.x = kDashMps * (0.2 * period + dashed_s);
    if (dashed_s < 0.2) s.velocity.x = static_cast<float>(kDashMps);
    return s;
  };
  const EntityId avatar = *world.server().spawn(0, "avatar", dash(1.0));
  ASSERT_TRUE(world.server().give(avatar, {1}));
  world.on_frame = [&](std::size_t, double t, std::span<const ShownEntity>) {
    if (world.client(0).owned(avatar)) (void)world.client(0).move(avatar, dash(t));
  };
  world.run_to(60.0);
  EXPECT_EQ(world.server().ownership_stats().corrected, 0u);
  EXPECT_GT(world.server().ownership_stats().accepted, 150u);
}

// Largest step of a client's shown velocity (m/s) while the avatar keeps one owner: a client, or the server.
double usual_step_mps(std::uint64_t seed, std::size_t client, std::optional<std::size_t> owner) {
  Match match("broadband", "broadband", seed);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  if (owner && !match.server().give(avatar, Match::id(*owner))) ADD_FAILURE();
  match.world().run_to(14.0);
  return match.velocity_step_mps(client, 4.0);
}

// Shows the clients an avatar that changes its owner several times. Returns the velocity steps at the
// changes, m/s.
std::vector<double> steps_at_changes(std::uint64_t seed, double usual_mps) {
  Match match("broadband", "broadband", seed);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(5.0);
  EXPECT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(8.0);
  EXPECT_TRUE(match.server().give(avatar, Match::id(1)));  // from one client to the other
  match.world().run_to(11.0);
  EXPECT_EQ(match.world().count(0, ClientEvent::Kind::revoked), 1u);
  EXPECT_EQ(match.world().count(1, ClientEvent::Kind::given), 1u);
  EXPECT_TRUE(match.server().revoke(avatar));
  EXPECT_FALSE(match.server().revoke(avatar));
  match.world().run_to(14.0);
  EXPECT_EQ(match.world().count(1, ClientEvent::Kind::revoked), 1u);
  std::vector<double> steps;
  for (std::size_t client : {0u, 1u}) {
    EXPECT_LT(match.error_m(client, 4.0, 1.0), 0.25) << client << " seed " << seed;
    EXPECT_LT(match.error_m(client, 4.0, 0.95), 0.15) << client << " seed " << seed;
    EXPECT_LT(match.velocity_step_mps(client, 4.0), usual_mps + 0.1) << client << " seed " << seed;
    // The changes themselves. A lost datagram can cause later steps.
    for (const double changed_s : {5.0, 8.0, 11.0})
      steps.push_back(match.velocity_step_mps(client, changed_s, changed_s + 0.3));
  }
  EXPECT_FALSE(match.server().owner(avatar));
  return steps;
}

TEST(Ownership, ChangeOfOwnerCausesNoJump) {
  // A change of owner is invisible: its steps are not larger than the steps of ordinary corrections over this
  // link. These steps depend mostly on datagram loss.
  constexpr std::uint64_t kSeeds = 24, kSeedsOfMost = 8;  // a largest step grows with the number of seeds
  double usual_mps = 0.0, mean_mps = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (std::size_t client : {0u, 1u}) {
      for (const std::optional<std::size_t> owner : {std::optional<std::size_t>{}, {0}, {1}}) {
        const double step_mps = usual_step_mps(seed, client, owner);
        if (seed <= kSeedsOfMost) usual_mps = std::max(usual_mps, step_mps);
        mean_mps += step_mps / (6.0 * kSeeds);
      }
    }
  }
  EXPECT_LT(mean_mps, 0.6);
  EXPECT_LT(usual_mps, 2.0);
  std::vector<double> at_changes;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<double> steps = steps_at_changes(seed, usual_mps);
    at_changes.insert(at_changes.end(), steps.begin(), steps.end());
  }
  const double sum_mps = std::accumulate(at_changes.begin(), at_changes.end(), 0.0);
  EXPECT_LT(sum_mps / static_cast<double>(at_changes.size()), mean_mps);
}

TEST(Ownership, ImpossibleMotionIsCorrectedAndReportedToTheOwner) {
  Match match("broadband", "broadband", 5, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(6.0);
  // The avatar is suddenly 30 m away and would continue there. The game accepts the correction.
  double offset_m = 30.0;
  match.story = [&](double t) {
    State s = weave(t);
    s.position.x += offset_m;
    return s;
  };
  match.world().run_to(6.2);
  EXPECT_GT(match.server().ownership_stats().corrected, 0u);
  EXPECT_GE(match.world().count(ServerEvent::Kind::owner_corrected), 1u);
  offset_m = 0.0;
  match.world().run_to(12.0);
  EXPECT_GE(match.world().count(0, ClientEvent::Kind::corrected), 1u);
  for (const auto& [time_s, state] : match.shown_poses[1])
    EXPECT_LT(glm::length(state.position), 12.0) << time_s;
  EXPECT_LT(match.error_m(1, 9.0, 0.95), 0.3);
}

// The owner's game follows the correction, and the owner sees a blend to the corrected position.
TEST(Ownership, OwnerSeesACorrectionAsABlend) {
  constexpr double kOffsetM = 5.0, kLiesFromS = 6.0;
  Match match("broadband", "broadband", 5, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  std::optional<double> corrected_s;
  match.story = [&](double t) {
    if (!corrected_s && match.world().count(0, ClientEvent::Kind::corrected) > 0) corrected_s = t;
    State s = weave(t);
    if (t >= kLiesFromS && !corrected_s) s.position.x += kOffsetM;
    return s;
  };
  match.world().run_to(9.0);
  ASSERT_TRUE(corrected_s);
  EXPECT_LT(*corrected_s, kLiesFromS + 1.0);
  // A cubic blend over T (6.5 frames) covers at most a quarter of the offset in one frame. Its acceleration
  // is at most the offset times 6 / T^2. The avatar's own movement adds to that.
  constexpr double kFrames = 6.5;
  double farthest_m = 0.0;
  const auto& shown_poses = match.shown_poses[0];
  for (std::size_t i = 2; i < shown_poses.size(); ++i) {
    if (shown_poses[i].first < *corrected_s) continue;
    const glm::dvec3 now = shown_poses[i].second.position - shown_poses[i - 1].second.position;
    const glm::dvec3 before = shown_poses[i - 1].second.position - shown_poses[i - 2].second.position;
    farthest_m = std::max(farthest_m, glm::length(now));
    EXPECT_LT(glm::length(now), 1.5 * kOffsetM / kFrames + 0.3) << shown_poses[i].first;
    EXPECT_LT(glm::length(now - before), 6.0 * kOffsetM / (kFrames * kFrames) + 0.3) << shown_poses[i].first;
  }
  EXPECT_GT(farthest_m, 0.5) << "the owner's avatar was corrected";
  EXPECT_LT(match.error_m(0, *corrected_s + 0.5, 1.0), 0.15);
}

TEST(Ownership, RefusedMotionsAreNotShown) {
  Match match("broadband", "broadband", 6, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  OwnershipRules rules;
  rules.policy = OwnerPolicy::refuse;
  ASSERT_TRUE(match.server().give(avatar, Match::id(0), rules));
  match.world().run_to(6.0);
  match.story = [](double t) {
    State s = weave(t);
    s.position.y += 500.0;
    return s;
  };
  match.world().run_to(9.0);
  EXPECT_GT(match.server().ownership_stats().refused, 0u);
  EXPECT_GE(match.world().count(ServerEvent::Kind::owner_refused), 1u);
  // It came to rest at its last accepted position.
  const ShownEntity* shown = match.world().shown(1, avatar);
  ASSERT_NE(shown, nullptr);
  EXPECT_LT(glm::length(shown->shown.position), 15.0);
  EXPECT_LT(glm::length(shown->shown.velocity), 0.1f);
}

// The owner's motions have later time stamps than the ticks that forward them.
TEST(Ownership, MotionsFromAFastClockAreForwardedAsOfNow) {
  Match match("lan", "lan", 6, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(6.0);
  const std::uint64_t before = match.server().ownership_stats().accepted;
  match.world().set_local_clock(0, {.offset_s = 1000.08});
  match.world().run_to(7.0);
  EXPECT_GT(match.server().ownership_stats().accepted, before);
  EXPECT_EQ(match.world().client(1).stats().malformed, 0u);
  EXPECT_EQ(match.world().client(1).stats().datagrams_lost, 0u);
  EXPECT_LT(match.error_m(1, 6.0, 0.95), 0.5);  // 80 ms at its speed
}

TEST(Ownership, TrustedOwnerMayJump) {
  Match match("broadband", "broadband", 6, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  OwnershipRules rules;
  rules.policy = OwnerPolicy::accept;
  ASSERT_TRUE(match.server().give(avatar, Match::id(0), rules));
  match.story = [](double t) {
    State s = weave(t);
    s.position.x += t > 6.0 ? 50.0 : 0.0;
    return s;
  };
  match.world().run_to(9.0);
  EXPECT_EQ(match.server().ownership_stats().corrected, 0u);
  EXPECT_LT(match.error_m(1, 7.0, 0.95), 0.3);
}

TEST(Ownership, ServersTeleportOverridesTheOwner) {
  Match match("broadband", "broadband", 7, 12.0);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(5.0);
  State away = weave(5.0);
  away.position.x += 200.0;
  ASSERT_TRUE(match.server().teleport(avatar, away));
  match.story = [&](double t) {
    State s = weave(t);
    s.position.x += 200.0;
    return s;
  };
  match.world().run_to(10.0);
  EXPECT_EQ(match.world().count(1, ClientEvent::Kind::teleported), 1u);
  EXPECT_LT(match.error_m(1, 6.0, 1.0), 0.5);
  EXPECT_EQ(match.server().owner(avatar), Match::id(0));
}

TEST(Ownership, EntityOfADisconnectedOwnerComesToRestOrIsDespawned) {
  for (const OwnerGone gone : {OwnerGone::rest, OwnerGone::despawn}) {
    Match match("broadband", "broadband", 8);
    const EntityId avatar = match.spawn_avatar();
    match.world().run_to(3.0);
    OwnershipRules rules;
    rules.gone = gone;
    ASSERT_TRUE(match.server().give(avatar, Match::id(0), rules));
    match.world().run_to(6.0);
    match.world().client(0).leave();
    match.world().after_tick = nullptr;
    match.world().run_to(9.0);
    EXPECT_FALSE(match.server().owner(avatar));
    match.world().after_tick = nullptr;
    const ShownEntity* shown = match.world().shown(1, avatar);
    if (gone == OwnerGone::despawn) {
      EXPECT_EQ(shown, nullptr);
      EXPECT_EQ(match.server().entity_count(), 0u);
      continue;
    }
    ASSERT_NE(shown, nullptr);
    EXPECT_EQ(glm::length(shown->shown.velocity), 0.0f);
    EXPECT_LT(match.velocity_step_mps(1, 5.9), 2.5);    // it faded
    EXPECT_TRUE(match.server().move(avatar, State{}));  // the server owns it again
  }
}

TEST(Ownership, EntityOfASilentOwnerFadesAndRecovers) {
  Match match("broadband", "broadband", 9);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(5.0);
  match.world().tap(0).drop_sent = [&](std::span<const std::byte>) {
    const double now_s = match.world().now_s();
    return now_s > 5.0 && now_s < 8.0;
  };
  match.world().run_to(7.9);
  const ShownEntity* shown = match.world().shown(1, avatar);
  ASSERT_NE(shown, nullptr);
  EXPECT_LT(glm::length(shown->shown.velocity), 0.01f);
  EXPECT_EQ(match.server().owner(avatar), Match::id(0));
  match.world().run_to(12.0);
  EXPECT_LT(match.error_m(1, 10.0, 0.95), 0.3);
}

TEST(Ownership, OnlyTheOwnerMayMoveTheEntity) {
  Match match("lan", "lan", 10);
  const EntityId avatar = match.spawn_avatar();
  match.world().run_to(3.0);
  EXPECT_FALSE(match.server().give(avatar, {99}));
  EXPECT_FALSE(match.server().give({77, 0}, Match::id(0)));
  EXPECT_FALSE(match.world().updated(1).move(avatar, State{}));
  ASSERT_TRUE(match.server().give(avatar, Match::id(0)));
  match.world().run_to(4.0);
  EXPECT_FALSE(match.world().updated(1).move(avatar, State{}));
  State insane;
  insane.position.x = std::nan("");
  EXPECT_FALSE(match.world().updated(0).move(avatar, insane));
  ASSERT_TRUE(match.server().state(avatar));
  EXPECT_LT(glm::distance(match.server().state(avatar)->position, weave(4.0).position), 0.3);
}

}  // namespace
}  // namespace reckoner::test
