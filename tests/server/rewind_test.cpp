// SPDX-License-Identifier: MIT
#include "net/src/messages/datagram.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// Fast turns at 6 m/s: corrections are large, and the shown pose depends on the arrival time of each motion.
State weave(double t, double phase) {
  State s;
  s.position = {3.0 * std::sin(2.0 * t + phase), 2.0 * std::sin(3.1 * t + 2.0 * phase), 0.0};
  s.velocity = {6.0f * static_cast<float>(std::cos(2.0 * t + phase)),
                6.2f * static_cast<float>(std::cos(3.1 * t + 2.0 * phase)), 0.0f};
  return s;
}

WorldConfig weaving(const std::string& link, std::uint64_t seed) {
  WorldConfig config;
  config.links = network(link);
  config.seed = seed;
  config.server.rewind_s = 1.0;
  return config;
}

void add_weavers(World& world, int count) {
  for (int i = 0; i < count; ++i)
    world.add_body([i](double t) { return weave(t, 0.7 * i); });
}

// Checks all frames, over links that lose different datagrams. Burst loss also loses reports of arrivals.
void expect_known(const char* link, PlayoutMode mode, BlendProfile profile = BlendProfile::balanced) {
  constexpr std::uint64_t kFirstSeed = 4;
  constexpr std::uint64_t kSeeds = 16;
  const double limit_m = mode == PlayoutMode::present ? 0.05 : 0.02;
  double share = 0.0;
  double unknown = 0.0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    World world(weaving(link, seed));
    add_weavers(world, 4);
    ClientConfig client;
    client.playout.mode = mode;
    client.playout.delay_s = 0.25;
    client.playout.use(profile);
    world.add_client(client, {.offset_s = -4321.0});
    RewindCheck witness(world, 0.4);
    world.run_to(20.0);
    ASSERT_GT(witness.errors_m.size(), 3000u);
    unknown += static_cast<double>(witness.unknown) /
               static_cast<double>(witness.unknown + witness.errors_m.size()) / kSeeds;
    share += witness.share_below(limit_m) / kSeeds;
  }
  const std::string what = std::string(link) + " mode " + std::to_string(static_cast<int>(mode)) +
                           " profile " + std::to_string(static_cast<int>(profile));
  EXPECT_GT(share, 0.9999) << what;
  // A burst of losses may swallow all reports of an arrival.
  EXPECT_LT(unknown, std::string(link) == "mobile" ? 0.02 : 0.006) << what;
}

TEST(Rewind, ServerReconstructsTheClientsShownPoses) {
  for (const char* link : {"intercity", "wifi", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed})
      expect_known(link, mode);
  }
}

TEST(Rewind, ServerReconstructsTheShownPosesOfEveryProfile) {
  for (const BlendProfile profile : {BlendProfile::article, BlendProfile::accurate, BlendProfile::gentle})
    expect_known("mobile", PlayoutMode::present, profile);
}

// A client that calls update() once per picture draws a teleport in the very picture in which it received it.
// In the buffered modes it draws the teleport in the first picture that shows its time, or a later one.
void expect_teleports_on_the_right_side(const std::string& link, PlayoutMode mode, std::uint64_t seed) {
  constexpr double kJumpM = 20.0;
  WorldConfig config = weaving(link, seed);
  config.updates_per_frame = config.arrival_times = true;
  World world(config);
  std::vector<double> jumps_s;
  for (int i = 0; i < 100; ++i)
    jumps_s.push_back(3.0 + 0.4 * i);
  for (int i = 0; i < 4; ++i) {
    const auto path = [i](double t) {
      State s = weave(t, 0.7 * i);
      s.position.z = kJumpM * std::floor((t + 1e-9 - 3.0) / 0.4);
      return s;
    };
    world.add_body(path, jumps_s);
  }
  ClientConfig client;
  client.playout.mode = mode;
  world.add_client(client);
  RewindCheck witness(world, 0.4);
  world.run_to(42.0);
  const std::string what = link + " mode " + std::to_string(static_cast<int>(mode)) + " seed " +
                           std::to_string(seed) + " at " + std::to_string(witness.worst_s);
  EXPECT_GT(witness.errors_m.size(), 6000u) << what;
  // After losses and much jitter, the server may not know exactly when the client applied a motion. On the
  // wrong side of a teleport, the error would be kJumpM.
  EXPECT_GT(witness.share_below(0.05), 0.99) << what;
  EXPECT_LT(witness.worst_m, link == "lan" ? 0.1 : 0.1 * kJumpM) << what;
}

