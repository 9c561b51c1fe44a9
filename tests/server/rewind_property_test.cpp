// SPDX-License-Identifier: MIT
// Whatever changes a blend on a client: the server's reconstruction is the pose that the client drew, or the
// server says that it does not know. Random stories over everything that changes a blend.
#include "scenario/builtin/random.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kStoryTickS = 1.0 / 60.0;
constexpr double kFarM = 0.05;
constexpr std::size_t kShip = 0;
constexpr std::size_t kWalker = 1;
constexpr double kTopMps = 12.0;
constexpr double kGravity = 9.81;

// What happens in a story.
struct Story {
  bool frames = true;      // entities enter and leave ships
  bool hits = true;        // velocities change suddenly
  bool teleports = false;  // jumps, also into and out of ships
  bool jumps = false;      // entities jump and land on a floor
  bool ends = false;       // ships end, with entities on them, and new ones come
  bool owner = false;      // the client owns an entity that boards ships
  bool pauses = false;     // the client pauses and goes on
  bool playouts = false;   // the client changes its mode, its delay and its blend
  bool clocks = false;     // the client's clock steps
  bool sleeps = false;     // the client is suspended
  double top_mps = kTopMps;
};

// The server's game: some ships, and entities that walk about, on the ships and off them.
class Game {
 public:
  Game(World& world, const Story& story, std::uint64_t seed)
      : world_(world), story_(story), random_(0x9e3779b9u + seed) {
    world_.before_tick = [this](double time_s) { tick(time_s); };
  }

  void begin(int walkers) {
    for (int i = 0; i < kShips; ++i)
      add_ship();
    for (int i = 0; i < walkers; ++i) {
      State state = standing(place());
      walkers_.push_back(
          {*world_.server().spawn(kWalker, "walker", state), state, world_.now_s() + wait_s()});
    }
    if (!story_.owner) return;
    own_ = *world_.server().spawn(kWalker, "own", standing({}));
    (void)world_.server().give(own_, {1}, {.policy = OwnerPolicy::accept});
  }

  // Lets the client's game do its part. Call it after every picture.
  void play(double time_s) {
    Client& client = world_.client(0);
    if (!own_ || !client.owned(own_)) return;
    if (time_s > own_next_s_) {
      own_next_s_ = time_s + random_.uniform(0.5, 2.0);
      own_ship_ = random_.below(2) == 0 ? ships_[random_.below(ships_.size())].id : EntityId{};
      own_place_ =
          own_ship_ ? glm::dvec3{random_.uniform(-8.0, 8.0), random_.uniform(-2.0, 2.0), 1.0} : place();
    }
    (void)client.move(own_, standing(own_place_), own_ship_);
  }

 private:
  static constexpr int kShips = 3;
  struct Ship {
    EntityId id;
    State state;
    double turn_rps = 0.0;
    double next_s = 0.0;
  };
  struct Walker {
    EntityId id;
    State state;
    double next_s = 0.0;
    EntityId ship{};
    bool in_air = false;
  };

  [[nodiscard]] double wait_s() { return random_.uniform(0.05, 1.2); }
  [[nodiscard]] glm::dvec3 place() {
    return {random_.uniform(-20.0, 20.0), random_.uniform(-20.0, 20.0), 0.0};
  }
  [[nodiscard]] glm::vec3 velocity(double most_mps) {
    const double angle = random_.uniform(0.0, 6.283);
    const double speed = random_.uniform(0.0, most_mps);
    return {static_cast<float>(speed * std::cos(angle)), static_cast<float>(speed * std::sin(angle)), 0.0f};
  }

  void add_ship() {
    State state = standing(place());
    state.velocity = velocity(4.0);
    ships_.push_back({*world_.server().spawn(kShip, "ship", state), state, 0.0, 0.0});
    (void)world_.server().set_boardable(ships_.back().id, true);
  }

