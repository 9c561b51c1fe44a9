// SPDX-License-Identifier: MIT
// Clients that lose their server or their connection and reconnect by themselves.
#include "near_network.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {
namespace {

using Kind = ClientEvent::Kind;

// A reconnected client is correct again within this time. The time is the sum of the next datagram (250 ms),
// the repair bound of this link (300 ms), a blend of at most 0.5 s, and the round trip of an acknowledgement.
// After that acknowledgement, the link counts as working.
constexpr double kRightAgainS = 1.25;

double speed_of(const ShownEntity& entity) {
  return glm::length(glm::dvec3{entity.shown.velocity});
}

// The last time at which a client showed one of the bodies at a wrong position.
struct Errors {
  std::vector<Truth> paths;
  double last_s = 0.0;

  void add(World& world, std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (shown.size() != paths.size()) last_s = time_s;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const ShownEntity* entity = world.shown(client, world.body(i));
      const bool right = entity != nullptr && glm::distance(entity->shown.position,
                                                            paths[i](entity->shown_time_s).position) < 0.15;
      if (!right) last_s = time_s;
    }
  }
};

class ServerRestart : public testing::TestWithParam<bool> {};

// The server is killed and starts again without any state and with other entity ids. Until then, known
// entities stand still. At no time are parts of both worlds shown together.
TEST_P(ServerRestart, NewServersStateReplacesTheOldOne) {
  const bool shuffled = GetParam();
  World world(near_network());
  const std::vector<Truth> paths{Circle{}, Straight{}, Still{{3.0, 4.0, 5.0}}};
  for (const Truth& path : paths)
    world.add_body(path);
  for (int i = 0; i < 3; ++i)
    world.add_dialing_client({}, {.offset_s = 100.0 * i});
  double rested_s = 0.0;
  Errors errors{paths};
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (time_s > 3.0) {
      EXPECT_EQ(shown.size(), 3u) << "client " << client << " at " << time_s;
    }
    if (time_s > 8.5 && time_s < 15.0) {
      for (const ShownEntity& entity : shown)
        EXPECT_LT(speed_of(entity), 1e-3) << time_s;
      rested_s = time_s;
    }
    errors.add(world, client, time_s, shown);
  };
  world.run_to(5.0);
  world.kill_server();
  world.run_to(15.0);
  EXPECT_GT(rested_s, 14.0);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(world.client(i).status(), ClientStatus::reconnecting);
  world.start_server(shuffled);
  world.run_to(30.0);
  EXPECT_LT(errors.last_s, 15.0 + 17.0 + kRightAgainS);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(world.client(i).status(), ClientStatus::joined);
    EXPECT_EQ(world.count(i, Kind::lost), 1u);
    EXPECT_EQ(world.count(i, Kind::restarted), 1u);
    EXPECT_EQ(world.count(i, Kind::resumed), 0u);
    EXPECT_EQ(world.count(i, Kind::despawned), 3u);
    EXPECT_EQ(world.count(i, Kind::spawned), 6u);
    // First all old entities despawn, then the game gets the restart event, then the new entities spawn.
    std::vector<Kind> order;
    for (const ClientEvent& event : world.events(i))
      order.push_back(event.kind);
    const auto restarted = std::find(order.begin(), order.end(), Kind::restarted);
    EXPECT_EQ(std::count(order.begin(), restarted, Kind::despawned), 3);
    EXPECT_EQ(std::count(restarted, order.end(), Kind::spawned), 3);
    EXPECT_EQ(world.updated(i).lost_for_s(), 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(, ServerRestart, testing::Bool());

// Each end sends numbered messages and records the numbers that arrive.
struct Numbers {
  std::uint32_t sent_up = 0, sent_down = 0;
  std::vector<std::uint32_t> arrived_up, arrived_down;

  static std::array<std::byte, 4> bytes(std::uint32_t number) {
    std::array<std::byte, 4> out;
    std::memcpy(out.data(), &number, sizeof number);
    return out;
  }
  static std::uint32_t number(const GameMessage& message) {
    std::uint32_t out = 0;
    if (message.payload.size() == sizeof out) std::memcpy(&out, message.payload.data(), sizeof out);
    return out;
  }
  void step(World& world, std::size_t client, ClientId id) {
    if (world.client(client).send(bytes(sent_up + 1), Delivery::reliable)) ++sent_up;
    if (world.server().send(id, bytes(sent_down + 1), Delivery::reliable)) ++sent_down;
    receive_all(world, client);
  }
  void receive_all(World& world, std::size_t client) {
    while (const auto message = world.client(client).poll_message())
      arrived_down.push_back(number(*message));
    while (const auto message = world.server().poll_message())
      arrived_up.push_back(number(*message));
  }
  static void expect_all(const std::vector<std::uint32_t>& arrived, std::uint32_t sent) {
    ASSERT_EQ(arrived.size(), sent);
    for (std::uint32_t i = 0; i < sent; ++i)
      ASSERT_EQ(arrived[i], i + 1);
  }
};

struct Outage {
  const char* name;
  std::string script;
  double ends_s;
  // largest displacement per picture: the motion of a minute at 1 m/s is caught up in 0.5 s, at up to twice
  // the mean speed
  double most_step_m = 60.0 / 0.5 / 60.0 * 2.0;
};

class ReconnectAfterOutage : public testing::TestWithParam<Outage> {};

// After any outage of any length, the session resumes. Reliable messages in both directions are neither lost
// nor repeated nor reordered, and the shown poses are correct again soon.
TEST_P(ReconnectAfterOutage, LosesNoReliableMessages) {
  World world(near_network(GetParam().script));
  const std::vector<Truth> paths{Circle{}, Straight{}};
  for (const Truth& path : paths)
    world.add_body(path);
  world.add_dialing_client();
  world.run_to(4.0);
  ASSERT_EQ(world.count(ServerEvent::Kind::client_joined), 1u);
  const ClientId id = world.server_events().front().client;
  Numbers numbers;
  double next_s = 4.0, back_s = 0.0;  // since back_s, all are joined and the link works
  std::map<EntityId, glm::dvec3> last;
  double worst_step_m = 0.0;
  std::size_t snaps = 0;
  Errors errors{paths};
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (world.client(0).status() != ClientStatus::joined || time_s < GetParam().ends_s) back_s = time_s;
    const bool snapped = world.count(0, Kind::snapped) != snaps;
    snaps = world.count(0, Kind::snapped);
    for (const ShownEntity& entity : shown) {
      if (last.contains(entity.id) && !snapped)
        worst_step_m = std::max(worst_step_m, glm::distance(last[entity.id], entity.shown.position));
      last[entity.id] = entity.shown.position;
    }
    errors.add(world, client, time_s, shown);
    if (time_s < next_s || time_s > GetParam().ends_s + 5.0) return;
    next_s += 0.1;
    numbers.step(world, 0, id);
  };
  world.run_to(GetParam().ends_s + 25.0);
  numbers.receive_all(world, 0);
  EXPECT_GT(numbers.sent_up, 100u);
  EXPECT_GT(numbers.sent_down, 100u);
  Numbers::expect_all(numbers.arrived_up, numbers.sent_up);
  Numbers::expect_all(numbers.arrived_down, numbers.sent_down);
  EXPECT_EQ(world.client(0).stats().messages_abandoned, 0u);
  EXPECT_EQ(world.count(0, Kind::restarted), 0u);
  EXPECT_EQ(world.count(0, Kind::lost), world.count(0, Kind::resumed));
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 1u) << "the client never joined again";
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 0u);
  EXPECT_EQ(world.count(0, Kind::despawned), 0u);
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
  EXPECT_EQ(world.server().stats().malformed, 0u);
  // The server may close the connection just before the outage ends, and the client needs five seconds to
  // notice. All other waits take at most ten seconds, and an attempt takes at most six.
  EXPECT_LT(back_s, GetParam().ends_s + 17.0);
  EXPECT_LT(worst_step_m, GetParam().most_step_m);
  EXPECT_LE(snaps, 2u);
  EXPECT_LT(errors.last_s, back_s + kRightAgainS);
}

