// SPDX-License-Identifier: MIT
// Runs a game through reckoner.h alone: entities, fields, messages, ownership, frames and routes from one end
// to the other.
#include "pair.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace reckoner::test {
namespace {

TEST(CSession, MovingEntityIsShownAtItsPosition) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_entity car = 0;
  const auto driving = [](double time_s) {
    reckoner_state state = at(10.0 * time_s, -3.0, 1.0);
    state.velocity[0] = 10.0f;
    state.orientation[2] = state.orientation[3] = std::sqrt(0.5f);  // a quarter turn to the left
    return state;
  };
  const reckoner_state first = driving(pair.now_s());
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "car", &first, 0, &car), RECKONER_OK);
  pair.each_tick = [&](double time_s) {
    const reckoner_state state = driving(time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, car, &state), RECKONER_OK);
  };
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, car); }));
  pair.run(1.0);

  EXPECT_STREQ(reckoner_client_name(pair.client, car), "car");
  const reckoner_shown shown = pair.shown(car);
  ASSERT_EQ(shown.struct_size, sizeof shown);
  EXPECT_NEAR(shown.state.position[0], 10.0 * shown.shown_time_s, 0.2);
  EXPECT_NEAR(shown.state.position[1], -3.0, 0.05);
  EXPECT_NEAR(shown.state.velocity[0], 10.0f, 0.5f);
  EXPECT_NEAR(shown.state.orientation[2], std::sqrt(0.5f), 0.01f);
  EXPECT_NEAR(shown.state.orientation[3], std::sqrt(0.5f), 0.01f);
  EXPECT_NEAR(shown.shown_time_s, pair.now_s(), 0.1);
  double server_s = 0.0;
  ASSERT_EQ(reckoner_client_server_time(pair.client, &server_s), RECKONER_OK);
  EXPECT_NEAR(server_s, pair.now_s(), 0.1);

  reckoner_state jumped = at(-500.0, 0.0, 0.0);
  pair.each_tick = nullptr;
  ASSERT_EQ(reckoner_server_teleport(pair.server, car, &jumped), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_TELEPORTED, car); }));
  EXPECT_NEAR(pair.shown(car).state.position[0], -500.0, 1.0);

  ASSERT_EQ(reckoner_server_despawn(pair.server, car), RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_DESPAWNED, car); }));
  EXPECT_EQ(pair.shown(car).struct_size, 0u);
  EXPECT_EQ(reckoner_server_move(pair.server, car, &jumped), RECKONER_ERROR_UNKNOWN);
}

// With receive threads on both sides, and with both kinds of connection.
TEST(CSession, ReceiveThreadsCarryASession) {
  for (const std::int32_t reconnects : {0, 1}) {
    Pair pair;
    pair.server_config.receive_thread = pair.client_config.receive_thread = 1;
    pair.client_config.reconnects = reconnects;
    ASSERT_TRUE(pair.start());
    reckoner_entity rock = 0;
    const reckoner_state state = at(4.0, 0.0, 0.0);
    ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "rock", &state, 0, &rock), RECKONER_OK);
    ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, rock); }));
    EXPECT_NEAR(pair.shown(rock).state.position[0], 4.0, 0.001);  // positions are quantised
    EXPECT_EQ(reckoner_client_wait(pair.client, 0.001), RECKONER_OK);
    ASSERT_EQ(reckoner_server_kick(pair.server, pair.peer, "enough"), RECKONER_OK);
    ASSERT_TRUE(pair.until([&] {
      return reckoner_client_status(pair.client) == RECKONER_STATUS_DISCONNECTED ||
             reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED;
    }));
    EXPECT_NE(std::string(reckoner_client_refusal(pair.client)).find("enough"), std::string::npos);
  }
}

// Large messages are not there yet when the end is requested.
TEST(CSession, LastMessagesArriveBeforeTheEnd) {
  const std::string large(16 * 1024, 'x');
  reckoner_message message{};
  message.struct_size = sizeof message;
  {
    Pair pair;
    ASSERT_TRUE(pair.start());
    for (int i = 0; i < 15; ++i)
      ASSERT_EQ(reckoner_server_send(pair.server, 0, large.data(), large.size(), RECKONER_DELIVERY_RELIABLE,
                                     nullptr),
                RECKONER_OK);
    ASSERT_EQ(reckoner_server_shutdown(pair.server), RECKONER_OK);
    reckoner_server_stats stats{};
    stats.struct_size = sizeof stats;
    ASSERT_EQ(reckoner_server_get_stats(pair.server, &stats), RECKONER_OK);
    EXPECT_EQ(stats.closing, 1u);
    int received = 0;
    ASSERT_TRUE(pair.until([&] {
      while (reckoner_client_poll_message(pair.client, &message) == RECKONER_OK)
        received += message.size == large.size() ? 1 : 0;
      (void)reckoner_server_get_stats(pair.server, &stats);
      return stats.closing == 0;
    }));
    EXPECT_EQ(received, 15);
    EXPECT_EQ(reckoner_client_status(pair.client), RECKONER_STATUS_DISCONNECTED);
  }
  {
    Pair pair;
    ASSERT_TRUE(pair.start());
    ASSERT_EQ(
        reckoner_client_send(pair.client, large.data(), large.size(), RECKONER_DELIVERY_RELIABLE, nullptr),
        RECKONER_OK);
    ASSERT_EQ(reckoner_client_leave(pair.client), RECKONER_OK);
    EXPECT_EQ(reckoner_client_status(pair.client), RECKONER_STATUS_JOINED);
    int received = 0;
    ASSERT_TRUE(pair.until([&] {
      while (reckoner_server_poll_message(pair.server, &message) == RECKONER_OK)
        received += message.size == large.size() ? 1 : 0;
      return reckoner_client_status(pair.client) == RECKONER_STATUS_DISCONNECTED;
    }));
    EXPECT_EQ(received, 1);
  }
}

