// SPDX-License-Identifier: MIT
// Somebody on the bus lies: forged heartbeats, batches, commits and checkpoints. Whatever arrives, gateways
// show what the honest simulators do, soon again and at little cost. Virtual time; the simulated bus has no
// permissions, so the attacker may publish and store anything.
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "cluster_world.hpp"
#include "tests/support/error_beside_attack.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<sys/resource.h>)
#include <sys/resource.h>
#endif

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using namespace cluster;

constexpr double kPassOfWorldS = 0.002;
constexpr std::size_t kHonestBodies = 12;
constexpr ProcessId kOne{1}, kTwo{2}, kGate{101};
constexpr ProcessId kNobody{999};  // no process of the world
constexpr std::uint32_t kHuge = UINT32_MAX;
constexpr EntityId kLastSlot{kMaxEntities, 1};

// Largest memory of this process so far, bytes; 0 where the system does not say it.
std::uint64_t peak_bytes() {
#if __has_include(<sys/resource.h>)
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return 1024 * static_cast<std::uint64_t>(use.ru_maxrss);
#else
  return 0;
#endif
}

// Two simulators, a gateway, and an attacker on the bus.
class HostileWorld {
 public:
  explicit HostileWorld(std::uint64_t seed = 3) : hub({}, seed + 2), seed_(seed) {}

  void begin() {
    for (const std::uint32_t number : {1u, 2u})
      simulators.push_back(
          std::make_unique<SimulatorProcess>(hub, config, "sim" + std::to_string(number), number));
    simulators[0]->to_spawn = bodies(kHonestBodies, config, seed_);
    run(8.0);
    ASSERT_TRUE(is_right());
    for (auto& s : simulators)
      ASSERT_GT(s->simulator()->held_count(), 0u);
  }

