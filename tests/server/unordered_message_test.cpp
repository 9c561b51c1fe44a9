// SPDX-License-Identifier: MIT
// Reliable messages without order, in both directions: each arrives once, and none waits for another one.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/forged_client.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// The content of a message: its number, whether it is ordered, and an entity.
struct Note {
  std::uint32_t number = 0;
  std::uint32_t is_ordered = 0;
  std::uint64_t entity = 0;
};

Bytes bytes_of(const Note& note, std::size_t size = sizeof(Note)) {
  Bytes bytes(size);
  std::memcpy(bytes.data(), &note, sizeof note);
  return bytes;
}

Note note_of(const GameMessage& message) {
  Note note;
  if (message.payload.size() >= sizeof note) std::memcpy(&note, message.payload.data(), sizeof note);
  return note;
}

Delivery delivery_of(const Note& note) {
  return note.is_ordered != 0 ? Delivery::reliable : Delivery::reliable_unordered;
}

// One direction: what was sent and what has arrived.
class Mixed {
 public:
  explicit Mixed(std::uint64_t seed) : random_(seed) {}

  // `send(payload, delivery)` sends the next message, and returns false if it is not possible now.
  template <class Send>
  void send(Send&& send) {
    Note note{sent_, random_() % 2 == 0 ? 1u : 0u, 0};
    const std::size_t size = random_() % 40 == 0 ? 6000 : sizeof note + random_() % 300;
    sent_ += send(bytes_of(note, size), delivery_of(note)) ? 1 : 0;
  }
  void receive(const GameMessage& message) {
    const Note note = note_of(message);
    EXPECT_TRUE(numbers_.insert(note.number).second) << note.number << " arrives once";
    if (note.is_ordered != 0) {
      EXPECT_EQ(note.number, next_) << "an ordered message follows all messages before it";
    } else {
      overtook_ += note.number != next_ ? 1 : 0;
    }
    for (; numbers_.contains(next_); ++next_) {
    }
  }
  void expect_all() const {
    EXPECT_EQ(next_, sent_);
    EXPECT_EQ(numbers_.size(), sent_);
  }
  [[nodiscard]] std::uint32_t sent() const { return sent_; }
  [[nodiscard]] std::size_t overtook() const { return overtook_; }

 private:
  std::mt19937_64 random_;
  std::uint32_t sent_ = 0;
  std::set<std::uint32_t> numbers_;
  std::uint32_t next_ = 0;  // all before it have arrived
  std::size_t overtook_ = 0;
};

struct Case {
  const char* name;
  harness::LinkOptions link;
  std::string script;
  bool resumes = false;
};

class UnorderedMessages : public testing::TestWithParam<Case> {};

TEST_P(UnorderedMessages, ArriveOnceAndOrderedOnesInOrder) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    WorldConfig config{.links = both_ways(GetParam().link), .script = GetParam().script, .seed = seed};
    config.silence_timeout_s = 5.0;
    config.server.client_messages_per_second = seed % 2 == 0 ? 256.0 : 15.0;  // 15: some wait at the server
    World world(config);
    world.add_body(Circle{});
    world.add_dialing_client();
    world.run_to(4.0);
    ASSERT_EQ(world.server().clients().size(), 1u);
    const ClientId id = world.server().clients().front();
    Mixed up(seed), down(seed + 100);
    const auto receive = [&] {
      while (const auto message = world.client(0).poll_message())
        down.receive(*message);
      while (const auto message = world.server().poll_message())
        up.receive(*message);
    };
    std::uint32_t frames = 0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
      receive();
      if (time_s > 25.0 || ++frames % 3 != 0) return;
      up.send([&](const Bytes& bytes, Delivery how) { return world.client(0).send(bytes, how); });
      down.send([&](const Bytes& bytes, Delivery how) {
        return static_cast<bool>(world.server().send(id, bytes, how));
      });
    };
    world.run_to(90.0);
    receive();
    EXPECT_GT(up.sent(), 200u);
    EXPECT_GT(down.sent(), 200u);
    up.expect_all();
    down.expect_all();
    if (GetParam().link.loss_percent > 0.0) {
      EXPECT_GT(up.overtook(), 5u);
      EXPECT_GT(down.overtook(), 5u);
    }
    EXPECT_EQ(world.count(0, ClientEvent::Kind::resumed) > 0, GetParam().resumes);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::restarted), 0u);
    EXPECT_EQ(world.client(0).stats().messages_abandoned, 0u);
    EXPECT_EQ(world.client(0).stats().malformed, 0u);
    EXPECT_EQ(world.server().stats().malformed, 0u);
    EXPECT_EQ(world.server().stats().messages_refused, 0u);
    EXPECT_EQ(world.server().session_stats(id)->queued_messages, 0u) << "all are confirmed";
  }
}

