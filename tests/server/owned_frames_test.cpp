// SPDX-License-Identifier: MIT
// Clients' avatars in other entities' frames: walking on a ship that the server moves.
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {
namespace {

constexpr double kTopMps = 12.0;  // the ship does 6 on average, at most 7.8

// Walks back and forth across the deck.
State walk(double t) {
  State s;
  s.position = {2.0 * std::sin(0.9 * t), 1.0, 2.0};
  s.velocity = {static_cast<float>(1.8 * std::cos(0.9 * t)), 0.0f, 0.0f};
  return s;
}

// A player's state and the frame it is relative to.
struct OwnedPose {
  State state;
  EntityId frame;
};

// Client 0 owns an avatar and client 1 watches. The server sails one ship near them and another one far away.
class OwnedAvatarWorld {
 public:
  explicit OwnedAvatarWorld(const std::string& owner = "wifi", const std::string& viewer = "mobile",
                            std::uint64_t seed = 1, PlayoutMode mode = PlayoutMode::present,
                            const OwnershipRules& rules = {})
      : world_(config(seed)) {
    ClientConfig client;
    client.playout.mode = mode;
    world_.add_client(client, {}, network(owner));
    world_.run_to(0.5);
    world_.add_client(client, {.offset_s = -77.0}, network(viewer));
    ship = world_.add_body(voyage, {}, "ship");
    far = world_.add_body(distant, {}, "far");
    world_.run_to(2.0);
    EXPECT_TRUE(server().set_boardable(ship, true) && server().set_boardable(far, true));
    avatar = *server().spawn(0, "avatar", walk(2.0), ship);
    EXPECT_TRUE(server().give(avatar, {1}, rules));
    place = [this](double t) { return OwnedPose{walk(t), ship}; };
    world_.on_frame = [this](std::size_t client_index, double time_s, std::span<const ShownEntity>) {
      if (client_index == 0) play(time_s);
      if (on_shown) on_shown(client_index, time_s);
    };
  }

  static WorldConfig config(std::uint64_t seed) {
    WorldConfig config;
    config.seed = seed;
    config.server.archetypes[0].max_speed_mps = kTopMps;
    return config;
  }

  World& world() { return world_; }
  Server& server() { return world_.server(); }
  // The avatar's state on deck in world coordinates.
  State in_world(double t) const { return out_of_frame(voyage(t), walk(t)); }

  Voyage voyage;
  Voyage distant{.centre = {1000.0, 0.0, 0.0}};
  EntityId ship, far, avatar;
  std::function<OwnedPose(double)> place;
  std::function<void(std::size_t, double)> on_shown;
  int refused_moves = 0;

 private:
  void play(double time_s) {
    Client& client = world_.client(0);
    if (!client.owned(avatar)) return;
    const OwnedPose now = place(time_s);
    refused_moves += client.move(avatar, now.state, now.frame) ? 0 : 1;
  }

  World world_;
};

TEST(OwnedInFrame, AvatarIsShownOnDeckOverABadLink) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    OwnedAvatarWorld c("wifi", "mobile", 1, mode);
    c.place = [&](double t) { return OwnedPose{t < 10.0 ? walk(t) : standing(walk(10.0).position), c.ship}; };
    double worst_m = 0.0, worst_own_m = 0.0;
    c.on_shown = [&](std::size_t client, double time_s) {
      const ShownEntity* shown = c.world().shown(client, c.avatar);
      if (shown == nullptr || time_s < 12.0) return;
      EXPECT_EQ(shown->frame, c.ship);
      const double off_m = glm::distance(shown->local.position, walk(10.0).position);
      (client == 0 ? worst_own_m : worst_m) = std::max(client == 0 ? worst_own_m : worst_m, off_m);
      // In the world, the avatar is placed relative to the shown ship.
      const ShownEntity* ship = c.world().shown(client, c.ship);
      ASSERT_NE(ship, nullptr);
      EXPECT_LT(glm::distance(shown->shown.position, out_of_frame(ship->shown, shown->local).position), 1e-6);
    };
    c.world().run_to(25.0);
    EXPECT_LT(worst_m, 0.02);
    EXPECT_LT(worst_own_m, 1e-9);
    const OwnershipStats& stats = c.server().ownership_stats();
    EXPECT_GT(stats.accepted, 20u);
    EXPECT_EQ(stats.corrected + stats.refused, 0u);
    EXPECT_EQ(c.refused_moves, 0);
  }
}