  void run(
      double seconds, const std::function<void()>& each = [] {}) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += kPassOfWorldS) {
      hub.advance(now_s);
      for (auto& s : simulators) {
        s->run(now_s);
        ASSERT_EQ(s->error(), "");
      }
      gate.run(now_s);
      attacker.service(now_s);
      each();
      if (watcher != nullptr && now_s >= next_frame_s) look();
    }
  }

  // Adds a client that looks at all bodies from now on.
  void watch() {
    watcher = &gate.add_client();
    next_frame_s = now_s;
  }
  // Compares what the watcher shows with what the holders have at the same time. A body that is being handed
  // over counts as soon as it has a holder again.
  void look() {
    next_frame_s += 1.0 / 60.0;
    const auto shown = watcher->shown();
    if (now_s < measured_from_s) return;
    for (const auto& [id, by] : holders()) {
      const Simulator& holder = *by[0];
      const State state = *holder.server().state(id);
      const double later_s = now_s - holder.tick_time_s(holder.next_tick() - 1);
      const auto found = std::ranges::find(shown, id, &ShownEntity::id);
      errors.add(found == shown.end() ? nullptr : &*found,
                 state.position + later_s * glm::dvec3{state.velocity});
    }
  }

  // Who holds what. An entity that is being handed over has no holder for a moment.
  [[nodiscard]] std::map<EntityId, std::vector<Simulator*>> holders() {
    std::map<EntityId, std::vector<Simulator*>> all;
    for (auto& s : simulators) {
      if (s->simulator() == nullptr) continue;
      for (const EntityId id : s->simulator()->held())
        all[id].push_back(s->simulator());
    }
    return all;
  }
  // True if the gateway shows every body where its holder has it, and nothing else.
  [[nodiscard]] bool is_right() {
    const Server& shown = gate.gateway->server();
    if (shown.entity_count() != kHonestBodies) return false;
    for (const auto& [id, by] : holders()) {
      const auto here = shown.state(id);
      if (by.size() != 1 || !here) return false;
      if (glm::distance(here->position, by[0]->server().state(id)->position) > 1.0) return false;
    }
    return true;
  }
  // Runs the world, and returns for how long something was wrong, s from now.
  double disturbed_s(
      double seconds, const std::function<void()>& each = [] {}) {
    const double began_s = now_s;
    double wrong_s = began_s;
    run(seconds, [&] {
      each();
      if (!is_right()) wrong_s = now_s;
    });
    testing::Test::RecordProperty("disturbed_s", std::to_string(wrong_s - began_s));
    std::printf("  disturbed for %.2f s of %.0f s\n", wrong_s - began_s, seconds);
    return wrong_s - began_s;
  }
  void expect_sound() {
    for (int i = 0; i < 1000 && holders().size() != kHonestBodies; ++i)
      run(kPassOfWorldS);
    EXPECT_EQ(holders().size(), kHonestBodies);
    for (const auto& [id, by] : holders())
      EXPECT_EQ(by.size(), 1u) << id.slot();
    for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell) {
      int times = 0;
      for (auto& s : simulators)
        times += s->simulator()->holds_cell(cell) ? 1 : 0;
      EXPECT_EQ(times, 1) << "cell " << cell;
    }
    EXPECT_TRUE(is_right());
  }

  // What the attacker does.
  void publish_heartbeat(const Heartbeat& message) {
    attacker.publish(members_subject(config.world, Role::simulator), encode(message, codec));
  }
  void publish_to(ProcessId to, const BusPayload& message, Role as = Role::simulator) {
    attacker.publish(inbox_subject(config.world, to, as), encode(message, codec));
  }
  void publish_batch(const Batch& batch) {
    attacker.publish(cell_subject(config.world, batch.cell), encode(batch, codec));
  }
  [[nodiscard]] BusAnswer answer(std::uint64_t request) {
    BusAnswer found;
    for (int i = 0; i < 2000 && found.request != request; ++i) {
      run(kPassOfWorldS);
      while (const auto one = attacker.poll_answer()) {
        if (one->request == request) found = *one;
      }
    }
    EXPECT_EQ(found.request, request);
    return found;
  }
  [[nodiscard]] EntityRecord record(EntityId id, std::uint32_t epoch, glm::dvec3 at) const {
    EntityRecord entity;
    entity.id = id;
    entity.epoch = epoch;
    entity.name = "forged";
    entity.tick = gate.gateway->next_tick() - 1;
    entity.motion = quantise(State{.position = at}, 0, 1, codec.quantisation[0]);
    return entity;
  }
  [[nodiscard]] Batch batch(std::uint32_t cell, ProcessId writer) const {
    Batch b;
    b.cell = cell;
    b.writer = writer;
    b.holds_cell = true;
    b.cell_epoch = kHuge;
    b.sequence = 0x7000'0000;
    b.tick = gate.gateway->next_tick() - 1;
    return b;
  }
  void claim_largest_epochs(ProcessId process, const std::string& name) {
    Heartbeat lie{.process = process, .name = name, .simulator = true};
    for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell) {
      lie.cells.push_back(cell);
      lie.epochs.push_back(kHuge);
    }
    publish_heartbeat(lie);
  }
  void publish_largest_epochs(ProcessId writer) {
    for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell) {
      Batch lie = batch(cell, writer);
      for (const EntityId id : all())
        lie.described.push_back({Cause::handed_over, record(id, kHuge, {7.0, 7.0, 0.0})});
      publish_batch(lie);
      // A snapshot, too, which says that the writer has nothing.
      lie.snapshot = true;
      lie.described.clear();
      publish_to(kGate, lie);
    }
  }
  void publish_last_slot(ProcessId writer) {
    Batch lie = batch(2, writer);
    lie.cell_epoch = simulators[0]->simulator()->cell_epoch(2);
    lie.described.push_back({Cause::spawned, record(kLastSlot, 1, {1.0, 1.0, 0.0})});
    publish_batch(lie);
  }
  [[nodiscard]] std::uint32_t cell_of(Simulator& holder) const {
    std::uint32_t cell = 0;
    while (!holder.holds_cell(cell))
      ++cell;
    return cell;
  }
  // The revision of a lease is no secret.
  void forge_commits(std::uint32_t cell, std::uint64_t lease_revision) {
    Simulator& two = *simulators[1]->simulator();
    for (const ProcessId from : {kTwo, kNobody}) {
      for (const EntityId id : two.held()) {
        for (const std::uint32_t epoch : {two.epoch(id), two.epoch(id) + 1, kHuge}) {
          EntityBaggage baggage;
          baggage.holder = kOne;
          baggage.revision = 1'000'000;
          baggage.state.position = {3.0, 3.0, 0.0};
          publish_to(kOne, Offer{from, record(id, epoch, {3.0, 3.0, 0.0}), baggage});
          publish_to(kOne, Commit{from, record(id, epoch, {3.0, 3.0, 0.0}), baggage, {}});
        }
      }
      publish_to(kOne, Commit{from, record(kLastSlot, 1, {1.0, 1.0, 0.0}), {}, {}});
      for (const std::uint32_t epoch : {two.cell_epoch(cell), two.cell_epoch(cell) + 1, kHuge}) {
        publish_to(kOne, CellOffer{from, cell, epoch});
        publish_to(kOne, CellCommit{from, cell, epoch, lease_revision, 7});
      }
    }
  }
  void tamper_with(const std::vector<BusEntry>& checkpoints) {
    for (const BusEntry& entry : checkpoints) {
      auto value = decode_checkpoint(entry.value, codec);
      ASSERT_TRUE(value);
      if (!value->content) continue;
      value->content->entity.epoch = kHuge;
      value->content->baggage.holder = kNobody;
      value->content->baggage.revision = 1;
      value->content->baggage.checkpoint_tick = value->content->baggage.tick + 0x4000'0000;
      attacker.put(BusTable::checkpoints, entry.key, encode_value(*value, codec));
    }
    for (const EntityId id : {kLastSlot, EntityId{5000, 1}, EntityId{200, 7}}) {
      EntityBaggage baggage;
      baggage.holder = kNobody;
      attacker.put(BusTable::checkpoints, slot_key(id),
                   encode_value({{{record(id, kHuge, {5.0, 5.0, 0.0}), baggage}}}, codec));
    }
    // Under the key of another entity, and no checkpoint at all.
    attacker.put(BusTable::checkpoints, "e.300",
                 encode_value({{{record(all()[0], kHuge, {5.0, 5.0, 0.0}), {}}}}, codec));
    attacker.put(BusTable::checkpoints, "e.301", std::array{std::byte{0xff}, std::byte{1}});
  }
  // Twenty batches and a heartbeat.
  void publish_as_unknown_writers(std::mt19937& random) {
    for (int i = 0; i < 20; ++i) {
      Batch lie = batch(random() % 8, ProcessId{static_cast<std::uint32_t>(random() | 1u)});
      lie.holds_cell = random() % 2 == 0;
      lie.sequence = static_cast<std::uint32_t>(random());
      lie.snapshot = random() % 4 == 0;
      const EntityId id = all()[random() % kHonestBodies];
      lie.described.push_back({Cause::handed_over, record(id, epoch_of(id) + 1, {9.0, 9.0, 0.0})});
      const EntityId bogus{1 + static_cast<std::uint32_t>(random() % 4000), 1};
      lie.motions.push_back({bogus, 5, 0, lie.tick, record(bogus, 5, {1.0, 2.0, 0.0}).motion});
      lie.gone.push_back({all()[random() % kHonestBodies], kHuge, std::nullopt});
      publish_batch(lie);
      if (i == 0)
        publish_heartbeat({.process = lie.writer, .name = "x" + std::to_string(random()), .simulator = true});
    }
  }
  // What others hold, as a member of this name.
  void claim_everything(std::uint32_t sequence) {
    be_member(kNobody, "liar");
    for (std::uint32_t cell = 0; cell < 8; ++cell) {
      Batch lie = batch(cell, kNobody);
      lie.sequence = sequence;
      for (const EntityId id : all()) {
        lie.described.push_back({Cause::handed_over, record(id, epoch_of(id) + 1, {9.0, 9.0, 0.0})});
        lie.gone.push_back({id, epoch_of(id), std::nullopt});
      }
      lie.described.push_back({Cause::spawned, record(kLastSlot, 1, {9.0, 9.0, 0.0})});
      publish_batch(lie);
    }
  }
  // Makes the attacker a member, with a right to write leases. Call it all the time.
  void be_member(ProcessId process, const std::string& name) {
    if (now_s - heartbeat_s < 0.25) return;
    heartbeat_s = now_s;
    attacker.put(BusTable::leases, member_key(Role::simulator, name), encode_value(LeaseValue{process}));
    publish_heartbeat({.process = process, .name = name, .simulator = true, .leaving = true});
  }
  [[nodiscard]] std::uint32_t epoch_of(EntityId id) {
    return std::max(simulators[0]->simulator()->epoch(id), gate.gateway->epoch(id));
  }
  [[nodiscard]] const std::vector<EntityId>& all() const { return simulators[0]->spawned; }

  ClusterConfig config = small_world();
  WorldCodec codec{config.archetypes};
  SimHub hub;
  double now_s = 1000.0;
  double heartbeat_s = -1e9;
  std::vector<std::unique_ptr<SimulatorProcess>> simulators;
  GatewayProcess gate{hub, config, "gate", kGate.value};
  SimBus attacker{hub};
  Client* watcher = nullptr;
  double next_frame_s = 0.0;
  double measured_from_s = 0.0;
  SameTimeErrors errors;  // of the watcher

 private:
  std::uint64_t seed_;
};

