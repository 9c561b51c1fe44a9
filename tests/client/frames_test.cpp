// SPDX-License-Identifier: MIT
// How clients show entities in other entities' frames, with a server over simulated links.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/forged_spawns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kFrameS = 1.0 / 60.0;

WorldConfig over(const std::string& link, std::uint64_t seed = 1) {
  return {.links = network(link), .seed = seed};
}

ClientConfig in_mode(PlayoutMode mode) {
  ClientConfig config;
  config.playout.mode = mode;
  config.playout.delay_s = 0.3;
  return config;
}

const ShownEntity* find(std::span<const ShownEntity> shown, EntityId id) {
  const auto found = std::ranges::find(shown, id, &ShownEntity::id);
  return found == shown.end() ? nullptr : &*found;
}

// The passenger is on a moving ship. This covers all links and every playout mode.
TEST(ClientFrames, PassengerAtRestStandsStillOnDeck) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed}) {
    World world(over("stress"));
    world.add_client(in_mode(mode));
    const EntityId ship = world.add_body(Voyage{});
    const glm::dvec3 place{8.0, -3.0, 2.0};
    const EntityId tank = *world.server().spawn(0, "tank", standing(place), ship);
    const EntityId gunner = *world.server().spawn(0, "gunner", standing({0.5, 0.5, 1.0}), tank);
    int frames = 0;
    glm::dvec3 before{0.0};
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      const ShownEntity* s = find(shown, ship);
      const ShownEntity* t = find(shown, tank);
      const ShownEntity* g = find(shown, gunner);
      if (time_s < 2.0 || g == nullptr) return;
      ASSERT_TRUE(s && t);
      EXPECT_EQ(g->frame, tank);
      EXPECT_EQ(t->frame, ship);
      EXPECT_EQ(s->frame, EntityId{});
      const glm::dvec3 on_deck = into_frame(s->shown, g->shown).position;
      EXPECT_LT(glm::distance(on_deck, place + glm::dvec3{0.5, 0.5, 1.0}), 0.02);
      EXPECT_LT(angle_between(into_frame(s->shown, g->shown).orientation, State{}.orientation), 0.01);
      if (frames++ > 0) {
        EXPECT_LT(glm::distance(on_deck, before), 1e-5);
      }
      before = on_deck;
    };
    world.run_to(15.0);
    EXPECT_GT(frames, 600);
  }
}

// A walker boards and leaves the ship, and keeps its world velocity at every change, so that its true path is
// smooth.
struct FrameChanges {
  World& world;
  EntityId ship, walker;
  double period_s = 2.0;

  // Changes the frame every two seconds. On deck, the walker oscillates.
  static State deck(double t) {
    State s = Swing{.width_m = 2.0, .rate_rps = 1.0}(t);
    s.position += glm::dvec3{4.0, 2.0, 1.0};
    return s;
  }
  State in_world(double t) const { return out_of_frame(Voyage{}(t), deck(t)); }
  void operator()(double t) const {
    const bool aboard = std::fmod(t, 2.0 * period_s) < period_s;
    ASSERT_TRUE(world.server().move(ship, Voyage{}(t)));
    ASSERT_TRUE(world.server().enter_frame(walker, aboard ? ship : EntityId{}));
    ASSERT_TRUE(world.server().move(walker, aboard ? deck(t) : in_world(t)));
  }
};