INSTANTIATE_TEST_SUITE_P(
    , UnorderedMessages,
    testing::Values(
        Case{"Quiet", {.latency_ms = 40.0}, ""},
        Case{"Lossy", {.latency_ms = 50.0, .jitter_ms = 20.0, .loss_percent = 20.0}, ""},
        Case{"Repeated", {.latency_ms = 50.0, .loss_percent = 10.0, .duplicate_percent = 50.0}, ""},
        Case{"Outage", {.latency_ms = 40.0, .loss_percent = 10.0}, "8 loss=100\n18 loss=10\n", true},
        Case{"OneWayOutages",
             {.latency_ms = 40.0, .loss_percent = 10.0},
             "7 up loss=100\n15 up loss=10\n17 down loss=100\n25 down loss=10\n",
             true}),
    [](const auto& one) { return std::string(one.param.name); });

// The longest time of `share` of the messages from send() until the game has them, s.
double delay_s(Delivery delivery, bool up, std::uint64_t seed, double share) {
  WorldConfig config{.links = both_ways({.latency_ms = 50.0, .jitter_ms = 5.0, .loss_percent = 5.0}),
                     .seed = seed,
                     .frame_rate_hz = 240.0};
  World world(config);
  world.add_client();
  world.add_body(Circle{});
  world.run_to(4.0);
  const ClientId id = world.server().clients().front();
  std::vector<double> sent_s, delays_s;
  const auto take = [&](const GameMessage& message) {
    delays_s.push_back(world.now_s() - sent_s[note_of(message).number]);
  };
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    while (const auto message = world.client(0).poll_message())
      take(*message);
    while (const auto message = world.server().poll_message())
      take(*message);
  };
  world.after_tick = [&](double time_s) {
    if (time_s > 64.0 || world.server().next_tick() % 3 != 0) return;
    // Large ones are not sent twice, as it is on a busy link.
    const Bytes bytes = bytes_of({static_cast<std::uint32_t>(sent_s.size()), 0, 0}, 900);
    sent_s.push_back(world.now_s());
    EXPECT_TRUE(up ? world.client(0).send(bytes, delivery) : world.server().send(id, bytes, delivery));
  };
  world.run_to(70.0);
  EXPECT_EQ(delays_s.size(), sent_s.size());
  std::sort(delays_s.begin(), delays_s.end());
  return delays_s.empty()
             ? 0.0
             : delays_s[static_cast<std::size_t>(share * static_cast<double>(delays_s.size() - 1))];
}

TEST(UnorderedMessageDelay, NoneWaitsForALostOne) {
  for (const bool up : {false, true}) {
    double ordered_s = 0.0, unordered_s = 0.0, ordered90_s = 0.0, unordered90_s = 0.0;
    constexpr std::uint64_t kSeeds = 4;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      ordered_s += delay_s(Delivery::reliable, up, seed, 0.99) / kSeeds;
      unordered_s += delay_s(Delivery::reliable_unordered, up, seed, 0.99) / kSeeds;
      ordered90_s += delay_s(Delivery::reliable, up, seed, 0.9) / kSeeds;
      unordered90_s += delay_s(Delivery::reliable_unordered, up, seed, 0.9) / kSeeds;
    }
    const std::string name = up ? "up" : "down";
    RecordProperty(name + "_ordered_p90_p99", std::to_string(ordered90_s) + " " + std::to_string(ordered_s));
    RecordProperty(name + "_unordered_p90_p99",
                   std::to_string(unordered90_s) + " " + std::to_string(unordered_s));
    EXPECT_LT(unordered_s, ordered_s) << name;
    EXPECT_LT(unordered90_s, 0.7 * ordered90_s) << name;
  }
}