// What existed before the client joined is known and right as soon as the server says so.
TEST(Rewind, IsRightFromTheFirstKnownFrameOn) {
  for (const char* link : {"lan", "intercity"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      World world(weaving(link, 3));
      add_weavers(world, 4);
      world.run_to(0.5);
      ClientConfig client;
      client.playout.mode = mode;
      world.add_client(client);
      struct Frame {
        double client_s = 0.0;
        std::vector<ShownEntity> shown;
      };
      std::vector<Frame> frames;
      world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
        const auto client_s = world.client(0).server_time_s();
        if (frames.size() < 20 && client_s && !shown.empty())
          frames.push_back({*client_s, {shown.begin(), shown.end()}});
      };
      std::size_t known = 0, asked = 0;
      for (double until_s = 0.6; until_s < 4.0; until_s += 0.05) {
        world.run_to(until_s);
        for (const Frame& frame : frames) {
          const ClientId viewer = world.server().clients().front();
          if (world.server().rewind_status(viewer, frame.client_s) != RewindStatus::known) continue;
          for (const ShownEntity& entity : frame.shown) {
            const auto pose = world.server().pose_seen_by(viewer, entity.id, frame.client_s);
            ++asked;
            if (!pose) continue;
            EXPECT_LT(glm::distance(pose->position, entity.shown.position), 0.05);
            ++known;
          }
        }
      }
      EXPECT_GT(asked, 500u) << link;
      EXPECT_GT(known, asked * 95 / 100) << link;
    }
  }
}

TEST(Rewind, TeleportIsOnTheRightSide) {
  for (const char* link : {"lan", "intercity"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        expect_teleports_on_the_right_side(link, mode, seed);
      }
    }
  }
}

// Until the client acknowledges the spawn of an entity, newer motions follow in further spawns.
// On mobile, a burst of losses takes several reports in a row: up to 11 % are unknown in a run, and 3.5 %
// over ten.
TEST(Rewind, NewEntitiesAreRightOrUnknown) {
  for (const auto& [link, most_unknown] : {std::pair{"intercity", 0.03}, std::pair{"mobile", 0.15}}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      WorldConfig config = weaving(link, 5);
      config.updates_per_frame = config.arrival_times = true;
      World world(config);
      ClientConfig client;
      client.playout.mode = mode;
      world.add_client(client);
      world.run_to(2.0);
      RewindCheck witness(world, 0.4);
      for (int i = 0; i < 120; ++i) {
        const EntityId id = world.add_body([i](double t) { return weave(t, 0.7 * i); });
        if (i % 8 == 7) add_weavers(world, 1);
        world.run_to(2.0 + 0.25 * (i + 1));
        if (i % 3 == 2) world.remove_body(id);
      }
      const std::string what = std::string(link) + " mode " + std::to_string(static_cast<int>(mode));
      EXPECT_GT(witness.errors_m.size(), 30'000u) << what;
      EXPECT_LT(witness.worst_m, 0.05) << what << " at " << witness.worst_s;
      const double all = static_cast<double>(witness.errors_m.size() + witness.unknown);
      EXPECT_LT(static_cast<double>(witness.unknown) / all, most_unknown) << what;
    }
  }
}

// Covers the time shortly after a client changed its playout mode. If the server does not know a pose, it
// returns none instead of a guess.
TEST(Rewind, ServerReconstructsShownPosesAfterAModeChange) {
  constexpr double kSwitchS = 6.0;
  for (const auto& [from, to] : {std::pair{PlayoutMode::present, PlayoutMode::adaptive},
                                 std::pair{PlayoutMode::adaptive, PlayoutMode::present},
                                 std::pair{PlayoutMode::present, PlayoutMode::delayed},
                                 std::pair{PlayoutMode::delayed, PlayoutMode::adaptive}}) {
    for (const char* link : {"intercity", "mobile"}) {
      World world(weaving(link, 5));
      add_weavers(world, 4);
      ClientConfig client;
      client.playout.mode = from;
      client.playout.delay_s = 0.25;
      world.add_client(client, {.offset_s = -4321.0});
      RewindCheck witness(world, 0.4);
      world.run_to(kSwitchS);
      client.playout.mode = to;
      client.playout.blend_s = frames_to_seconds(4.0, 60.0);  // the server must learn this, too
      ASSERT_TRUE(world.updated(0).set_playout(client.playout));
      // By then the delay has changed and the server has the report and has waited.
      world.run_to(kSwitchS + 4.5);
      const std::string what = std::string(link) + " to mode " + std::to_string(static_cast<int>(to));
      EXPECT_GT(witness.share_below(0.1), 0.98) << what;
      // Over both changes together, the poses of each of the four bodies are unknown for about 2.5 s.
      EXPECT_LT(witness.unknown, 4 * 60 * 2.5) << what;
      witness.errors_m.clear();
      witness.unknown = 0;
      world.run_to(kSwitchS + 15.0);
      EXPECT_GT(witness.share_below(to == PlayoutMode::present ? 0.05 : 0.02), 0.99) << what;
      // Bursts of loss take several reports in a row.
      EXPECT_LT(static_cast<double>(witness.unknown), 0.01 * static_cast<double>(witness.errors_m.size()))
          << what;
    }
  }
}

