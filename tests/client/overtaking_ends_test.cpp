// SPDX-License-Identifier: MIT
// Ends of entities that overtake each other.
#include "net/src/messages/spawns.hpp"
#include "tests/support/forged_spawns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// A client whose server sends these spawns and ends.
class Told {
 public:
  Told() {
    world.add_client();
    world.run_to(2.0);
  }
  void spawn(EntityId id, std::uint32_t number) {
    const Quantisation q = quantisation_for(Archetype{});
    Spawn spawn;
    spawn.number = number;
    spawn.entity = id;
    spawn.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    spawn.state = quantise(State{}, 0, kUnitPrecision, q);
    send(spawn);
  }
  void end(EntityId id, std::uint32_t number) { send(Despawn{number, id, 0, {}}); }

  World world{WorldConfig{}};

 private:
  void send(const SpawnEntry& entry) {
    ServerHeader header;
    header.sequence = sequence_++;
    header.tick = static_cast<std::uint16_t>(world.server().next_tick() - 1);
    world.tap(0).inject_payload({1}, forged_spawns(header, {&entry, 1}));
    world.run_to(world.now_s() + 0.5);
    EXPECT_EQ(world.client(0).stats().malformed, 0u);
  }
  Sequence sequence_ = 30'000;  // later than any datagram that was sent
};

// The entity became irrelevant, relevant and irrelevant again. The client gets the second end first, and
// never gets the spawn between.
TEST(OvertakingEnds, LaterEndOfAnEntityEndsItsEarlierSpawn) {
  Told told;
  const EntityId id{101, 1};
  told.spawn(id, 1);
  EXPECT_NE(told.world.shown(0, id), nullptr);
  told.end(id, 2);
  EXPECT_EQ(told.world.shown(0, id), nullptr);
  told.end(id, 1);
  EXPECT_EQ(told.world.count(0, ClientEvent::Kind::despawned), 1u);
  told.spawn(id, 3);
  EXPECT_NE(told.world.shown(0, id), nullptr);
}

TEST(OvertakingEnds, EndOfALaterEntityInTheSlotEndsTheEarlierOne) {
  Told told;
  const EntityId first{101, 1}, second{101, 2};
  told.spawn(first, 1);
  told.end(second, 2);
  EXPECT_EQ(told.world.shown(0, first), nullptr);
}

TEST(OvertakingEnds, EarlierEndDoesNotEndALaterSpawn) {
  Told told;
  const EntityId id{101, 1};
  told.spawn(id, 2);
  told.end(id, 1);
  EXPECT_NE(told.world.shown(0, id), nullptr);
}

}  // namespace
}  // namespace reckoner::test
