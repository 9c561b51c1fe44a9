// SPDX-License-Identifier: MIT
// Owners that try to be carried by the frames of other entities: how fast the server lets them move in the
// world.
#include "tests/support/voyage.hpp"
#include "tests/support/watched_bodies.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {
namespace {

constexpr double kTopMps = 8.0;
constexpr double kClaimedMps = 6.0;  // clients refuse velocities that rounding could move above the top speed
constexpr std::size_t kBullet = 1;   // archetype with a higher top speed
// The tolerance of the limits: a tenth of the top speed for a change of frame, and rounding.
constexpr double kOwnMps = 1.15 * kTopMps;

// The highest mean speed of a body over a time, from its positions in each tick.
class SpeedMeter {
 public:
  explicit SpeedMeter(double over_s) : over_s_(over_s) {}
  void note(double time_s, const glm::dvec3& at) {
    if (!covered_.empty()) distance_m_ += glm::distance(at, last_);
    last_ = at;
    covered_.push_back({time_s, distance_m_});
    while (covered_.size() > 2 && covered_[1].first <= time_s - over_s_)
      covered_.pop_front();
    const double since_s = time_s - covered_.front().first;
    if (since_s >= over_s_ - 1e-9)
      fastest_mps_ = std::max(fastest_mps_, (distance_m_ - covered_.front().second) / since_s);
  }
  [[nodiscard]] double fastest_mps() const { return fastest_mps_; }

 private:
  double over_s_;
  double distance_m_ = 0.0;
  double fastest_mps_ = 0.0;
  glm::dvec3 last_{0.0};
  std::deque<std::pair<double, double>> covered_;  // time and distance so far
};

// Turns about the vertical axis at the origin.
struct Spinner {
  double turn_rps = 129.0 / 45.0;
  double begin_s = -1e9;
  bool says_so = true;  // its states have an angular velocity

  State operator()(double t) const {
    const double angle = t < begin_s ? 0.0 : turn_rps * (t - std::max(begin_s, 0.0));
    State s;
    s.orientation = {static_cast<float>(std::cos(0.5 * angle)), 0.0f, 0.0f,
                     static_cast<float>(std::sin(0.5 * angle))};
    if (says_so && t >= begin_s) s.angular_velocity = {0.0f, 0.0f, static_cast<float>(turn_rps)};
    return s;
  }
};

// What an owner claims of one of its entities.
struct Claim {
  EntityId entity;
  State pose;
  EntityId frame;
  std::size_t corrections = 0;
  std::function<void(double time_s, Claim& claim)> choose;
};

// One client owns entities, and follows the server's corrections before it goes on with what it wants.
class Riders {
 public:
  explicit Riders(std::uint64_t seed = 1) : world_(config(seed)), meter_(0.5), slow_meter_(3.0) {
    (void)add_client(network("lan"));
    world_.on_frame = [this](std::size_t client, double time_s, std::span<const ShownEntity>) {
      if (client == 0) {
        play(time_s);
      } else {
        watch(time_s);
      }
    };
    world_.after_tick = [this](double time_s) {
      const auto state =
          claims_.empty() || time_s < 4.0 ? std::nullopt : server().in_world(claims_[0].entity);
      if (!state) return;
      meter_.note(time_s, state->position);
      slow_meter_.note(time_s, state->position);
    };
    world_.run_to(1.0);
  }

  static WorldConfig config(std::uint64_t seed) {
    WorldConfig config;
    config.seed = seed;
    config.server.archetypes.resize(2);
    config.server.archetypes[0].max_speed_mps = kTopMps;
    config.server.archetypes[kBullet].name = "bullet";
    config.server.archetypes[kBullet].max_speed_mps = 300.0;
    return config;
  }

  // Client 0 owns what own() adds. All others watch.
  std::size_t add_client(const harness::LinkPair& links) {
    ClientConfig client;
    client.archetypes = config(1).server.archetypes;
    return world_.add_client(client, {}, links);
  }
  std::function<void(double time_s)> watch = [](double) {};

  // The distance of the first entity counts.
  EntityId own(const glm::dvec3& at, std::function<void(double, Claim&)> choose,
               const OwnershipRules& rules = {}, EntityId frame = {}) {
    const EntityId id = *server().spawn(0, "own", standing(at), frame);
    EXPECT_TRUE(server().give(id, {1}, rules));
    claims_.push_back({id, standing(at), frame, 0, std::move(choose)});
    return id;
  }