// A shot in a reliable message may overtake the report on what its shooter saw. The server then says so,
// instead of answering with what it knows so far.
TEST(Rewind, IsPendingUntilTheReportHasArrived) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    World world(weaving(link, 7));
    add_weavers(world, 4);
    world.add_client({}, {.offset_s = -4321.0});
    struct Shot {
      double client_s;
      std::vector<ShownEntity> shown;
    };
    std::deque<Shot> shots;
    std::size_t judged = 0, late = 0, wrong = 0, unknown = 0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      const auto client_s = world.client(0).server_time_s();
      if (time_s > 3.0 && client_s) shots.push_back({*client_s, {shown.begin(), shown.end()}});
    };
    world.after_tick = [&](double) {
      while (!shots.empty()) {
        const Shot& shot = shots.front();
        const RewindStatus status = world.server().rewind_status({1}, shot.client_s);
        if (status == RewindStatus::pending) return (void)++late;
        judged += shot.shown.size();
        for (const ShownEntity& drawn : shot.shown) {
          const auto pose = world.server().pose_seen_by({1}, drawn.id, shot.client_s);
          if (!pose) ++unknown;
          if (pose && glm::distance(pose->position, drawn.shown.position) > 0.02) ++wrong;
        }
        shots.pop_front();
      }
    };
    world.run_to(33.0);
    EXPECT_GT(judged, 30u * 60u * 4u * 9u / 10u) << link;
    EXPECT_GT(late, 100u) << link << ": no shot came before its report";
    EXPECT_EQ(wrong, 0u) << link;
    EXPECT_LT(static_cast<double>(unknown), 0.02 * static_cast<double>(judged)) << link;
  }
}

// Whatever stops, every answer is within 5 cm of what the client drew. The weavers move and stop, so that the
// fade of motions that are no longer valid shows.
void expect_right_or_nothing(World& world, double later_s, const std::string& what) {
  RewindCheck check(world, later_s);
  world.run_to(40.0);
  EXPECT_GT(check.errors_m.size(), 4000u)
      << what << " unknown " << check.unknown << " pending " << check.pending;
  EXPECT_LT(check.worst_m, 0.05) << what << " at " << check.worst_s << " s";
}

TEST(Rewind, IsRightOrUnknownAfterTheClientWasSuspended) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      for (const double stop_s : {0.7, 3.0, 10.0}) {
        for (std::uint64_t seed = 1; seed <= test::seeds_to_run(3); ++seed) {
          World world(weaving(link, seed));
          add_weavers(world, 4);
          ClientConfig client;
          client.playout.mode = mode;
          world.add_client(client, {.offset_s = -4321.0});
          world.run_to(8.0);
          world.suspend_client(0, 8.0 + stop_s);
          expect_right_or_nothing(world, 0.4,
                                  std::string(link) + " mode " + std::to_string(static_cast<int>(mode)) +
                                      " stop " + std::to_string(stop_s) + " seed " + std::to_string(seed));
        }
      }
    }
  }
}

TEST(Rewind, IsRightOrUnknownAfterTheServerWasSuspended) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      for (std::uint64_t seed = 1; seed <= test::seeds_to_run(3); ++seed) {
        World world(weaving(link, seed));
        add_weavers(world, 4);
        ClientConfig client;
        client.playout.mode = mode;
        world.add_client(client, {.offset_s = -4321.0});
        world.run_to(8.0);
        world.suspend_server(11.0);
        expect_right_or_nothing(world, 0.4, std::string(link) + " seed " + std::to_string(seed));
      }
    }
  }
}

// Without the client's reports of arrivals, the poses would be wrong: the published motion is far from the
// shown pose.
TEST(Rewind, ShownPoseDiffersFromThePublishedMotion) {
  World world(weaving("mobile", 5));
  add_weavers(world, 4);
  world.add_client();
  double worst_m = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown) {
      const auto published = world.server().published(e.id);
      if (time_s > 3.0 && published)
        worst_m = std::max(worst_m, glm::distance(state_at(*published, time_s).position, e.shown.position));
    }
  };
  world.run_to(10.0);
  EXPECT_GT(worst_m, 0.1);
}