TEST(CSession, ShownPosesAgreeWithShown) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  constexpr std::size_t kMany = 100;
  for (std::size_t i = 0; i < kMany; ++i) {
    const reckoner_state state = at(static_cast<double>(i), 2.0, 3.0);
    reckoner_entity id = 0;
    ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "", &state, 0, &id), RECKONER_OK);
  }
  std::size_t count = 0;
  ASSERT_TRUE(pair.until([&] {
    (void)reckoner_client_shown(pair.client, nullptr, sizeof(reckoner_shown), 0, &count);
    return count == kMany;
  }));
  std::vector<reckoner_shown> all(kMany);
  EXPECT_EQ(reckoner_client_shown(pair.client, all.data(), sizeof(reckoner_shown), kMany - 1, &count),
            RECKONER_ERROR_CAPACITY);
  ASSERT_EQ(reckoner_client_shown(pair.client, all.data(), sizeof(reckoner_shown), kMany, &count),
            RECKONER_OK);
  reckoner_poses poses{};
  poses.struct_size = sizeof poses;
  ASSERT_EQ(reckoner_client_shown_poses(pair.client, &poses), RECKONER_OK);
  ASSERT_EQ(poses.count, kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    std::size_t k = 0;
    while (k < kMany && poses.entities[k] != all[i].entity)
      ++k;
    ASSERT_LT(k, kMany);
    EXPECT_NEAR(poses.positions[3 * k], all[i].state.position[0], 1e-6);
    EXPECT_NEAR(poses.positions[3 * k + 2], 3.0, 1e-2);
    EXPECT_NEAR(poses.orientations[4 * k + 3], 1.0f, 1e-5f);
  }

  // The caller's arrays get the same bits, and nothing beyond the capacity is written.
  std::vector<reckoner_entity> entities(kMany + 1, 77);
  std::vector<double> positions(3 * (kMany + 1), 77.0);
  std::vector<float> orientations(4 * (kMany + 1), 77.0f);
  double shown_time_s = 0.0;
  ASSERT_EQ(reckoner_client_shown_poses_into(pair.client, entities.data(), positions.data(),
                                             orientations.data(), kMany, &count, &shown_time_s),
            RECKONER_OK);
  EXPECT_EQ(count, kMany);
  EXPECT_EQ(shown_time_s, poses.shown_time_s);
  ASSERT_EQ(reckoner_client_shown_poses(pair.client, &poses), RECKONER_OK);
  EXPECT_TRUE(std::equal(poses.entities, poses.entities + kMany, entities.begin()));
  EXPECT_TRUE(std::equal(poses.positions, poses.positions + 3 * kMany, positions.begin()));
  EXPECT_TRUE(std::equal(poses.orientations, poses.orientations + 4 * kMany, orientations.begin()));
  EXPECT_EQ(entities[kMany], 77u);
  EXPECT_EQ(positions[3 * kMany], 77.0);
  EXPECT_EQ(orientations[4 * kMany], 77.0f);
  entities[kMany - 1] = 77;
  EXPECT_EQ(reckoner_client_shown_poses_into(pair.client, entities.data(), positions.data(),
                                             orientations.data(), kMany - 1, &count, nullptr),
            RECKONER_ERROR_CAPACITY);
  EXPECT_EQ(count, kMany);
  EXPECT_EQ(entities[kMany - 1], 77u);
  EXPECT_EQ(
      reckoner_client_shown_poses_into(pair.client, nullptr, nullptr, nullptr, 0, &count, &shown_time_s),
      RECKONER_ERROR_CAPACITY);
  EXPECT_EQ(reckoner_client_shown_poses_into(pair.client, nullptr, positions.data(), orientations.data(),
                                             kMany, &count, nullptr),
            RECKONER_ERROR_ARGUMENT);
}

