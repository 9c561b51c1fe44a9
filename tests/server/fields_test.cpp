// SPDX-License-Identifier: MIT
// User fields from the server's game to the client's, over simulated links.
#include "net/src/codec/field_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

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
    EXPECT_TRUE(world.server().set_field(id, kHealth, whole(static_cast<std::int64_t>(random() % 1000))));
    EXPECT_TRUE(
        world.server().set_field(id, kHeat, std::uniform_real_distribution<double>(-50.0, 150.0)(random)));
    EXPECT_TRUE(world.server().set_field(id, kAlarm, random() % 2 == 0));
    EXPECT_TRUE(world.server().set_field(id, kLabel, label(static_cast<char>(random() % 26 + 'a'))));
  };
  // The repair bound: round trip + 4 deviations + one-way delay + acknowledgement interval + 2 ticks.
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

// In buffered mode, every picture shows the value that was in force at the shown instant, exact to the tick.
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
    EXPECT_TRUE(world.server().set_field(id, kHealth, whole(1000 + world.server().next_tick())));
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
      EXPECT_TRUE(
          world.server().set_field(ids[i], kHealth, whole(static_cast<std::int64_t>(1000 * time_s) + 1)));
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
    EXPECT_TRUE(world.server().set_view(client, {0.0, 0.0, 0.0}));
    world.run_to(world.now_s() + 1.0);
    world.expect_last_values(player, id);
    EXPECT_TRUE(world.server().set_field(id, kHealth, whole(10 * round)));
    if (round % 2 == 0) world.run_to(world.now_s() + 0.02);  // the spawn is in flight or not yet sent
    EXPECT_TRUE(world.server().set_view(client, {1000.0, 0.0, 0.0}));
    world.run_to(world.now_s() + 0.7);
    EXPECT_EQ(world.client(player).field(id, kHealth), nullptr);
    EXPECT_TRUE(world.server().set_field(id, kHeat, 1.0 * round));
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
  EXPECT_TRUE(world.server().set_field(id, kHealth, whole(5)));
  EXPECT_TRUE(world.server().set_field(id, kAlarm, true));
  world.run_to(3.0);
  EXPECT_TRUE(world.server().set_field(id, kAlarm, true));  // no change
  EXPECT_TRUE(world.server().set_field(id, kHeat, 20.1));   // no change after rounding
  world.run_to(4.0);
  EXPECT_TRUE(world.server().set_field(id, kLabel, label('x')));
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
      EXPECT_TRUE(world.server().set_field(id, kLabel, label(next)));
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
    if (event.kind != TransportEvent::Kind::received) return true;
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
      EXPECT_TRUE(world.server().set_field(id, kHealth, whole(tick)));
      EXPECT_TRUE(world.server().set_field(id, kLabel, label(static_cast<char>(random() % 256))));
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

// The smallest MTU that a peer of ENet may have, without ENet's headers.
constexpr std::size_t kSmallestRoom = 576 - 28;

class SmallDatagrams final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  bool send(PeerId peer, std::span<const std::byte> payload) override {
    EXPECT_LE(payload.size(), kSmallestRoom);
    return ForwardingTransport::send(peer, payload);
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override {
    return std::min(ForwardingTransport::max_datagram_bytes(peer), kSmallestRoom);
  }
};

// Small datagrams to clients with entities of two archetypes. The second has 32 blobs of 64 bytes.
WorldConfig with_large_values(const harness::LinkOptions& link, std::uint64_t seed) {
  WorldConfig config{.links = both_ways(link), .seed = seed};
  Archetype large{.name = "large"};
  for (std::size_t i = 0; i < kMaxFields; ++i)
    large.fields.push_back({"blob " + std::to_string(i), BlobField{kMaxBlobBytes, {}}});
  config.server.archetypes = {Archetype{}, large};
  config.door = [](Transport& network) { return std::make_unique<SmallDatagrams>(network); };
  return config;
}

std::size_t add_player(World& world, const WorldConfig& config, PlayoutMode mode = PlayoutMode::present) {
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  client.playout.mode = mode;
  return world.add_client(client);
}

// A value that no other entity, field and change has.
FieldValue large_value(std::size_t entity, std::size_t field, std::size_t change) {
  std::array<std::byte, kMaxBlobBytes> bytes;
  bytes.fill(static_cast<std::byte>(31 * entity + field));
  bytes[0] = static_cast<std::byte>(entity);
  bytes[1] = static_cast<std::byte>(field);
  bytes[2] = static_cast<std::byte>(change);
  return *Blob::of(bytes);
}

// Entities with large values, a client that looks at them, and what it has seen.
class LargeEntities {
 public:
  static constexpr std::size_t kEntities = 20;