INSTANTIATE_TEST_SUITE_P(
    , ReconnectAfterOutage,
    testing::Values(
        Outage{"Minute", "6 loss=100\n66 loss=0\n", 66.0},
        Outage{"TenSecondsDown", "6 down loss=100\n16 down loss=0\n", 16.0},
        Outage{"TenSecondsUp", "6 up loss=100\n16 up loss=0\n", 16.0},
        Outage{"FourSeconds", "6 loss=100\n10 loss=0\n", 10.0},
        Outage{"AgainAndAgain", "6 loss=100\n14 loss=0\n22 loss=100\n30 loss=0\n38 loss=100\n46 loss=0\n",
               46.0},
        Outage{"HalfLost", "6 loss=50\n26 loss=0\n", 26.0},
        Outage{"HalfDuplicated", "6 duplicate=50\n20 duplicate=0\n", 20.0},
        Outage{"Overtaken", "6 latency-ms=20 jitter-ms=150\n20 latency-ms=40 jitter-ms=4\n", 20.0},
        Outage{"FarAwayAndBack", "6 latency-ms=5 jitter-ms=0\n10 latency-ms=500\n22 latency-ms=5\n", 22.0,
               // The shown pose deviates by at most half a second of motion.
               0.5}),
    [](const auto& outage) { return std::string(outage.param.name); });