TEST(ClientFrames, ChangeOfFrameIsContinuousInTheWorld) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed}) {
    std::vector<double> at_changes, elsewhere;  // velocity steps, m/s
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      World world(over("mobile", seed));
      world.add_client(in_mode(mode));
      const EntityId ship = *world.server().spawn(0, "ship", Voyage{}(0.0));
      const EntityId walker = *world.server().spawn(0, "walker", FrameChanges::deck(0.0), ship);
      const FrameChanges boarding{world, ship, walker};
      world.before_tick = boarding;
      State before;
      double before_s = 0.0, silence_timeout_s = 0.0;
      EntityId frame;
      int changes = 0, frames = 0;
      world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
        const ShownEntity* w = find(shown, walker);
        if (w == nullptr || time_s < 2.0) return;
        if (frames++ > 0) {
          changes += w->frame != frame ? 1 : 0;
          // The displacement must match the velocities at both ends: the shown position does not jump.
          const glm::dvec3 moved = w->shown.position - before.position;
          const glm::dvec3 mean = 0.5 * (glm::dvec3{before.velocity} + glm::dvec3{w->shown.velocity});
          const double apart_m = glm::distance(moved, mean * (time_s - before_s));
          EXPECT_LT(apart_m, 0.1) << "seed " << seed << " at " << time_s;
          // After a silence of the link, corrections are large and are not checked.
          if (w->age_s > 0.5) silence_timeout_s = time_s;
          if (time_s - silence_timeout_s > 1.0) {
            EXPECT_LT(apart_m, 0.02) << "seed " << seed << " at " << time_s
                                     << (w->frame != frame ? ", where it changes" : "");
            auto& steps = w->frame != frame ? at_changes : elsewhere;
            steps.push_back(glm::distance(before.velocity, w->shown.velocity));
            EXPECT_LT(glm::distance(w->shown.position, boarding.in_world(w->shown_time_s).position), 0.5);
          }
        }
        before = w->shown;
        before_s = time_s;
        frame = w->frame;
      };
      world.run_to(20.0);
      EXPECT_GE(changes, 8);
      EXPECT_EQ(world.count(0, ClientEvent::Kind::teleported), 0u);
      EXPECT_EQ(world.client(0).stats().malformed, 0u);
    }
    // The velocity does not jump either: its step at a change is at most 0.1 m/s larger than the largest
    // ordinary step of this walk.
    std::ranges::sort(elsewhere);
    const double usual = elsewhere[elsewhere.size() * 99 / 100];
    EXPECT_LT(*std::ranges::max_element(at_changes), usual + 0.1) << static_cast<int>(mode);
  }
}

// On a perfect link, a change of frame is invisible.
TEST(ClientFrames, ChangeOfFrameIsInvisibleOnAPerfectLink) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    World world(WorldConfig{});
    world.add_client(in_mode(mode));
    const EntityId ship = *world.server().spawn(0, "ship", Voyage{}(0.0));
    const EntityId walker = *world.server().spawn(0, "walker", FrameChanges::deck(0.0), ship);
    const FrameChanges boarding{world, ship, walker};
    world.before_tick = boarding;
    double worst = 0.0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      const ShownEntity* w = find(shown, walker);
      if (w == nullptr || time_s < 3.0) return;
      worst = std::max(worst, glm::distance(w->shown.position, boarding.in_world(w->shown_time_s).position));
    };
    world.run_to(20.0);
    EXPECT_LT(worst, 0.06);
  }
}

// A walker crosses a corner of the deck within 0.1 s. Its owner sees the ship where it was some time ago, so
// the walker is 0.6 m off in the world when it comes aboard. Buffered modes already know the second change
// when they show the first one. They interpolate to the step, and never jump.
TEST(ClientFrames, ShortStayInAFrameIsContinuous) {
  World world(WorldConfig{});
  world.add_client(in_mode(PlayoutMode::delayed));
  const EntityId ship = *world.server().spawn(0, "ship", standing({0.0, 0.0, 0.0}));
  const auto walk = [](double t) {
    State s;
    s.position = {2.0 * t, 1.0, 0.0};
    s.velocity = {2.0f, 0.0f, 0.0f};
    return s;
  };
  const EntityId walker = *world.server().spawn(0, "walker", walk(0.0));
  bool aboard = false;
  world.before_tick = [&](double t) {
    aboard = std::fmod(t, 2.0) >= 1.0 && std::fmod(t, 2.0) < 1.1;
    ASSERT_TRUE(world.server().enter_frame(walker, aboard ? ship : EntityId{}));
    State s = walk(t);
    if (aboard) s.position.x -= 0.6;
    ASSERT_TRUE(world.server().move(walker, s));
  };
  std::optional<State> before;
  double before_s = 0.0, largest_m = 0.0;
  int boardings = 0;
  EntityId frame;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    const ShownEntity* w = find(shown, walker);
    if (w == nullptr || time_s < 2.0) return;
    if (before) {
      const glm::dvec3 mean = 0.5 * (glm::dvec3{before->velocity} + glm::dvec3{w->shown.velocity});
      const glm::dvec3 moved = w->shown.position - before->position;
      largest_m = std::max(largest_m, glm::distance(moved, mean * (time_s - before_s)));
      boardings += w->frame == ship && frame != ship ? 1 : 0;
    }
    before = w->shown;
    before_s = time_s;
    frame = w->frame;
  };
  world.run_to(20.0);
  EXPECT_GE(boardings, 8);
  EXPECT_LT(largest_m, 0.1);
}