  LargeEntities(const harness::LinkOptions& link, PlayoutMode mode, std::uint64_t seed)
      : config_(with_large_values(link, seed)), world_(config_) {
    for (int i = 0; i < 10; ++i)
      world_.add_body(Circle{.turn_rps = 1.0 + 0.1 * i});
    add_player(world_, config_, mode);
    world_.after_tick = [this](double time_s) { play(time_s); };
    world_.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      for (const ShownEntity& e : shown)
        look(time_s, e);
    };
  }

  void run() {
    world_.run_to(kEndS + 3.0);
    EXPECT_EQ(world_.client(0).stats().malformed, 0u);
    ASSERT_EQ(all_.size(), kEntities);
    for (const Large& large : all_) {
      ASSERT_TRUE(large.shown_s);
      EXPECT_LT(*large.shown_s - large.spawned_s, 4.0);
      EXPECT_EQ(*world_.client(0).field(large.id, kChanging), world_.server().field(large.id, kChanging));
    }
  }

 private:
  static constexpr double kBeginS = 3.0, kEndS = 12.0;
  static constexpr std::size_t kChanging = 5;  // the field that changes

  struct Large {
    EntityId id;
    Circle path;
    double spawned_s = 0.0;
    std::size_t changes = 0;
    std::optional<double> shown_s;
  };

  void play(double time_s) {
    if (time_s < kBeginS || time_s > kEndS) return;
    const std::size_t count = all_.size();
    if (count < kEntities && world_.server().next_tick() % 12 == 0) {
      const Circle path{.radius_m = 1.0, .centre = {100.0 + 10.0 * static_cast<double>(count), 0.0, 0.0}};
      const EntityId id = world_.add_body(path, {}, "large", 1);
      for (std::size_t field = 0; field < kMaxFields; ++field)
        EXPECT_TRUE(world_.server().set_field(id, field, large_value(count, field, 0)));
      all_.push_back({.id = id, .path = path, .spawned_s = time_s, .shown_s = {}});
    }
    for (std::size_t i = 0; i < all_.size(); i += 2)
      EXPECT_TRUE(
          world_.server().set_field(all_[i].id, kChanging, large_value(i, kChanging, ++all_[i].changes)));
  }

  void look(double time_s, const ShownEntity& e) {
    const auto large = std::ranges::find(all_, e.id, &Large::id);
    if (large == all_.end()) return;
    if (!large->shown_s) {
      large->shown_s = time_s;
      EXPECT_LT(glm::distance(e.shown.position, large->path.centre), 3.0) << "without its motion";
    }
    const auto number = static_cast<std::size_t>(large - all_.begin());
    for (std::size_t field = 0; field < kMaxFields; ++field) {
      const FieldValue* value = world_.client(0).field(e.id, field);
      ASSERT_NE(value, nullptr);
      const auto bytes = std::get<Blob>(*value).bytes();
      ASSERT_EQ(bytes.size(), kMaxBlobBytes) << "field " << field << " has its initial value at " << time_s;
      EXPECT_EQ(*value, large_value(number, field, std::to_integer<std::size_t>(bytes[2])));
    }
  }

  WorldConfig config_;
  World world_;
  std::vector<Large> all_;
};

struct NamedLink {
  const char* name;
  harness::LinkOptions options;
};
class LargeValues : public testing::TestWithParam<NamedLink> {};

// The values do not fit into a datagram, so they follow the spawn. Half of the entities change one of them
// all the time.
TEST_P(LargeValues, EntityIsShownOnlyWithItsMotionAndAllValues) {
  for (unsigned seed = 1; seed <= seeds_to_run(3); ++seed) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive})
      LargeEntities(GetParam().options, mode, seed).run();
  }
}

INSTANTIATE_TEST_SUITE_P(, LargeValues,
                         testing::Values(NamedLink{"Quiet", {.latency_ms = 50.0}},
                                         NamedLink{"Loss", {.latency_ms = 50.0, .loss_percent = 20.0}},
                                         NamedLink{"Bursts",
                                                   {.latency_ms = 50.0, .loss_percent = 20.0, .burst = 8.0}},
                                         NamedLink{"Jitter", {.latency_ms = 50.0, .jitter_ms = 60.0}}),
                         [](const testing::TestParamInfo<NamedLink>& link) { return link.param.name; });

// A spawn fits into a small datagram, or its values follow. It must not delay the spawns behind it.
TEST(Fields, SpawnsOfAllSizesArriveInSmallDatagrams) {
  const WorldConfig config = with_large_values({.latency_ms = 20.0}, 1);
  World world(config);
  const std::size_t player = add_player(world, config);
  world.run_to(1.0);
  std::vector<EntityId> all;
  for (std::size_t values = 0; values <= kMaxFields; ++values) {
    for (std::size_t name = 0; name <= kMaxNameBytes; ++name) {
      // With 7 values and a name of 21 bytes, a spawn has 480 bytes of content, the most that is allowed.
      if (values != 7 && name != 0 && name != kMaxNameBytes) continue;
      const Circle path{
          .radius_m = 1000.0, .turn_rps = 0.1, .centre = {5e4, -5e4 + static_cast<double>(name), 5e4}};
      all.push_back(world.add_body(path, {}, std::string(name, 'n'), 1));
      for (std::size_t field = 0; field < values; ++field)
        EXPECT_TRUE(world.server().set_field(all.back(), field, large_value(values, field, name)));
    }
  }
  world.run_to(4.0);
  EXPECT_EQ(world.shown(player).size(), all.size());
  for (const ShownEntity& e : world.shown(player)) {
    for (std::size_t field = 0; field < kMaxFields; ++field)
      EXPECT_EQ(*world.client(player).field(e.id, field), world.server().field(e.id, field));
  }
}

TEST(Fields, MalformedSectionIsRefusedAsAWhole) {
  FieldWorld world({.links = both_ways({.latency_ms = 10.0})});
  const EntityId id = world.add_body(Still{});
  const std::size_t player = world.add_player();
  PeerId from;
  Sequence newest = 0;
  world.tap(player).filter = [&](const TransportEvent& event) {
    from = event.peer;
    if (event.kind == TransportEvent::Kind::received) {
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
    world.tap(player).inject_payload(from, {payload.begin(), payload.end()});
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