// The client is away for longer than the server waits. It gets a new session, and the game learns that its
// messages are lost.
TEST(Reconnect, ClientThatIsAwayTooLongGetsANewSession) {
  WorldConfig config = near_network("6 loss=100\n40 loss=0\n");
  config.server.resume_s = 10.0;
  World world(config);
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(10.0);
  for (std::uint32_t i = 0; i < 7; ++i)
    EXPECT_TRUE(world.client(0).send(Numbers::bytes(i), Delivery::reliable));
  world.run_to(60.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::restarted), 1u);
  EXPECT_EQ(world.client(0).stats().messages_abandoned, 7u);
  EXPECT_FALSE(world.server().poll_message());
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 1u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 2u);
  EXPECT_NE(world.shown(0, world.body(0)), nullptr);
}

TEST(Reconnect, ServerWithoutResumeIsJoinedAgain) {
  WorldConfig config = near_network("6 loss=100\n20 loss=0\n");
  config.server.resume_s = 0.0;
  World world(config);
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(40.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::restarted), 1u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_lost), 0u);
}

TEST(Reconnect, GivesUpAfterTheConfiguredTime) {
  World world(near_network());
  world.add_body(Circle{});
  ClientConfig config;
  config.reconnect.give_up_s = 20.0;
  world.add_dialing_client(config);
  world.run_to(5.0);
  world.kill_server();
  world.run_to(24.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::reconnecting);
  EXPECT_GT(world.updated(0).lost_for_s(), 10.0);
  EXPECT_GT(world.dialer(0).dialed, 2u);
  world.run_to(34.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.count(0, Kind::disconnected), 1u);
  const std::size_t dialed = world.dialer(0).dialed;
  world.run_to(60.0);
  EXPECT_EQ(world.dialer(0).dialed, dialed);
}

