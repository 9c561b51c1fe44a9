// SPDX-License-Identifier: MIT
#include "server/src/session/session.hpp"

#include "net/src/link/ack_window.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/publisher.hpp"

#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

/// Keeps the control messages that a session sends.
class Recorder final : public Transport {
 public:
  std::vector<ControlMessage> control;
  std::vector<std::size_t> state_sizes;
  std::size_t room = kMaxStateBytes;

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, Channel channel, std::span<const std::byte> payload) override {
    if (channel == Channel::state) {
      state_sizes.push_back(payload.size());
    } else {
      while (!payload.empty()) {
        if (auto message = decode_next_control(payload)) control.push_back(std::move(*message));
      }
    }
    return true;
  }
  [[nodiscard]] std::size_t max_state_bytes(PeerId) const override { return room; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
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
    const Session::TickInputs now{table,     fields, published,   config.archetypes, quantisation, routes,
                                  encodings, tick,   tick / 60.0, tick / 60.0,       60.0,         true};
    encodings.begin(table, quantisation, 60.0);
    session.send_spawns(now, transport);
    Session::Scratch scratch{0, snapshot, fresh, datagrams};
    session.write_datagrams(now, transport.room, scratch);
    datagrams.flush(transport);
    stats += std::exchange(datagrams.stats, {});
    published.begin(0);
    ++tick;
  }
  /// The client confirms that it has received `count` control messages.
  bool confirm(std::size_t count) {
    ClientDatagram datagram;
    datagram.sequence = sequence++;
    datagram.control_count = static_cast<std::uint16_t>(count);
    return session.receive(datagram, tick / 60.0, stats) == Session::Receipt::accepted;
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
  Published published;
  Recorder transport;
  ServerStats stats;
  Session session{{1}, {1}, config};
  Tick tick = 0;
  Sequence sequence = 0;
};

TEST(Session, SpawnsWaitUntilEarlierOnesAreConfirmed) {
  SessionBench bench(10'000);
  for (int i = 0; i < 9000; ++i)
    bench.add();
  bench.step();
  bench.step();
  EXPECT_EQ(bench.transport.control.size(), 4096u);
  EXPECT_TRUE(bench.confirm(1000));
  bench.step();
  EXPECT_EQ(bench.transport.control.size(), 5096u);
  EXPECT_TRUE(bench.confirm(5096));
  bench.step();
  EXPECT_EQ(bench.transport.control.size(), 9000u);
  std::set<EntityId> spawned;
  for (const ControlMessage& message : bench.transport.control)
    spawned.insert(std::get<SpawnMessage>(message).entity);
  EXPECT_EQ(spawned.size(), 9000u);
}

TEST(Session, EntityRemovedWhileItsSpawnWaitsIsNeverSent) {
  SessionBench bench(5000);
  std::vector<EntityId> ids;
  for (int i = 0; i < 4200; ++i)
    ids.push_back(bench.add());
  bench.step();
  bench.remove(ids.back());   // its spawn was not sent yet
  bench.remove(ids.front());  // its spawn was sent
  bench.step();
  ASSERT_EQ(bench.transport.control.size(), 4096u) << "as many as may be are on their way";
  EXPECT_TRUE(bench.confirm(4096));
  bench.step();
  ASSERT_EQ(bench.transport.control.size(), 4097u + 103u);
  EXPECT_EQ(std::get<DespawnMessage>(bench.transport.control[4096]).entity, ids.front()) << "before the rest";
}

TEST(Session, ControlMessageCountMayWrap) {
  SessionBench bench(4);
  std::size_t messages = 0;
  for (int i = 0; i < 50'000; ++i) {  // 100 000 messages; 16 bits of their count are on the wire
    const EntityId id = bench.add();
    bench.step();
    bench.remove(id);
    bench.step();
    messages += 2;
    ASSERT_TRUE(bench.confirm(messages)) << messages;
  }
  const EntityId last = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm(messages + 1));
  const std::uint64_t before = bench.stats.updates_sent;
  bench.publish(last);
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, before + 1);
}

TEST(Session, RefusesConfirmationsOfUnsentMessagesAndDatagrams) {
  SessionBench bench(4);
  bench.add();
  bench.step();
  EXPECT_FALSE(bench.confirm(2));
  ClientDatagram lie;
  lie.ack = Ack{999};
  EXPECT_EQ(bench.session.receive(lie, 0.1, bench.stats), Session::Receipt::refused);
  EXPECT_TRUE(bench.confirm(1));
}

TEST(Session, SendsNoStateBeforeTheSpawnIsConfirmed) {
  SessionBench bench(4);
  const EntityId id = bench.add();
  for (int i = 0; i < 10; ++i) {
    bench.publish(id);
    bench.step();
  }
  // Instead, an occasional update follows the spawn on the same reliable channel.
  const std::size_t behind = bench.transport.control.size() - 1;
  EXPECT_GE(behind, 3u);
  EXPECT_LE(behind, 4u);
  EXPECT_EQ(bench.stats.updates_sent, behind);
  ASSERT_TRUE(bench.confirm(1));
  bench.step();  // sends what was published in the meantime, once
  EXPECT_EQ(bench.stats.updates_sent, behind + 1);
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, behind + 1);
  EXPECT_EQ(bench.transport.control.size(), behind + 1);
}

TEST(Session, LossOfARemovedEntityIsNotRepaired) {
  SessionBench bench(8);
  const EntityId gone = bench.add();
  const EntityId stays = bench.add();
  bench.step();
  ASSERT_TRUE(bench.confirm(2));
  bench.publish(gone);
  bench.publish(stays);
  bench.step();
  bench.remove(gone);
  const EntityId next = bench.add();  // may reuse the slot of the removed entity
  bench.step();
  ASSERT_TRUE(bench.confirm(4));
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
  ASSERT_TRUE(bench.confirm(1));
  ReceivedWindow window;
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
    (void)window.note(newest);
    ClientDatagram answer;
    answer.sequence = bench.sequence++;
    answer.control_count = 1;
    answer.ack = window.acknowledge();
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
  ASSERT_TRUE(bench.confirm(600));
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
  ASSERT_TRUE(bench.confirm(1));
  for (const std::size_t room : {0u, 30u}) {  // 0: disconnected; 30: too small for an update
    bench.transport.room = room;
    bench.publish(id);
    bench.step();  // it reconnects
  }
  bench.transport.room = kMaxStateBytes;
  const std::uint64_t before = bench.stats.updates_sent;
  bench.step();
  EXPECT_EQ(bench.stats.updates_sent, before + 1);
}

}  // namespace
}  // namespace reckoner