TEST(CSession, FieldsOfEveryTypeArrive) {
  reckoner_field_spec specs[4];
  const char* names[] = {"alive", "health", "heat", "tag"};
  for (int i = 0; i < 4; ++i) {
    reckoner_field_spec_init(&specs[i], sizeof specs[i]);
    specs[i].type = i;  // RECKONER_VALUE_BOOLEAN to RECKONER_VALUE_BLOB
    specs[i].name = names[i];
  }
  specs[1].integer_most = 100;
  specs[1].initial.integer = 100;
  specs[2].real_least = -50.0;
  specs[2].real_most = 150.0;
  specs[2].real_step = 0.5;
  Pair pair;
  pair.kind.fields = specs;
  pair.kind.field_count = 4;
  ASSERT_TRUE(pair.start());
  const reckoner_state state = at(0.0, 0.0, 0.0);
  reckoner_entity tank = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "tank", &state, 0, &tank), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, tank); }));
  reckoner_value health{};
  ASSERT_EQ(reckoner_client_field(pair.client, tank, 1, &health), RECKONER_OK);
  EXPECT_EQ(health.integer, 100);

  reckoner_value values[4] = {};
  for (int i = 0; i < 4; ++i)
    values[i].type = i;
  values[0].integer = 1;
  values[1].integer = 35;
  values[2].real = 20.3;
  values[3].blob_size = 3;
  std::memcpy(values[3].blob, "abc", 3);
  for (std::uint32_t i = 0; i < 4; ++i)
    ASSERT_EQ(reckoner_server_set_field(pair.server, tank, i, &values[i]), RECKONER_OK);
  values[1].integer = 101;
  EXPECT_EQ(reckoner_server_set_field(pair.server, tank, 1, &values[1]), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_server_set_field(pair.server, tank, 4, &values[1]), RECKONER_ERROR_UNKNOWN);

  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_FIELDS_CHANGED, tank); }));
  reckoner_value got{};
  ASSERT_EQ(reckoner_client_field(pair.client, tank, 0, &got), RECKONER_OK);
  EXPECT_EQ(got.integer, 1);
  ASSERT_EQ(reckoner_client_field(pair.client, tank, 1, &got), RECKONER_OK);
  EXPECT_EQ(got.integer, 35);
  ASSERT_EQ(reckoner_client_field(pair.client, tank, 2, &got), RECKONER_OK);
  EXPECT_EQ(got.real, 20.5);
  ASSERT_EQ(reckoner_client_field(pair.client, tank, 3, &got), RECKONER_OK);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(got.blob), got.blob_size), "abc");
}

TEST(CSession, MessagesArriveInBothDirections) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_message message{};
  message.struct_size = sizeof message;
  const double stamp_s = 1.5;
  ASSERT_EQ(reckoner_client_send(pair.client, "hello", 5, RECKONER_DELIVERY_RELIABLE, &stamp_s), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return reckoner_server_poll_message(pair.server, &message) == RECKONER_OK; }));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.bytes), message.size), "hello");
  EXPECT_EQ(message.sender, pair.peer);
  EXPECT_EQ(message.has_time, 1);
  EXPECT_EQ(message.time_s, 1.5);

  ASSERT_EQ(reckoner_server_send(pair.server, pair.peer, "you", 3, RECKONER_DELIVERY_UNRELIABLE, nullptr),
            RECKONER_OK);
  ASSERT_EQ(reckoner_server_send(pair.server, 0, "all", 3, RECKONER_DELIVERY_RELIABLE, nullptr), RECKONER_OK);
  std::string got;
  ASSERT_TRUE(pair.until([&] {
    while (reckoner_client_poll_message(pair.client, &message) == RECKONER_OK)
      got += std::string(reinterpret_cast<const char*>(message.bytes), message.size);
    return got.size() == 6;
  }));
  EXPECT_TRUE(got == "youall" || got == "allyou") << got;
  EXPECT_EQ(message.sender, 0u);
  EXPECT_EQ(reckoner_server_send(pair.server, 77, "x", 1, RECKONER_DELIVERY_RELIABLE, nullptr),
            RECKONER_ERROR_UNKNOWN);
  const std::string large(1001, 'x');
  EXPECT_EQ(
      reckoner_client_send(pair.client, large.data(), large.size(), RECKONER_DELIVERY_UNRELIABLE, nullptr),
      RECKONER_ERROR_ARGUMENT);
}