  World& world() { return world_; }
  Server& server() { return world_.server(); }
  [[nodiscard]] double fastest_mps() const { return meter_.fastest_mps(); }
  [[nodiscard]] double fastest_over_3_s_mps() const { return slow_meter_.fastest_mps(); }

 private:
  void play(double time_s) {
    Client& client = world_.client(0);
    for (Claim& claim : claims_) {
      const auto own = client.owned(claim.entity);
      if (!own) continue;
      const auto corrected =
          static_cast<std::size_t>(std::ranges::count_if(world_.events(0), [&](const ClientEvent& e) {
            return e.kind == ClientEvent::Kind::corrected && e.entity == claim.entity;
          }));
      if (corrected != claim.corrections) {
        claim.corrections = corrected;
        claim.pose = standing(own->position);
        claim.frame = client.owned_frame(claim.entity);
      }
      if (time_s > 4.0) claim.choose(time_s, claim);
      (void)client.move(claim.entity, claim.pose, claim.frame);
    }
  }

  World world_;
  std::vector<Claim> claims_;
  SpeedMeter meter_, slow_meter_;
};

// Boards `frame` wherever the owner stands, and stays there.
auto boards(const Truth& frame, EntityId id) {
  return [frame, id](double t, Claim& claim) {
    if (claim.frame == id) return;
    claim.pose = standing(into_frame(frame(t), standing(claim.pose.position)).position);
    claim.frame = id;
  };
}

TEST(Boarding, OwnersRideNothingThatTheGameHasNotMarked) {
  for (const OwnerPolicy policy : {OwnerPolicy::correct, OwnerPolicy::refuse, OwnerPolicy::accept}) {
    Riders r;
    const EntityId spinner = r.world().add_body(Spinner{});
    r.own({45.0, 0.0, 0.0}, boards(Spinner{}, spinner), {.policy = policy});
    r.world().run_to(12.0);
    EXPECT_LE(r.fastest_mps(), kOwnMps) << static_cast<int>(policy);
    EXPECT_GT(r.server().stats().refusals[Refusal::unknown_frame], 0u);
  }
}

TEST(Boarding, MarkedFramesCarryNoFasterThanTheRulesPermit) {
  Riders far;
  const EntityId spinner = far.world().add_body(Spinner{});
  ASSERT_TRUE(far.server().set_boardable(spinner, true));
  far.own({45.0, 0.0, 0.0}, boards(Spinner{}, spinner));
  far.world().run_to(12.0);
  EXPECT_LE(far.fastest_mps(), kOwnMps);

  // Boards near the middle, runs outwards, and in the direction of the turn.
  Riders near;
  const EntityId disc = near.world().add_body(Spinner{});
  ASSERT_TRUE(near.server().set_boardable(disc, true));
  const auto board = boards(Spinner{}, disc);
  const EntityId avatar = near.own({1.0, 0.0, 0.0}, [&](double t, Claim& claim) {
    board(t, claim);
    const glm::dvec3 out = glm::normalize(claim.pose.position);
    const glm::dvec3 along{-out.y, out.x, 0.0};
    const glm::dvec3 direction = 0.6 * out + 0.8 * along;
    claim.pose.position += direction * kTopMps / 60.0;
    claim.pose.velocity = glm::vec3{direction * kClaimedMps};
  });
  near.world().run_to(4.5);
  EXPECT_EQ(near.server().frame_of(avatar), disc);
  near.world().run_to(14.0);
  EXPECT_GT(near.fastest_mps(), 1.2 * kTopMps) << "it is carried";
  EXPECT_LE(near.fastest_mps(), 3.0 * kTopMps);
  EXPECT_LE(near.fastest_over_3_s_mps(), 2.0 * kOwnMps);
}

TEST(Boarding, TheRulesCanPermitFastTurns) {
  for (const OwnershipRules& rules :
       {OwnershipRules{.max_turning_mps = 200.0}, OwnershipRules{.policy = OwnerPolicy::accept}}) {
    Riders r;
    const EntityId spinner = r.world().add_body(Spinner{});
    ASSERT_TRUE(r.server().set_boardable(spinner, true));
    const EntityId avatar = r.own({45.0, 0.0, 0.0}, boards(Spinner{}, spinner), rules);
    r.world().run_to(12.0);
    EXPECT_EQ(r.server().frame_of(avatar), spinner);
    EXPECT_GT(r.fastest_mps(), 100.0);
  }
}

// The game turns a frame without an angular velocity, so only its orientations show how fast it turns.
TEST(Boarding, TurnsThatNoAngularVelocityAnnouncesCount) {
  Riders r;
  const Spinner quiet{.says_so = false};
  const EntityId spinner = r.world().add_body(quiet);
  ASSERT_TRUE(r.server().set_boardable(spinner, true));
  r.own({45.0, 0.0, 0.0}, boards(quiet, spinner));
  r.world().run_to(16.0);
  EXPECT_LE(r.fastest_over_3_s_mps(), 3.0 * kTopMps);
}

TEST(Boarding, AFrameThatBeginsToTurnTooFastIsLeft) {
  Riders r;
  const Spinner later{.begin_s = 6.0};
  const EntityId spinner = r.world().add_body(later);
  ASSERT_TRUE(r.server().set_boardable(spinner, true));
  const auto board = boards(later, spinner);
  const EntityId avatar = r.own({45.0, 0.0, 0.0}, [&](double t, Claim& claim) {
    if (t < 5.0) board(t, claim);
  });
  r.world().run_to(5.9);
  EXPECT_EQ(r.server().frame_of(avatar), spinner);
  EXPECT_EQ(r.world().count(0, ClientEvent::Kind::corrected), 0u);
  r.world().run_to(10.0);
  EXPECT_EQ(r.server().frame_of(avatar), EntityId{});
  EXPECT_EQ(r.world().count(0, ClientEvent::Kind::corrected), 1u);
  EXPECT_EQ(r.world().client(0).owned_frame(avatar), EntityId{});
  EXPECT_EQ(r.world().count(ServerEvent::Kind::owner_corrected), 1u);
  EXPECT_LE(r.fastest_mps(), 2.0 * kOwnMps);
}

// Each car drives at top speed in the frame of the next one, and the avatar runs in the innermost.
double nested(int cars, bool boardable) {
  Riders r;
  const auto drives_in = [](const EntityId& frame) {
    return [&frame](double t, Claim& claim) {
      claim.pose = standing({kTopMps * (t - 4.0), 0.0, 0.0});
      claim.pose.velocity.x = static_cast<float>(kClaimedMps);
      claim.frame = frame;
    };
  };
  std::vector<EntityId> frames(static_cast<std::size_t>(cars) + 1);  // the first one is the world
  r.own({0.0, 0.0, 0.0}, drives_in(frames.back()));
  for (std::size_t i = 1; i < frames.size(); ++i) {
    frames[i] = r.own({0.0, 0.0, 0.0}, drives_in(frames[i - 1]));
    if (boardable) {
      EXPECT_TRUE(r.server().set_boardable(frames[i], true));
    }
  }
  r.world().run_to(9.0);
  return r.fastest_mps();
}

TEST(Boarding, OwnEntitiesDoNotCarryEachOther) {
  for (const int cars : {1, 2, 3})
    EXPECT_LE(nested(cars, false), kOwnMps) << cars;
}

TEST(Boarding, OwnEntitiesThatTheGameHasMarkedCarryEachOther) {
  EXPECT_GT(nested(1, true), 1.8 * kTopMps);
}

// A change of frame must not let the time since the last motion count twice.
TEST(Boarding, ChangingTheFrameWithEveryMotionGainsNoSpeed) {
  Riders r;
  const EntityId slab = r.world().add_body([](double) { return standing({0.0, 0.0, 0.0}); });
  ASSERT_TRUE(r.server().set_boardable(slab, true));
  double at_m = 0.0;
  bool aboard = false;
  r.own({0.0, 0.0, 0.0},
        [&](double, Claim& claim) {
          at_m = claim.pose.position.x + (kTopMps + kClaimedMps) / 60.0;
          claim.pose = standing({at_m, 0.0, 0.0});
          claim.pose.velocity.x = static_cast<float>(kClaimedMps);
          aboard = !aboard;
          claim.frame = aboard ? slab : EntityId{};
        },
        {.frame_reach_m = 1e6});
  r.world().run_to(12.0);
  EXPECT_GT(r.fastest_over_3_s_mps(), 0.5 * kTopMps);
  EXPECT_LE(r.fastest_over_3_s_mps(), kOwnMps);
}

TEST(Boarding, ShortLivedEntitiesCannotBeBoarded) {
  Riders r;
  State shot = standing({-1.0, 0.0, 0.0});
  shot.velocity.x = 100.0f;
  EntityId bullet;
  const EntityId avatar = r.own({0.0, 0.0, 0.0}, [&](double, Claim& claim) {
    if (!bullet || !r.server().state(bullet)) {
      bullet = *r.server().spawn_short_lived(kBullet, shot,
                                             {.end_s = r.server().tick_time_s(r.server().next_tick()) + 2.0});
      EXPECT_FALSE(r.server().set_boardable(bullet, true));
    }
    if (claim.frame != bullet) claim.pose = standing({0.0, 0.0, 0.0});
    claim.frame = bullet;
  });
  r.world().run_to(10.0);
  EXPECT_EQ(r.server().frame_of(avatar), EntityId{});
  EXPECT_LE(r.fastest_mps(), kOwnMps);
}

// The game has marked the ship, so what the ship does happens to its passengers.
TEST(Boarding, AFrameThatTeleportsTakesItsPassengersAlong) {
  Riders r;
  const Truth jumps = [](double t) { return standing({t < 6.0 ? 0.0 : 500.0, 0.0, 0.0}); };
  const EntityId ship = r.world().add_body(jumps, {6.0});
  ASSERT_TRUE(r.server().set_boardable(ship, true));
  const auto board = boards(jumps, ship);
  const EntityId avatar = r.own({2.0, 0.0, 0.0}, [&](double t, Claim& claim) {
    if (t < 7.0) return board(t, claim);
    claim.pose = standing({2.0, 0.0, 0.0});  // back where it was
    claim.frame = {};
  });
  r.world().run_to(6.9);
  EXPECT_EQ(r.server().frame_of(avatar), ship);
  EXPECT_NEAR(r.server().in_world(avatar)->position.x, 502.0, 0.1);
  EXPECT_EQ(r.world().count(0, ClientEvent::Kind::corrected), 0u);
  r.world().run_to(9.0);
  // It stood still from 4 s on, so it can have gone this far from its place.
  EXPECT_GT(r.server().in_world(avatar)->position.x, 502.0 - 5.0 * kOwnMps) << "its owner cannot undo it";
}

TEST(Boarding, AFrameThatEndsUnderItsPassengerGivesItNoSpeed) {
  Riders r;
  const Voyage voyage;
  const EntityId ship = r.world().add_body(voyage);
  ASSERT_TRUE(r.server().set_boardable(ship, true));
  const EntityId avatar = r.own(
      {0.0, 1.0, 2.0},
      [&](double t, Claim& claim) {
        claim.pose.position.x = claim.frame ? 2.0 * std::sin(t - 4.0) : claim.pose.position.x;
      },
      {}, ship);
  r.world().run_to(6.0);
  EXPECT_EQ(r.server().frame_of(avatar), ship);
  r.world().remove_body(ship);
  r.world().run_to(9.0);
  EXPECT_EQ(r.server().frame_of(avatar), EntityId{});
  EXPECT_LE(r.fastest_mps(), 2.0 * kOwnMps);
}

// Without a reach, the owner cannot board, but walks where the game has put its entity.
TEST(Boarding, APassengerWalksWhereTheGameHasPutIt) {
  Riders r;
  const Voyage voyage;
  const EntityId ship = r.world().add_body(voyage);
  const EntityId avatar = r.own(
      {0.0, 0.0, 2.0},
      [&](double t, Claim& claim) {
        claim.pose = standing({std::min(1.5 * (t - 4.0), 6.0), 0.0, 2.0});
        claim.frame = ship;
      },
      {.frame_reach_m = 0.0}, ship);
  r.world().run_to(10.0);
  EXPECT_EQ(r.server().frame_of(avatar), ship);
  EXPECT_NEAR(r.server().state(avatar)->position.x, 6.0, 0.1);
  EXPECT_EQ(r.world().count(0, ClientEvent::Kind::corrected), 0u);
}

// An owner that ignores its corrections does not drift away in a frame with its last motion.
TEST(Boarding, AnOwnerThatIgnoresCorrectionsComesToRest) {
  Riders r;
  const EntityId slab = r.world().add_body([](double) { return standing({0.0, 0.0, 0.0}); });
  ASSERT_TRUE(r.server().set_boardable(slab, true));
  const EntityId avatar = r.own({0.0, 0.0, 0.0},
                                [&](double t, Claim& claim) {
                                  claim.pose = standing({kTopMps * (t - 4.0), 0.0, 0.0});
                                  claim.pose.velocity.x = static_cast<float>(kClaimedMps);
                                  claim.frame = slab;
                                },
                                {.frame_reach_m = 10.0});
  r.world().run_to(14.0);
  EXPECT_LE(r.server().state(avatar)->position.x, 20.0);
}

// An owner cannot save up distance while it rests, and then cover all of it at once.
TEST(Boarding, AnOwnerAtRestSavesUpNoDistance) {
  for (const double away_m : {150.0, 10'000.0}) {  // possible in the time of the rest, and impossible
    Riders r;
    r.own({0.0, 0.0, 0.0}, [&](double t, Claim& claim) {
      if (t < 30.0) return;
      claim.pose = standing({away_m, 0.0, 0.0});
    });
    r.world().run_to(34.0);
    EXPECT_LE(r.fastest_mps(), 1.3 * kOwnMps) << away_m;
  }
}

enum class Ride : std::uint8_t { refused, carried, hopping, nested, leaping };

// What a rider claims of an entity in every picture. `previous`: the entity before, or null.
std::function<void(double, Claim&)> claims_of(Ride ride, EntityId spinner, EntityId previous) {
  const auto board = boards(Spinner{}, spinner);
  switch (ride) {
    case Ride::refused:
      return board;
    case Ride::carried:
      return [board](double t, Claim& claim) {
        board(t, claim);
        claim.pose.position += glm::dvec3{std::cos(3.0 * t), std::sin(3.0 * t), 0.0} * kTopMps / 60.0;
      };
    case Ride::hopping:
      return [board, aboard = false](double t, Claim& claim) mutable {
        claim.frame = {};
        aboard = !aboard;
        if (aboard) board(t, claim);
      };
    case Ride::nested:
      return [previous](double t, Claim& claim) {
        claim.pose = standing({kTopMps * (t - 4.0), 0.0, 0.0});
        claim.pose.velocity.x = static_cast<float>(kClaimedMps);
        claim.frame = previous;
      };
    case Ride::leaping:
      return [](double t, Claim& claim) { claim.pose = standing({150.0 * std::sin(20.0 * t), 0.0, 0.0}); };
  }
  return {};
}

// The bodies of others, as a client sees them that watches a rider with eight entities. Without the attack,
// these stay where they are.
SameTimeErrors seen_beside(Ride ride, std::uint64_t seed, bool attacks) {
  Riders r(seed);
  const WatchedBodies others(r.world(), 30);
  const std::size_t watcher = r.add_client(both_ways({.latency_ms = 30.0, .jitter_ms = 5.0}));
  SameTimeErrors errors;
  r.watch = [&](double t) {
    if (t > 4.0) others.look(watcher, t, errors);
  };
  const EntityId spinner = r.world().add_body(Spinner{});
  EXPECT_TRUE(r.server().set_boardable(spinner, ride != Ride::refused));
  EntityId previous;
  for (int i = 0; i < 8; ++i) {
    const auto stays = [](double, Claim&) {};
    previous = r.own({2.0 + i, 0.0, 0.0}, attacks ? claims_of(ride, spinner, previous)
                                                  : std::function<void(double, Claim&)>(stays));
    if (ride == Ride::nested) {
      EXPECT_TRUE(r.server().set_boardable(previous, true));
    }
  }
  r.world().run_to(14.0);
  if (attacks) {
    EXPECT_TRUE(ride == Ride::nested ? r.server().frame_of(previous) != EntityId{}
                                     : r.world().count(0, ClientEvent::Kind::corrected) > 0)
        << static_cast<int>(ride);
  }
  return errors;
}

TEST(Boarding, RidersDisturbNobody) {
  for (const auto& [ride, name] :
       {std::pair{Ride::refused, "not boardable"}, std::pair{Ride::carried, "carried"},
        std::pair{Ride::hopping, "another frame each time"}, std::pair{Ride::nested, "nested"},
        std::pair{Ride::leaping, "leaping"}})
    expect_equal_error_beside(
        name, [ride = ride](std::uint64_t seed, bool attacks) { return seen_beside(ride, seed, attacks); });
}

}  // namespace
}  // namespace reckoner::test