class HostileMemberTest : public ::testing::Test, public HostileWorld {
 protected:
  void SetUp() override { begin(); }
};

TEST_F(HostileMemberTest, WithoutAnAttackNothingIsDisturbed) {
  EXPECT_EQ(disturbed_s(20.0), 0.0);
  expect_sound();
  const ClusterStats& stats = gate.gateway->stats();
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_EQ(stats.unknown_refused, 0u);
  EXPECT_EQ(stats.unconfirmed_refused, 0u);
  for (auto& s : simulators) {
    EXPECT_EQ(s->simulator()->stats().malformed, 0u);
    EXPECT_EQ(s->simulator()->stats().unknown_refused, 0u);
    EXPECT_EQ(s->simulator()->stats().unconfirmed_refused, 0u);
  }
}

// One message, under an unknown and under an honest process's name.
TEST_F(HostileMemberTest, AHeartbeatWithTheLargestEpochStopsNobody) {
  for (const auto& [process, name] : {std::pair{kNobody, "liar"}, std::pair{kTwo, "sim2"}}) {
    claim_largest_epochs(process, name);
    EXPECT_LT(disturbed_s(20.0), 0.5) << name;
    expect_sound();
    for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell)
      EXPECT_LT(simulators[0]->simulator()->cell_epoch(cell), 1000u) << name;
  }
  EXPECT_GT(simulators[0]->simulator()->stats().unknown_refused, 0u);
  EXPECT_GT(simulators[0]->simulator()->stats().unconfirmed_refused, 0u);
}