TEST(CSession, BroadcastReachesTheClientsThatItNames) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_state state;
  reckoner_state_init(&state);
  reckoner_entity tank = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "tank", &state, 0, &tank), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, tank); }));
  const double eye[3] = {10.0, 0.0, 0.0}, far_away[3] = {100.0, 0.0, 0.0};
  ASSERT_EQ(reckoner_server_set_view(pair.server, pair.peer, eye), RECKONER_OK);
  const std::int32_t how = RECKONER_DELIVERY_RELIABLE_UNORDERED;
  reckoner_server* const s = pair.server;
  const reckoner_client_id me = pair.peer, both[] = {me, me, 77};
  std::size_t reached = 9;
  EXPECT_EQ(reckoner_server_broadcast(s, 0, "1", 1, how, nullptr, &reached), RECKONER_OK);
  EXPECT_EQ(reached, 1u);
  EXPECT_EQ(reckoner_server_broadcast(s, me, "x", 1, how, nullptr, &reached), RECKONER_NOTHING);
  EXPECT_EQ(reached, 0u);
  EXPECT_EQ(reckoner_server_broadcast_listed(s, both, 3, 0, "2", 1, how, nullptr, &reached), RECKONER_OK);
  EXPECT_EQ(reached, 1u);
  EXPECT_EQ(reckoner_server_broadcast_listed(s, nullptr, 0, 0, "x", 1, how, nullptr, nullptr),
            RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_broadcast_within(s, eye, 5.0, 0, "3", 1, how, nullptr, nullptr), RECKONER_OK);
  EXPECT_EQ(reckoner_server_broadcast_within(s, far_away, 5.0, 0, "x", 1, how, nullptr, nullptr),
            RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_broadcast_seeing(s, tank, 0, "4", 1, how, nullptr, &reached), RECKONER_OK);
  EXPECT_EQ(reached, 1u);
  EXPECT_EQ(reckoner_server_broadcast_seeing(s, tank, me, "x", 1, how, nullptr, nullptr), RECKONER_NOTHING);

  // Arguments that make no sense.
  EXPECT_EQ(reckoner_server_broadcast(nullptr, 0, "x", 1, how, nullptr, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_broadcast(s, 0, "x", 1, 3, nullptr, &reached), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reached, 0u);
  EXPECT_EQ(reckoner_server_broadcast(s, 0, nullptr, 1, how, nullptr, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_broadcast_listed(s, nullptr, 1, 0, "x", 1, how, nullptr, nullptr),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_broadcast_within(s, nullptr, 5.0, 0, "x", 1, how, nullptr, nullptr),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_LT(reckoner_server_broadcast_within(s, eye, -1.0, 0, "x", 1, how, nullptr, nullptr), 0);
  EXPECT_EQ(reckoner_server_broadcast_seeing(s, 123456789, 0, "x", 1, how, nullptr, nullptr),
            RECKONER_ERROR_UNKNOWN);

  std::string got;
  reckoner_message message{};
  message.struct_size = sizeof message;
  ASSERT_TRUE(pair.until([&] {
    while (reckoner_client_poll_message(pair.client, &message) == RECKONER_OK)
      got += std::string(reinterpret_cast<const char*>(message.bytes), message.size);
    return got.size() == 4;
  }));
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, "1234");
}

// The client's program does nothing after flush(), and the message still arrives.
TEST(CSession, FlushedMessagesDoNotWaitForTheNextUpdate) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  EXPECT_EQ(reckoner_client_flush(nullptr), RECKONER_ERROR_ARGUMENT);
  const auto arrives_within = [&](double seconds) {
    reckoner_message message{};
    message.struct_size = sizeof message;
    for (const double end_s = pair.now_s() + seconds; pair.now_s() < end_s;) {
      (void)reckoner_server_receive(pair.server, pair.now_s());
      if (reckoner_server_poll_message(pair.server, &message) == RECKONER_OK) return true;
      (void)reckoner_server_wait(pair.server, 0.002);
    }
    return false;
  };
  for (const std::int32_t delivery :
       {RECKONER_DELIVERY_RELIABLE, RECKONER_DELIVERY_UNRELIABLE, RECKONER_DELIVERY_RELIABLE_UNORDERED}) {
    ASSERT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_JOINED; }));
    ASSERT_EQ(reckoner_client_send(pair.client, "now", 3, delivery, nullptr), RECKONER_OK);
    EXPECT_FALSE(arrives_within(0.05)) << "without flush() it waits, so the test proves something";
    ASSERT_EQ(reckoner_client_flush(pair.client), RECKONER_OK);
    EXPECT_TRUE(arrives_within(10.0));
  }
}

