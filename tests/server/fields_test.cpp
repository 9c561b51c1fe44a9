// SPDX-License-Identifier: MIT
// User fields from the server's game to the client's, over simulated links.
#include "net/src/codec/field_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

enum Field : std::size_t { kHealth, kHeat, kAlarm, kLabel };

std::vector<Archetype> archetypes() {
  Archetype a;
  a.fields = {{"health", IntegerField{0, 1'000'000, 100}},
              {"heat", RealField{-50.0, 150.0, 0.5, 20.0}},
              {"alarm", BooleanField{}},
              {"label", BlobField{16, {}}}};
  return {a};
}

FieldValue whole(std::int64_t n) {
  return n;
}

FieldValue label(char c) {
  const std::array<std::byte, 2> bytes{std::byte{0xff}, static_cast<std::byte>(c)};
  return *Blob::of(bytes);
}

struct FieldWorld : World {
  explicit FieldWorld(WorldConfig config) : World(with_fields(std::move(config))) {}

  static WorldConfig with_fields(WorldConfig config) {
    config.server.archetypes = archetypes();
    return config;
  }
  std::size_t add_player(PlayoutMode mode = PlayoutMode::present, double delay_s = 0.1) {
    ClientConfig config;
    config.archetypes = archetypes();
    config.playout.mode = mode;
    config.playout.delay_s = delay_s;
    return add_client(config);
  }
  void expect_last_values(std::size_t player, EntityId id) {
    for (const std::size_t field : {kHealth, kHeat, kAlarm, kLabel}) {
      const FieldValue* shown = client(player).field(id, field);
      ASSERT_NE(shown, nullptr) << "client " << player << " field " << field;
      EXPECT_EQ(*shown, server().field(id, field)) << "client " << player << " field " << field;
    }
  }
};

TEST(Fields, EveryClientHasTheLastValuesAfterHeavyLoss) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 50.0, .jitter_ms = 10.0, .loss_percent = 30.0});
  config.script = "10 loss=0\n";
  config.seed = 3;
  FieldWorld world(config);
  std::vector<EntityId> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(world.add_body(i % 2 == 0 ? Truth{Circle{}} : Truth{Still{}}));
  world.add_player();
  world.add_player(PlayoutMode::adaptive);
  world.add_player(PlayoutMode::delayed, 0.3);
  std::mt19937_64 random(1);
  world.after_tick = [&](double time_s) {
    if (time_s >= 10.0) return;
    const EntityId id = ids[random() % ids.size()];
    world.server().set_field(id, kHealth, whole(static_cast<std::int64_t>(random() % 1000)));
    world.server().set_field(id, kHeat, std::uniform_real_distribution<double>(-50.0, 150.0)(random));
    world.server().set_field(id, kAlarm, random() % 2 == 0);
    world.server().set_field(id, kLabel, label(static_cast<char>(random() % 26 + 'a')));
  };
  // The repair bound: round trip + 4 deviations + one way + acknowledgement interval + 2 ticks.
  const double bound_s = 0.12 + 4 * 0.01 + 0.06 + 0.1 + 2.0 / 60.0 + 0.03;
  world.run_to(10.0 + bound_s);
  for (const EntityId id : ids)
    world.expect_last_values(0, id);
  world.run_to(10.0 + bound_s + 1.0);  // by then the shown time has reached the change, too
  for (const std::size_t player : {0u, 1u, 2u}) {
    for (const EntityId id : ids)
      world.expect_last_values(player, id);
    EXPECT_EQ(world.client(player).stats().malformed, 0u);
  }
  EXPECT_GT(world.server().stats().field_repairs_sent, 100u);
}