TEST_F(HostileMemberTest, BatchesWithTheLargestEpochStopNobody) {
  for (const ProcessId writer : {kNobody, kTwo, kOne}) {
    publish_largest_epochs(writer);
    EXPECT_LT(disturbed_s(20.0), 1.5) << writer.value;
    expect_sound();
  }
  const ClusterStats& stats = gate.gateway->stats();
  EXPECT_GT(stats.unconfirmed_refused, 0u);
  EXPECT_GT(stats.unknown_refused, 0u);
}

TEST_F(HostileMemberTest, ABatchForTheLastSlotAllocatesNothing) {
  const std::uint64_t before_bytes = peak_bytes();
  const std::clock_t began = std::clock();
  run(3.0);
  const double quiet_s = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  const std::clock_t attacked = std::clock();
  double wrong_s = 0.0;
  for (const ProcessId writer : {kNobody, kTwo}) {
    publish_last_slot(writer);
    wrong_s = std::max(wrong_s, disturbed_s(1.5));
  }
  const double attacked_s = static_cast<double>(std::clock() - attacked) / CLOCKS_PER_SEC;
  const std::uint64_t grown = peak_bytes() - before_bytes;
  std::printf("  %.2f s of processor time (quiet: %.2f s), %.1f MB more\n", attacked_s, quiet_s,
              static_cast<double>(grown) / 1e6);
  EXPECT_LT(wrong_s, 0.5);
  EXPECT_LT(attacked_s, 3.0 * quiet_s + 0.5);
  EXPECT_LT(grown, 64u << 20);
  EXPECT_GT(gate.gateway->stats().unconfirmed_refused, 0u);
  expect_sound();
}