TEST(CSession, ClientMovesItsEntity) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const reckoner_state state = at(1.0, 2.0, 3.0);
  reckoner_entity avatar = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "avatar", &state, 0, &avatar), RECKONER_OK);
  reckoner_client_id owner = 5;
  EXPECT_EQ(reckoner_server_owner(pair.server, avatar, &owner), RECKONER_NOTHING);
  ASSERT_EQ(reckoner_server_give(pair.server, avatar, pair.peer, nullptr), RECKONER_OK);
  ASSERT_EQ(reckoner_server_owner(pair.server, avatar, &owner), RECKONER_OK);
  EXPECT_EQ(owner, pair.peer);
  double server_s = 0.0;  // motions need the server time, which must be known first
  ASSERT_TRUE(pair.until([&] {
    return pair.had(RECKONER_CLIENT_EVENT_GIVEN, avatar) &&
           reckoner_client_server_time(pair.client, &server_s) == RECKONER_OK;
  }));
  EXPECT_EQ(reckoner_server_move(pair.server, avatar, &state), RECKONER_ERROR_REFUSED);

  reckoner_state motion;
  ASSERT_EQ(reckoner_client_motion_at(pair.client, avatar, server_s, &motion), RECKONER_OK);
  EXPECT_NEAR(motion.position[2], 3.0, 0.01);
  EXPECT_EQ(reckoner_client_motion_at(pair.client, avatar + 1, server_s, &motion), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_client_motion_at(pair.client, avatar, std::nan(""), &motion), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_motion_at(pair.client, avatar, server_s, nullptr), RECKONER_ERROR_ARGUMENT);
  reckoner_state own;
  ASSERT_EQ(reckoner_client_owned(pair.client, avatar, &own), RECKONER_OK);
  EXPECT_NEAR(own.position[1], 2.0, 0.01);
  const double began_s = pair.now_s();
  reckoner_state expected;
  ASSERT_TRUE(pair.until([&] {
    own.velocity[0] = 2.0f;
    own.position[0] = 1.0 + 2.0 * (pair.now_s() - began_s);
    EXPECT_EQ(reckoner_client_move(pair.client, avatar, &own), RECKONER_OK);
    return reckoner_server_state(pair.server, avatar, &expected) == RECKONER_OK && expected.position[0] > 2.0;
  }));
  EXPECT_NEAR(expected.velocity[0], 2.0f, 0.2f);

  // The rules do not allow the owner to teleport until they say so.
  reckoner_ownership_rules rules;
  reckoner_ownership_rules_init(&rules, sizeof rules);
  EXPECT_EQ(rules.max_teleport_m, 0.0);
  rules.max_teleport_m = -1.0;
  EXPECT_EQ(reckoner_server_give(pair.server, avatar, pair.peer, &rules), RECKONER_ERROR_ARGUMENT);
  rules.max_teleport_m = 5000.0;
  ASSERT_EQ(reckoner_server_revoke(pair.server, avatar), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_REVOKED, avatar); }));
  pair.events.clear();
  ASSERT_EQ(reckoner_server_give(pair.server, avatar, pair.peer, &rules), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_GIVEN, avatar); }));
  own.position[1] += 4000.0;
  EXPECT_EQ(reckoner_client_teleport(pair.client, avatar, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_teleport(pair.client, avatar + 1, &own, 0), RECKONER_ERROR_UNKNOWN);
  ASSERT_EQ(reckoner_client_teleport(pair.client, avatar, &own, 0), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] {
    EXPECT_EQ(reckoner_client_move(pair.client, avatar, &own), RECKONER_OK);
    return reckoner_server_state(pair.server, avatar, &expected) == RECKONER_OK &&
           expected.position[1] > 4000.0;
  }));
  reckoner_server_stats stats;
  stats.struct_size = sizeof stats;
  ASSERT_EQ(reckoner_server_get_stats(pair.server, &stats), RECKONER_OK);
  EXPECT_EQ(stats.owned_teleports, 1u);
  EXPECT_EQ(stats.owned_corrected, 0u);
  pair.events.clear();

  ASSERT_EQ(reckoner_server_revoke(pair.server, avatar), RECKONER_OK);
  EXPECT_EQ(reckoner_server_revoke(pair.server, avatar), RECKONER_NOTHING);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_REVOKED, avatar); }));
  EXPECT_EQ(reckoner_client_move(pair.client, avatar, &own), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_client_owned(pair.client, avatar, &own), RECKONER_NOTHING);
}

TEST(CSession, PassengerStandsStillOnDeck) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const auto sailing = [](double time_s) {
    reckoner_state ship = at(7.0 * time_s, 0.0, 0.0);
    ship.velocity[0] = 7.0f;
    return ship;
  };
  const reckoner_state start = sailing(pair.now_s());
  const reckoner_state on_deck = at(0.0, 5.0, 2.0);
  reckoner_entity ship = 0, man = 0, frame = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "ship", &start, 0, &ship), RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "man", &on_deck, ship, &man), RECKONER_OK);
  ASSERT_EQ(reckoner_server_frame_of(pair.server, man, &frame), RECKONER_OK);
  EXPECT_EQ(frame, ship);
  EXPECT_EQ(reckoner_server_frame_of(pair.server, ship, &frame), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_enter_frame(pair.server, ship, man), RECKONER_ERROR_REFUSED);  // a cycle
  pair.each_tick = [&](double time_s) {
    const reckoner_state state = sailing(time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, ship, &state), RECKONER_OK);
  };
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, man); }));
  pair.run(0.5);
  const reckoner_shown shown = pair.shown(man);
  EXPECT_EQ(shown.frame, ship);
  EXPECT_NEAR(shown.local.position[1], 5.0, 0.01);
  EXPECT_NEAR(shown.state.position[0], 7.0 * shown.shown_time_s, 0.2);
  reckoner_state world;
  ASSERT_EQ(reckoner_server_in_world(pair.server, man, &world), RECKONER_OK);
  EXPECT_NEAR(world.position[2], 2.0, 1e-9);
}