// In buffered mode, every frame shows the value that was in force at the shown instant, exact to the tick.
TEST(Fields, ChangeAppearsWhenTheShownTimeReachesIt) {
  for (const double loss_percent : {0.0, 10.0}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 10.0, .loss_percent = loss_percent});
    FieldWorld world(config);
    const EntityId id = world.add_body(Circle{});
    const std::size_t player = world.add_player(PlayoutMode::delayed, 1.2);  // allows several repairs
    std::map<double, std::int64_t> made{{0.0, 100}};
    std::size_t compared = 0;
    world.after_tick = [&](double) {
      const Tick tick = world.server().next_tick();
      // A lost change is repaired before the next change, which would replace it.
      if (tick % (loss_percent > 0.0 ? 60 : 5) != 0) return;
      made[world.server().tick_time_s(tick)] = tick;
      EXPECT_TRUE(world.server().set_field(id, kHealth, whole(tick)));
    };
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      if (time_s < 3.0 || shown.empty()) return;
      const auto in_force = std::prev(made.upper_bound(shown[0].shown_time_s));
      ASSERT_NE(world.client(player).field(id, kHealth), nullptr);
      EXPECT_EQ(*world.client(player).field(id, kHealth), whole(in_force->second)) << time_s;
      ++compared;
    };
    world.run_to(30.0);
    EXPECT_GT(compared, 1500u);
    EXPECT_GE(world.count(player, ClientEvent::Kind::fields_changed), loss_percent > 0.0 ? 25u : 300u);
  }
}

TEST(Fields, PresentModeShowsChangesAtOnceAndNeverGoesBack) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 60.0, .jitter_ms = 40.0, .loss_percent = 10.0});
  FieldWorld world(config);
  const EntityId id = world.add_body(Circle{});
  const std::size_t player = world.add_player();
  world.after_tick = [&](double) {
    world.server().set_field(id, kHealth, whole(1000 + world.server().next_tick()));
  };
  std::int64_t before = 0;
  std::int64_t last = 0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    if (shown.empty()) return;
    const auto value = std::get<std::int64_t>(*world.client(player).field(id, kHealth));
    EXPECT_GE(value, before);
    before = value;
    last = 1000 + world.server().next_tick() - value;
  };
  world.run_to(6.0);
  EXPECT_LT(last, 20);  // ticks: the one-way delay with jitter, and perhaps one loss
  EXPECT_GT(world.client(player).stats().field_changes_stale, 5u);  // changes overtaken by newer ones
}

TEST(Fields, SpawnCarriesTheValuesSetInItsTick) {
  FieldWorld world({.links = both_ways({.latency_ms = 50.0})});
  const EntityId id = world.add_body(Still{});
  EXPECT_TRUE(world.server().set_field(id, kHealth, whole(7)));
  EXPECT_TRUE(world.server().set_field(id, kHeat, 37.26));
  world.run_to(1.0);
  EXPECT_TRUE(world.server().set_field(id, kAlarm, true));
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    const std::size_t player = world.add_player(mode);
    world.run_to(world.now_s() + 2.0);
    ASSERT_EQ(world.count(player, ClientEvent::Kind::spawned), 1u);
    EXPECT_EQ(world.count(player, ClientEvent::Kind::fields_changed), 0u);
    world.expect_last_values(player, id);
    EXPECT_EQ(*world.client(player).field(id, kHeat), FieldValue{37.5});
    EXPECT_EQ(world.client(player).field(id, 4), nullptr);
    EXPECT_EQ(world.client(player).field({99, 1}, kHealth), nullptr);
  }
  EXPECT_EQ(world.server().stats().field_changes_sent, 0u);
}

// Values that are set in the tick of the spawn travel in the spawn. Values that are set while the spawn is in
// flight follow it.
TEST(Fields, ChangesWhileTheSpawnIsInFlightArrive) {
  FieldWorld world({.links = both_ways({.latency_ms = 80.0, .loss_percent = 20.0})});
  const std::size_t player = world.add_player();
  world.run_to(2.0);
  std::vector<EntityId> ids;
  world.after_tick = [&](double time_s) {
    if (ids.size() < 30) ids.push_back(world.add_body(Still{}));
    if (time_s > 4.0) return;
    for (std::size_t i = 0; i < ids.size(); ++i)
      world.server().set_field(ids[i], kHealth, whole(static_cast<std::int64_t>(1000 * time_s) + 1));
  };
  world.run_to(6.0);
  for (const EntityId id : ids)
    world.expect_last_values(player, id);
}

