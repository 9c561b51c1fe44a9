// SPDX-License-Identifier: MIT
// Server::traffic() and Server::traffic_of(): what costs bandwidth.
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {
namespace {

/// Measures what the server passes to the transport.
class Scales final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    ++datagrams;
    bytes += payload.size();
    BitReader reader{payload};
    (void)read_server_header(reader);
    EXPECT_FALSE(reader.failed());
    head_bits += 8 * payload.size() - reader.bits_left();
    return ForwardingTransport::send(peer, payload);
  }

  std::uint64_t datagrams = 0, bytes = 0, head_bits = 0;
};

enum Kind : std::size_t { kCar, kPoint };
enum Field : std::size_t { kHealth, kAlarm };

std::vector<Archetype> archetypes() {
  Archetype car{.name = "car"};
  car.fields = {{"health", IntegerField{0, (1 << 20) - 1, 100}}, {"alarm", BooleanField{}}};
  return {car, {.name = "point", .has_orientation = false}};
}

std::uint64_t bits(const SentTraffic& traffic, SentContent content) {
  return traffic.by_content[static_cast<std::size_t>(content)].bits;
}
std::uint64_t count(const SentTraffic& traffic, SentContent content) {
  return traffic.by_content[static_cast<std::size_t>(content)].count;
}
std::uint64_t motion_bits(const SentTraffic& traffic) {
  return bits(traffic, SentContent::full_motion) + bits(traffic, SentContent::residual_motion) +
         bits(traffic, SentContent::route_motion);
}
std::uint64_t motions(const SentTraffic& traffic) {
  return count(traffic, SentContent::full_motion) + count(traffic, SentContent::residual_motion) +
         count(traffic, SentContent::route_motion);
}

/// A session with all kinds of content.
struct BusyWorld {
  struct Options {
    harness::LinkPair links;
    std::size_t clients = 3;
    unsigned threads = 1;
    unsigned bytes_per_second = 0;
  };
  explicit BusyWorld(const Options& options) : world(config(options)), options_(options) {}

  WorldConfig config(const Options& options) {
    WorldConfig config;
    config.links = options.links;
    config.server.archetypes = archetypes();
    config.server.threads = options.threads;
    if (options.bytes_per_second > 0) config.server.bytes_per_second = options.bytes_per_second;
    config.door = [this](Transport& network) {
      auto made = std::make_unique<Scales>(network);
      scales = made.get();
      return made;
    };
    return config;
  }

  void run(double until_s) {
    for (int i = 0; i < 20; ++i) {
      cars.push_back(world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}}, {},
                                    "car", kCar));
      points.push_back(world.add_body(Swing{.width_m = 2.0 + 0.1 * i}, {}, "point", kPoint));
    }
    Server& server = world.server();
    RouteDefinition road;
    road.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {100.0, 0.0, 0.0}}};
    const auto route = server.add_route(road);
    const EntityId cart = *server.spawn(kCar, "cart", State{});
    cars.push_back(cart);
    EXPECT_TRUE(route && server.follow(cart, *route));
    for (std::size_t i = 0; i < options_.clients; ++i) {
      ClientConfig client;
      client.archetypes = archetypes();
      world.add_client(client);
    }
    std::int64_t tick = 0;
    world.before_tick = [&, cart](double time_s) {
      (void)world.server().move_along(
          cart, {.distance = 50.0 + 40.0 * std::sin(time_s), .speed = 40.0 * std::cos(time_s)});
    };
    world.after_tick = [&](double) {
      ++tick;
      const std::array<std::byte, 90> payload{};
      if (tick % 3 == 0) (void)world.server().set_field(cars[0], kHealth, FieldValue{tick});
      if (tick % 5 == 0) (void)world.server().set_field(cars[1], kAlarm, FieldValue{tick % 2 == 0});
      if (tick % 20 == 0) (void)world.server().broadcast(payload, Delivery::reliable);
      if (tick % 7 == 0) (void)world.server().broadcast(payload, Delivery::unreliable);
      if (tick == 200) {
        world.remove_body(points.back());
        points.pop_back();
      }
    };
    world.run_to(until_s);
  }

  Scales* scales = nullptr;
  World world;
  std::vector<EntityId> cars, points;

 private:
  Options options_;
};

