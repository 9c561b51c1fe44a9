// SPDX-License-Identifier: MIT
// Owned sections that no client writes: they are random, damaged or misplaced.
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTopMps = 10.0;

// A client that owns an entity and whose datagrams the test forges, a client that watches, and two entities
// that the server owns.
class HostileOwnerWorld {
 public:
  explicit HostileOwnerWorld(OwnerPolicy policy) : world_(config()) {
    world_.add_client();
    world_.run_to(1.0);
    world_.add_client();
    owned = *world_.server().spawn(0, "owned", State{});
    alone = *world_.server().spawn(0, "alone", State{});
    frame = *world_.server().spawn(0, "frame", State{});
    EXPECT_TRUE(world_.server().give(owned, {1}, {.policy = policy}));
    world_.run_to(2.0);
    world_.tap(0).drop_sent = [this](std::span<const std::byte>) { return !ours_; };
    world_.on_frame = [this](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
      if (client == 1) look(time_s, shown);
    };
  }

  static WorldConfig config() {
    WorldConfig config;
    config.links = network("lan");
    config.server.archetypes[0].max_speed_mps = kTopMps;
    config.server.archetypes[0].world_size_m = 500.0;
    return config;
  }

  Server& server() { return world_.server(); }
  ClientDatagram head() {
    ClientDatagram datagram;
    datagram.sequence = sequence_++;
    datagram.processed = 1000;
    datagram.has_owned = true;
    return datagram;
  }
  void send(std::span<const std::byte> bytes) {
    ours_ = true;
    world_.client_transport(0).send({1}, bytes);
    ours_ = false;
    world_.run_to(world_.now_s() + 0.01);
  }

  EntityId owned, alone, frame;

 private:
  void look(double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& entity : shown) {
      ASSERT_TRUE(is_sane(entity.shown));
      if (entity.id != owned) {
        ASSERT_EQ(entity.shown.position, glm::dvec3{0.0});
        continue;
      }
      const bool teleported = world_.count(1, ClientEvent::Kind::teleported) != teleports_;
      if (seen_ && !teleported) {
        EXPECT_LE(glm::distance(entity.shown.position, last_), 1.03 * kTopMps * (time_s - last_s_));
      }
      teleports_ = world_.count(1, ClientEvent::Kind::teleported);
      last_ = entity.shown.position;
      last_s_ = time_s;
      seen_ = true;
    }
  }

  World world_;
  bool ours_ = false;
  Sequence sequence_ = 5'000;
  bool seen_ = false;
  glm::dvec3 last_{0.0};
  double last_s_ = 0.0;
  std::size_t teleports_ = 0;
};

State anything(scenario::Random& random) {
  const auto vector = [&](double size) {
    return glm::dvec3{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  };
  State state;
  state.position = vector(random.chance(0.5) ? 3.0 : 490.0);
  state.velocity = glm::vec3{vector(random.chance(0.5) ? 5.0 : 60.0)};
  state.acceleration = glm::vec3{vector(50.0)};
  return state;
}

TEST(HostileOwner, OthersSeeOnlyPossibleMotionsWhateverItSends) {
  for (const OwnerPolicy policy : {OwnerPolicy::accept, OwnerPolicy::correct, OwnerPolicy::refuse}) {
    HostileOwnerWorld siege(policy);
    scenario::Random random(static_cast<std::uint64_t>(policy) + 1);
    Quantisation q = quantisation_for(HostileOwnerWorld::config().server.archetypes[0]);
    q.max_speed_mps = 1e6;
    for (int i = 0; i < 1500; ++i) {
      std::array<std::byte, kMaxDatagramBytes> buffer{};
      BitWriter writer{buffer};
      write(writer, siege.head());
      std::int64_t previous = -1;
      for (const EntityId id : {siege.owned, siege.alone, siege.frame}) {
        if (id != siege.owned && !random.chance(0.05)) continue;
        const auto off = static_cast<std::int64_t>(random.below(20)) - 15;
        OwnedHead head{static_cast<std::uint32_t>(id.slot()),
                       static_cast<std::uint8_t>(random.below(4)),
                       static_cast<std::uint16_t>(siege.server().next_tick() + off),
                       {}};
        if (random.chance(0.1)) head.reference_age = static_cast<std::uint32_t>(1 + random.below(60));
        write(writer, head, previous);
        QuantisedState state =
            quantise(anything(random), static_cast<std::uint8_t>(random.below(4)), kUnitPrecision, q);
        if (random.chance(0.2)) state.frame = random.chance(0.5) ? siege.frame : siege.owned;
        write_full(writer, state, q);
        previous = id.slot();
      }
      writer.write(0, 1);
      auto bytes = std::vector<std::byte>(writer.finish().begin(), writer.finish().end());
      if (random.chance(0.2)) bytes.resize(1 + random.below(bytes.size()));  // truncated
      if (random.chance(0.2)) bytes[random.below(bytes.size())] ^= std::byte{1} << random.below(8);
      siege.send(bytes);
    }
    EXPECT_GT(siege.server().stats().malformed, 50u);
    EXPECT_FALSE(siege.server().owner(siege.alone));
    EXPECT_FALSE(siege.server().frame_of(siege.alone));
    const auto state = siege.server().in_world(siege.owned);
    ASSERT_TRUE(state && is_sane(*state));
    EXPECT_LE(glm::length(glm::dvec3{state->velocity}), 1.1 * kTopMps);
  }
}

TEST(HostileOwner, RandomBytesAreRefused) {
  HostileOwnerWorld siege(OwnerPolicy::correct);
  scenario::Random random(9);
  for (int i = 0; i < 1500; ++i) {
    std::array<std::byte, kMaxDatagramBytes> buffer{};
    BitWriter writer{buffer};
    write(writer, siege.head());
    for (std::size_t n = 1 + random.below(60); n > 0; --n)
      writer.write(static_cast<std::uint32_t>(random.below(256)), 8);
    siege.send(writer.finish());
  }
  // The server stops reading at the first entity that the client does not own.
  EXPECT_GT(siege.server().stats().malformed + siege.server().ownership_stats().void_terms, 1400u);
  EXPECT_GT(siege.server().stats().malformed, 500u);
  EXPECT_LT(siege.server().ownership_stats().accepted, 5u);
}

}  // namespace
}  // namespace reckoner::test
