// SPDX-License-Identifier: MIT
// Rewind, ownership, user fields, short-lived entities and frames give the same results at any server time
// and on any clock of the client.
#include "tests/support/paths.hpp"
#include "tests/support/percentile.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::vector<Archetype> archetypes() {
  Archetype body;
  body.max_speed_mps = 40.0;
  body.fields = {{"number", IntegerField{0, 1'000'000, 0}}};
  return {body};
}

State weave(double t, double phase, float rate = 1.0f) {
  State s;
  s.position = {3.0 * std::sin(2.0 * t + phase), 2.0 * std::sin(3.1 * t + 2.0 * phase), 0.0};
  s.velocity = {6.0f * static_cast<float>(std::cos(2.0 * t + phase)),
                6.2f * static_cast<float>(std::cos(3.1 * t + 2.0 * phase)), 0.0f};
  s.velocity *= rate;
  return s;
}

struct Results {
  double rewind_m = 0.0;        // p95
  double rewind_unknown = 0.0;  // share
  double avatar_m = 0.0;        // p95, of an owned entity at another client, at the instant shown
  double passenger_m = 0.0;     // p95, of an entity in the frame of another one
  double field_s = 0.0;         // mean time from a change of a field to the frame that shows it
  double changes = 0.0;         // of fields that were shown
  double accepted = 0.0;        // motions of the owner
  double corrected = 0.0;
  double spawned = 0.0;
  double despawned = 0.0;
  double short_s = 0.0;  // time for which a short-lived entity is shown
  double updates = 0.0;
};

Results play(double epoch_s, double offset_s, PlayoutMode mode) {
  WorldConfig config{.links = network("broadband")};
  config.server.epoch_s = epoch_s;
  config.server.rewind_s = 1.0;
  config.server.archetypes = archetypes();
  World world(config);
  const auto at = [epoch_s](Truth path) { return [=](double t) { return path(t - epoch_s); }; };
  for (int i = 0; i < 3; ++i)
    world.add_body(at([i](double t) { return weave(t, 0.7 * i); }));
  const Truth ship_path = at([](double t) {
    State s;
    s.position = {5.0 * t, 40.0, 0.0};
    s.velocity = {5.0f, 0.0f, 0.0f};
    return s;
  });
  const Truth deck_path = at([](double t) { return Circle{.radius_m = 2.0, .turn_rps = 1.5}(t); });
  const EntityId ship = world.add_body(ship_path);
  const EntityId passenger = *world.server().spawn(0, "passenger", deck_path(epoch_s), ship);
  EXPECT_TRUE(passenger);
  const Truth avatar_path = at([](double t) { return weave(0.8 * t, 2.0, 0.8f); });
  const EntityId avatar = *world.server().spawn(0, "avatar", avatar_path(epoch_s));
  ClientConfig client;
  client.archetypes = archetypes();
  client.playout.mode = mode;
  world.add_client(client, {.offset_s = offset_s});
  world.run_to(epoch_s + 0.5);  // so that its id is 1
  world.add_client(client, {.offset_s = 0.5 * offset_s + 3.0});

  Results results;
  RewindCheck witness(world, 0.4);
  witness.from_s = epoch_s + 3.0;
  const auto look = world.on_frame;
  const auto after = world.after_tick;
  std::vector<double> avatar_m;
  std::vector<double> passenger_m;
  std::vector<std::pair<double, std::int64_t>> set;  // changes of the field that are not shown yet
  std::int64_t number = 0;
  EntityId projectile;
  double short_frames = 0.0;
  world.before_tick = [&](double time_s) {
    EXPECT_TRUE(world.server().move(passenger, deck_path(time_s)));
    if (!world.server().owner(avatar)) {
      EXPECT_TRUE(world.server().move(avatar, avatar_path(time_s)));
    }
  };
  world.after_tick = [&](double time_s) {
    after(time_s);
    const auto tick = std::llround(60.0 * (time_s - epoch_s));
    if (tick == 180) {
      EXPECT_TRUE(world.server().give(avatar, ClientId{2}));
    }
    if (tick > 180 && tick % 30 == 0) {
      EXPECT_TRUE(world.server().set_field(ship, 0, ++number));
      set.emplace_back(time_s, number);
    }
    if (tick > 180 && tick % 60 == 0) {
      projectile = *world.server().spawn_short_lived(0, weave(0.0, 1.0), {.end_s = time_s + 0.7});
      EXPECT_TRUE(projectile);
    }
  };
  world.on_frame = [&](std::size_t index, double time_s, std::span<const ShownEntity> all) {
    look(index, time_s, all);
    if (index == 1) {
      if (world.client(1).owned(avatar)) (void)world.client(1).move(avatar, avatar_path(time_s));
      return;
    }
    if (time_s < epoch_s + 6.0) return;
    const ShownEntity* shown = world.shown(0, avatar);
    if (shown != nullptr)
      avatar_m.push_back(glm::distance(shown->shown.position, avatar_path(shown->shown_time_s).position));
    shown = world.shown(0, passenger);
    if (shown != nullptr)
      passenger_m.push_back(glm::distance(shown->local.position, deck_path(shown->shown_time_s).position));
    if (const FieldValue* value = world.client(0).field(ship, 0)) {
      while (!set.empty() && std::get<std::int64_t>(*value) >= set.front().second) {
        results.field_s += time_s - set.front().first;
        ++results.changes;
        set.erase(set.begin());
      }
    }
    if (world.shown(0, projectile) != nullptr) ++short_frames;
  };
  // A short-lived entity is shown then. Its spawn and its end are well before and after, whatever the delay.
  world.run_to(epoch_s + 18.5);
  results.rewind_m = p95(witness.errors_m);
  const auto poses = static_cast<double>(witness.errors_m.size() + witness.unknown);
  results.rewind_unknown = static_cast<double>(witness.unknown) / std::max(1.0, poses);
  results.avatar_m = p95(avatar_m);
  results.passenger_m = p95(passenger_m);
  results.field_s /= std::max(1.0, results.changes);
  const OwnershipStats& owned = world.server().ownership_stats();
  results.accepted = static_cast<double>(owned.accepted);
  results.corrected = static_cast<double>(owned.corrected + owned.refused + owned.ahead + owned.late);
  results.spawned = static_cast<double>(world.count(0, ClientEvent::Kind::spawned));
  results.despawned = static_cast<double>(world.count(0, ClientEvent::Kind::despawned));
  results.short_s = short_frames / 60.0;
  results.updates = static_cast<double>(world.client(0).stats().updates_applied);
  return results;
}

