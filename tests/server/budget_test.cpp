// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <map>
#include <set>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

TEST(ByteBudget, IsKeptAndEveryEntityIsServed) {
  WorldConfig config{.links = network("broadband")};
  config.server.bytes_per_second = 1500;
  World world(config);
  std::vector<EntityId> ids;
  for (int i = 0; i < 60; ++i)
    ids.push_back(world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}}));
  const std::size_t client = world.add_client();
  world.run_to(3.0);
  // Includes the 40 bytes of headers that every datagram has on the wire.
  const auto wire_bytes = [&] {
    const ServerStats& s = world.server().stats();
    return static_cast<double>(s.state_bytes_sent + 40 * s.datagrams_sent);
  };
  const double before = wire_bytes();
  std::map<EntityId, double> oldest;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown)
      oldest[e.id] = std::max(oldest[e.id], e.age_s);
  };
  world.run_to(18.0);
  const double rate = (wire_bytes() - before) / 15.0;
  EXPECT_LT(rate, 1500.0 * 1.1);
  EXPECT_GT(rate, 1500.0 * 0.9);
  // An update takes about 20 bytes, so the budget carries 45 updates a second and needs 1.4 s for all 60
  // entities. No entity may wait much longer.
  ASSERT_EQ(oldest.size(), ids.size());
  for (const auto& [id, age_s] : oldest)
    EXPECT_LT(age_s, 5.0);
  EXPECT_EQ(world.client(client).stats().malformed, 0u);
}

TEST(ByteBudget, OneClientsBudgetDoesNotReducePublishes) {
  WorldConfig config{.links = network("lan")};
  config.server.bytes_per_second = 100;  // carries little more than heartbeats
  World world(config);
  for (int i = 0; i < 20; ++i)
    world.add_body(Circle{});
  world.add_client();
  world.run_to(5.0);
  EXPECT_GT(world.server().stats().publishes, 200u);
  EXPECT_LT(world.server().stats().state_bytes_sent, 4000u);  // includes the heartbeats after the join
}

/// Compares the completeness claims in the server's datagrams with what the server has published. Like a
/// client, it believes a claim only while no sequence number is missing.
class CompletenessCheck {
 public:
  CompletenessCheck(World& world, std::size_t client) : world_(world) {
    q_ = quantisation_for(Archetype{});
    world.after_tick = [this](double) { note_published(); };
    world.tap(client).filter = [this](const TransportEvent& event) {
      if (event.kind == TransportEvent::Kind::received) read(event.payload);
      return true;
    };
  }

  std::size_t claims = 0;
  std::size_t behind = 0;  // number of claims about a tick before the datagram's tick

 private:
  void note_published() {
    for (const EntityId id : ids) {
      const auto motion = world_.server().published(id);
      if (motion) published_[id.slot()].insert(tick_of(motion->time_s));
    }
  }
  [[nodiscard]] static Tick tick_of(double time_s) { return static_cast<Tick>(std::llround(time_s * 60.0)); }

  void read(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    if (header.has_only_reliable()) return;  // the welcome, which tells nothing about entities
    newest_tick_ = unwrap16(header.tick, newest_tick_);
    std::int64_t previous = -1;
    for (std::uint32_t i = 0; i < header.update_count; ++i) {
      const UpdateHeader update = read_update(reader, header.coding, previous);
      previous = update.slot;
      const Tick tick = newest_tick_ - update.age;
      read_motion(reader, update, tick);
      has_[update.slot].insert(tick);
    }
    if (header.has_spawns) read_spawn_section(reader);
    ASSERT_TRUE(reader.finished());
    const Tick complete = newest_tick_ - header.complete_age;
    behind += header.complete_age > 0 ? 1 : 0;
    ++claims;
    for (const EntityId id : ids) {
      const auto& published = published_[id.slot()];
      const auto due = published.upper_bound(complete);
      if (due == published.begin()) continue;
      const Tick newest_due = *std::prev(due);
      // The client has this motion or a newer one, from a datagram or from the spawn.
      const auto& has = has_[id.slot()];
      EXPECT_TRUE(!has.empty() && *has.rbegin() >= newest_due)
          << "slot " << id.slot() << " tick " << newest_due << " of " << complete;
    }
  }
  void read_motion(BitReader& reader, const UpdateHeader& update, Tick tick) {
    QuantisedState& motion = motions_[{update.slot, tick}];
    if (!update.reference_age) {
      motion = read_full(reader, q_);
      return;
    }
    const Tick reference_tick = newest_tick_ - *update.reference_age;
    const auto reference = motions_.find({update.slot, reference_tick});
    ASSERT_NE(reference, motions_.end());
    motion = read_residual(reader, reference->second, (tick - reference_tick) / 60.0, q_);
  }
  void read_spawn_section(BitReader& reader) {
    std::vector<SpawnEntry> entries;
    read_spawns(reader, 1, entries);
    for (const SpawnEntry& entry : entries) {
      const auto* spawn = std::get_if<Spawn>(&entry);
      if (spawn == nullptr) continue;
      const Tick tick = newest_tick_ - spawn->age;
      has_[spawn->entity.slot()].insert(tick);
      motions_[{spawn->entity.slot(), tick}] = spawn->state;
    }
  }

 public:
  std::vector<EntityId> ids;

 private:
  World& world_;

  Quantisation q_;
  Tick newest_tick_ = 0;
  std::map<std::size_t, std::set<Tick>> published_;
  std::map<std::size_t, std::set<Tick>> has_;
  std::map<std::pair<std::size_t, Tick>, QuantisedState> motions_;
};

TEST(Completeness, ClaimsNeverExceedWhatTheClientHas) {
  // Datagrams arrive in order and without loss, so that every claim may be believed at once. A tight budget
  // postpones many updates, and lost acknowledgements delay the first states of new entities.
  for (const std::size_t bytes_per_second : {1500u, 256'000u}) {
    WorldConfig config;
    config.links.down = {.latency_ms = 60.0};
    config.links.up = {.latency_ms = 60.0, .loss_percent = 20.0};
    config.server.bytes_per_second = bytes_per_second;
    World world(config);
    const std::size_t client = world.add_client();
    CompletenessCheck check(world, client);
    for (int i = 0; i < 30; ++i) {
      check.ids.push_back(world.add_body(Circle{.turn_rps = 0.5 + 0.02 * i}));
      world.run_to(world.now_s() + 0.05);
    }
    world.run_to(5.0);
    EXPECT_GT(check.claims, 30u);
    EXPECT_GT(check.behind, 10u);
  }
}

}  // namespace
}  // namespace reckoner::test
