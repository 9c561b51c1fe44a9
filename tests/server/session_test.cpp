// SPDX-License-Identifier: MIT
#include "server/src/session/session.hpp"

#include "net/src/link/ack_window.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "server/src/publish/publisher.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

/// Keeps what a session sends: the reliable messages, and the spawns in datagrams without updates.
class Recorder final : public Transport {
 public:
  std::vector<SpawnEntry> spawns;
  std::vector<Sequence> datagrams;
  std::vector<std::size_t> state_sizes;
  std::size_t room = kMaxDatagramBytes;

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, std::span<const std::byte> payload) override {
    state_sizes.push_back(payload.size());
    read(payload);
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return room; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  void read(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    datagrams.push_back(header.sequence);
    if (header.update_count > 0 || !header.has_spawns) return;
    std::vector<SpawnEntry> entries;
    read_spawns(reader, newest_, entries);
    ASSERT_FALSE(reader.failed());
    for (const SpawnEntry& entry : entries) {
      if (const auto* spawn = std::get_if<Spawn>(&entry)) newest_ = std::max(newest_, spawn->number);
      spawns.push_back(entry);
    }
  }

  std::uint32_t newest_ = 0;
  TransportStats stats_;
};

/// A session. The test decides what its client answers.
struct SessionBench {
  explicit SessionBench(std::uint32_t entities, Tick quarantine_ticks = 0)
      : table(entities, quarantine_ticks) {}

  [[nodiscard]] static ServerConfig unlimited() {
    ServerConfig config;
    config.bytes_per_second = 0;
    config.follow_link = false;
    return config;
  }

  EntityId add() {
    const EntityId id = table.add(publisher.make_entity(0, "", State{}, 0), tick);
    Entity* added = table.find(id);
    if (added == nullptr) return id;
    traffic.add_entity(static_cast<std::uint32_t>(id.slot()), 0);
    put_on_stream(*added);
    session.follow(*added, 0, tick);
    return id;
  }
  void publish(EntityId id) {
    put_on_stream(*table.find(id));
    published.insert(0, static_cast<std::uint32_t>(id.slot()));
  }
  void remove(EntityId id) {
    table.remove(id, tick);
    session.unfollow(id, tick);
  }
  void step() {
    published.list_words();
    const TickInputs now{table,     fields, published,   config.archetypes, quantisation, routes,
                         encodings, tick,   tick / 60.0, tick / 60.0,       60.0,         true};
    encodings.begin(table, quantisation, 60.0);
    WriteScratch scratch{0, snapshot, fresh, datagrams, traffic.share(0)};
    session.write_datagrams(now, transport.room, scratch);
    datagrams.flush(transport);
    stats += std::exchange(datagrams.stats, {});
    published.begin(0);
    ++tick;
  }
  /// The client acknowledges all datagrams so far. `messages`: number of reliable messages that it reports.
  bool confirm(std::size_t messages = 0) {
    constexpr std::size_t kPerAck = 8;
    const std::vector<Sequence> sent = std::exchange(transport.datagrams, {});
    for (std::size_t i = 0; i == 0 || i < sent.size();) {
      for (const std::size_t end = i + kPerAck; i < std::min(end, sent.size()); ++i)
        (void)window.note(sent[i]);
      ClientDatagram datagram;
      datagram.sequence = sequence++;
      datagram.processed = static_cast<std::uint16_t>(messages);
      if (window.any()) datagram.ack = window.acknowledge();
      if (session.receive(datagram, tick / 60.0, stats) != Session::Receipt::accepted) return false;
      if (sent.empty()) break;
    }
    return true;
  }
  void put_on_stream(Entity& entity) {
    State state;
    state.position.x = 0.1 * tick;
    const QuantisedState encoded = quantise(state, 0, kUnitPrecision, quantisation[0]);
    entity.levels[0].stream.publish(encoded, Motion{*dequantise(encoded, quantisation[0]), tick / 60.0}, tick,
                                    1.0);
    table.heads()[entity.id.slot() * kLevels] = entity.levels[0].stream.head();
  }