TEST(CSession, GuardWalksItsRoute) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const double points[] = {0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 10.0, 10.0, 0.0, 0.0, 10.0, 0.0};
  reckoner_route_config config;
  reckoner_route_config_init(&config, sizeof config);
  config.wrap = RECKONER_WRAP_CLOSED;
  config.points = points;
  config.point_count = 4;
  reckoner_route route = 0;
  char why[100];
  ASSERT_EQ(reckoner_server_add_route(pair.server, &config, &route, why, sizeof why), RECKONER_OK) << why;
  double length_m = 0.0;
  ASSERT_EQ(reckoner_server_route_length(pair.server, route, &length_m), RECKONER_OK);
  EXPECT_GT(length_m, 40.0);
  EXPECT_LT(length_m, 60.0);
  reckoner_state corner;
  ASSERT_EQ(reckoner_server_route_state(pair.server, route, 0.0, 2.0, 0.0, &corner), RECKONER_OK);
  EXPECT_NEAR(corner.position[0], 0.0, 1e-6);
  EXPECT_NEAR(std::hypot(corner.velocity[0], corner.velocity[1]), 2.0, 1e-4);
  const double beside[3] = {10.0, 10.0, 3.0};
  double distance_m = 0.0, away_m = 0.0;
  ASSERT_EQ(reckoner_server_route_nearest(pair.server, route, beside, &distance_m, &away_m), RECKONER_OK);
  EXPECT_NEAR(distance_m, 0.5 * length_m, 0.01);
  EXPECT_NEAR(away_m, 3.0, 1e-6);
  EXPECT_EQ(reckoner_server_route_nearest(pair.server, route + 1, beside, &distance_m, nullptr),
            RECKONER_ERROR_UNKNOWN);
  const reckoner_state start = at(0.0, 0.0, 0.0);
  reckoner_entity guard = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "guard", &start, 0, &guard), RECKONER_OK);
  ASSERT_EQ(reckoner_server_follow(pair.server, guard, route), RECKONER_OK);
  EXPECT_EQ(reckoner_server_follow(pair.server, guard, route + 1), RECKONER_ERROR_UNKNOWN);
  const double began_s = pair.now_s();
  pair.each_tick = [&](double time_s) {
    EXPECT_EQ(reckoner_server_move_along(pair.server, guard, 2.0 * (time_s - began_s), 2.0, 0.0),
              RECKONER_OK);
  };
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, guard); }));
  pair.run(1.0);
  reckoner_state truth;
  ASSERT_EQ(reckoner_server_state(pair.server, guard, &truth), RECKONER_OK);
  EXPECT_NEAR(pair.shown(guard).state.position[0], truth.position[0], 0.3);
  EXPECT_EQ(pair.shown(guard).on_route, 1);

  config.point_count = 1;
  EXPECT_EQ(reckoner_server_add_route(pair.server, &config, &route, why, sizeof why), RECKONER_ERROR_REFUSED);
  EXPECT_GT(std::strlen(why), 5u);
}

TEST(CSession, PlayoutModeMayChange) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_entity entity = 0;
  const reckoner_state first = at(0.0, 0.0, 0.0);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "body", &first, 0, &entity), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, entity); }));
  reckoner_playout playout;
  reckoner_playout_init(&playout, sizeof playout);
  EXPECT_EQ(playout.mode, RECKONER_MODE_PRESENT);
  playout.mode = RECKONER_MODE_DELAYED;
  playout.delay_s = 0.2;
  EXPECT_NEAR(pair.shown(entity).shown_time_s, pair.now_s(), 0.1);
  ASSERT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return pair.now_s() - pair.shown(entity).shown_time_s > 0.15; }));
  playout.mode = RECKONER_MODE_PRESENT;
  ASSERT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return pair.now_s() - pair.shown(entity).shown_time_s < 0.05; }));
}

TEST(CSession, ServerReconstructsTheShownPose) {
  Pair pair;
  pair.server_config.rewind_s = 1.0;
  pair.client_config.mode = RECKONER_MODE_DELAYED;
  pair.client_config.delay_s = 0.2;
  ASSERT_TRUE(pair.start());
  reckoner_entity runner = 0;
  const auto running = [](double time_s) {
    reckoner_state state = at(5.0 * time_s, 0.0, 0.0);
    state.velocity[0] = 5.0f;
    return state;
  };
  const reckoner_state first = running(pair.now_s());
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "runner", &first, 0, &runner), RECKONER_OK);
  pair.each_tick = [&](double time_s) {
    const reckoner_state state = running(time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, runner, &state), RECKONER_OK);
  };
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, runner); }));
  pair.run(1.5);
  double when_s = 0.0;
  const reckoner_shown shown = pair.shown(runner);
  ASSERT_EQ(reckoner_client_server_time(pair.client, &when_s), RECKONER_OK);
  reckoner_pose seen;
  std::uint32_t status = 99;
  ASSERT_EQ(reckoner_server_rewind_status(pair.server, pair.peer, when_s, &status), RECKONER_OK);
  EXPECT_EQ(status, RECKONER_REWIND_PENDING);
  ASSERT_TRUE(pair.until([&] {
    return reckoner_server_pose_seen_by(pair.server, pair.peer, runner, when_s, &seen) == RECKONER_OK;
  }));
  EXPECT_NEAR(seen.position[0], shown.state.position[0], 0.1);
  EXPECT_LT(seen.position[0], 5.0 * when_s - 0.5);  // the client shows the past, 0.2 s before
  reckoner_seen all[4];
  std::size_t count = 0;
  ASSERT_EQ(reckoner_server_rewind(pair.server, pair.peer, when_s, all, 4, &count), RECKONER_OK);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(all[0].entity, runner);
  EXPECT_EQ(reckoner_server_rewind(pair.server, pair.peer, when_s, all, 0, &count), RECKONER_ERROR_CAPACITY);
  ASSERT_EQ(reckoner_server_rewind_status(pair.server, pair.peer, when_s, &status), RECKONER_OK);
  EXPECT_EQ(status, RECKONER_REWIND_KNOWN);
  EXPECT_EQ(reckoner_server_pose_seen_by(pair.server, pair.peer, runner, when_s - 5.0, &seen),
            RECKONER_NOTHING);
  ASSERT_EQ(reckoner_server_rewind_status(pair.server, pair.peer, when_s - 5.0, &status), RECKONER_OK);
  EXPECT_EQ(status, RECKONER_REWIND_UNAVAILABLE);
}