// While the client reconnects, reliable messages of both kinds wait, and arrive once.
TEST(Reconnect, ReliableMessagesWaitUnreliableOnesAreRefused) {
  World world(near_network("6 loss=100\n20 loss=0\n"));
  world.add_dialing_client();
  world.run_to(15.0);
  Client& client = world.client(0);
  ASSERT_EQ(client.status(), ClientStatus::reconnecting);
  const auto text = [](char letter) { return std::array{static_cast<std::byte>(letter)}; };
  EXPECT_TRUE(client.send(text('a'), Delivery::reliable));
  EXPECT_TRUE(client.send(text('b'), Delivery::reliable_unordered));
  EXPECT_EQ(client.send(text('c'), Delivery::unreliable).error(), CallError::no_connection);
  EXPECT_TRUE(client.send(text('d'), Delivery::reliable_unordered));
  std::string received;
  world.before_tick = [&](double) {
    while (const auto message = world.server().poll_message())
      received += static_cast<char>(message->payload[0]);
  };
  world.run_to(45.0);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
  std::ranges::sort(received);
  EXPECT_EQ(received, "abd");
}

// An attempt that cannot start (no network) is repeated like an attempt without an answer.
TEST(Reconnect, MachineWithoutANetworkKeepsTrying) {
  World world(near_network("6 loss=100\n20 loss=0\n"));
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(6.0);
  world.dialer(0).network_down = true;
  world.run_to(30.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::reconnecting);
  EXPECT_EQ(world.client(0).refusal(), "the network is down");
  world.dialer(0).network_down = false;
  world.run_to(45.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
}

// With a leave message, the server can tell a client that leaves from one that is lost.
TEST(Reconnect, ClientThatLeavesIsRemovedAtOnceAndDoesNotReconnect) {
  World world(near_network());
  world.add_dialing_client();
  world.run_to(3.0);
  world.client(0).leave();
  world.run_to(20.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 1u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_lost), 0u);
  EXPECT_EQ(world.dialer(0).dialed, 1u);
}

// The player has joined from elsewhere. If a replaced client reconnected, the two clients would replace each
// other again and again.
TEST(Reconnect, ReplacedClientDoesNotReconnect) {
  World world(near_network());
  world.add_dialing_client();
  world.run_to(3.0);
  const PeerId peer = world.server().peer({1});  // the first client that joined
  ASSERT_TRUE(peer);
  world.network().server().disconnect(peer, pack({EndReason::replaced, 0}));
  world.run_to(30.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::refused);
  EXPECT_NE(world.client(0).refusal().find("elsewhere"), std::string::npos) << world.client(0).refusal();
  EXPECT_EQ(world.count(0, Kind::disconnected), 1u);
  EXPECT_EQ(world.dialer(0).dialed, 1u);
}

// A server that shuts down may start again.
TEST(Reconnect, WaitsForAServerThatShutsDown) {
  World world(near_network());
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(3.0);
  world.server().shutdown();
  world.run_to(4.0);
  EXPECT_EQ(world.count(0, Kind::server_closed), 1u);
  EXPECT_EQ(world.client(0).status(), ClientStatus::reconnecting);
  world.kill_server();
  world.start_server();
  world.run_to(25.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::restarted), 1u);
}

// Disconnected clients keep their slots, but a new client may evict them.
TEST(Reconnect, EvictsTheLongestDisconnectedSessionWhenFull) {
  WorldConfig config = near_network();
  config.server.max_clients = 3;
  World world(config);
  for (int i = 0; i < 3; ++i)
    world.add_dialing_client();
  world.run_to(3.0);
  world.kill_client(1);
  world.kill_client(2);
  world.run_to(15.0);
  EXPECT_EQ(world.server().client_count(), 1u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_lost), 2u);
  for (int i = 0; i < 3; ++i)
    world.add_dialing_client();
  world.run_to(20.0);
  EXPECT_EQ(world.server().client_count(), 3u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 2u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_refused), 1u) << "the sixth client is refused";
}