// The owner makes the avatar leave the ship and come back every few seconds. Other clients see no jump, and
// the server corrects and refuses nothing.
TEST(OwnedInFrame, OwnerEntersAndLeavesTheFrameWithoutAJump) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    OwnedAvatarWorld c("wifi", "mobile", seed);
    const auto aboard = [](double t) { return static_cast<int>(t / 4.0) % 2 == 0; };
    c.place = [&](double t) {
      return aboard(t) ? OwnedPose{walk(t), c.ship} : OwnedPose{c.in_world(t), EntityId{}};
    };
    int changes = 0;
    EntityId frame = c.ship;
    State before;
    double before_s = 0.0;
    std::vector<double> errors_m;
    c.on_shown = [&](std::size_t client, double time_s) {
      const ShownEntity* shown = client == 1 ? c.world().shown(1, c.avatar) : nullptr;
      if (shown == nullptr || time_s < 4.0) return;
      changes += shown->frame != frame ? 1 : 0;
      frame = shown->frame;
      if (before_s > 0.0) {
        const glm::dvec3 mean = 0.5 * (glm::dvec3{before.velocity} + glm::dvec3{shown->shown.velocity});
        EXPECT_LT(glm::distance(shown->shown.position - before.position, mean * (time_s - before_s)), 0.03);
      }
      before = shown->shown;
      before_s = time_s;
      errors_m.push_back(glm::distance(shown->shown.position, c.in_world(time_s).position));
    };
    c.world().run_to(42.0);
    EXPECT_GE(changes, 8) << seed;
    std::ranges::sort(errors_m);
    EXPECT_LT(errors_m[errors_m.size() * 95 / 100], 0.5) << seed;
    const OwnershipStats& stats = c.server().ownership_stats();
    EXPECT_EQ(stats.corrected + stats.refused, 0u) << seed;
    EXPECT_EQ(c.server().frame_of(c.avatar), c.ship);
    EXPECT_EQ(c.world().client(1).stats().malformed, 0u);
  }
}

// The limit applies to the speed within the frame: 11 m/s on deck are 18 m/s in the world.
TEST(OwnedInFrame, LimitsApplyWithinTheFrame) {
  const auto run = [](double t, double mps) {
    State s;
    const double w = mps / 4.0;
    s.position = {4.0 * std::cos(w * t), 4.0 * std::sin(w * t), 2.0};
    // The client claims no more than the limit.
    s.velocity = glm::vec3{glm::dvec3{-std::sin(w * t), std::cos(w * t), 0.0} * std::min(mps, 11.0)};
    return s;
  };
  for (const double mps : {11.0, 30.0}) {
    OwnedAvatarWorld c("broadband", "broadband");
    c.place = [&](double t) {
      return OwnedPose{t < 4.5 ? standing(run(0.0, mps).position) : run(t - 4.5, mps), c.ship};
    };
    double fastest_mps = 0.0;
    glm::dvec3 last{0.0};
    c.on_shown = [&](std::size_t client, double time_s) {
      const ShownEntity* shown = client == 1 ? c.world().shown(1, c.avatar) : nullptr;
      if (shown == nullptr) return;
      if (time_s > 4.0)
        fastest_mps = std::max(fastest_mps, glm::distance(shown->local.position, last) * 60.0);
      last = shown->local.position;
    };
    c.world().run_to(4.5);
    const std::uint64_t boarding = c.server().ownership_stats().corrected;
    c.world().run_to(12.0);
    const std::uint64_t corrected = c.server().ownership_stats().corrected - boarding;
    EXPECT_EQ(corrected > 0, mps > kTopMps) << mps;
    EXPECT_LE(fastest_mps, 1.03 * kTopMps) << mps;
  }
}

// A false position at a change of frame is checked against the last known position, in any frame.
TEST(OwnedInFrame, ChangeOfFrameDoesNotAllowALeap) {
  for (const OwnerPolicy policy : {OwnerPolicy::correct, OwnerPolicy::refuse}) {
    OwnedAvatarWorld c("broadband", "broadband", 1, PlayoutMode::present, {.policy = policy});
    c.place = [&](double t) {
      if (t < 4.0) return OwnedPose{walk(t), c.ship};
      return OwnedPose{standing({0.0, 1.0, 2.0}), static_cast<int>(t * 5.0) % 2 == 0 ? c.far : c.ship};
    };
    c.on_shown = [&](std::size_t client, double time_s) {
      const ShownEntity* shown = client == 1 ? c.world().shown(1, c.avatar) : nullptr;
      if (shown == nullptr || time_s < 3.0) return;
      EXPECT_LT(glm::length(shown->shown.position), 100.0) << time_s;
    };
    c.world().run_to(10.0);
    EXPECT_GT(c.server().ownership_stats().corrected + c.server().ownership_stats().refused, 0u);
    EXPECT_LT(glm::length(c.server().in_world(c.avatar)->position), 100.0);
  }
}

TEST(OwnedInFrame, DistantFramesCannotBeEntered) {
  OwnedAvatarWorld c("lan", "lan", 1, PlayoutMode::present, {.frame_reach_m = 1.5});
  c.world().run_to(4.0);
  EXPECT_EQ(c.server().frame_of(c.avatar), c.ship);  // the avatar is in the frame in which the server put it
  c.place = [&](double t) {
    return t < 5.0 ? OwnedPose{c.in_world(t), EntityId{}} : OwnedPose{walk(t), c.ship};
  };
  c.world().run_to(4.9);
  EXPECT_EQ(c.server().frame_of(c.avatar), EntityId{});
  c.world().run_to(7.0);
  EXPECT_EQ(c.server().frame_of(c.avatar), EntityId{});
  EXPECT_GE(c.world().count(0, ClientEvent::Kind::corrected), 1u);
}