TEST(Epoch, NoPartDependsOnIt) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    const Results expected = play(0.0, 1000.0, mode);
    // Otherwise equal results would mean nothing.
    EXPECT_GT(expected.accepted, 20.0);
    EXPECT_GT(expected.changes, 15.0);
    EXPECT_GT(expected.short_s, 5.0);
    EXPECT_LT(expected.avatar_m, 0.5);
    EXPECT_LT(expected.rewind_m, 0.05);
    for (const auto& [epoch_s, offset_s] : std::vector<std::pair<double, double>>{{-100.0, 1000.0},
                                                                                  {-7.0, 0.0},
                                                                                  {0.0, -3.0},
                                                                                  {0.0, -2e6},
                                                                                  {-1e6, 1000.0},
                                                                                  {-1e6, 0.0},
                                                                                  {1e6, 1000.0}}) {
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", epoch " + std::to_string(epoch_s) +
                   ", offset of the client's clock " + std::to_string(offset_s));
      const Results now = play(epoch_s, offset_s, mode);
      EXPECT_NEAR(now.rewind_m, expected.rewind_m, 0.2 * expected.rewind_m + 0.002);
      EXPECT_NEAR(now.rewind_unknown, expected.rewind_unknown, 0.005);
      EXPECT_NEAR(now.avatar_m, expected.avatar_m, 0.15 * expected.avatar_m + 0.03);
      EXPECT_NEAR(now.passenger_m, expected.passenger_m, 0.15 * expected.passenger_m + 0.02);
      EXPECT_NEAR(now.field_s, expected.field_s, 0.02);
      EXPECT_NEAR(now.changes, expected.changes, 1.0);
      EXPECT_NEAR(now.accepted, expected.accepted, 0.1 * expected.accepted);
      EXPECT_NEAR(now.corrected, expected.corrected, 2.0);
      EXPECT_EQ(now.spawned, expected.spawned);
      EXPECT_EQ(now.despawned, expected.despawned);
      EXPECT_NEAR(now.short_s, expected.short_s, 0.3);
      EXPECT_NEAR(now.updates, expected.updates, 0.1 * expected.updates);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