TEST(CSession, GameFindsItsEntities) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const reckoner_state near_by = at(10.0, 0.0, 0.0), far_away = at(500.0, 0.0, 0.0);
  reckoner_entity here = 0, there = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "here", &near_by, 0, &here), RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "there", &far_away, 0, &there), RECKONER_OK);

  reckoner_entity found[2] = {};
  std::size_t count = 0;
  ASSERT_EQ(reckoner_server_entities(pair.server, found, 2, &count), RECKONER_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(found[0], here);
  EXPECT_EQ(found[1], there);
  EXPECT_EQ(reckoner_server_entities(pair.server, found, 1, &count), RECKONER_ERROR_CAPACITY);
  EXPECT_EQ(count, 2u);
  const double origin[3] = {};
  ASSERT_EQ(reckoner_server_entities_near(pair.server, origin, 400.0, found, 2, &count), RECKONER_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], here);
  EXPECT_EQ(reckoner_server_entities_near(pair.server, nullptr, 1.0, found, 2, &count),
            RECKONER_ERROR_ARGUMENT);

  std::uint64_t value = 1;
  EXPECT_EQ(reckoner_server_user_value(pair.server, here, &value), RECKONER_OK);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(reckoner_server_set_user_value(pair.server, here, 42), RECKONER_OK);
  EXPECT_EQ(reckoner_server_user_value(pair.server, here, &value), RECKONER_OK);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(reckoner_server_user_value(pair.server, 12345, &value), RECKONER_ERROR_UNKNOWN);
  ASSERT_TRUE(
      pair.until([&] { return reckoner_client_set_user_value(pair.client, here, 7) == RECKONER_OK; }));
  EXPECT_EQ(reckoner_client_user_value(pair.client, here, &value), RECKONER_OK);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(reckoner_client_user_value(pair.client, there + 1, &value), RECKONER_ERROR_UNKNOWN);
}

TEST(CSession, KickedClientLearnsTheReason) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  EXPECT_EQ(reckoner_server_kick(pair.server, pair.peer + 5, "nobody"), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_kick(pair.server, pair.peer, std::string(256, 'x').c_str()),
            RECKONER_ERROR_ARGUMENT);
  ASSERT_EQ(reckoner_server_kick(pair.server, pair.peer, "no shouting"), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
  EXPECT_STREQ(reckoner_client_refusal(pair.client), "kicked by the server: no shouting");
}

TEST(CSession, RefusedCallsSayWhy) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_state fast = at(1.0, 2.0, 0.0);
  fast.velocity[0] = 1e6f;
  reckoner_entity entity = 0;
  EXPECT_EQ(reckoner_server_spawn(pair.server, 0, "", &fast, 0, &entity), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_TOO_FAST});
  EXPECT_STREQ(reckoner_call_error_text(RECKONER_CALL_TOO_FAST),
               "the velocity, or the distance since the last moves, is above the archetype's max_speed_mps");
  fast.velocity[0] = 1.0f;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "", &fast, 0, &entity), RECKONER_OK);
  EXPECT_EQ(reckoner_server_call_error(pair.server), 0u);
  EXPECT_EQ(reckoner_server_move(pair.server, entity + 1, &fast), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_UNKNOWN_ENTITY});
  EXPECT_EQ(reckoner_client_move(pair.client, entity, &fast), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_client_call_error(pair.client), std::uint32_t{RECKONER_CALL_UNKNOWN_ENTITY});
  // The reason of an earlier call must not look like that of a call without one.
  const std::uint8_t token[1024] = {};
  EXPECT_EQ(reckoner_client_set_token(pair.client, token), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_client_call_error(pair.client), 0u);
  EXPECT_STREQ(reckoner_call_error_text(9999), "unknown error");
  EXPECT_EQ(reckoner_server_give(pair.server, entity, 77, nullptr), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_UNKNOWN_CLIENT});
  EXPECT_EQ(reckoner_server_revoke(pair.server, entity), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_NO_OWNER});
  EXPECT_EQ(reckoner_server_leave_route(pair.server, entity), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_NO_ROUTE});
  EXPECT_EQ(reckoner_server_enter_frame(pair.server, entity, entity), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_CIRCLE});
  EXPECT_EQ(reckoner_server_kick(pair.server, 77, ""), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_call_error(pair.server), std::uint32_t{RECKONER_CALL_UNKNOWN_CLIENT});
  EXPECT_EQ(reckoner_server_despawn(pair.server, entity), RECKONER_OK);
  EXPECT_EQ(reckoner_server_call_error(pair.server), 0u);
}