TEST_F(HostileMemberTest, ForgedCommitsGiveNothingAway) {
  Simulator& one = *simulators[0]->simulator();
  const std::uint32_t cell = cell_of(*simulators[1]->simulator());
  const BusAnswer lease = answer(attacker.get(BusTable::leases, cell_key(cell)));
  ASSERT_EQ(lease.status, BusAnswer::Status::done);
  const std::uint64_t before_bytes = peak_bytes();
  forge_commits(cell, lease.revision);
  int doubles = 0;
  EXPECT_LT(disturbed_s(15.0,
                        [&] {
                          for (const auto& [id, by] : holders())
                            doubles += by.size() > 1 ? 1 : 0;
                        }),
            0.5);
  EXPECT_EQ(doubles, 0);
  EXPECT_FALSE(one.holds(kLastSlot));
  EXPECT_LT(peak_bytes() - before_bytes, 64u << 20);
  EXPECT_GT(one.stats().unconfirmed_refused, 0u);
  EXPECT_GT(one.stats().unknown_refused, 0u);
  expect_sound();
}

// The attacker changes every checkpoint of a simulator, adds some, and then the simulator dies.
TEST_F(HostileMemberTest, TamperedCheckpointsAreNotBelieved) {
  const std::uint64_t before_bytes = peak_bytes();
  const BusAnswer stored = answer(attacker.list(BusTable::checkpoints));
  ASSERT_GE(stored.entries.size(), kHonestBodies);
  run(0.5);
  tamper_with(stored.entries);
  run(0.01);
  simulators.pop_back();
  double held_after_s = 0.0;
  const double began_s = now_s;
  (void)disturbed_s(12.0, [&] {
    if (simulators[0]->simulator()->held_count() != kHonestBodies) held_after_s = now_s - began_s;
  });
  std::printf("  all held again after %.2f s\n", held_after_s);
  EXPECT_LT(held_after_s, 5.0);
  EXPECT_LT(peak_bytes() - before_bytes, 64u << 20);
  Simulator& one = *simulators[0]->simulator();
  EXPECT_EQ(one.held_count(), kHonestBodies);
  EXPECT_FALSE(one.holds(kLastSlot));
  for (const EntityId id : one.held())
    EXPECT_LT(one.epoch(id), 1000u);
  EXPECT_GT(one.stats().unconfirmed_refused, 0u);
  EXPECT_GT(one.stats().malformed, 0u);
  expect_sound();
}