// Every bit belongs to one kind of content, over good, lossy and slow links and with several threads.
TEST(Traffic, AddsUpToTheBytesOfAllDatagrams) {
  const BusyWorld::Options all[] = {
      {.links = both_ways({.latency_ms = 30})},
      {.links = both_ways({.latency_ms = 60, .jitter_ms = 20, .loss_percent = 20})},
      {.links = both_ways({.latency_ms = 30, .rate_kbps = 40, .queue_ms = 300})},
      {.links = both_ways({.latency_ms = 30}), .clients = 40, .threads = 3, .bytes_per_second = 2000},
  };
  for (const BusyWorld::Options& options : all) {
    SCOPED_TRACE(testing::Message() << options.clients << " clients, loss "
                                    << options.links.down.loss_percent);
    BusyWorld busy(options);
    busy.run(8.0);
    const SentTraffic traffic = busy.world.server().traffic();
    const ServerStats& stats = busy.world.server().stats();

    EXPECT_EQ(stats.state_bytes_sent, busy.scales->bytes);
    EXPECT_EQ(traffic.bits(), 8 * busy.scales->bytes);
    std::uint64_t entity_bits = 0, of_archetypes = 0;
    for (std::size_t i = 0; i < kEntityContents; ++i)
      entity_bits += traffic.by_content[i].bits;
    for (const ArchetypeTraffic& archetype : traffic.archetypes)
      of_archetypes += archetype.bits();
    EXPECT_EQ(entity_bits, of_archetypes);

    // What other counters say.
    EXPECT_EQ(motion_bits(traffic), stats.update_bits_sent);
    EXPECT_EQ(bits(traffic, SentContent::route_motion), stats.route_bits_sent);
    EXPECT_EQ(count(traffic, SentContent::route_motion), stats.route_updates_sent);
    EXPECT_LE(motions(traffic), stats.updates_sent) << "these include spawns with a newer motion";
    EXPECT_GE(motions(traffic) + count(traffic, SentContent::spawn), stats.updates_sent);
    EXPECT_EQ(count(traffic, SentContent::field), stats.field_changes_sent);
    const std::uint64_t marks = stats.field_bits_sent - bits(traffic, SentContent::field);
    EXPECT_GT(marks, 0u);
    EXPECT_LE(marks, busy.scales->datagrams) << "one bit ends a section of fields";
    EXPECT_EQ(count(traffic, SentContent::header), busy.scales->datagrams);
    // Beside the heads: the ends of three sections, and up to 7 bits to fill the last byte.
    constexpr std::uint64_t kMostMarks = 16;
    const std::uint64_t header_bits = bits(traffic, SentContent::header);
    EXPECT_GE(header_bits, busy.scales->head_bits);
    EXPECT_LE(header_bits, busy.scales->head_bits + kMostMarks * busy.scales->datagrams);
    for (std::size_t i = 0; i < kContents; ++i) {
      const auto content = static_cast<SentContent>(i);
      // Only a loss requires full motions.
      if (content == SentContent::full_motion && options.links.down.loss_percent == 0.0) continue;
      if (content == SentContent::prediction) continue;  // nobody predicts
      EXPECT_GT(traffic.by_content[i].bits, 0u) << name_of(content);
    }
  }
}

TEST(Traffic, SplitsFieldsIntoTheirValues) {
  BusyWorld busy({.links = both_ways({.latency_ms = 30, .loss_percent = 5})});
  busy.run(8.0);
  const SentTraffic traffic = busy.world.server().traffic();
  ASSERT_EQ(traffic.archetypes.size(), 2u);
  const ArchetypeTraffic& car = traffic.archetypes[kCar];
  ASSERT_EQ(car.fields.size(), 2u);
  EXPECT_GT(car.fields[kHealth].count, 300u);
  EXPECT_EQ(car.fields[kHealth].bits, 20 * car.fields[kHealth].count) << "2^20 values";
  EXPECT_GT(car.fields[kAlarm].count, 200u);
  EXPECT_EQ(car.fields[kAlarm].bits, car.fields[kAlarm].count);
  EXPECT_EQ(car.by_content[static_cast<std::size_t>(SentContent::field)].bits,
            car.field_heads.bits + car.fields[kHealth].bits + car.fields[kAlarm].bits);
  EXPECT_TRUE(traffic.archetypes[kPoint].fields.empty());
  EXPECT_EQ(traffic.archetypes[kPoint].field_heads, SentAmount{});
}

