// SPDX-License-Identifier: MIT
// What a game does in a session, over each row of NetworkTransport.
#include "net/src/messages/messages.hpp"
#include "socket_world.hpp"
#include "tests/net/relay.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using SK = ServerEvent::Kind;
using CK = ClientEvent::Kind;

class TransportSession : public testing::TestWithParam<TransportRow> {};
INSTANTIATE_TEST_SUITE_P(, TransportSession, testing::ValuesIn(kTransportRows), name_of_row);

TEST_P(TransportSession, ClientsJoinSeeEntitiesMoveAndLeave) {
  SocketWorld world(GetParam());
  const Circle path;
  const EntityId body = world.add_body(path);
  world.join_all(3, world.port());
  ASSERT_TRUE(world.until(
      [&] { return world.all([&](const SocketPlayer& each) { return each.find(body) != nullptr; }); }));
  Sight sight(body, path, 0.2);
  world.on_frame = [&](const SocketPlayer& player) {
    if (&player == world.players().front().get()) sight.add(player);
  };
  world.pass(0.7);
  EXPECT_GT(sight.frames(), 10u);
  EXPECT_LT(sight.wrong(), sight.frames() / 10);
  EXPECT_GT(sight.distance_m(), 0.35 * path.speed());
  EXPECT_EQ(world.server().client_count(), 3u);
  for (const auto& player : world.players())
    player->client->leave();
  EXPECT_TRUE(world.until([&] { return world.all(&SocketPlayer::is_over); }));
  EXPECT_TRUE(world.until([&] { return world.count(SK::client_left) == 3; }));
  EXPECT_EQ(world.server().client_count(), 0u);
  EXPECT_EQ(world.count(SK::client_lost), 0u);
}

enum Field : std::size_t { kAlive, kHealth, kHeat, kName };

std::vector<Archetype> with_fields() {
  Archetype tank;
  tank.name = "tank";
  tank.fields = {{"alive", BooleanField{.initial = true}},
                 {"health", IntegerField{.least = 0, .most = 100, .initial = 100}},
                 {"heat", RealField{.least = -50.0, .most = 150.0, .step = 0.5, .initial = 20.0}},
                 {"name", BlobField{}}};
  return {tank};
}

TEST_P(TransportSession, FieldsArrive) {
  SocketWorldConfig config;
  config.server.archetypes = with_fields();
  SocketWorld world(GetParam(), config);
  const EntityId tank = *world.server().spawn(0, "tank", {});
  ClientConfig client_config;
  client_config.archetypes = with_fields();
  SocketPlayer& player = world.join(world.add_network(kGoodLink), client_config);
  world.set_networks(kFifthLost);
  ASSERT_TRUE(world.until([&] { return player.find(tank) != nullptr; }));
  const auto shows = [&](std::size_t field, const FieldValue& value) {
    const FieldValue* const shown = player.client->field(tank, field);
    return shown != nullptr && *shown == value;
  };
  EXPECT_TRUE(shows(kHealth, std::int64_t{100}));
  std::array<FieldValue, 4> values{false, std::int64_t{0}, 0.0, Blob{}};
  for (int round = 1; round <= 20; ++round) {
    values = {round % 2 == 1, std::int64_t{round}, 0.5 * round, *Blob::of("round " + std::to_string(round))};
    for (std::size_t field = 0; field < values.size(); ++field)
      EXPECT_TRUE(world.server().set_field(tank, field, values[field]));
    world.pass(0.02);
  }
  EXPECT_TRUE(world.until([&] {
    return shows(kAlive, values[kAlive]) && shows(kHealth, values[kHealth]) && shows(kHeat, values[kHeat]) &&
           shows(kName, values[kName]);
  }));
  EXPECT_GT(player.count(CK::fields_changed), 0u);
}

TEST_P(TransportSession, AClientMovesTheEntityThatItOwns) {
  SocketWorld world(GetParam());
  SocketPlayer& owner = world.join();
  const ClientId id = world.newest_client();
  SocketPlayer& viewer = world.join();
  const Circle path;
  const EntityId car = *world.server().spawn(0, "car", path(world.now_s()));
  ASSERT_TRUE(world.server().give(car, id));
  ASSERT_TRUE(world.until([&] { return owner.count(CK::given) == 1 && viewer.find(car) != nullptr; }));
  Sight sight(car, path, 0.5);
  bool follows = false;
  world.on_frame = [&](const SocketPlayer& player) {
    const auto time_s = owner.client->server_time_s();
    if (&player == &owner && time_s && world.server().owner(car) == id) {
      EXPECT_TRUE(owner.client->move(car, path(*time_s)));
    }
    if (&player != &viewer) return;
    if (follows) return sight.add(viewer);
    const ShownEntity* const seen = viewer.find(car);
    follows = seen != nullptr && seen->age_s < 0.5 &&
              glm::distance(seen->shown.position, path(seen->shown_time_s).position) < 0.2;
  };
  ASSERT_TRUE(world.until([&] { return follows; }));
  world.pass(0.7);
  EXPECT_GT(sight.frames(), 10u);
  EXPECT_LT(sight.wrong(), sight.frames() / 10);
  EXPECT_GT(sight.distance_m(), 0.35 * path.speed());
  EXPECT_GT(world.server().ownership_stats().accepted, 0u);
  EXPECT_TRUE(world.server().revoke(car));
  EXPECT_TRUE(world.until([&] { return owner.count(CK::revoked) == 1; }));
}

// A body that moves along x while a key is down.
struct Runner {
  double x = 0.0;

  void step(std::span<const std::byte> input, double tick_s) {
    if (!input.empty() && input[0] != std::byte{0}) x += 5.0 * tick_s;
  }
  [[nodiscard]] State state() const { return {.position = {x, 0.0, 0.0}}; }
};