TEST_F(HostileMemberTest, BatchesOfUnknownWritersCauseNoRequests) {
  std::mt19937 random(4);
  const ClusterStats before = gate.gateway->stats();
  const std::uint64_t sent_before = gate.bus->stats().messages_sent;
  const double until_s = now_s + 3.0;
  double next_s = now_s;
  std::uint64_t sent = 0;
  const double wrong_s = disturbed_s(40.0, [&] {
    if (now_s > until_s || now_s < next_s) return;
    next_s += 0.01;
    publish_as_unknown_writers(random);
    sent += 20;
  });
  const ClusterStats& after = gate.gateway->stats();
  std::printf("  %llu batches: %llu snapshots asked for, %llu messages of the gateway\n",
              static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(after.repairs - before.repairs),
              static_cast<unsigned long long>(gate.bus->stats().messages_sent - sent_before));
  EXPECT_LT(wrong_s, 0.5);
  EXPECT_LE(after.repairs - before.repairs, 10u);
  EXPECT_GE(after.unknown_refused - before.unknown_refused, sent);
  // Heartbeats alone may cause a read each, and few at a time.
  EXPECT_LT(after.table_reads - before.table_reads, 600u);
  EXPECT_LT(gate.bus->stats().messages_sent - sent_before, 40u * 4u + 60u);
  expect_sound();
}

// The attacker has become a member, by a lease in its own name. It claims everything, for three seconds.
TEST_F(HostileMemberTest, AMemberCannotTakeWhatTheTableGivesToOthers) {
  run(1.0, [&] { be_member(kNobody, "liar"); });
  const ClusterStats before = gate.gateway->stats();
  const double until_s = now_s + 3.0;
  std::uint32_t sequence = 0;
  double next_s = now_s;
  const double wrong_s = disturbed_s(20.0, [&] {
    if (now_s > until_s || now_s < next_s) return;
    next_s += 0.016;
    claim_everything(++sequence);
  });
  const ClusterStats& after = gate.gateway->stats();
  std::printf("  %llu reads of the gateway\n",
              static_cast<unsigned long long>(after.table_reads - before.table_reads));
  EXPECT_LT(wrong_s, 0.5);
  // Four a second for each entity, ten for the blocks of ids, and some for cells, leases and handovers.
  EXPECT_LT(after.table_reads - before.table_reads, 3u * (4u * kHonestBodies + 10u + 4u * 8u) + 150u);
  EXPECT_GT(after.unconfirmed_refused, before.unconfirmed_refused);
  expect_sound();
}

// Somebody with the rights of a simulator writes an epoch into the table, and somebody repairs it. Readers
// that have believed it read again.
TEST_F(HostileMemberTest, TheTableIsReadAgainWhenRefusalsPersist) {
  const EntityId id = simulators[1]->simulator()->held().front();
  const BusAnswer right = answer(attacker.get(BusTable::epochs, slot_key(id)));
  const auto value = decode_epoch(right.value);
  ASSERT_TRUE(value);
  run(1.0, [&] { be_member(kNobody, "liar"); });
  attacker.put(BusTable::epochs, slot_key(id), encode_value(EpochValue{kHuge, kNobody, value->generation}));
  run(0.01);
  Batch lie = batch(0, kNobody);
  lie.holds_cell = false;
  lie.described.push_back({Cause::handed_over, record(id, kHuge, {9.0, 9.0, 0.0})});
  publish_batch(lie);
  run(0.1);
  EXPECT_EQ(gate.gateway->epoch(id), kHuge);
  // The next write of an honest simulator continues after the largest number.
  if (simulators[1]->simulator()->holds(id))
    attacker.put(BusTable::epochs, slot_key(id),
                 encode_value(EpochValue{value->epoch, kTwo, value->generation}));
  EXPECT_LT(disturbed_s(20.0), 4.0);
  expect_sound();
}

// Epochs of cells that nobody can exceed: the next holder begins again at 1, and is believed.
TEST_F(HostileMemberTest, TheLargestEpochOfATableIsNoEnd) {
  for (std::uint32_t cell = 0; cell < 8; ++cell)
    attacker.put(BusTable::epochs, cell_key(cell), encode_value(EpochValue{kHuge, kNobody, 0}));
  run(0.1);
  simulators.pop_back();
  (void)disturbed_s(12.0);
  EXPECT_EQ(simulators[0]->simulator()->held_count(), kHonestBodies);
  expect_sound();
}