// The entities of an archetype add up to the archetype while none has ended.
TEST(Traffic, OfEntitiesAddsUpToTheirArchetypes) {
  BusyWorld busy({.links = both_ways({.latency_ms = 30, .loss_percent = 5})});
  busy.run(2.5);
  const Server& server = busy.world.server();
  const SentTraffic traffic = server.traffic();
  const auto sum = [&](const std::vector<EntityId>& entities) {
    EntityTraffic total;
    for (const EntityId id : entities) {
      const auto part = server.traffic_of(id);
      if (!part) return total;
      EXPECT_GT(part->bits(), 0u);
      total.updates += part->updates;
      total.motion_bits += part->motion_bits;
      total.spawn_bits += part->spawn_bits;
      total.field_bits += part->field_bits;
    }
    return total;
  };
  const EntityTraffic cars = sum(busy.cars), points = sum(busy.points);
  EXPECT_EQ(cars.bits(), traffic.archetypes[kCar].bits());
  EXPECT_EQ(points.bits(), traffic.archetypes[kPoint].bits());
  EXPECT_EQ(cars.updates + points.updates, motions(traffic));
  EXPECT_EQ(cars.field_bits, bits(traffic, SentContent::field));
  EXPECT_EQ(cars.spawn_bits + points.spawn_bits, bits(traffic, SentContent::spawn));
  EXPECT_EQ(points.field_bits, 0u);
}

TEST(Traffic, OfAnEntityBeginsAtItsSpawn) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 20});
  config.server.max_entities = 1;  // the next entity gets the slot of the last one
  World world(config);
  const EntityId first = world.add_body(Circle{});
  world.add_client();
  world.run_to(4.0);
  const auto of_first = world.server().traffic_of(first);
  ASSERT_TRUE(of_first);
  EXPECT_GT(of_first->updates, 10u);
  const std::uint64_t before = world.server().traffic().archetypes[0].bits();
  world.remove_body(first);
  world.run_to(12.0);
  EXPECT_FALSE(world.server().traffic_of(first));
  EXPECT_FALSE(world.server().traffic_of({}));
  const EntityId second = world.add_body(Still{});
  ASSERT_EQ(second.slot(), first.slot());
  EXPECT_EQ(world.server().traffic_of(second)->bits(), 0u);
  world.run_to(14.0);
  const auto of_second = world.server().traffic_of(second);
  ASSERT_TRUE(of_second);
  EXPECT_GT(of_second->spawn_bits, 0u);
  EXPECT_LT(of_second->updates, of_first->updates);
  EXPECT_FALSE(world.server().traffic_of(first)) << "its id names no entity any more";
  EXPECT_EQ(world.server().traffic().archetypes[0].bits(), before + of_second->bits())
      << "archetypes include entities that have ended";
  // An entity at rest costs nothing.
  world.run_to(20.0);
  EXPECT_EQ(world.server().traffic_of(second)->bits(), of_second->bits());
}

TEST(Traffic, DoesNotDependOnTheNumberOfThreads) {
  std::vector<SentTraffic> all;
  for (const unsigned threads : {1u, 3u}) {
    BusyWorld busy({.links = both_ways({.latency_ms = 30}), .clients = 40, .threads = threads});
    busy.run(4.0);
    all.push_back(busy.world.server().traffic());
  }
  EXPECT_EQ(all[0].by_content, all[1].by_content);
  for (const std::size_t archetype : {kCar, kPoint}) {
    EXPECT_EQ(all[0].archetypes[archetype].by_content, all[1].archetypes[archetype].by_content);
    EXPECT_EQ(all[0].archetypes[archetype].fields, all[1].archetypes[archetype].fields);
    EXPECT_EQ(all[0].archetypes[archetype].field_heads, all[1].archetypes[archetype].field_heads);
  }
  SentTraffic sum = all[0];
  sum += all[1];
  EXPECT_EQ(sum.bits(), 2 * all[0].bits());
  EXPECT_EQ(sum.archetypes[kCar].fields[kHealth].count, 2 * all[0].archetypes[kCar].fields[kHealth].count);
}

}  // namespace
}  // namespace reckoner::test