// No other client can resume a session without its key. Invalid keys are refused.
TEST(Reconnect, SessionCannotBeResumedWithoutItsKey) {
  World world(near_network());
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(3.0);
  const ClientId id = world.server_events().front().client;
  Transport& stranger = world.network().add_client(kProtocolVersion);
  PeerId server;
  for (double time_s = 3.1; !server && time_s < 5.0; time_s += 0.1) {
    world.run_to(time_s);
    while (const auto event = stranger.poll()) {
      if (event->kind == TransportEvent::Kind::connected) server = event->peer;
    }
  }
  ASSERT_TRUE(server);
  for (const SessionKey key : {SessionKey{1, 2}, SessionKey{}}) {
    // It does not join: its archetypes differ.
    stranger.send(server, request_datagram({.resume = ResumeRequest{id, key, 0}}));
  }
  world.run_to(6.0);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_back), 0u);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.server().client_count(), 1u);
}

// The server's end of the network. It drops what the test says, and can break the stream of messages.
class Disturber final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  bool drops_spawns = false, drops_all = false, drops_up = false;
  bool breaks_stream = false, breaks_welcome = false;

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    auto event = ForwardingTransport::poll();
    while ((drops_all || drops_up) && event && event->kind == TransportEvent::Kind::received)
      event = ForwardingTransport::poll();
    return event;
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    BitReader reader{payload};
    const ServerHeader head = read_server_header(reader);
    if (drops_all || (drops_spawns && head.has_spawns)) return true;
    const ReliablePart wrong{0, Bytes{std::byte{0}}};
    if (breaks_welcome && head.has_only_reliable())
      return ForwardingTransport::send(peer, forged_reliable(head, std::span{&wrong, 1}));
    for (const ReliablePart& part : stream_.add(payload))
      end_ = std::max(end_, part.offset + part.bytes.size());
    const bool is_empty = head.update_count == 0 && !head.has_spawns && !head.has_predictions &&
                          !head.has_fields && !head.has_reliable;
    if (!is_empty || !std::exchange(breaks_stream, false)) return ForwardingTransport::send(peer, payload);
    const ReliablePart broken{end_, Bytes{std::byte{0}}};
    return ForwardingTransport::send(peer, forged_reliable(head, std::span{&broken, 1}));
  }

 private:
  FollowedStream stream_;
  std::uint64_t end_ = 0;
};

// A world whose network has a Disturber.
struct DisturbedWorld {
  explicit DisturbedWorld(WorldConfig config = near_network()) : world(disturbed(config)) {}

  Disturber* door = nullptr;  // exists as long as the world
  World world;

 private:
  WorldConfig& disturbed(WorldConfig& config) {
    config.door = [this](Transport& network) {
      auto made = std::make_unique<Disturber>(network);
      door = made.get();
      return made;
    };
    return config;
  }
};

// The first attempt to resume fails: its request is lost, and the server waits for it no longer. A message
// that waits for a spawn waits on.
TEST(Reconnect, FailedAttemptLeavesWaitingMessagesInOrder) {
  WorldConfig config = near_network();
  config.server.join_timeout_s = 0.5;
  DisturbedWorld disturbed(config);
  World& world = disturbed.world;
  Disturber* const door = disturbed.door;
  ClientConfig client;
  client.reconnect = {.silence_s = 1.0, .first_wait_s = 0.2, .most_wait_s = 0.5, .attempt_s = 6.0};
  world.add_dialing_client(client);
  world.run_to(2.0);
  door->drops_spawns = true;
  const EntityId entity = *world.server().spawn(0, "late", State{});
  world.run_to(2.1);
  ASSERT_TRUE(world.server().send(world.server_events().front().client, Bytes(10), Delivery::reliable));
  world.run_to(2.5);
  door->drops_all = true;
  std::size_t received = 0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    while (world.client(0).poll_message()) {
      ++received;
      EXPECT_NE(world.client(0).info(entity), nullptr);
    }
  };
  while (world.count(ServerEvent::Kind::client_refused) == 0 && world.now_s() < 10.0)
    world.run_to(world.now_s() + 0.05);
  ASSERT_EQ(world.count(ServerEvent::Kind::client_refused), 1u);
  world.run_to(world.now_s() + 0.1);
  EXPECT_EQ(received, 0u);
  door->drops_all = door->drops_spawns = false;
  world.run_to(world.now_s() + 4.0);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
  EXPECT_EQ(received, 1u);
}

