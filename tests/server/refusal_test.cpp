// SPDX-License-Identifier: MIT
// Values are checked, not only bytes: invalid values are refused, are counted by their reason, and do no
// harm.
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/forged_client.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/welcome_reader.hpp"
#include "tests/support/world.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <variant>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kMaxSpeed = 10.0;
constexpr PeerId kServer{1};
constexpr Sequence kNew = 30'000;  // later than any datagram that was sent

State straight(double time_s) {
  State s;
  s.position = {2.0 * time_s, 1.0, 0.0};
  s.velocity = {2.0f, 0.0f, 0.0f};
  return s;
}

// A server with a walker, an honest client, and a hostile client that owns an entity.
class ServerAndClientRefusals : public testing::Test {
 protected:
  static WorldConfig config() {
    WorldConfig config;
    config.links = network("lan");
    config.server.archetypes[0].max_speed_mps = kMaxSpeed;
    config.server.archetypes[0].world_size_m = 1000.0;
    config.server.rewind_s = 1.0;
    return config;
  }

  void SetUp() override {
    ClientConfig client;
    hostile = world.add_client(client);
    to_server.emplace(world, hostile, ForgedStream::End::client);
    to_client.emplace(world, hostile, ForgedStream::End::server);
    world.run_to(0.5);
    honest = world.add_client(client);
    walker = world.add_body(straight);
    avatar = *world.server().spawn(0, "avatar", State{});
    world.tap(hostile).filter = [this, before = world.tap(hostile).filter](const TransportEvent& event) {
      if (event.kind == TransportEvent::Kind::received) {
        BitReader reader{event.payload};
        newest = read_server_header(reader).sequence;
      }
      return before(event);
    };
    world.run_to(1.0);
    OwnershipRules rules;
    rules.policy = OwnerPolicy::refuse;
    ASSERT_TRUE(world.server().give(avatar, {1}, rules));
    world.run_to(1.5);
    q = quantisation_for(config().server.archetypes[0]);
  }

  void TearDown() override {
    EXPECT_EQ(world.client(honest).stats().malformed, 0u);
    EXPECT_EQ(world.client(honest).stats().datagrams_lost, 0u);
    const ShownEntity* shown = world.shown(honest, walker);
    ASSERT_NE(shown, nullptr);
    EXPECT_LT(glm::distance(shown->shown.position, straight(shown->shown_time_s).position), 0.1);
    const ShownEntity* other = world.shown(honest, avatar);
    ASSERT_NE(other, nullptr);
    EXPECT_LT(glm::length(other->shown.position), 0.1);
  }

  using Write = std::function<void(BitWriter&)>;
  static Bytes written(const Write& write) {
    Bytes buffer(1000);
    BitWriter writer{buffer};
    write(writer);
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }
  static Bytes encoded(const ReliableMessage& message) { return encoded_message(message); }

  // Sends these bytes. Returns how many more refusals for this reason the server, or the hostile client's
  // end, then counts.
  std::uint64_t datagram_at_server(Refusal why, const Bytes& bytes, double for_s = 0.1) {
    const std::uint64_t before = world.server().stats().refusals[why];
    world.client_transport(hostile).send(kServer, bytes);
    world.run_to(world.now_s() + for_s);
    return world.server().stats().refusals[why] - before;
  }
  std::uint64_t datagram_at_client(Refusal why, const Bytes& bytes) {
    const std::uint64_t before = world.client(hostile).stats().refusals[why];
    world.tap(hostile).inject_payload(kServer, bytes);
    world.run_to(world.now_s() + 0.1);
    return world.client(hostile).stats().refusals[why] - before;
  }

  // Sends this message in the stream of reliable messages, and returns the same.
  std::uint64_t message_at_server(Refusal why, const Bytes& message) {
    const std::uint64_t before = world.server().stats().refusals[why];
    to_server->send(message);
    return world.server().stats().refusals[why] - before;
  }
  std::uint64_t message_at_client(Refusal why, const Bytes& message) {
    const std::uint64_t before = world.client(hostile).stats().refusals[why];
    to_client->send(message);
    return world.client(hostile).stats().refusals[why] - before;
  }