// A message that names an entity arrives while the client has the entity: after the spawn that was sent
// before it, and before the end that was sent after it. If the spawn was lost and the entity has ended
// meanwhile, the server does not send the spawn again, and the client never has the entity.
TEST(UnorderedMessageOrder, EntityIsKnownWhenAMessageAboutItArrives) {
  std::size_t messages = 0, spawns_late = 0, never_known = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    WorldConfig config{.links = both_ways({.latency_ms = 50.0, .jitter_ms = 30.0, .loss_percent = 20.0}),
                       .seed = seed,
                       .frame_rate_hz = 1000.0};
    config.server.bytes_per_second = 10'000'000;
    config.server.follow_link = false;
    World world(config);
    world.add_client();
    world.run_to(3.0);
    const ClientId id = world.server().clients().front();
    std::mt19937_64 random{seed};
    std::vector<EntityId> written, fresh;  // those that a tick has sent; those of this tick
    std::set<EntityId> ended;
    std::map<EntityId, int> known;  // frames since the client knew the entity
    std::uint32_t sent = 0, arrived = 0;
    const auto later = [&](double time_s) { return time_s > 13.0; };
    world.after_tick = [&](double time_s) {
      written.insert(written.end(), fresh.begin(), fresh.end());
      fresh.clear();
      if (later(time_s)) return;
      if (!written.empty()) {
        const Note note{sent++, 0, to_number(written[random() % written.size()])};
        ASSERT_TRUE(world.server().send(id, bytes_of(note), Delivery::reliable_unordered));
      }
      if (random() % 4 == 0 && written.size() > 3) {
        const std::size_t at = random() % written.size();
        ASSERT_TRUE(world.server().despawn(written[at]));
        ended.insert(written[at]);
        written.erase(written.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (random() % 3 == 0) fresh.push_back(*world.server().spawn(0, "body", State{}));
    };
    world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
      for (auto& one : known)
        ++one.second;
      for (const std::vector<EntityId>* some : {&written, &fresh}) {
        for (const EntityId entity : *some) {
          if (world.client(0).info(entity) != nullptr) known[entity] = 0;
        }
      }
      for (const EntityId entity : ended) {
        if (world.client(0).info(entity) != nullptr) known[entity] = 0;
      }
      while (const auto message = world.client(0).poll_message()) {
        const EntityId entity = entity_id_of(note_of(*message).entity);
        ++arrived;
        if (!known.contains(entity)) {
          EXPECT_TRUE(ended.contains(entity)) << "seed " << seed << ": before the spawn";
          ++never_known;
        } else {
          // One frame: the end may have arrived in the same one, behind the message.
          EXPECT_LE(known[entity], 1) << "seed " << seed << ": after the end";
        }
      }
      for (const EntityId entity : written)
        spawns_late += known.contains(entity) ? 0 : 1;
    };
    world.run_to(20.0);
    EXPECT_EQ(arrived, sent);
    messages += arrived;
  }
  EXPECT_GT(messages, 2000u);
  EXPECT_GT(spawns_late, 1000u);
  EXPECT_LT(never_known, messages / 50);
}