  void tick(double time_s) {
    if (ships_.empty()) return;
    Server& server = world_.server();
    for (Ship& ship : ships_) {
      if (time_s > ship.next_s) {
        ship.next_s = time_s + random_.uniform(0.5, 2.0);
        ship.state.velocity = velocity(5.0);
        if (glm::length(ship.state.position) > 30.0)
          ship.state.velocity = glm::vec3{-4.0 * glm::normalize(ship.state.position)};
        ship.turn_rps = random_.uniform(-0.6, 0.6);
      }
      ship.state.position += glm::dvec3{ship.state.velocity} * kStoryTickS;
      ship.state.angular_velocity = {0.0f, 0.0f, static_cast<float>(ship.turn_rps)};
      const glm::dquat turn = glm::angleAxis(ship.turn_rps * kStoryTickS, glm::dvec3{0.0, 0.0, 1.0});
      ship.state.orientation = glm::quat{glm::normalize(turn * glm::dquat{ship.state.orientation})};
      (void)server.move(ship.id, ship.state);
    }
    if (story_.ends && time_s > end_s_) {
      end_s_ = time_s + random_.uniform(1.5, 4.0);
      const std::size_t which = random_.below(ships_.size());
      const EntityId gone = ships_[which].id;
      (void)server.despawn(gone);
      ships_.erase(ships_.begin() + static_cast<std::ptrdiff_t>(which));
      add_ship();
      for (Walker& walker : walkers_) {
        if (walker.ship != gone) continue;
        walker.ship = {};
        if (const auto state = server.state(walker.id)) walker.state = *state;
      }
      if (own_ship_ == gone) own_next_s_ = 0.0;
    }
    for (Walker& walker : walkers_)
      step(walker, time_s);
    disturb(time_s);
  }

  void step(Walker& walker, double time_s) {
    Server& server = world_.server();
    State& s = walker.state;
    s.position += glm::dvec3{s.velocity} * kStoryTickS;
    if (walker.in_air) {
      s.velocity.z -= static_cast<float>(kGravity * kStoryTickS);
      if (s.position.z <= 0.0) {
        s.position.z = 0.0;
        s.velocity.z = s.acceleration.z = 0.0f;
        walker.in_air = false;
      }
    }
    if (time_s > walker.next_s) {
      walker.next_s = time_s + wait_s();
      act(walker, time_s);
    }
    const double most_m = walker.ship ? 8.0 : 40.0;
    if (glm::length(s.position) > most_m && glm::dot(s.position, glm::dvec3{s.velocity}) > 0.0)
      s.velocity = glm::vec3{-3.0 * glm::normalize(s.position)};
    const bool jumped = walker.next_s < 0.0;
    if (jumped) walker.next_s = time_s + wait_s();
    (void)(jumped ? server.teleport(walker.id, s) : server.move(walker.id, s));
  }

  void act(Walker& walker, double time_s) {
    Server& server = world_.server();
    const std::uint64_t what = random_.below(8);
    if (story_.frames && what < 3) {
      const EntityId to = walker.ship ? EntityId{} : ships_[random_.below(ships_.size())].id;
      (void)server.move(walker.id, walker.state);
      if (!server.enter_frame(walker.id, to)) return;
      walker.ship = to;
      walker.state = *server.state(walker.id);
      walker.in_air = false;
      walker.state.acceleration = {};
      if (random_.below(2) == 0) walker.next_s = time_s + random_.uniform(0.03, 0.8);  // a hit soon
    } else if (story_.teleports && what == 3) {
      walker.state.position = walker.ship ? glm::dvec3{random_.uniform(-6.0, 6.0), 1.0, 0.0} : place();
      walker.next_s = -1.0;
    } else if (story_.jumps && what == 4 && !walker.ship && !walker.in_air) {
      walker.state.position.z = 0.0;
      walker.state.velocity.z = 5.0f;
      walker.state.acceleration.z = static_cast<float>(-kGravity);
      walker.in_air = true;
    } else if (story_.hits) {
      const float up = walker.state.velocity.z;
      walker.state.velocity = what == 5 ? glm::vec3{0.0f} : velocity(8.0);
      walker.state.velocity.z = up;
    }
    if (!walker.in_air) walker.state.velocity.z = 0.0f;
  }