  [[nodiscard]] ClientDatagram head() const {
    ClientDatagram d;
    d.sequence = kNew;
    return d;
  }
  // A datagram of the hostile client with a full motion of this slot, stamped `ahead` ticks after now.
  Bytes owned(std::uint32_t slot, const QuantisedState& state, int ahead) {
    return written([&](BitWriter& w) {
      ClientDatagram d = head();
      d.has_owned = true;
      write(w, d);
      write(w, OwnedHead{slot, 1, static_cast<std::uint16_t>(world.server().next_tick() + ahead), {}}, -1);
      write_full(w, state, q);
      w.write(0, 1);
    });
  }
  // A datagram like the server's next datagram, with a motion of this slot.
  Bytes update(std::uint32_t slot, const QuantisedState& state, int ahead = 0) {
    return written([&](BitWriter& w) {
      ServerHeader h;
      h.sequence = static_cast<Sequence>(newest + 1);
      h.tick = static_cast<std::uint16_t>(world.server().next_tick() + ahead);
      h.update_count = 1;
      write(w, h);
      write(w, UpdateHeader{.slot = slot}, h.coding, -1);
      write_full(w, state, q);
    });
  }
  // A datagram like the server's next datagram, with this entry.
  Bytes spawning(const SpawnEntry& entry, int ahead = 0) {
    return written([&](BitWriter& w) {
      ServerHeader h;
      h.sequence = static_cast<Sequence>(newest + 1);
      h.tick = static_cast<std::uint16_t>(world.server().next_tick() + ahead);
      h.has_spawns = true;
      write(w, h);
      SpawnsWriter section;
      EXPECT_TRUE(section.add(w, entry, 8000));
      section.finish(w);
    });
  }
  [[nodiscard]] Spawn spawn() const {
    Spawn s;
    s.number = 3;
    s.entity = {50, 0};
    s.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    return s;
  }
  [[nodiscard]] static QuantisedState at(double x_m, float speed_mps) {
    State s;
    s.position.x = x_m;
    s.velocity.x = speed_mps;
    // The default archetype allows higher speeds.
    return quantise(s, 0, CodingMode{}, quantisation_for(Archetype{}));
  }
  [[nodiscard]] std::uint32_t avatar_slot() const { return static_cast<std::uint32_t>(avatar.slot()); }

  World world{config()};
  std::size_t hostile = 0, honest = 0;
  EntityId walker, avatar;
  Sequence newest = 0;
  Quantisation q;
  std::optional<ForgedStream> to_server, to_client;  // those of the hostile client's connection
};

TEST_F(ServerAndClientRefusals, ServerCountsMalformedBytes) {
  EXPECT_EQ(datagram_at_server(Refusal::malformed, Bytes(2, std::byte{0xff})), 1u);
  EXPECT_EQ(message_at_server(Refusal::malformed, Bytes(9, std::byte{0x0f})), 1u);
  GameDataMessage m{{std::byte{1}}, 1.0};
  Bytes stamped = encoded(m);
  // Sets all 64 bits of the stamp, which follow 4 bits of kind and a flag. The stamp is then a NaN.
  for (std::size_t bit = 5; bit < 5 + 64; ++bit)
    stamped[bit / 8] |= static_cast<std::byte>(1u << (bit % 8));
  EXPECT_EQ(message_at_server(Refusal::malformed, stamped), 1u);
  EXPECT_EQ(world.server().stats().malformed, 3u);
  EXPECT_EQ(message_at_server(Refusal::malformed, encoded(m)), 0u) << "the stream goes on";
  EXPECT_EQ(world.server().stats().messages_received, 1u);
}