  ServerConfig config = unlimited();
  std::vector<Quantisation> quantisation{quantisation_for(Archetype{})};
  EntityTable table;
  FieldTable fields{config.archetypes};
  RouteTable routes;
  Publisher publisher{config, quantisation, 1};
  Encodings encodings{1};
  Snapshot snapshot;
  std::vector<std::uint32_t> fresh;
  DatagramBuffer datagrams;
  TrafficCounter traffic{config.archetypes, 1};
  Published published;
  Recorder transport;
  ServerStats stats;
  Session session{{1}, {1}, config};
  ReceivedWindow window;
  Tick tick = 0;
  Sequence sequence = 0;
};

TEST(Session, SpawnsWaitUntilEarlierOnesAreAcknowledged) {
  SessionBench bench(20'000);
  for (int i = 0; i < 20'000; ++i)
    bench.add();
  for (int i = 0; i < 10; ++i)
    bench.step();
  EXPECT_EQ(bench.transport.spawns.size(), SettledNumbers::kWindow);
  EXPECT_TRUE(bench.confirm());
  bench.step();
  EXPECT_EQ(bench.transport.spawns.size(), 2 * SettledNumbers::kWindow);
  EXPECT_TRUE(bench.confirm());
  bench.step();
  EXPECT_EQ(bench.transport.spawns.size(), 20'000u);
  std::set<EntityId> spawned;
  for (const SpawnEntry& entry : bench.transport.spawns)
    spawned.insert(std::get<Spawn>(entry).entity);
  EXPECT_EQ(spawned.size(), 20'000u);
}

TEST(Session, EntityRemovedWhileItsSpawnWaitsIsNeverSent) {
  SessionBench bench(10'000);
  std::vector<EntityId> ids;
  for (int i = 0; i < 9000; ++i)
    ids.push_back(bench.add());
  bench.step();
  ASSERT_EQ(bench.transport.spawns.size(), SettledNumbers::kWindow) << "as many as may be are in flight";
  EXPECT_TRUE(bench.confirm());
  bench.remove(ids.back());   // its spawn was not sent yet
  bench.remove(ids.front());  // its spawn was sent
  bench.step();
  ASSERT_EQ(bench.transport.spawns.size(), 9000u);
  const auto& first = std::get<Despawn>(bench.transport.spawns[SettledNumbers::kWindow]);
  EXPECT_EQ(first.entity, ids.front()) << "before the rest";
  EXPECT_EQ(first.number, 1u);
}

TEST(Session, SpawnNumbersMayWrapOnTheWire) {
  SessionBench bench(4);
  for (int i = 0; i < 100'000; ++i) {  // 16 bits of the numbers are on the wire
    const EntityId id = bench.add();
    bench.step();
    const auto& spawn = std::get<Spawn>(bench.transport.spawns.back());
    ASSERT_EQ(spawn.entity, id);
    ASSERT_EQ(spawn.number, static_cast<std::uint32_t>(i + 1));
    bench.remove(id);
    bench.step();
    ASSERT_EQ(std::get<Despawn>(bench.transport.spawns.back()).number, static_cast<std::uint32_t>(i + 1));
    ASSERT_TRUE(bench.confirm());
    bench.transport.spawns.clear();
  }
  const EntityId last = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm());
  const std::uint64_t before = bench.stats.updates_sent;
  bench.publish(last);
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, before + 1);
}

TEST(Session, RefusesConfirmationsOfUnsentMessagesAndDatagrams) {
  SessionBench bench(4);
  bench.add();
  bench.step();
  EXPECT_FALSE(bench.confirm(1));
  ClientDatagram lie;
  lie.ack = Ack{999};
  EXPECT_EQ(bench.session.receive(lie, 0.1, bench.stats), Session::Receipt::refused);
  EXPECT_TRUE(bench.confirm());
}

TEST(Session, SendsNoUpdatesBeforeTheSpawnIsAcknowledged) {
  SessionBench bench(4);
  const EntityId id = bench.add();
  for (int i = 0; i < 20; ++i) {
    bench.publish(id);
    bench.step();
  }
  // Instead, newer motions follow in a few further spawns.
  const std::size_t behind = bench.transport.spawns.size() - 1;
  EXPECT_GE(behind, 3u);
  EXPECT_LE(behind, 4u);
  EXPECT_EQ(bench.stats.updates_sent, behind);
  for (const SpawnEntry& entry : bench.transport.spawns)
    EXPECT_EQ(std::get<Spawn>(entry).number, 1u);
  ASSERT_TRUE(bench.confirm());
  bench.step();  // sends what was published in the meantime, once
  EXPECT_EQ(bench.stats.updates_sent, behind + 1);
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, behind + 1);
  EXPECT_EQ(bench.transport.spawns.size(), behind + 1);
}

TEST(Session, LossOfARemovedEntityIsNotRepaired) {
  SessionBench bench(8);
  const EntityId gone = bench.add();
  const EntityId stays = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm());
  bench.publish(gone);
  bench.publish(stays);
  bench.step();
  bench.remove(gone);
  const EntityId next = bench.add();  // may reuse the slot of the removed entity
  bench.step();
  for (int i = 0; i < 120; ++i)
    bench.step();  // nothing is acknowledged, so all datagrams are given up
  EXPECT_GT(bench.stats.datagrams_lost, 0u);
  EXPECT_NE(bench.session.subscriptions().find(static_cast<std::uint32_t>(next.slot())), nullptr);
  EXPECT_FALSE(bench.session.subscriptions().is_due(static_cast<std::uint32_t>(gone.slot())) &&
               gone.slot() != next.slot());
  EXPECT_GT(bench.stats.repairs_sent, 0u);  // repairs of the remaining entity
}

TEST(Session, SequenceNumbersMayWrapWithoutDoubleRepairs) {
  // Sends 70 000 datagrams. Every tenth is found lost. All others are acknowledged at once.
  SessionBench bench(4);
  const EntityId id = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm());
  Sequence newest = 0;
  std::uint64_t lost = 0;
  for (int i = 0; i < 70'000; ++i) {
    bench.publish(id);
    const std::uint64_t datagrams = bench.stats.datagrams_sent;
    bench.step();
    ASSERT_EQ(bench.stats.datagrams_sent, datagrams + 1);
    newest = static_cast<Sequence>(datagrams);
    if (i % 10 == 9) {
      ++lost;
      continue;
    }
    (void)bench.window.note(newest);
    ClientDatagram answer;
    answer.sequence = bench.sequence++;
    answer.ack = bench.window.acknowledge();
    ASSERT_EQ(bench.session.receive(answer, bench.tick / 60.0, bench.stats), Session::Receipt::accepted);
  }
  EXPECT_NEAR(static_cast<double>(bench.stats.datagrams_lost), static_cast<double>(lost), 5.0);
  // A newer motion had been sent before the loss was found, so there was nothing to repair.
  EXPECT_EQ(bench.stats.repairs_sent, 0u);
  EXPECT_EQ(bench.stats.updates_sent, 70'000u);
}

TEST(Session, DatagramsKeepToThePeersSizeLimit) {
  SessionBench bench(600);
  bench.transport.room = 500;
  std::vector<EntityId> ids;
  for (int i = 0; i < 600; ++i)
    ids.push_back(bench.add());
  bench.step();
  ASSERT_TRUE(bench.confirm());
  bench.transport.state_sizes.clear();
  for (const EntityId id : ids)
    bench.publish(id);
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, 600u);
  ASSERT_GT(bench.transport.state_sizes.size(), 5u);
  for (std::size_t i = 0; i < bench.transport.state_sizes.size(); ++i) {
    EXPECT_LE(bench.transport.state_sizes[i], 500u);
    if (i + 1 < bench.transport.state_sizes.size()) {
      EXPECT_GT(bench.transport.state_sizes[i], 350u);
    }
  }
}

TEST(Session, SendsNothingToAPeerWithoutRoom) {
  SessionBench bench(10);
  const EntityId id = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm());
  for (const std::size_t room : {0u, 30u}) {  // 0: disconnected; 30: too small for an update
    bench.transport.room = room;
    bench.publish(id);
    bench.step();  // it reconnects
  }
  bench.transport.room = kMaxDatagramBytes;
  const std::uint64_t before = bench.stats.updates_sent;
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, before + 1);
}

}  // namespace
}  // namespace reckoner