TEST(Fields, EntityThatReentersTheViewHasItsCurrentValues) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 30.0, .loss_percent = 10.0});
  config.server.interest.radius_m = 50.0;
  FieldWorld world(config);
  const EntityId id = world.add_body(Still{});
  const std::size_t player = world.add_player();
  world.run_to(1.0);
  ASSERT_EQ(world.count(ServerEvent::Kind::client_joined), 1u);
  const ClientId client = world.server_events().front().client;
  for (int round = 0; round < 5; ++round) {
    world.server().set_view(client, {0.0, 0.0, 0.0});
    world.run_to(world.now_s() + 1.0);
    world.expect_last_values(player, id);
    world.server().set_field(id, kHealth, whole(10 * round));
    if (round % 2 == 0) world.run_to(world.now_s() + 0.02);  // the spawn is in flight or not yet sent
    world.server().set_view(client, {1000.0, 0.0, 0.0});
    world.run_to(world.now_s() + 0.7);
    EXPECT_EQ(world.client(player).field(id, kHealth), nullptr);
    world.server().set_field(id, kHeat, 1.0 * round);
    world.run_to(world.now_s() + 0.3);
  }
  EXPECT_EQ(world.count(player, ClientEvent::Kind::spawned), 5u);
  EXPECT_EQ(world.client(player).stats().malformed, 0u);
}

TEST(Fields, EventsNameTheChangedFields) {
  FieldWorld world({.links = both_ways({.latency_ms = 30.0})});
  const EntityId id = world.add_body(Still{});
  const std::size_t player = world.add_player(PlayoutMode::adaptive);
  world.run_to(2.0);
  world.server().set_field(id, kHealth, whole(5));
  world.server().set_field(id, kAlarm, true);
  world.run_to(3.0);
  world.server().set_field(id, kAlarm, true);  // no change
  world.server().set_field(id, kHeat, 20.1);   // no change after rounding
  world.run_to(4.0);
  world.server().set_field(id, kLabel, label('x'));
  world.run_to(5.0);
  std::vector<std::uint32_t> changes;
  for (const ClientEvent& event : world.events(player)) {
    if (event.kind == ClientEvent::Kind::fields_changed) {
      EXPECT_EQ(event.entity, id);
      changes.push_back(event.fields);
    }
  }
  EXPECT_EQ(changes, (std::vector<std::uint32_t>{1u << kHealth | 1u << kAlarm, 1u << kLabel}));
  EXPECT_EQ(world.server().stats().field_changes_sent, 3u);
}

TEST(Fields, ServerRefusesInvalidFieldsAndValues) {
  FieldWorld world({});
  const EntityId id = world.add_body(Still{});
  EXPECT_FALSE(world.server().set_field({}, kHealth, whole(1)));
  EXPECT_FALSE(world.server().set_field(id, 4, whole(1)));
  EXPECT_FALSE(world.server().set_field(id, kHealth, whole(-1)));
  EXPECT_FALSE(world.server().set_field(id, kHealth, 1.0));
  EXPECT_FALSE(world.server().set_field(id, kHeat, std::nan("")));
  EXPECT_EQ(world.server().field(id, kHealth), whole(100));
  EXPECT_FALSE(world.server().field(id, 4));
  EXPECT_TRUE(world.server().set_field(id, kHealth, whole(1)));
  world.remove_body(id);
  EXPECT_FALSE(world.server().set_field(id, kHealth, whole(2)));
  EXPECT_FALSE(world.server().field(id, kHealth));
}

TEST(Fields, ClientWithOtherFieldsIsRefused) {
  FieldWorld world({});
  ClientConfig config;
  config.archetypes = archetypes();
  config.archetypes[0].fields[kHealth].type = IntegerField{0, 1'000'001, 100};
  const std::size_t player = world.add_client(config);
  world.run_to(1.0);
  EXPECT_EQ(world.client(player).status(), ClientStatus::refused);
}

// Fields that change all the time use at most half of a tight budget: motions still arrive.
TEST(Fields, LeaveHalfOfTheBudgetToMotions) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 30.0});
  config.server.bytes_per_second = 6000;
  FieldWorld world(config);
  std::vector<EntityId> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(world.add_body(Circle{.turn_rps = 1.0 + 0.1 * i}));
  const std::size_t player = world.add_player();
  world.run_to(3.0);
  const std::uint64_t updates_before = world.client(player).stats().updates_applied;
  const std::uint64_t bits_before = world.server().stats().field_bits_sent;
  char next = 0;
  world.after_tick = [&](double time_s) {
    if (time_s > 9.0) return;
    ++next;
    for (const EntityId id : ids)
      world.server().set_field(id, kLabel, label(next));
  };
  world.run_to(9.0);
  EXPECT_GT(world.client(player).stats().updates_applied, updates_before + 6 * 60);
  const double field_bytes_per_second =
      static_cast<double>(world.server().stats().field_bits_sent - bits_before) / 8.0 / 6.0;
  EXPECT_GT(field_bytes_per_second, 1000.0);
  EXPECT_LT(field_bytes_per_second, 3300.0);
  world.run_to(10.0);
  for (const EntityId id : ids)
    world.expect_last_values(player, id);
}