// No sender writes an empty message or such a length. The messages before it are delivered. Nothing can
// follow it, so the session ends. The other clients do not notice.
TEST_F(ServerAndClientRefusals, ServerEndsASessionWithABrokenStream) {
  const ServerStats& stats = world.server().stats();
  for (const Bytes& broken : {Bytes{std::byte{0}}, Bytes(3, std::byte{0xff})}) {
    ForgedClient breaker(world);
    breaker.join();
    const std::uint64_t before = stats.refusals[Refusal::malformed], received = stats.messages_received;
    const std::size_t clients = world.server().client_count();
    Bytes stream;
    append_message(stream, encoded(GameDataMessage{{std::byte{1}}, {}}));
    stream.insert(stream.end(), broken.begin(), broken.end());
    append_message(stream, encoded(GameDataMessage{{std::byte{2}}, {}}));
    breaker.send_bytes(stream);
    for (int i = 0; i < 10; ++i) {
      world.run_to(world.now_s() + 0.1);
      breaker.service();
    }
    EXPECT_EQ(stats.refusals[Refusal::malformed] - before, 1u);
    EXPECT_EQ(stats.messages_received - received, 1u);
    EXPECT_EQ(world.server().client_count(), clients - 1);
    ASSERT_TRUE(breaker.ended());
    EXPECT_EQ(breaker.ended()->reason, EndReason::malformed);
    EXPECT_EQ(world.client(honest).status(), ClientStatus::joined);
  }
}

// A section that is malformed itself.
TEST_F(ServerAndClientRefusals, ServerCountsMalformedParts) {
  ClientDatagram d = head();
  d.has_reliable = true;
  EXPECT_EQ(datagram_at_server(Refusal::malformed, written([&](BitWriter& w) {
                                 write(w, d);
                                 w.write(0, 1);  // no part
                               })),
            1u);
  const ReliablePart part{to_server->offset(), Bytes(100, std::byte{1})};
  Bytes cut = forged_reliable(d, std::span{&part, 1});
  cut.resize(cut.size() - 10);
  EXPECT_EQ(datagram_at_server(Refusal::malformed, cut), 1u);
  // After it, the datagrams of the client's own code are so old that they count as repeated.
  constexpr double kBeforeTheNextS = 0.01;
  const Bytes whole = written([&](BitWriter& w) { write(w, head()); });
  EXPECT_EQ(datagram_at_server(Refusal::repeated, whole, kBeforeTheNextS), 0u)
      << "neither counts as received";
}

// The server keeps 160 KiB of a client's stream behind a gap, in at most 512 pieces. It refuses more, and
// does not acknowledge it: a client with correct code would send it again.
TEST_F(ServerAndClientRefusals, ServerRefusesPartsBeyondItsLimits) {
  constexpr std::size_t kMostBytes = 160 * 1024, kMostParts = 512;
  const ServerStats& stats = world.server().stats();
  ForgedClient wide(world), scattered(world);
  wide.join();
  scattered.join();
  const auto acknowledges = [&](ForgedClient& client, std::uint64_t offset, const Bytes& bytes) {
    const Sequence sequence = client.next();
    client.send_parts({{offset, bytes}});
    for (int i = 0; i < 5; ++i) {
      world.run_to(world.now_s() + 0.1);
      client.service();
    }
    return client.is_acknowledged(sequence);
  };
  EXPECT_TRUE(acknowledges(wide, kMostBytes - 10, Bytes(10)));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 0u);
  EXPECT_FALSE(acknowledges(wide, kMostBytes - 9, Bytes(10)));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 1u);
  EXPECT_FALSE(acknowledges(wide, (1u << 23) - 1, Bytes(10)));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 2u);

  for (std::uint64_t i = 0; i < kMostParts; ++i)
    scattered.send_parts({{100 + 2 * i, Bytes(1)}});
  world.run_to(world.now_s() + 0.1);
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 2u);
  EXPECT_FALSE(acknowledges(scattered, 100 + 2 * kMostParts, Bytes(1)));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 3u);
  EXPECT_EQ(stats.messages_received, 0u);
  EXPECT_EQ(stats.malformed, 3u);

  // Both streams go on when the gap is filled.
  Bytes message;
  append_message(message, encoded(GameDataMessage{Bytes(40, std::byte{1}), {}}));
  EXPECT_TRUE(acknowledges(wide, 0, message));
  EXPECT_TRUE(acknowledges(scattered, 0, message));
  EXPECT_EQ(stats.messages_received, 2u);
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 3u);
}