// Despite loss and reordering around a change, no entity is shown in a frame in which it was not recently.
// The ships are a kilometre apart.
TEST(ClientFrames, EntityIsNeverShownInAWrongFrame) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      World world(over("stress", seed));
      world.add_client(in_mode(mode));
      std::array<EntityId, 3> ships;
      for (std::size_t i = 0; i < ships.size(); ++i)
        ships[i] = world.add_body(Voyage{.centre = {1000.0 * static_cast<double>(i), 0.0, 0.0}});
      const EntityId walker = *world.server().spawn(0, "walker", standing({1.0, 0.0, 0.0}), ships[0]);
      scenario::Random random(seed);
      std::vector<std::pair<double, std::size_t>> stays{{0.0, 0}};
      world.before_tick = [&](double t) {
        if (t - stays.back().first < 0.05 || !random.chance(0.1)) return;
        const std::size_t next = random.below(ships.size());
        if (next == stays.back().second) return;
        stays.emplace_back(t, next);
        ASSERT_TRUE(world.server().enter_frame(walker, ships[next]));
        ASSERT_TRUE(world.server().teleport(walker, standing({1.0, 0.0, 0.0})));
      };
      int frames = 0;
      world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
        const ShownEntity* w = find(shown, walker);
        if (w == nullptr || time_s < 1.0) return;
        ++frames;
        // The entity was there within the last two seconds.
        double nearest = 1e9;
        for (std::size_t i = stays.size(); i-- > 0;) {
          const ShownEntity* ship = find(shown, ships[stays[i].second]);
          if (ship == nullptr) continue;
          nearest = std::min(nearest, glm::distance(ship->shown.position, w->shown.position));
          if (stays[i].first < time_s - 2.0) break;
        }
        EXPECT_LT(nearest, 1.1) << "seed " << seed << " at " << time_s;
      };
      world.run_to(15.0);
      EXPECT_GT(frames, 600);
      EXPECT_GT(stays.size(), 20u);
    }
  }
}

TEST(ClientFrames, SampleAgreesWithFrame) {
  World world(over("mobile"));
  world.add_client();
  const EntityId ship = world.add_body(Voyage{});
  const EntityId turret = world.add_body([](double t) { return Circle{.radius_m = 1.0}(t); });
  ASSERT_TRUE(world.server().enter_frame(turret, ship));
  for (int i = 0; i < 20; ++i) {
    const EntityId in = i % 3 == 0 ? ship : (i % 3 == 1 ? turret : EntityId{});
    (void)world.server().spawn(0, "n", standing({1.0 * i, 2.0, 0.0}), in);
  }
  ASSERT_TRUE(world.client(0).set_origin({5.0, -7.0, 1.0}));
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    const ShownPoses poses = world.client(0).shown_poses();
    ASSERT_EQ(poses.ids.size(), shown.size());
    for (std::size_t i = 0; i < poses.ids.size(); ++i) {
      const ShownEntity* e = find(shown, poses.ids[i]);
      ASSERT_TRUE(e);
      EXPECT_LT(glm::distance(e->shown.position, poses.positions[i]), 1e-5);
      EXPECT_LT(angle_between(e->shown.orientation, poses.orientations[i]), 1e-5);
      ++compared;
    }
  };
  world.run_to(8.0);
  EXPECT_GT(compared, 5000u);
}

TEST(ClientFrames, EntityContinuesInTheWorldWhenItsFrameEnds) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed}) {
    World world(over("mobile"));
    world.add_client(in_mode(mode));
    const EntityId ship = world.add_body(Voyage{});
    const EntityId passenger = *world.server().spawn(0, "passenger", standing({5.0, 0.0, 0.0}), ship);
    world.run_to(4.0);
    ASSERT_TRUE(world.shown(0, passenger));
    State before = world.shown(0, passenger)->shown;
    bool afloat = true;
    world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
      const ShownEntity* p = find(shown, passenger);
      ASSERT_TRUE(p);
      EXPECT_LT(glm::distance(p->shown.position, before.position),
                2.0 * kFrameS * glm::length(before.velocity) + 0.02);
      before = p->shown;
      afloat = find(shown, ship) != nullptr;
    };
    const double end_s = world.server().tick_time_s(world.server().next_tick() - 1);
    world.remove_body(ship);
    State adrift = *world.server().in_world(passenger);
    adrift.acceleration = glm::vec3{0.0f};
    world.before_tick = [&](double t) {
      ASSERT_TRUE(world.server().move(passenger, extrapolate(adrift, t - end_s)));
    };
    world.run_to(6.0);
    EXPECT_FALSE(afloat);
    EXPECT_EQ(world.shown(0, passenger)->frame, EntityId{});
    const double shown_s = world.shown(0, passenger)->shown_time_s;
    EXPECT_LT(glm::distance(before.position, extrapolate(adrift, shown_s - end_s).position), 0.1);
  }
}