// Datagrams arrive in order and without loss, so that every claim of completeness may be believed at once.
// The budget postpones many changes.
TEST(Fields, CompletenessClaimIncludesFields) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 50.0});
  config.server.bytes_per_second = 8000;
  FieldWorld world(config);
  std::vector<EntityId> ids;
  for (int i = 0; i < 200; ++i)
    ids.push_back(world.add_body(Still{}));
  const std::size_t player = world.add_player();
  Tick complete = 0;
  std::size_t postponed = 0;
  world.tap(player).filter = [&](const TransportEvent& event) {
    if (event.kind != TransportEvent::Kind::received || event.channel != Channel::state) return true;
    BitReader reader{event.payload};
    const ServerHeader header = read_server_header(reader);
    complete = header.tick - header.complete_age;  // the tick does not wrap in this test
    postponed += header.complete_age > 0 ? 1 : 0;
    return true;
  };
  std::map<std::size_t, std::map<Tick, std::int64_t>> made;
  std::mt19937_64 random(1);
  world.after_tick = [&](double time_s) {
    const Tick tick = world.server().next_tick();
    if (time_s > 2.0 && tick % 32 > 20) return;
    for (int i = 0; i < 20; ++i) {
      const EntityId id = ids[random() % ids.size()];
      world.server().set_field(id, kHealth, whole(tick));
      world.server().set_field(id, kLabel, label(static_cast<char>(random() % 256)));
      made[id.slot()][tick] = tick;
    }
  };
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 3.0) return;
    for (const ShownEntity& entity : shown) {
      const auto& changes = made[entity.id.slot()];
      const auto next = changes.upper_bound(complete);
      if (next == changes.begin()) continue;
      EXPECT_GE(std::get<std::int64_t>(*world.client(player).field(entity.id, kHealth)),
                std::prev(next)->second);
      ++compared;
    }
  };
  world.run_to(8.0);
  EXPECT_GT(compared, 5000u);
  EXPECT_GT(postponed, 20u);
  EXPECT_GT(complete, 300u);
}

TEST(Fields, MalformedSectionIsRefusedAsAWhole) {
  FieldWorld world({.links = both_ways({.latency_ms = 10.0})});
  const EntityId id = world.add_body(Still{});
  const std::size_t player = world.add_player();
  PeerId from;
  Sequence newest = 0;
  world.tap(player).filter = [&](const TransportEvent& event) {
    from = event.peer;
    if (event.kind == TransportEvent::Kind::received && event.channel == Channel::state) {
      BitReader reader{event.payload};
      newest = read_server_header(reader).sequence;
    }
    return true;
  };
  world.run_to(1.0);
  const auto inject_payload = [&](auto&& write_section) {
    ServerHeader header;
    header.sequence = static_cast<Sequence>(newest + 1);
    header.tick = static_cast<std::uint16_t>(world.server().next_tick());
    header.has_fields = true;
    Bytes buffer(200);
    BitWriter writer{buffer};
    write(writer, header);
    write_section(writer);
    const auto payload = writer.finish();
    world.tap(player).inject_payload(from, Channel::state, {payload.begin(), payload.end()});
    world.run_to(world.now_s() + 0.02);
  };
  inject_payload([](BitWriter& w) { w.write(0, 1); });                                // no fields
  inject_payload([](BitWriter& w) { write_field_slot(w, 77, -1), w.write(0, 40); });  // unknown entity
  inject_payload([](BitWriter& w) {                                                   // value out of range
    write_field_slot(w, 0, -1);
    w.write(0, 1), w.write(1, 1), w.write(kHealth, 2), w.write((1u << 20) - 1, 20), w.write(0, 2);
  });
  inject_payload(
      [](BitWriter& w) { write_field_slot(w, 0, -1), w.write(0, 1), w.write(1, 1); });  // truncated
  EXPECT_EQ(world.client(player).stats().malformed, 4u);
  EXPECT_EQ(world.client(player).stats().field_changes_applied, 0u);
  EXPECT_EQ(*world.client(player).field(id, kHealth), whole(100));
}

}  // namespace
}  // namespace reckoner::test
