// SPDX-License-Identifier: MIT
// Owners that lose their connection without a leave message, and their entities after they reconnect.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kSilentS = 3.0;
constexpr double kCutS = 6.0;
constexpr double kSoundS = 16.0;

// Client 0 owns an avatar and is cut off in both directions from 6 s to 16 s. Client 1 watches over an
// undisturbed link of its own.
class DisconnectedOwnerWorld {
 public:
  DisconnectedOwnerWorld(OwnerGone gone, double resume_s) : world_(config(resume_s)) {
    world_.add_dialing_client();
    world_.run_to(1.0);
    world_.add_client({}, {.offset_s = -77.0}, both_ways({.latency_ms = 40.0, .jitter_ms = 4.0}));
    world_.run_to(2.0);
    owner = joined(0);
    avatar = *server().spawn(0, "avatar", path(2.0));
    OwnershipRules rules;
    rules.gone = gone;
    EXPECT_TRUE(server().give(avatar, owner, rules));
    world_.on_frame = [this](std::size_t client, double time_s, std::span<const ShownEntity>) {
      Client& c = world_.client(client);
      // Like a game that does not know yet that it lost the ownership.
      if (client == 0 && c.owned(avatar)) (void)c.move(avatar, path(time_s));
      const ShownEntity* shown = world_.shown(client, avatar);
      if (client != 1 || shown == nullptr) return;
      drawn.push_back(shown->shown);
      drawn_s.push_back(time_s);
    };
  }

  static WorldConfig config(double resume_s) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 4.0});
    config.script = "6 loss=100\n16 loss=0\n";
    config.silence_timeout_s = kSilentS;
    config.server.resume_s = resume_s;
    return config;
  }

  World& world() { return world_; }
  Server& server() { return world_.server(); }
  [[nodiscard]] ClientId joined(std::size_t nth) const {
    std::vector<ClientId> ids;
    for (const ServerEvent& event : world_.server_events())
      if (event.kind == ServerEvent::Kind::client_joined) ids.push_back(event.client);
    return nth < ids.size() ? ids[nth] : ClientId{};
  }
  [[nodiscard]] bool owns() { return world_.updated(0).owned(avatar).has_value(); }
  // Largest change of the shown velocity (m/s) from one picture to the next.
  [[nodiscard]] double most_step_mps(double from_s, double to_s) const {
    double most = 0.0;
    for (std::size_t i = 1; i < drawn.size(); ++i) {
      if (drawn_s[i - 1] < from_s || drawn_s[i] > to_s) continue;
      most = std::max<double>(most, glm::distance(drawn[i].velocity, drawn[i - 1].velocity));
    }
    return most;
  }

  Circle path{.radius_m = 4.0, .turn_rps = 1.2};
  ClientId owner;
  EntityId avatar;
  std::vector<State> drawn;  // states drawn by the watching client
  std::vector<double> drawn_s;

 private:
  World world_;
};

struct DisconnectCase {
  const char* name;
  OwnerGone gone;
  double resume_s;
};

class DisconnectedOwner : public testing::TestWithParam<DisconnectCase> {
 protected:
  DisconnectedOwner() : match_(GetParam().gone, GetParam().resume_s) {}

  // Runs until the connection is lost. The avatar has faded by then and still belongs to its owner.
  void run_to_connection_loss() {
    match_.world().run_to(kCutS);
    ASSERT_EQ(match_.server().owner(match_.avatar), match_.owner);
    ASSERT_TRUE(match_.owns());
    match_.world().run_to(kCutS + kSilentS - 0.6);
    EXPECT_EQ(match_.server().owner(match_.avatar), match_.owner);
  }

  DisconnectedOwnerWorld match_;
};