  void disturb(double time_s) {
    Client& client = world_.client(0);
    if (story_.pauses && time_s > pause_s_) {
      paused_ = !paused_;
      client.set_paused(paused_);
      pause_s_ = time_s + (paused_ ? random_.uniform(0.1, 1.5) : random_.uniform(1.0, 4.0));
    }
    if (story_.playouts && time_s > playout_s_) {
      playout_s_ = time_s + random_.uniform(2.0, 5.0);
      PlayoutConfig playout = client.playout();
      playout.mode = static_cast<PlayoutMode>(random_.below(3));
      playout.delay_s = random_.uniform(0.05, 0.3);
      playout.blend_s = frames_to_seconds(random_.uniform(3.0, 12.0), 60.0);
      playout.blend_curve = static_cast<BlendCurve>(random_.below(2));
      (void)client.set_playout(playout);
    }
    if (story_.clocks && time_s > clock_s_) {
      clock_s_ = time_s + random_.uniform(2.0, 5.0);
      world_.set_local_clock(0, {.offset_s = world_.local_s(0, 0.0) + random_.uniform(-1.0, 3.0)});
    }
    if (story_.sleeps && time_s > sleep_s_) {
      sleep_s_ = time_s + random_.uniform(3.0, 6.0);
      world_.suspend_client(0, time_s + random_.uniform(0.1, 2.0));
    }
  }

  World& world_;
  Story story_;
  scenario::Random random_;
  std::vector<Ship> ships_;
  std::vector<Walker> walkers_;
  EntityId own_;
  EntityId own_ship_;
  glm::dvec3 own_place_{0.0};
  double own_next_s_ = 0.0;
  double end_s_ = 4.0;
  bool paused_ = false;
  double pause_s_ = 4.0, playout_s_ = 4.0, clock_s_ = 4.0, sleep_s_ = 4.0;
};

WorldConfig world_config(const harness::LinkPair& links, std::uint64_t seed, const Story& story) {
  WorldConfig config;
  config.links = links;
  config.seed = seed;
  config.updates_per_frame = config.arrival_times = seed % 2 == 0;
  config.server.rewind_s = 1.0;
  config.server.archetypes.resize(2);
  config.server.archetypes[kShip].name = "ship";
  config.server.archetypes[kShip].max_speed_mps = 30.0;
  config.server.archetypes[kWalker].name = "walker";
  config.server.archetypes[kWalker].max_speed_mps = story.top_mps;
  if (story.jumps) config.server.archetypes[kWalker].floor = std::make_shared<const Floor>();
  return config;
}

struct Outcome {
  std::size_t known = 0;
  std::size_t unknown = 0;
  std::size_t far = 0;
  double worst_m = 0.0;
  std::string where;

  [[nodiscard]] double unknown_share() const {
    return static_cast<double>(unknown) / static_cast<double>(known + unknown);
  }
};

constexpr double kRunS = 24.0;

void add_run(Outcome& outcome, const harness::LinkPair& links, PlayoutMode mode, const Story& story,
             std::uint64_t seed) {
  World world(world_config(links, seed, story));
  ClientConfig client;
  client.archetypes = world_config(links, seed, story).server.archetypes;
  client.playout.mode = mode;
  client.playout.delay_s = 0.25;
  world.add_client(client, {.offset_s = -4321.0});
  Game game(world, story, seed);
  RewindCheck check(world, 0.4);
  const auto record = world.on_frame;
  world.on_frame = [&](std::size_t of, double time_s, std::span<const ShownEntity> shown) {
    record(of, time_s, shown);
    game.play(time_s);
  };
  world.run_to(1.0);
  game.begin(8);
  world.run_to(kRunS);
  outcome.known += check.errors_m.size();
  outcome.unknown += check.unknown;
  outcome.far += static_cast<std::size_t>(
      std::count_if(check.errors_m.begin(), check.errors_m.end(), [](double e) { return e > kFarM; }));
  if (check.worst_m <= outcome.worst_m) return;
  outcome.worst_m = check.worst_m;
  outcome.where = "seed " + std::to_string(seed) + " at " + std::to_string(check.worst_s) + " s";
}

Outcome tell(const std::string& link, PlayoutMode mode, const Story& story, unsigned seeds) {
  Outcome outcome;
  const harness::LinkPair links = link == "steady" ? both_ways({.latency_ms = 50.0}) : network(link);
  for (unsigned seed = 1; seed <= test::seeds_to_run(seeds); ++seed)
    add_run(outcome, links, mode, story, seed);
  return outcome;
}