// One client writes without end to an entity whose game reads each tick; another one writes once a second.
TEST_F(HostileMemberTest, ATalkerFillsItsOwnShareOnly) {
  (void)gate.add_client();
  (void)gate.add_client();
  run(1.0);
  const auto clients = gate.gateway->server().clients();
  ASSERT_EQ(clients.size(), 2u);
  const ClientId talker = clients[0], quiet = clients[1];
  const EntityId to = all()[0], other = all()[1];
  const std::vector<std::byte> text(200, std::byte{'x'});
  const std::vector<std::byte> word(10, std::byte{'y'});
  std::uint64_t accepted = 0, refused = 0;
  double next_s = now_s;
  double worst_s = 0.0;
  std::map<int, double> said_s;
  std::size_t heard = 0;
  const std::uint64_t sent_before = gate.bus->stats().bytes_sent;
  const auto arrived = [&] {
    std::size_t count = 0;
    for (auto& s : simulators) {
      for (const EntityId id : {to, other}) {
        for (const auto& [from, said] : s->messages[id])
          count += from.client == quiet.value ? 1 : 0;
      }
    }
    return count;
  };
  run(6.0, [&] {
    for (int i = 0; i < 20; ++i)
      (gate.gateway->send(talker, i % 2 == 0 ? to : other, text) ? accepted : refused) += text.size();
    if (now_s >= next_s) {
      next_s += 0.5;
      EXPECT_TRUE(gate.gateway->send(quiet, to, word));
      said_s[static_cast<int>(said_s.size())] = now_s;
    }
    for (const std::size_t count = arrived(); heard < count; ++heard)
      worst_s = std::max(worst_s, now_s - said_s[static_cast<int>(heard)]);
  });
  std::printf("  accepted %.0f kB of %.0f kB, sent %.0f kB; the other client was heard after %.2f s\n",
              static_cast<double>(accepted) / 1e3, static_cast<double>(accepted + refused) / 1e3,
              static_cast<double>(gate.bus->stats().bytes_sent - sent_before) / 1e3, worst_s);
  EXPECT_LE(accepted, (6u + 1u) * 32u * 1024u + 1000u);
  EXPECT_GT(gate.gateway->stats().messages_refused, 0u);
  EXPECT_GE(heard, 11u);
  EXPECT_LT(worst_s, 0.3);
  EXPECT_TRUE(is_right());
}