TEST(ClientFrames, CorrectedPoseIsInWorldCoordinatesFromTheOrigin) {
  World world(over("lan"));
  world.add_client();
  const EntityId ship = world.add_body(Voyage{});
  const EntityId passenger = *world.server().spawn(0, "passenger", standing({5.0, 0.0, 0.0}), ship);
  world.run_to(3.0);
  ASSERT_TRUE(world.client(0).set_origin({10.0, 20.0, 0.0}));
  EXPECT_FALSE(world.client(0).set_origin({std::nan(""), 0.0, 0.0}));
  State pushed = find(world.updated(0).shown(), passenger)->shown;
  pushed.position.z += 0.3;
  ASSERT_TRUE(world.client(0).correct(passenger, pushed));
  const State now = find(world.client(0).shown(), passenger)->shown;
  EXPECT_LT(glm::distance(now.position, pushed.position), 1e-5);
  EXPECT_LT(glm::distance(now.velocity, pushed.velocity), 1e-3f);
}

TEST(ClientFrames, ShiftOfTheOriginMovesAllEntities) {
  World world(over("mobile"));
  world.add_client();
  const EntityId ship = world.add_body(Voyage{});
  const EntityId passenger = *world.server().spawn(0, "passenger", standing({5.0, 0.0, 0.0}), ship);
  world.run_to(3.0);
  std::map<EntityId, State> before;
  for (const ShownEntity& e : world.updated(0).shown())
    before[e.id] = e.shown;
  const glm::dvec3 origin{123456.0, -7.0, 8.0};
  ASSERT_TRUE(world.client(0).set_origin(origin));
  const auto shown = world.client(0).shown();
  ASSERT_EQ(shown.size(), 2u);
  for (const ShownEntity& e : shown) {
    EXPECT_LT(glm::distance(e.shown.position + origin, before[e.id].position), 1e-9);
    EXPECT_EQ(e.shown.velocity, before[e.id].velocity);
  }
  EXPECT_LT(glm::distance(find(shown, passenger)->local.position, glm::dvec3(5.0, 0.0, 0.0)), 0.01);
}

// --- Messages that no correct server sends.

Spawn spawn_in(EntityId id, EntityId frame) {
  const Quantisation q = quantisation_for(Archetype{});
  Spawn s;
  s.entity = id;
  s.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
  s.state = quantise(standing({1.0, 2.0, 3.0}), 0, kUnitPrecision, q);
  s.state.frame = frame;
  return s;
}