// If a client changes its playout every tick, the server applies at most two changes a second. It ignores a
// repetition. Other clients are not affected.
TEST_F(ServerAndClientRefusals, ServerLimitsHowOftenAClientChangesItsPlayout) {
  const PlayoutMessage present{false, false, {BlendCurve::damped, 0.1}};
  const PlayoutMessage past{true, true, {BlendCurve::damped, 0.1}};
  Bytes contradiction = encoded(past);
  contradiction[0] = static_cast<std::byte>(std::to_integer<unsigned>(contradiction[0]) & ~(1u << 4));
  EXPECT_EQ(message_at_server(Refusal::malformed, contradiction), 1u);
  EXPECT_EQ(message_at_server(Refusal::too_many, encoded(past)), 0u);
  EXPECT_EQ(message_at_server(Refusal::repeated, encoded(past)), 1u);
  ForgedClient fickle(world);
  fickle.join();
  std::uint64_t refused = world.server().stats().refusals[Refusal::too_many];
  EXPECT_EQ(refused, 0u);
  for (int i = 0; i < 600; ++i) {
    fickle.send(i % 2 == 0 ? past : present);
    world.run_to(world.now_s() + 1.0 / 60.0);
    fickle.service();
  }
  refused = world.server().stats().refusals[Refusal::too_many];
  EXPECT_GE(refused, 600u - 22u);
  EXPECT_LE(refused, 600u);
  EXPECT_EQ(world.server().stats().malformed, 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsUnexpectedMessages) {
  // A request that is repeated after the answer is no fault.
  EXPECT_EQ(datagram_at_server(Refusal::unexpected, request_datagram({})), 0u);
  EXPECT_EQ(world.server().stats().malformed, 0u);
  // Messages of a server.
  RouteMessage route;
  route.route = {1};
  route.definition.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}};
  std::uint64_t malformed = 0;
  for (const ReliableMessage& message :
       {ReliableMessage{AfterSpawnsMessage{1}}, ReliableMessage{KickMessage{"you"}}, ReliableMessage{route},
        ReliableMessage{OwnershipMessage{.entity = avatar}},
        ReliableMessage{WelcomeMessage{.tick_rate_hz = 60.0}}}) {
    EXPECT_EQ(message_at_server(Refusal::unexpected, encoded(message)), 1u) << message.index();
    EXPECT_EQ(world.server().stats().malformed, ++malformed);
  }
  EXPECT_EQ(world.server().stats().messages_received, 0u);
  EXPECT_EQ(message_at_server(Refusal::unexpected, encoded(GameDataMessage{{std::byte{1}}, {}})), 0u);
  EXPECT_EQ(world.server().stats().messages_received, 1u) << "the stream goes on";
}