TEST(CSession, ShortLivedEntityBringsItsDataAndEnds) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const reckoner_state muzzle = at(1.0, 2.0, 0.0);
  const std::uint8_t data[3] = {7, 8, 9};
  const std::uint8_t too_large[257] = {};
  double next_s = 0.0;
  ASSERT_EQ(reckoner_server_next_tick(pair.server, nullptr, &next_s), RECKONER_OK);
  const double end_s = next_s + 1.5;
  reckoner_entity shot = 0, mine = 0;
  EXPECT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &muzzle, nullptr, too_large, sizeof too_large,
                                              0, 0, 0, &shot),
            RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &muzzle, nullptr, nullptr, 1, 0, 0, 0, &shot),
            RECKONER_ERROR_ARGUMENT);
  ASSERT_EQ(
      reckoner_server_spawn_short_lived(pair.server, 0, &muzzle, &end_s, data, sizeof data, 0, 0, 0, &shot),
      RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &muzzle, nullptr, nullptr, 0, 0, 0, 0, &mine),
            RECKONER_OK);
  const std::uint8_t* received = nullptr;
  std::size_t size = 0;
  double shown_end_s = 0.0;
  const auto knows = [&](reckoner_entity entity) {
    return reckoner_client_short_lived(pair.client, entity, &received, &size, &shown_end_s) == RECKONER_OK;
  };
  ASSERT_TRUE(pair.until([&] { return knows(mine); }));
  EXPECT_EQ(size, 0u);
  EXPECT_TRUE(std::isinf(shown_end_s));
  ASSERT_TRUE(knows(shot));
  ASSERT_EQ(size, 3u);
  EXPECT_EQ(received[2], 9);
  EXPECT_NEAR(shown_end_s, end_s, 0.002);
  ASSERT_TRUE(pair.until([&] { return !knows(shot); }));
  EXPECT_TRUE(knows(mine));
  // The client's clock is an estimate, so the client may end the shot some milliseconds before the server
  // does.
  pair.run(0.1);
  EXPECT_EQ(reckoner_server_despawn(pair.server, shot), RECKONER_ERROR_UNKNOWN);
  ASSERT_EQ(reckoner_server_despawn(pair.server, mine), RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return !knows(mine); }));
}

TEST(CSession, PredictedShotIsReplacedOrFails) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const reckoner_state muzzle = at(1.0, 2.0, 0.0);
  reckoner_entity hit = 0, miss = 0, dropped = 0, shot = 0;
  const auto predict = [&](std::uint32_t key, reckoner_entity* entity) {
    return reckoner_client_predict_spawn(pair.client, 0, &muzzle, key, 5.0, entity);
  };
  ASSERT_TRUE(pair.until([&] { return predict(41, &hit) == RECKONER_OK; }));
  ASSERT_EQ(predict(42, &miss), RECKONER_OK);
  ASSERT_EQ(predict(43, &dropped), RECKONER_OK);
  EXPECT_EQ(reckoner_client_drop_prediction(pair.client, dropped), RECKONER_OK);
  EXPECT_EQ(reckoner_client_drop_prediction(pair.client, dropped), RECKONER_ERROR_UNKNOWN);
  ASSERT_EQ(reckoner_server_spawn_short_lived(pair.server, 0, &muzzle, nullptr, nullptr, 0, pair.peer, 41, 0,
                                              &shot),
            RECKONER_OK);
  ASSERT_EQ(reckoner_server_refuse_prediction(pair.server, pair.peer, 42), RECKONER_OK);
  EXPECT_EQ(reckoner_server_refuse_prediction(pair.server, pair.peer + 7, 42), RECKONER_ERROR_UNKNOWN);
  const auto happened = [&](int kind, reckoner_entity entity, reckoner_entity predicted) {
    return std::ranges::any_of(pair.events, [&](const reckoner_client_event& e) {
      return e.kind == kind && e.entity == entity && e.predicted == predicted;
    });
  };
  EXPECT_TRUE(pair.until([&] { return happened(RECKONER_CLIENT_EVENT_SPAWNED, shot, hit); }));
  EXPECT_TRUE(pair.until([&] { return happened(RECKONER_CLIENT_EVENT_PREDICTION_FAILED, miss, 0); }));
}

TEST(CSession, GameControlsRelevance) {
  Pair pair;
  pair.server_config.interest_radius_m = 100.0;
  ASSERT_TRUE(pair.start());
  const reckoner_state near_by = at(10.0, 0.0, 0.0);
  const reckoner_state far_away = at(5000.0, 0.0, 0.0);
  const double eye[3] = {0.0, 0.0, 0.0};
  reckoner_entity friendly = 0, distant = 0, secret = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "near", &near_by, 0, &friendly), RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "far", &far_away, 0, &distant), RECKONER_OK);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "secret", &near_by, 0, &secret), RECKONER_OK);
  ASSERT_EQ(reckoner_server_set_entity_groups(pair.server, secret, 2), RECKONER_OK);
  ASSERT_EQ(reckoner_server_set_client_groups(pair.server, pair.peer, 1), RECKONER_OK);
  ASSERT_EQ(reckoner_server_set_view(pair.server, pair.peer, eye), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, friendly); }));
  pair.run(0.5);
  EXPECT_FALSE(pair.had(RECKONER_CLIENT_EVENT_SPAWNED, distant));
  EXPECT_FALSE(pair.had(RECKONER_CLIENT_EVENT_SPAWNED, secret));
  ASSERT_EQ(reckoner_server_set_relevance(pair.server, pair.peer, distant, RECKONER_RELEVANCE_ALWAYS),
            RECKONER_OK);
  EXPECT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, distant); }));
}

}  // namespace
}  // namespace reckoner::test