TEST(Rewind, RefusesInstantsOutsideTheLimit) {
  WorldConfig config = weaving("broadband", 1);
  config.server.rewind_s = 0.3;
  World world(config);
  const EntityId id = world.add_body([](double t) { return weave(t, 0.0); });
  world.add_client();
  world.run_to(5.0);
  Server& server = world.server();
  const ClientId client{1};
  // The client reports what it shows when something has arrived.
  double now_s = 5.0;
  while (now_s < 6.0 && !server.pose_seen_by(client, id, now_s - 0.1))
    world.run_to(now_s += 0.01);
  EXPECT_TRUE(server.pose_seen_by(client, id, now_s - 0.1));
  EXPECT_TRUE(server.pose_seen_by(client, id, now_s - 0.25));
  EXPECT_FALSE(server.pose_seen_by(client, id, now_s - 0.35));
  EXPECT_FALSE(server.pose_seen_by(client, id, now_s + 0.5));
  EXPECT_FALSE(server.pose_seen_by(client, id, std::nan("")));
  EXPECT_FALSE(server.pose_seen_by({2}, id, now_s - 0.1));
  EXPECT_FALSE(server.pose_seen_by(client, {99, 0}, now_s - 0.1));
  EXPECT_TRUE(server.rewind(client, now_s - 0.35).empty());
  EXPECT_EQ(server.rewind(client, now_s - 0.1).size(), 1u);
}

// In buffered mode the shown instant is older than the shot. The limit covers that, too.
TEST(Rewind, LimitIncludesThePlayoutDelay) {
  WorldConfig config = weaving("lan", 1);
  config.server.rewind_s = 0.45;
  World world(config);
  const EntityId id = world.add_body([](double t) { return weave(t, 0.0); });
  ClientConfig client;
  client.playout.mode = PlayoutMode::delayed;
  client.playout.delay_s = 0.2;
  world.add_client(client);
  world.run_to(5.0);
  EXPECT_TRUE(world.server().pose_seen_by({1}, id, 4.8));
  EXPECT_FALSE(world.server().pose_seen_by({1}, id, 4.7));
}

TEST(Rewind, KeepsNoHistoryUnlessConfigured) {
  WorldConfig config = weaving("lan", 1);
  config.server.rewind_s = 0.0;
  World world(config);
  const EntityId id = world.add_body([](double t) { return weave(t, 0.0); });
  world.add_client();
  world.run_to(3.0);
  EXPECT_FALSE(world.server().pose_seen_by({1}, id, 2.95));
  EXPECT_TRUE(world.server().rewind({1}, 2.95).empty());
}

TEST(Rewind, KnowsAnEntityWhileTheClientShowsIt) {
  World world(weaving("wifi", 3));
  world.add_client();
  world.run_to(3.0);
  const EntityId id = world.add_body([](double t) { return weave(t, 0.0); });
  RewindCheck witness(world, 0.3);
  world.run_to(6.0);
  EXPECT_GT(witness.share_below(0.05), 0.97);
  EXPECT_LE(witness.unknown, 6u);  // until the client has confirmed that it knows the entity
  world.remove_body(id);
  world.run_to(7.0);
  EXPECT_FALSE(world.server().pose_seen_by({1}, id, 6.5));
}

// The client's machine slept. The poses in between are unknown and are not guessed.
TEST(Rewind, PosesDuringAClientsSleepStayUnknown) {
  World world(weaving("broadband", 1));
  const EntityId id = world.add_body([](double t) { return weave(t, 0.0); });
  world.add_client();
  RewindCheck witness(world, 0.3);
  world.run_to(5.0);
  world.set_local_clock(0, {.offset_s = 1003.0});
  world.run_to(5.6);
  EXPECT_FALSE(world.server().pose_seen_by({1}, id, 5.2));
  world.run_to(25.0);
  EXPECT_GT(witness.unknown, 0u);
  EXPECT_GT(witness.share_below(0.05), 0.98);
  EXPECT_TRUE(world.server().pose_seen_by({1}, id, 24.8));
}

TEST(Rewind, ServerReconstructsShownPosesOverALossyLink) {
  WorldConfig config = weaving("wifi", 7);
  config.links =
      both_ways({.latency_ms = 60.0, .jitter_ms = 30.0, .loss_percent = 20.0, .duplicate_percent = 5.0});
  World world(config);
  add_weavers(world, 4);
  world.add_client();
  RewindCheck witness(world, 0.5);
  world.run_to(20.0);
  EXPECT_GT(witness.share_below(0.05), 0.95);
}

}  // namespace
}  // namespace reckoner::test