// The opposite direction: a game that relays everything, to a client that cannot take it.
TEST_F(HostileMemberTest, AnEntityThatTalksDoesNotDrownTheOthers) {
  Client& client = gate.add_client();
  run(1.0);
  const auto clients = gate.gateway->server().clients();
  ASSERT_EQ(clients.size(), 1u);
  const ClusterClient to = gate.gateway->address(clients[0]);
  const EntityId talker = all()[0], quiet = all()[1];
  const std::vector<std::byte> text(4000, std::byte{'x'});
  const std::vector<std::byte> word(10, std::byte{'y'});
  std::uint64_t accepted = 0, talked = 0;
  std::size_t said = 0, heard = 0;
  double next_s = now_s, said_s = now_s, worst_s = 0.0;
  run(6.0, [&] {
    for (auto& s : simulators) {
      if (s->simulator()->send(talker, to, text)) accepted += text.size();
      if (now_s >= next_s && s->simulator()->send(quiet, to, word)) {
        next_s += 0.5;
        said_s = now_s;
        ++said;
      }
    }
    while (const auto message = client.poll_message()) {
      if (message->payload.size() == word.size()) {
        ++heard;
        worst_s = std::max(worst_s, now_s - said_s);
      } else {
        talked += message->payload.size();
      }
    }
  });
  std::printf("  %.0f kB accepted and %.0f kB received; the other entity was heard after %.2f s\n",
              static_cast<double>(accepted) / 1e3, static_cast<double>(talked) / 1e3, worst_s);
  EXPECT_GT(talked, 100'000u);
  EXPECT_LE(talked, (6u + 1u) * 32u * 1024u + 4000u);
  EXPECT_GE(heard + 1, said);
  EXPECT_GE(said, 11u);
  EXPECT_LT(worst_s, 0.45);
}

// What a client of the gateway shows meanwhile.
struct MemberAttack {
  const char* name;
  /// Called once, in both runs of a pair: reads what the attacker needs, and attacks if `attacks`.
  void (*begin)(HostileWorld& world, bool attacks) = [](HostileWorld&, bool) {};
  /// Called a hundred times a second for three seconds if there is an attack.
  void (*go_on)(HostileWorld& world, std::mt19937& random) = [](HostileWorld&, std::mt19937&) {};
};

const MemberAttack kMemberAttacks[] = {
    {.name = "Heartbeats",
     .go_on =
         [](HostileWorld& world, std::mt19937& random) {
           const bool is_nobody = random() % 2 == 0;
           world.claim_largest_epochs(is_nobody ? kNobody : kTwo, is_nobody ? "liar" : "sim2");
         }},
    {.name = "LargestEpochs",
     .go_on = [](HostileWorld& world, std::mt19937&) { world.publish_largest_epochs(kNobody); }},
    {.name = "LastSlot",
     .go_on = [](HostileWorld& world, std::mt19937&) { world.publish_last_slot(kNobody); }},
    // A simulator can interrupt another one for half a second (docs/cluster.md). Soon all is as before.
    {.name = "BatchesInTheNameOfAnother",
     .begin =
         [](HostileWorld& world, bool attacks) {
           world.measured_from_s += 1.0;
           if (!attacks) return;
           world.publish_largest_epochs(kTwo);
           world.publish_last_slot(kTwo);
         }},
    {.name = "ForgedCommits",
     .begin =
         [](HostileWorld& world, bool attacks) {
           const std::uint32_t cell = world.cell_of(*world.simulators[1]->simulator());
           const auto lease = world.answer(world.attacker.get(BusTable::leases, cell_key(cell)));
           if (attacks) world.forge_commits(cell, lease.revision);
         }},
    {.name = "TamperedCheckpoints",
     .begin =
         [](HostileWorld& world, bool attacks) {
           const auto stored = world.answer(world.attacker.list(BusTable::checkpoints));
           if (attacks) world.tamper_with(stored.entries);
         }},
    {.name = "UnknownWriters",
     .go_on = [](HostileWorld& world, std::mt19937& random) { world.publish_as_unknown_writers(random); }},
    {.name = "MemberWithClaims",
     .go_on =
         [](HostileWorld& world, std::mt19937&) {
           world.claim_everything(static_cast<std::uint32_t>(100.0 * (world.now_s - 1000.0)));
         }},
};

SameTimeErrors seen_through_the_gateway(const MemberAttack& attack, std::uint64_t seed, bool attacks) {
  constexpr double kAttackS = 1012.0, kAttackEndS = kAttackS + 3.0, kEndS = kAttackS + 10.0;
  HostileWorld world(seed);
  world.begin();
  world.watch();
  world.measured_from_s = kAttackS;
  world.run(kAttackS - world.now_s);
  attack.begin(world, attacks);  // may take some milliseconds of the world's time
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  double next_s = world.now_s;
  world.run(kEndS - world.now_s, [&] {
    if (!attacks || world.now_s < next_s || world.now_s > kAttackEndS) return;
    next_s += 0.01;
    attack.go_on(world, random);
  });
  world.expect_sound();
  return world.errors;
}

class HostileMembers : public testing::TestWithParam<MemberAttack> {};

TEST_P(HostileMembers, DisturbNobodysMotions) {
  expect_equal_error_beside(GetParam().name, [](std::uint64_t seed, bool attacks) {
    return seen_through_the_gateway(GetParam(), seed, attacks);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostileMembers, testing::ValuesIn(kMemberAttacks),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace reckoner::test