TEST_F(ServerAndClientRefusals, ServerCountsAcknowledgementsOfUnsentDatagrams) {
  ClientDatagram d = head();
  d.ack = Ack{static_cast<Sequence>(newest + 5000), {0xffffffffu}};
  EXPECT_EQ(datagram_at_server(Refusal::never_sent, written([&](BitWriter& w) { write(w, d); })), 1u);
  d.ack.reset();
  d.processed = 9999;
  EXPECT_EQ(datagram_at_server(Refusal::never_sent, written([&](BitWriter& w) { write(w, d); })), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsRepeatedDatagrams) {
  Bytes sent;
  world.tap(hostile).drop_sent = [&](std::span<const std::byte> payload) {
    sent.assign(payload.begin(), payload.end());
    return false;
  };
  world.run_to(world.now_s() + 0.5);
  world.tap(hostile).drop_sent = nullptr;
  EXPECT_EQ(datagram_at_server(Refusal::repeated, sent), 1u);
  EXPECT_EQ(world.server().stats().malformed, 0u);
}

TEST_F(ServerAndClientRefusals, ServerCountsMotionsOfEntitiesTheClientDoesNotOwn) {
  EXPECT_EQ(datagram_at_server(Refusal::unknown_entity,
                               owned(static_cast<std::uint32_t>(walker.slot()), at(0.0, 0.0f), 0)),
            1u);
  EXPECT_EQ(datagram_at_server(Refusal::unknown_entity, owned(999, at(0.0, 0.0f), 0)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsMotionsFromTheFuture) {
  EXPECT_EQ(datagram_at_server(Refusal::from_future, owned(avatar_slot(), at(0.0, 0.0f), 30)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsMotionsThatAreTooOld) {
  EXPECT_EQ(datagram_at_server(Refusal::too_old, owned(avatar_slot(), at(0.0, 0.0f), -90)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsMotionsBeyondTheSpeedLimit) {
  EXPECT_EQ(datagram_at_server(Refusal::beyond_limits, owned(avatar_slot(), at(0.0, 100.0f), -1)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsJumpsBeyondTheLimits) {
  EXPECT_EQ(datagram_at_server(Refusal::beyond_limits, owned(avatar_slot(), at(500.0, 0.0f), -1)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsUnknownBaselines) {
  const Bytes bytes = written([&](BitWriter& w) {
    ClientDatagram d = head();
    d.has_owned = true;
    write(w, d);
    write(w, OwnedHead{avatar_slot(), 1, static_cast<std::uint16_t>(world.server().next_tick()), 50'000}, -1);
    w.write(0, 60);
  });
  EXPECT_EQ(datagram_at_server(Refusal::unknown_baseline, bytes), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsOwnedMotionsOnRoutesAndInUnknownFrames) {
  QuantisedState on_route;
  on_route.along.route = {7};
  EXPECT_EQ(datagram_at_server(Refusal::unknown_route, owned(avatar_slot(), on_route, 0)), 1u);
  QuantisedState framed = at(0.0, 0.0f);
  framed.frame = {500, 3};
  EXPECT_EQ(datagram_at_server(Refusal::unknown_frame, owned(avatar_slot(), framed, 0)), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsReportsFromTheFuture) {
  ClientDatagram d = head();
  d.showing.emplace();
  const double units = (world.now_s() + 2.0) / kStampUnitS;
  d.showing->clock = static_cast<std::uint16_t>(static_cast<std::uint64_t>(units));
  EXPECT_EQ(datagram_at_server(Refusal::from_future, written([&](BitWriter& w) { write(w, d); })), 1u);
}

TEST_F(ServerAndClientRefusals, ServerCountsExcessMessages) {
  const std::uint64_t before = world.server().stats().refusals[Refusal::too_many];
  ForgedClient flooder(world);
  flooder.join();
  const Bytes message = encoded(GameDataMessage{Bytes(900, std::byte{5}), {}});
  for (int i = 0; i < 4000; ++i) {
    flooder.send(message);
    // More at once would overtake each other by more than the server keeps of a stream.
    if (i % 100 == 99) world.run_to(world.now_s() + 1.0 / 60.0);
  }
  world.run_to(world.now_s() + 2.0);
  EXPECT_GT(world.server().stats().refusals[Refusal::too_many], before);
  EXPECT_EQ(world.server().stats().malformed, 0u);  // this is not malformed
}

TEST_F(ServerAndClientRefusals, ClientCountsInvalidDatagrams) {
  EXPECT_EQ(datagram_at_client(Refusal::malformed, Bytes(3, std::byte{0xff})), 1u);
  EXPECT_EQ(datagram_at_client(Refusal::unknown_entity, update(77, at(0.0, 0.0f))), 1u);
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits,
                               update(static_cast<std::uint32_t>(walker.slot()), at(0.0, 100.0f))),
            1u);
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits,
                               update(static_cast<std::uint32_t>(walker.slot()), at(5000.0, 0.0f))),
            1u);
  QuantisedState on_route;
  on_route.along.route = {7};
  EXPECT_EQ(
      datagram_at_client(Refusal::unknown_route, update(static_cast<std::uint32_t>(walker.slot()), on_route)),
      1u);
  QuantisedState framed = at(0.0, 0.0f);
  framed.frame = {500, 3};
  EXPECT_EQ(
      datagram_at_client(Refusal::unknown_frame, update(static_cast<std::uint32_t>(walker.slot()), framed)),
      1u);
  EXPECT_EQ(datagram_at_client(Refusal::from_future,
                               update(static_cast<std::uint32_t>(walker.slot()), at(0.0, 0.0f), 7000)),
            1u);
  EXPECT_EQ(datagram_at_client(Refusal::too_old,
                               update(static_cast<std::uint32_t>(walker.slot()), at(0.0, 0.0f), -300)),
            1u);
}

TEST_F(ServerAndClientRefusals, ClientCountsInvalidReliableMessages) {
  RouteMessage route;
  route.route = {9};
  EXPECT_EQ(message_at_client(Refusal::unknown_route, encoded(route)), 1u);
  EXPECT_EQ(message_at_client(Refusal::malformed, Bytes(5, std::byte{0x0f})), 1u);
  const WelcomeMessage again{.tick_rate_hz = 60.0};
  EXPECT_EQ(message_at_client(Refusal::unexpected, encoded(again)), 1u) << "a second welcome";
  EXPECT_EQ(message_at_client(Refusal::unexpected, encoded(PlayoutMessage{})), 1u) << "a message of a client";
  EXPECT_EQ(message_at_client(Refusal::malformed, encoded(GameDataMessage{{std::byte{1}}, {}})), 0u);
  EXPECT_EQ(world.client(hostile).stats().messages_received, 1u) << "the stream goes on";
}

// The client keeps 512 KiB of a server's stream behind a gap. It refuses more, and does not acknowledge it.
TEST_F(ServerAndClientRefusals, ClientRefusesPartsBeyondItsLimits) {
  constexpr std::size_t kMostBytes = ReliableReceiver::Limits{}.bytes;
  std::set<Sequence> acknowledged;
  world.tap(hostile).drop_sent = [&,
                                  before = world.tap(hostile).drop_sent](std::span<const std::byte> payload) {
    BitReader reader{payload};
    const auto datagram = read_client_datagram(reader);
    if (datagram && datagram->ack)
      datagram->ack->for_each([&](Sequence sequence) { acknowledged.insert(sequence); });
    return before(payload);
  };
  const auto acknowledges = [&](std::uint64_t offset) {
    to_client->send_part({offset, Bytes(10)});
    world.run_to(world.now_s() + 0.5);
    return acknowledged.contains(to_client->sequence());
  };
  const std::uint64_t end = to_client->offset() + kMostBytes;
  const ClientStats& stats = world.client(hostile).stats();
  EXPECT_TRUE(acknowledges(end - 10));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 0u);
  EXPECT_FALSE(acknowledges(end - 9));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 1u);
  EXPECT_FALSE(acknowledges(end + 1'000'000));
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], 2u);
  EXPECT_EQ(stats.malformed, 2u);
  // The stream goes on.
  EXPECT_EQ(message_at_client(Refusal::malformed, encoded(GameDataMessage{{std::byte{1}}, {}})), 0u);
  EXPECT_EQ(stats.messages_received, 1u);
}

// No sender writes an empty message or such a length. Nothing after it arrives.
// Nothing can follow it. A client that dials begins another session (Reconnect.AfterABrokenStream...).
TEST_F(ServerAndClientRefusals, ClientEndsASessionWithABrokenStream) {
  const ClientStats& stats = world.client(hostile).stats();
  EXPECT_EQ(message_at_client(Refusal::malformed, encoded(GameDataMessage{{std::byte{1}}, {}})), 0u);
  EXPECT_EQ(stats.messages_received, 1u);
  to_client->send_bytes(Bytes{std::byte{0}});
  EXPECT_EQ(stats.refusals[Refusal::malformed], 1u);
  EXPECT_EQ(stats.messages_received, 1u);
  EXPECT_EQ(world.client(hostile).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.client(hostile).refusal(), "the server's messages are malformed");
  EXPECT_EQ(world.server().client_count(), 1u);
}

TEST_F(ServerAndClientRefusals, ClientCountsInvalidSpawns) {
  Spawn s = spawn();
  s.archetype = 9;
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits, spawning(s)), 1u);
  s = spawn();
  s.orientation_bits = 3;
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits, spawning(s)), 1u);
  s = spawn();
  EXPECT_EQ(datagram_at_client(Refusal::from_future, spawning(s, 60 * 100)), 1u);
  s = spawn();
  s.age = world.server().next_tick() + 600;
  EXPECT_EQ(datagram_at_client(Refusal::malformed, spawning(s)), 1u);
  s = spawn();
  s.state = at(0.0, 100.0f);
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits, spawning(s)), 1u);
  s = spawn();
  s.state.frame = s.entity;
  EXPECT_EQ(datagram_at_client(Refusal::unknown_frame, spawning(s)), 1u);
  s = spawn();
  s.fields = Bytes(3);
  EXPECT_EQ(datagram_at_client(Refusal::malformed, spawning(s)), 1u);
  s = spawn();
  s.number = 0;
  EXPECT_EQ(datagram_at_client(Refusal::malformed, spawning(s)), 1u);
  s = spawn();
  s.number = 3 + SettledNumbers::kWindow;
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits, spawning(s)), 1u);
  EXPECT_EQ(datagram_at_client(Refusal::beyond_limits,
                               spawning(Despawn{3 + SettledNumbers::kWindow, {50, 0}, 0, {}})),
            1u);
  EXPECT_EQ(datagram_at_client(Refusal::malformed, spawning(Despawn{3, {50, 0}, 1'000'000, {}})), 1u);
}