std::string named(const std::string& link, PlayoutMode mode) {
  return link + ", mode " + std::to_string(static_cast<int>(mode));
}

constexpr PlayoutMode kModes[] = {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed};

// Largest shares of poses: of those whose reconstruction is more than kFarM off, and of unknown ones.
struct Limits {
  double far = 0.0;
  double unknown = 0.0;  // twice as many on `mobile`, where bursts of losses take several reports in a row
};

void expect_right_or_unknown(const Story& story, const Limits& limits) {
  for (const std::string link : {"steady", "wifi", "mobile"}) {
    if (test::kSanitized && link != "mobile") continue;  // it has all that the others have
    for (const PlayoutMode mode : kModes) {
      // A burst of losses decides much of a single run.
      const unsigned seeds = link == "mobile" ? 3 : 2;
      const Outcome outcome = tell(link, mode, story, seeds);
      EXPECT_GT(outcome.known + outcome.unknown, 7'500u * test::seeds_to_run(seeds)) << named(link, mode);
      if (test::kSanitized) continue;  // a single seed says too little about shares
      EXPECT_LE(static_cast<double>(outcome.far), limits.far * static_cast<double>(outcome.known))
          << named(link, mode) << ": worst " << outcome.worst_m << " m, " << outcome.where << ", of "
          << outcome.known;
      EXPECT_LT(outcome.unknown_share(), (link == "mobile" ? 2.0 : 1.0) * limits.unknown)
          << named(link, mode);
    }
  }
}

// Entities are hit and dash at any time after they entered or left a frame.
TEST(RewindProperty, HitsAtAnyTimeAfterAChangeOfFrame) {
  expect_right_or_unknown({}, {.far = 0.0, .unknown = 0.03});
}
// Adaptive clients on `mobile` sometimes show what is older than the server remembers: 9 % over ten seeds.
TEST(RewindProperty, HitsInTheWorld) {
  expect_right_or_unknown({.frames = false}, {.far = 0.0, .unknown = 0.05});
}
// Nothing limits the speed of corrections.
TEST(RewindProperty, NoTopSpeed) {
  expect_right_or_unknown({.top_mps = 1000.0}, {.far = 0.0, .unknown = 0.05});
}
// The top speed is just above that of the entities, so corrections become chases.
TEST(RewindProperty, Chases) {
  expect_right_or_unknown({.top_mps = 9.0}, {.far = 5e-4, .unknown = 0.04});
}
// Over 60 seeds on `mobile`, 6 of 100,000 poses are far off, in groups of five to twenty.
TEST(RewindProperty, JumpsOntoTheFloor) {
  expect_right_or_unknown({.jumps = true}, {.far = 5e-4, .unknown = 0.03});
}
TEST(RewindProperty, Teleports) {
  expect_right_or_unknown({.teleports = true}, {.far = 5e-4, .unknown = 0.03});
}
// The client moves an entity of its own onto the ships. Its poses are unknown, one of twelve.
TEST(RewindProperty, OwnersInFrames) {
  expect_right_or_unknown({.owner = true}, {.far = 5e-4, .unknown = 0.15});
}
// A ship in three ends every 3 s on average, and its passengers leave it.
TEST(RewindProperty, FramesThatEnd) {
  expect_right_or_unknown({.ends = true}, {.far = 1e-3, .unknown = 0.3});
}

// After something that the server cannot know, poses are unknown for a while. Here that happens all the time,
// so many are unknown.
TEST(RewindProperty, Pauses) {
  expect_right_or_unknown({.pauses = true}, {.far = 3e-3, .unknown = 0.9});
}
TEST(RewindProperty, ChangesOfPlayout) {
  expect_right_or_unknown({.playouts = true}, {.far = 1e-3, .unknown = 0.8});
}
TEST(RewindProperty, Sleeps) {
  expect_right_or_unknown({.sleeps = true}, {.far = 5e-3, .unknown = 0.5});
}
// A clock that is a second off looks right to the client for a moment, and so do its reports.
TEST(RewindProperty, StepsOfTheClock) {
  expect_right_or_unknown({.clocks = true}, {.far = 0.02, .unknown = 0.95});
}

}  // namespace
}  // namespace reckoner::test