TEST_P(DisconnectedOwner, EntityFollowsTheDeclaredPolicy) {
  run_to_connection_loss();
  match_.world().run_to(kCutS + kSilentS + 1.0);
  const auto lost =
      GetParam().resume_s > 0.0 ? ServerEvent::Kind::client_lost : ServerEvent::Kind::client_left;
  EXPECT_EQ(match_.world().count(lost), 1u);
  EXPECT_FALSE(match_.server().owner(match_.avatar));
  const ShownEntity* shown = match_.world().shown(1, match_.avatar);
  if (GetParam().gone == OwnerGone::despawn) {
    EXPECT_EQ(match_.server().entity_count(), 0u);
    EXPECT_EQ(shown, nullptr);
    EXPECT_EQ(match_.world().count(1, ClientEvent::Kind::despawned), 1u);
    return;
  }
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(glm::length(shown->shown.velocity), 0.0f);
  // It fades: 4.8 m/s within half a second, not within one frame.
  EXPECT_LT(match_.most_step_mps(kCutS, kCutS + kSilentS + 1.0), 1.0);
}

TEST_P(DisconnectedOwner, HasLostTheOwnershipAfterReconnecting) {
  run_to_connection_loss();
  match_.world().run_to(kSoundS + 14.0);
  const double now_s = match_.world().now_s();
  ASSERT_EQ(match_.world().client(0).status(), ClientStatus::joined);
  const bool resumed = GetParam().resume_s > kSoundS;
  EXPECT_EQ(match_.world().count(0, ClientEvent::Kind::resumed), resumed ? 1u : 0u);
  EXPECT_EQ(match_.world().count(0, ClientEvent::Kind::restarted), resumed ? 0u : 1u);
  EXPECT_FALSE(match_.owns());
  EXPECT_FALSE(match_.world().client(0).move(match_.avatar, State{}));
  EXPECT_EQ(match_.world().client(0).stats().malformed, 0u);
  EXPECT_EQ(match_.server().stats().malformed, 0u);
  const bool ended = GetParam().gone == OwnerGone::despawn;
  EXPECT_EQ(match_.world().count(0, ClientEvent::Kind::revoked), resumed && !ended ? 1u : 0u);
  if (ended) {
    EXPECT_EQ(match_.world().shown(0, match_.avatar), nullptr);
    EXPECT_EQ(match_.world().count(0, ClientEvent::Kind::despawned), 1u);
    return;
  }
  // Both clients show the avatar where the server has it, also when the server moves it.
  for (std::size_t client : {0u, 1u}) {
    const ShownEntity* shown = match_.world().shown(client, match_.avatar);
    ASSERT_NE(shown, nullptr) << client;
    EXPECT_LT(glm::distance(shown->shown.position, match_.server().state(match_.avatar)->position), 0.02)
        << client;
  }
  State elsewhere;
  elsewhere.position = {20.0, 1.0, 0.0};
  ASSERT_TRUE(match_.server().move(match_.avatar, elsewhere));
  match_.world().run_to(now_s + 2.0);
  for (std::size_t client : {0u, 1u}) {
    const ShownEntity* shown = match_.world().shown(client, match_.avatar);
    ASSERT_NE(shown, nullptr) << client;
    EXPECT_LT(glm::distance(shown->shown.position, elsewhere.position), 0.02) << client;
  }
  // The server may give it to the client again.
  const ClientId again = resumed ? match_.owner : match_.joined(2);
  ASSERT_TRUE(match_.server().give(match_.avatar, again));
  match_.world().run_to(now_s + 3.0);
  EXPECT_TRUE(match_.owns());
}

INSTANTIATE_TEST_SUITE_P(, DisconnectedOwner,
                         testing::Values(DisconnectCase{"RestsAndResumes", OwnerGone::rest, 60.0},
                                         DisconnectCase{"EndsAndResumes", OwnerGone::despawn, 60.0},
                                         DisconnectCase{"RestsAndIsForgotten", OwnerGone::rest, 0.0},
                                         DisconnectCase{"EndsAndIsForgotten", OwnerGone::despawn, 0.0}),
                         [](const auto& gone) { return std::string(gone.param.name); });

}  // namespace
}  // namespace reckoner::test