TEST(OwnedInFrame, ClientRefusesInvalidFrames) {
  OwnedAvatarWorld c("lan", "lan");
  c.world().run_to(4.0);
  Client& client = c.world().updated(0);
  EXPECT_EQ(client.owned_frame(c.avatar), c.ship);
  EXPECT_FALSE(client.move(c.avatar, walk(4.0), c.avatar));
  EXPECT_FALSE(client.move(c.avatar, walk(4.0), {77, 1}));
  const EntityId parrot = *c.server().spawn(0, "parrot", standing({0.0, 0.0, 0.5}), c.avatar);
  c.world().run_to(5.0);
  (void)c.world().updated(0);
  EXPECT_FALSE(client.move(c.avatar, walk(5.0), parrot));  // would form a cycle
  EXPECT_TRUE(client.move(c.avatar, walk(5.0), c.ship));
  EXPECT_EQ(c.server().enter_frame(c.avatar, {}).error(), CallError::owned);
}

TEST(OwnedInFrame, AvatarContinuesInTheWorldWhenItsFrameEnds) {
  OwnedAvatarWorld c("broadband", "broadband");
  bool adrift = false;
  State start;
  double start_s = 0.0;
  c.place = [&](double t) {
    if (!adrift) return OwnedPose{walk(t), c.ship};
    State on = start;
    on.velocity = on.acceleration = on.angular_velocity = glm::vec3{0.0f};
    return OwnedPose{on, EntityId{}};
  };
  c.world().run_to(6.0);
  c.world().remove_body(c.ship);
  while (c.world().count(0, ClientEvent::Kind::corrected) == 0 && c.world().now_s() < 8.0)
    c.world().run_to(c.world().now_s() + 0.02);
  ASSERT_EQ(c.world().count(0, ClientEvent::Kind::corrected), 1u);
  EXPECT_EQ(c.world().client(0).owned_frame(c.avatar), EntityId{});
  start = *c.world().updated(0).owned(c.avatar);
  start_s = c.world().now_s();
  EXPECT_LT(glm::distance(start.position, c.in_world(6.0).position), 8.0 * (start_s - 6.0) + 0.5);
  adrift = true;
  c.world().run_to(10.0);
  const ShownEntity* shown = c.world().shown(1, c.avatar);
  ASSERT_NE(shown, nullptr);
  EXPECT_FALSE(shown->frame);
  EXPECT_LT(glm::distance(shown->shown.position, start.position), 0.1);
}

// Hand-written frames that no client would send change nothing.
TEST(HostileOwner, InvalidFramesAreNotEntered) {
  for (const OwnerPolicy policy : {OwnerPolicy::accept, OwnerPolicy::correct, OwnerPolicy::refuse}) {
    OwnedAvatarWorld c("lan", "lan", 1, PlayoutMode::present, {.policy = policy});
    c.world().run_to(3.0);
    c.place = [&](double) {
      return OwnedPose{standing({std::nan(""), 0.0, 0.0}), EntityId{}};
    };  // sends nothing
    EntityId deep = c.ship;
    for (int i = 0; i < kMaxFrameDepth - 1; ++i)
      deep = *c.server().spawn(0, "deep", standing({1.0, 0.0, 0.0}), deep);
    const EntityId parrot = *c.server().spawn(0, "parrot", standing({0.0, 0.0, 0.5}), c.avatar);
    c.world().run_to(3.5);
    const EntityId stranger = *c.server().spawn(0, "stranger", standing({}));
    EXPECT_TRUE(c.server().set_relevance({1}, stranger, Relevance::never));
    for (const EntityId id : {c.avatar, parrot, deep, stranger})
      EXPECT_TRUE(c.server().set_boardable(id, true));
    const Quantisation q = quantisation_for(WorldConfig{OwnedAvatarWorld::config(1)}.server.archetypes[0]);
    std::uint16_t sequence = 20'000;
    for (const EntityId frame :
         {c.avatar, parrot, deep, stranger, EntityId{4000, 1}, EntityId{c.ship.index1, 9}}) {
      for (std::uint8_t term = 0; term < 4; ++term) {
        std::array<std::byte, kMaxDatagramBytes> buffer;
        BitWriter writer{buffer};
        ClientDatagram datagram;
        datagram.sequence = sequence++;
        datagram.has_owned = true;
        write(writer, datagram);
        write(writer,
              OwnedHead{static_cast<std::uint32_t>(c.avatar.slot()),
                        term,
                        static_cast<std::uint16_t>(c.server().next_tick()),
                        {}},
              -1);
        QuantisedState state = quantise(standing({0.5, 0.5, 0.5}), 0, kUnitPrecision, q);
        state.frame = frame;
        write_full(writer, state, q);
        writer.write(0, 1);
        c.world().client_transport(0).send({1}, writer.finish());
        c.world().run_to(c.world().now_s() + 0.03);
        EXPECT_EQ(c.server().frame_of(c.avatar), c.ship);
      }
    }
    EXPECT_LT(glm::distance(c.server().state(c.avatar)->position, walk(3.0).position), 4.0);
  }
}

}  // namespace
}  // namespace reckoner::test