// Nothing more can come out of the stream of this session.
TEST(Reconnect, AfterABrokenStreamAnotherSessionBegins) {
  DisturbedWorld disturbed;
  World& world = disturbed.world;
  Disturber* const door = disturbed.door;
  world.add_body(Still{});
  world.add_dialing_client();
  world.run_to(2.0);
  ASSERT_EQ(world.client(0).status(), ClientStatus::joined);
  door->breaks_stream = true;
  world.run_to(world.now_s() + 5.0);
  EXPECT_FALSE(door->breaks_stream);
  EXPECT_EQ(world.client(0).stats().refusals[Refusal::malformed], 1u);
  EXPECT_EQ(world.count(0, Kind::lost), 1u);
  EXPECT_EQ(world.count(0, Kind::resumed), 0u);
  EXPECT_EQ(world.count(0, Kind::restarted), 1u);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.shown(0).size(), 1u);
  EXPECT_EQ(world.server().client_count(), 1u);
}

// The first bytes are already wrong. Nothing can be done with this server, and the client says so.
TEST(Reconnect, BrokenStreamBeforeTheWelcomeEndsTheAttempt) {
  DisturbedWorld disturbed;
  World& world = disturbed.world;
  Disturber* const door = disturbed.door;
  door->breaks_welcome = true;
  world.add_dialing_client();
  world.run_to(3.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.client(0).refusal(), "the server's messages are malformed");
  EXPECT_EQ(world.server().client_count(), 0u);
}

// The client gives up just before the server's answer arrives. It stays so.
TEST(Reconnect, ClientThatHasGivenUpStaysSo) {
  DisturbedWorld disturbed;
  World& world = disturbed.world;
  Disturber* const door = disturbed.door;
  ClientConfig client;
  client.reconnect = {
      .silence_s = 1.0, .first_wait_s = 0.2, .most_wait_s = 0.2, .attempt_s = 8.0, .give_up_s = 3.0};
  world.add_dialing_client(client);
  world.run_to(2.0);
  door->drops_all = true;
  while (world.client(0).status() != ClientStatus::disconnected && world.now_s() < 10.0)
    world.run_to(world.now_s() + 0.01);
  ASSERT_EQ(world.client(0).status(), ClientStatus::disconnected);
  door->drops_all = false;
  world.run_to(world.now_s() + 8.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.count(0, Kind::disconnected), 1u);
  EXPECT_EQ(world.count(0, Kind::resumed) + world.count(0, Kind::restarted), 0u);
  EXPECT_EQ(world.server().client_count(), 0u);
}

// Everything that the client sends after its request is lost, so the server does not know that the client has
// the welcome message. The client resumes later.
TEST(Reconnect, SessionOfWhichTheServerHeardNothingResumes) {
  DisturbedWorld disturbed;
  World& world = disturbed.world;
  Disturber* const door = disturbed.door;
  world.add_body(Still{});
  ClientConfig client;
  client.reconnect = {.silence_s = 1.0, .first_wait_s = 0.2, .most_wait_s = 0.5, .attempt_s = 1.0};
  world.add_dialing_client(client);
  while (world.server().clients().empty())
    world.run_to(world.now_s() + 0.005);
  door->drops_up = true;
  world.run_to(world.now_s() + 0.3);
  ASSERT_EQ(world.client(0).status(), ClientStatus::joined);
  ASSERT_TRUE(world.server().send(world.server().clients().front(), Bytes(5000), Delivery::reliable));
  door->drops_all = true;
  world.run_to(world.now_s() + 5.0);
  door->drops_all = door->drops_up = false;
  world.run_to(world.now_s() + 4.0);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
  EXPECT_TRUE(world.client(0).poll_message());
  EXPECT_EQ(world.client(0).stats().refusals[Refusal::too_old], 0u);
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
}

}  // namespace
}  // namespace reckoner::test