TEST_F(ServerAndClientRefusals, ClientRefusesAnEntityAsItsOwnFrame) {
  OwnershipMessage given;
  given.entity = walker;
  given.change = OwnershipMessage::Change::given;
  given.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
  given.motion_tick = world.server().next_tick();
  given.state.frame = walker;
  EXPECT_EQ(message_at_client(Refusal::unknown_frame, encoded(given)), 1u);
}

// The tick is so close to its wrap that a later datagram's tick would wrap.
TEST_F(ServerAndClientRefusals, ClientRefusesAJoinJustBeforeTheTickWraps) {
  const std::size_t late = world.add_client(ClientConfig{});
  WelcomeReader welcomes;
  bool changed = false;
  world.tap(late).filter = [&](const TransportEvent& event) {
    if (changed || event.kind != TransportEvent::Kind::received) return true;
    BitReader reader{event.payload};
    const ServerHeader head = read_server_header(reader);
    auto welcome = welcomes.take(head, reader);
    if (!welcome) return true;
    welcome->tick = static_cast<Tick>(-1000);
    changed = true;
    Bytes stream;
    append_message(stream, encoded(*welcome));
    const ReliablePart part{0, stream};
    world.tap(late).inject_payload(event.peer, forged_reliable(head, std::span{&part, 1}));
    return false;
  };
  world.run_to(world.now_s() + 1.0);
  EXPECT_TRUE(changed);
  EXPECT_NE(world.client(late).status(), ClientStatus::joined);
  EXPECT_GT(world.client(late).stats().refusals[Refusal::beyond_limits], 0u);
}

// The tick wraps to the largest tick.
TEST_F(ServerAndClientRefusals, ClientRefusesATimeBeforeTheFirstTick) {
  const auto before_all = static_cast<int>(world.server().next_tick()) + 5;
  EXPECT_EQ(datagram_at_client(Refusal::from_future,
                               update(static_cast<std::uint32_t>(walker.slot()), at(0.0, 0.0f), -before_all)),
            1u);
  const auto before_first = static_cast<int>(world.server().next_tick()) + 5;
  EXPECT_EQ(datagram_at_client(Refusal::from_future, spawning(spawn(), -before_first)), 1u);
}

TEST_F(ServerAndClientRefusals, ClientRefusesTicksInTheFarFuture) {
  const Tick later = world.server().next_tick() + 60 * 100;
  OwnershipMessage given;
  given.entity = walker;
  given.change = OwnershipMessage::Change::given;
  given.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
  given.motion_tick = later;
  EXPECT_EQ(message_at_client(Refusal::from_future, encoded(given)), 1u);
  EXPECT_FALSE(world.client(hostile).owned(walker));
}

}  // namespace
}  // namespace reckoner::test