struct Hostile {
  World world{WorldConfig{}};
  Tick tick = 0;
  Hostile() {
    world.add_client();
    world.run_to(2.0);
    tick = world.server().next_tick() - 1;
  }
  // A spawn gets the next number, and an end that of the newest spawn.
  void send(SpawnEntry entry) {
    if (auto* spawn = std::get_if<Spawn>(&entry)) spawn->number = ++spawns;
    if (auto* end = std::get_if<Despawn>(&entry)) end->number = std::max(1u, spawns);
    ServerHeader header;
    header.sequence = static_cast<Sequence>(30'000 + updates++);
    header.tick = static_cast<std::uint16_t>(world.server().next_tick() - 1);
    world.tap(0).inject_payload({1}, forged_spawns(header, {&entry, 1}));
    take_in();
  }
  // Sends a full update of an entity that was spawned.
  void update(EntityId id, EntityId frame) {
    ServerHeader header;
    header.sequence = static_cast<Sequence>(30'000 + updates++);
    tick = world.server().next_tick() - 1;
    header.tick = static_cast<std::uint16_t>(tick);
    header.update_count = 1;
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, header);
    write(writer, UpdateHeader{static_cast<std::uint32_t>(id.slot()), 0, 0, {}}, header.coding, -1);
    const Quantisation q = quantisation_for(Archetype{});
    QuantisedState state = quantise(standing({3.0, 2.0, 1.0}), 0, kUnitPrecision, q);
    state.frame = frame;
    write_full(writer, state, q);
    buffer.resize(writer.finish().size());
    world.tap(0).inject_payload({1}, buffer);
    take_in();
  }
  void take_in() { world.run_to(world.now_s() + 0.05); }
  const ClientStats& stats() { return world.client(0).stats(); }
  int updates = 0;
  std::uint32_t spawns = 0;
};

constexpr EntityId kA{101, 1}, kB{102, 1}, kC{103, 1};

TEST(HostileFrames, AnEntityIsHiddenUntilItsFrameArrives) {
  Hostile h;
  h.send(spawn_in(kA, kB));
  EXPECT_EQ(h.stats().malformed, 0u);
  EXPECT_FALSE(h.world.shown(0, kA));
  EXPECT_EQ(h.world.count(0, ClientEvent::Kind::spawned), 0u);
  h.send(spawn_in({kB.index1, 2}, {}));  // another generation
  EXPECT_FALSE(h.world.shown(0, kA));
  h.send(spawn_in(kB, {}));
  ASSERT_TRUE(h.world.shown(0, kA));
  EXPECT_EQ(h.world.shown(0, kA)->frame, kB);
  std::vector<EntityId> spawned;
  for (const ClientEvent& event : h.world.events(0)) {
    if (event.kind == ClientEvent::Kind::spawned) spawned.push_back(event.entity);
  }
  EXPECT_EQ(spawned, (std::vector{EntityId{kB.index1, 2}, kB, kA})) << "the frame comes first";
}

TEST(HostileFrames, AnEntityCannotBeItsOwnFrame) {
  Hostile h;
  h.send(spawn_in(kA, kA));
  EXPECT_EQ(h.stats().unknown_references, 1u);
  EXPECT_FALSE(h.world.shown(0, kA));
}

TEST(HostileFrames, UpdatesThatFormACycleAreRefused) {
  Hostile h;
  h.send(spawn_in(kA, {}));
  h.send(spawn_in(kB, kA));
  h.send(spawn_in(kC, kB));
  ASSERT_TRUE(h.world.shown(0, kC));
  for (const EntityId frame : {kA, kB, kC, EntityId{999, 1}, EntityId{kB.index1, 7}}) {
    const std::uint64_t refused = h.stats().unknown_references;
    h.update(kA, frame);
    EXPECT_EQ(h.stats().unknown_references, refused + 1) << frame.index1;
    EXPECT_EQ(h.world.shown(0, kA)->frame, EntityId{});
  }
  const std::uint64_t applied = h.stats().updates_applied;
  h.update(kC, kA);
  EXPECT_EQ(h.stats().updates_applied, applied + 1);
  EXPECT_EQ(h.world.shown(0, kC)->frame, kA);
}

TEST(HostileFrames, TooDeeplyNestedSpawnIsHiddenUntilTheDepthIsValid) {
  Hostile h;
  h.send(spawn_in({200, 1}, {}));
  for (std::uint32_t i = 201; i <= 206; ++i)
    h.send(spawn_in({i, 1}, {i - 1, 1}));
  EXPECT_EQ(h.stats().malformed, 0u);
  EXPECT_TRUE(h.world.shown(0, {204, 1}));
  EXPECT_FALSE(h.world.shown(0, {205, 1}));
  EXPECT_FALSE(h.world.shown(0, {206, 1}));
  const ShownPoses poses = h.world.updated(0).shown_poses();
  EXPECT_EQ(poses.ids.size(), 5u);
  h.update({203, 1}, {});
  EXPECT_TRUE(h.world.shown(0, {206, 1}));
}

// For any sequence of spawns, despawns and changes of frame, all poses are finite and the nesting depth stays
// within its limit.
TEST(HostileFrames, RandomSequencesAreHarmless) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Hostile h;
    scenario::Random random(seed);
    const auto anyone = [&] {
      return EntityId{static_cast<std::uint32_t>(50 + random.below(8)),
                      static_cast<std::uint16_t>(1 + random.below(2))};
    };
    for (int i = 0; i < 300; ++i) {
      const EntityId id = anyone();
      const EntityId frame = random.chance(0.2) ? EntityId{} : anyone();
      h.tick = h.world.server().next_tick() - 1;
      if (random.chance(0.3)) {
        h.send(spawn_in(id, frame));
      } else if (random.chance(0.2)) {
        h.send(Despawn{.entity = id});
      } else {
        h.update(id, frame);
      }
      for (const ShownEntity& e : h.world.shown(0)) {
        EXPECT_TRUE(is_sane(e.shown));
        int depth = 0;
        for (const ShownEntity* in = &e; in != nullptr && in->frame; ++depth)
          in = find(h.world.shown(0), in->frame);
        EXPECT_LE(depth, kMaxFrameDepth + 1);
      }
      (void)h.world.updated(0).shown_poses();
    }
  }
}

}  // namespace
}  // namespace reckoner::test