// The rates of messages limit unordered ones, too. The server confirms them in the order of the stream.
TEST(UnorderedMessageRates, ClientLosesNothing) {
  WorldConfig config{.links = both_ways({.latency_ms = 30.0, .loss_percent = 10.0})};
  config.server.client_messages_per_second = 100.0;
  World world(config);
  world.add_client();
  world.run_to(3.0);
  constexpr std::uint32_t kMessages = 1500;
  for (std::uint32_t i = 0; i < kMessages; ++i)
    ASSERT_TRUE(world.client(0).send(bytes_of({i, 0, 0}), Delivery::reliable_unordered));
  std::set<std::uint32_t> arrived;
  std::size_t in_a_second = 0;
  double second_s = world.now_s();
  world.after_tick = [&](double time_s) {
    if (time_s > second_s + 1.0) {
      EXPECT_LE(in_a_second, 155u) << "the rate, and the burst of half a second";
      in_a_second = 0;
      second_s += 1.0;
    }
    for (; const auto message = world.server().poll_message(); ++in_a_second)
      EXPECT_TRUE(arrived.insert(note_of(*message).number).second);
  };
  world.run_to(30.0);
  EXPECT_EQ(arrived.size(), kMessages);
  EXPECT_EQ(world.server().stats().messages_refused, 0u);
}

// What only hostile clients send.
TEST(UnorderedMessageRefusals, ServerBelievesNoFalseBegins) {
  World world(WorldConfig{});
  world.add_client();
  world.run_to(1.0);
  ForgedClient liar(world);
  liar.join();
  const auto pass = [&] {
    for (int i = 0; i < 10; ++i) {
      world.run_to(world.now_s() + 0.05);
      liar.service();
    }
  };
  std::vector<std::uint32_t> got;
  world.after_tick = [&](double) {
    while (const auto message = world.server().poll_message())
      got.push_back(note_of(*message).number);
  };
  const auto stream_of = [](const ReliableMessage& message) {
    Bytes stream;
    append_message(stream, encoded_message(message));
    return stream;
  };
  const Bytes first = stream_of(GameDataMessage{bytes_of({1, 1, 0}), {}});
  const Bytes second = stream_of(UnorderedMessage{{bytes_of({2, 0, 0}), {}}, {}});
  // The second message before the first, three times.
  for (int i = 0; i < 3; ++i)
    liar.send_parts({{first.size(), second, 0u}});
  pass();
  EXPECT_EQ(got, (std::vector<std::uint32_t>{2}));
  liar.send_bytes(first);
  pass();
  EXPECT_EQ(got, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(world.server().stats().malformed, 0u);

  // Only a server names spawns.
  std::uint64_t offset = first.size() + second.size();
  const Bytes third = stream_of(UnorderedMessage{{bytes_of({3, 0, 0}), {}}, 5u});
  liar.send_bytes_at(offset, third);
  offset += third.size();
  pass();
  EXPECT_EQ(world.server().stats().refusals[Refusal::unexpected], 1u);
  liar.send_parts({{offset + first.size(), third, 0u}});
  pass();
  EXPECT_EQ(world.server().stats().refusals[Refusal::unexpected], 2u) << "also before its turn";
  liar.send_bytes_at(offset, first);
  offset += first.size() + third.size();
  pass();
  EXPECT_EQ(world.server().stats().refusals[Refusal::unexpected], 2u) << "once";
  EXPECT_FALSE(liar.ended());

  // A message within another one. The payload lies half a byte beside the bytes of the stream, so each of
  // these is 0x1d: a length, and the kind of an unordered message.
  const Bytes outside = stream_of(GameDataMessage{Bytes(200, std::byte{0xd1}), {}});
  constexpr std::uint32_t at = 50;
  ASSERT_EQ(outside[at], std::byte{0x1d});
  liar.send_parts({{offset + first.size(), outside, at}});
  pass();
  EXPECT_FALSE(liar.ended());
  liar.send_bytes_at(offset, first);
  pass();
  ASSERT_TRUE(liar.ended());
  EXPECT_EQ(liar.ended()->reason, EndReason::malformed);
  EXPECT_EQ(world.server().client_count(), 1u) << "the other client plays on";
}

}  // namespace
}  // namespace reckoner::test