TEST_P(TransportSession, AClientPredictsItsBody) {
  SocketWorld world(GetParam());
  SocketPlayer& player = world.join(world.add_network(kGoodLink));
  const double tick_s = 1.0 / ServerConfig{}.tick_rate_hz;
  Runner truth, own;
  const EntityId body = *world.server().spawn(0, "runner", truth.state());
  const ClientId id = world.newest_client();
  ASSERT_TRUE(world.server().let_predict(body, id));
  world.before_tick = [&] {
    truth.step(world.server().input(id).bytes, tick_s);
    EXPECT_TRUE(world.server().move(body, truth.state()));
  };
  const auto predict = [&](const PredictionStep& step) {
    own.step(step.input, tick_s);
    (void)player.client->predict(body, step.tick, own.state());
  };
  std::array key{std::byte{1}};
  world.on_frame = [&](SocketPlayer&) {
    if (const auto correction = player.client->poll_correction()) {
      for (const CorrectedEntity& entity : correction->entities)
        own.x = entity.state.position.x;
      for (const PredictionStep& step : correction->steps)
        predict(step);
    }
    while (const auto step = player.client->next_step(key))
      predict(*step);
  };
  const auto results = [&] {
    const auto stats = world.server().prediction_stats(id);
    return stats ? stats->results - stats->mispredicted : 0;
  };
  ASSERT_TRUE(world.until([&] { return results() > 30; }));
  EXPECT_EQ(player.count(CK::prediction_began), 1u);
  world.set_networks(kFifthLost);
  const auto before = results();
  ASSERT_TRUE(world.until([&] { return results() > before + 60; }));
  world.set_networks(kGoodLink);
  key[0] = std::byte{0};  // both come to rest at the same place
  ASSERT_TRUE(world.until([&] {
    const ShownEntity* shown = player.find(body);
    return shown != nullptr && own.x == truth.x && std::abs(shown->shown.position.x - truth.x) < 1e-9;
  }));
  EXPECT_GT(truth.x, 1.0);
  ASSERT_TRUE(world.server().stop_prediction(body, id));
  EXPECT_TRUE(world.until([&] { return player.count(CK::prediction_ended) == 1; }));
}

TEST_P(TransportSession, AShutdownIsNamed) {
  for (const bool is_lossy : {false, true}) {
    SCOPED_TRACE(is_lossy);
    SocketWorld world(GetParam());
    world.join_all(8, world.add_network(kGoodLink));
    if (is_lossy) world.set_networks(kFifthLost);
    std::size_t named = 0;
    world.server().shutdown();
    EXPECT_TRUE(world.until([&] {
      for (const auto& player : world.players()) {
        if (player->count(CK::lost) == 0) continue;
        EXPECT_EQ(player->count(CK::server_closed), 1u);
        EXPECT_EQ(player->client->refusal(), "the server has shut down");
        player->client->leave();  // otherwise it would dial again
        player->events.clear();
        ++named;
      }
      return named == world.players().size();
    }));
    // If a confirmation is lost, the server waits for it until the client has been silent for too long.
    if (!is_lossy) {
      EXPECT_TRUE(world.until([&] { return world.server().closing_count() == 0; }));
    }
  }
}

// A client of another version does not know the messages of this one, but it knows the reason of a
// disconnect.
TEST_P(TransportSession, AServerRefusesAnotherVersion) {
  SocketWorld world(GetParam());
  for (const int difference : {-1, 1}) {
    const auto version = static_cast<std::uint16_t>(kProtocolVersion + difference);
    auto connecting = NetworkTransport::connect({.host = world.host(),
                                                 .port = world.port(),
                                                 .security = world.security_of(GetParam()),
                                                 .transport = GetParam().transport,
                                                 .version = version});
    ASSERT_TRUE(connecting) << connecting.error();
    End old;
    old.transport = std::move(*connecting);
    ASSERT_TRUE(world.until([&] { return old.turn(), !old.disconnected.empty(); }));
    const EndCode why = unpack_end_code(old.reasons.front());
    EXPECT_EQ(why.reason, EndReason::version);
    EXPECT_EQ(why.detail, kProtocolVersion);
    ASSERT_EQ(world.events().back().kind, SK::client_refused);
    EXPECT_EQ(world.events().back().text, "protocol version mismatch: the client speaks version " +
                                              std::to_string(version) + ", this server version " +
                                              std::to_string(kProtocolVersion));
  }
  EXPECT_EQ(world.count(SK::client_joined), 0u);
}

// All that a client hears of a server of another version is the reason of the disconnect.
TEST_P(TransportSession, AClientNamesBothVersions) {
  SocketWorld world(GetParam());
  auto listening = NetworkTransport::listen(world.listen_config(8));
  ASSERT_TRUE(listening) << listening.error();
  End other;
  other.transport = std::move(*listening);
  for (const int difference : {-1, 1}) {
    const auto version = static_cast<std::uint16_t>(kProtocolVersion + difference);
    SocketPlayer& player = world.dial(other.transport->port());
    ASSERT_TRUE(world.until([&] {
      other.turn();
      for (const PeerId peer : std::exchange(other.connected, {}))
        other.transport->disconnect(peer, pack({EndReason::version, version}));
      return player.is_over();
    }));
    EXPECT_EQ(player.status(), ClientStatus::refused);
    EXPECT_EQ(player.client->refusal(), "protocol version mismatch: the server speaks version " +
                                            std::to_string(version) + ", this client version " +
                                            std::to_string(kProtocolVersion));
  }
}

}  // namespace
}  // namespace reckoner::test
