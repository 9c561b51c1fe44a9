// SPDX-License-Identifier: MIT
// The order in which a client reports entities, and the reliable messages beside them, over links that lose
// and reorder datagrams, and across lost connections.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/followed_stream.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Kind = ClientEvent::Kind;

// A link, and what happens to it.
struct LinkCase {
  const char* name;
  harness::LinkOptions options;
  std::string script{};
  double silence_timeout_s = 0.0;  // SimNetworkConfig::silence_timeout_s
  bool resumes = false;            // the client resumes its session during the run
};

constexpr double kPlayS = 20.0;  // the game begins after the join, and ends at this time

// Datagrams are sent every 17 ms, and overtake each other on some of the links.
std::vector<LinkCase> steady_links() {
  return {{"Loss", {.latency_ms = 40.0, .jitter_ms = 4.0, .loss_percent = 20.0}},
          {"Bursts", {.latency_ms = 40.0, .jitter_ms = 4.0, .loss_percent = 20.0, .burst = 8.0}},
          {"Jitter", {.latency_ms = 20.0, .jitter_ms = 80.0}},
          {"JitterAndLoss", {.latency_ms = 20.0, .jitter_ms = 60.0, .loss_percent = 10.0, .burst = 3.0}}};
}

std::vector<LinkCase> all_links() {
  const harness::LinkOptions quiet{.latency_ms = 40.0, .jitter_ms = 4.0};
  std::vector<LinkCase> links = steady_links();
  // The connection stays.
  links.push_back({"Outage", quiet, "8 loss=100\n10.5 loss=0\n14 loss=100\n15 loss=0\n"});
  // The client reconnects. The server still has the earlier connection. Messages wait for spawns when the
  // link fails.
  const std::string failing = "7.5 down loss=60\n8 loss=100\n12 loss=0\n";
  links.push_back({"Resume", quiet, failing, 0.0, true});
  // The server has lost the connection, too, and keeps messages until the client is back.
  links.push_back({"LateResume", quiet, failing, 2.0, true});
  for (LinkCase& link : links)
    link.script += std::to_string(kPlayS) + " loss=0\n";
  return links;
}

enum Field : std::size_t { kNumber };

// The second archetype has values that do not fit into a spawn, and follow it.
std::vector<Archetype> archetypes() {
  Archetype small{.name = "small"}, large{.name = "large"};
  small.fields = large.fields = {{"number", IntegerField{0, 1'000'000'000}}};
  for (int i = 0; i < 8; ++i)
    large.fields.push_back({"blob " + std::to_string(i), BlobField{kMaxBlobBytes, {}}});
  return {small, large};
}

// Everything is written in the tick in which it is due. A message that waits for the byte budget may arrive
// after the end of an entity, and a spawn that waits is not before the messages.
ServerConfig unlimited() {
  ServerConfig config;
  config.bytes_per_second = 0;
  config.follow_link = false;
  return config;
}

std::array<std::byte, 4> bytes_of(std::uint32_t number) {
  std::array<std::byte, 4> out;
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}
std::uint32_t number_of(std::span<const std::byte> payload) {
  std::uint32_t out = 0;
  if (payload.size() == sizeof out) std::memcpy(&out, payload.data(), sizeof out);
  return out;
}

// A game in which entities spawn, in the frames of others and in slots of earlier ones, change in every
// respect, and end, at random. Messages are sent all the time. The client's game checks the order of what it
// polls.
class Play {
 public:
  Play(const LinkCase& link, PlayoutMode mode, std::uint64_t seed)
      : link_(link), random_(seed), world_(config(link, seed)) {
    ClientConfig client;
    client.archetypes = archetypes();
    client.playout.mode = mode;
    client.reconnect = {.silence_s = 1.0, .first_wait_s = 0.2, .most_wait_s = 0.5, .attempt_s = 1.0};
    if (!link.resumes) client.reconnect.silence_s = 60.0;
    world_.add_dialing_client(client);
    world_.after_tick = [this](double time_s) { play(time_s); };
    world_.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      look(time_s, shown);
    };
  }

  // Plays, and lets the rest arrive.
  void run() {
    world_.run_to(kPlayS + 4.0);
    expect_complete();
    EXPECT_GT(figures_.messages, 200u);
    EXPECT_GT(figures_.known, 2000u) << "entities that were compared with a message";
    EXPECT_GT(figures_.ends, 50u);
    EXPECT_GT(figures_.framed, 25u);
    EXPECT_GT(figures_.changes, 100u);
    EXPECT_GT(figures_.reused_slots, 25u);
    EXPECT_GT(figures_.returned, 2u);
    EXPECT_GT(figures_.owned, 4u);
    EXPECT_EQ(world_.count(0, Kind::resumed) > 0, link_.resumes);
    EXPECT_EQ(world_.count(0, Kind::restarted), 0u);
    EXPECT_EQ(world_.client(0).stats().malformed, 0u);
  }

 private:
  static constexpr std::size_t kMost = 30;  // entities
  static constexpr double kBeginS = 2.0;
  static constexpr std::int64_t kChanges = 1000;  // number of changes of a field that its value tells apart

  // An entity, as the server's game knows it.
  struct Entity {
    std::string name;
    std::size_t archetype = 0;
    std::int64_t number = 0;      // values of its field are this x kChanges + a number of changes
    EntityId frame;               // at its spawn
    bool comes_and_goes = false;  // its relevance for the client changes
    bool was_owned = false;       // it was given to the client at some time
    bool exists = true;
    bool is_relevant = true;
    Circle path;
    std::uint32_t messages_before_end = 0;
  };

  static WorldConfig config(const LinkCase& link, std::uint64_t seed) {
    WorldConfig config{.links = both_ways(link.options),
                       .script = link.script,
                       .seed = seed,
                       .frame_rate_hz = 240.0,
                       .silence_timeout_s = link.silence_timeout_s};
    config.server = unlimited();
    config.server.archetypes = archetypes();
    return config;
  }

  // After a tick: what was spawned in earlier ticks is written. Other entities spawn in the next tick.
  void play(double time_s) {
    if (time_s < kBeginS || world_.server().clients().empty()) return;
    Server& server = world_.server();
    client_ = server.clients().front();
    note_connection(time_s);
    const double next_s = server.tick_time_s(server.next_tick());
    if (time_s < kPlayS) {
      if (random_.chance(0.4)) send();
      if (random_.chance(0.25)) end_one();
      if (random_.chance(0.3) && alive_.size() < kMost) spawn(next_s);
      for (int i = 0; i < 3; ++i)
        change_one(next_s);
    }
    for (const EntityId id : alive_) {
      const Entity& entity = entities_[id];
      if (!server.frame_of(id) && !server.owner(id)) (void)server.move(id, entity.path(next_s));
    }
  }

  void note_connection(double time_s) {
    constexpr double kSendsWaitingS = 1.0;
    if (!world_.server().peer(client_)) connected_s_ = time_s + kSendsWaitingS;
    // What was sent without a connection waits at the server for a while, and ends may overtake it.
    if (time_s >= connected_s_) surely_sent_ = sent_;
  }

  void send() {
    if (!world_.server().send(client_, bytes_of(sent_ + 1), Delivery::reliable)) return;
    std::vector<EntityId> before;
    // Without a connection, neither spawns nor messages leave the server.
    const bool connected = world_.now_s() >= connected_s_;
    for (const EntityId id : alive_) {
      if (connected && !entities_[id].comes_and_goes) before.push_back(id);
    }
    spawned_before_[++sent_] = std::move(before);
    if (connected) surely_sent_ = sent_;
  }

  void spawn(double next_s) {
    Server& server = world_.server();
    const auto number = static_cast<std::int64_t>(entities_.size()) + 1;
    Entity entity{
        .name = "entity " + std::to_string(number),
        .archetype = random_.chance(0.3) ? 1u : 0u,
        .number = number,
        .path = {
            .radius_m = 2.0, .turn_rps = 2.0, .centre = {10.0 * static_cast<double>(number % 20), 0.0, 0.0}}};
    const EntityId near = alive_.empty() ? EntityId{} : pick();
    if (random_.chance(0.6) && near && !entities_[near].comes_and_goes) entity.frame = near;
    if (!entity.frame) entity.comes_and_goes = random_.chance(0.2);
    const State state = entity.frame ? Still{{1.0, 0.0, 0.0}}(next_s) : entity.path(next_s);
    const SpawnResult spawned = server.spawn(entity.archetype, entity.name, state, entity.frame);
    if (!spawned) return;  // too deep
    const EntityId id = *spawned;
    figures_.reused_slots += slots_.insert(id.slot()).second ? 0 : 1;
    EXPECT_TRUE(server.set_field(id, kNumber, number * kChanges));
    alive_.push_back(id);
    entities_[id] = std::move(entity);
  }

  void end_one() {
    if (alive_.size() < 3) return;
    const EntityId id = pick();
    ASSERT_TRUE(world_.server().despawn(id));
    std::erase(alive_, id);
    entities_[id].exists = false;
    entities_[id].messages_before_end = surely_sent_;
  }

  void change_one(double next_s) {
    if (alive_.empty()) return;
    Server& server = world_.server();
    const EntityId id = pick();
    Entity& entity = entities_[id];
    const std::uint64_t what = random_.below(6);
    if (what == 0 && !server.frame_of(id)) {
      entity.path.centre.y += 100.0;
      EXPECT_TRUE(server.teleport(id, entity.path(next_s)));
    } else if (what == 1 && !entity.comes_and_goes) {
      if (server.owner(id)) {
        EXPECT_TRUE(server.revoke(id));
      } else if (!std::exchange(entity.was_owned, true)) {
        EXPECT_TRUE(server.give(id, client_));
      }
    } else if (what == 2 && entity.comes_and_goes) {
      entity.is_relevant = !entity.is_relevant;
      const Relevance to = entity.is_relevant ? Relevance::always : Relevance::never;
      EXPECT_TRUE(server.set_relevance(client_, id, to));
    } else if (what > 2) {
      const auto value = entity.number * kChanges + static_cast<std::int64_t>(random_.below(kChanges));
      EXPECT_TRUE(server.set_field(id, kNumber, value));
    }
  }

  [[nodiscard]] EntityId pick() { return alive_[random_.below(alive_.size())]; }

  // The client's game, after the events of a frame.
  void look(double time_s, std::span<const ShownEntity> shown) {
    while (const auto message = world_.client(0).poll_message())
      look_at_message(number_of(message->payload), time_s);
    for (; events_ < world_.events(0).size(); ++events_)
      look_at_event(world_.events(0)[events_], time_s);
    for (const ShownEntity& e : shown) {
      EXPECT_TRUE(reported_.contains(e.id)) << describe(e.id, time_s) << "is shown, but not reported";
      EXPECT_TRUE(!e.frame || reported_.contains(e.frame))
          << describe(e.id, time_s) << "is shown in a frame that is not reported";
      expect_own_data(e.id, time_s);
    }
    for (const EntityId id : owned_)
      (void)world_.client(0).move(id, Still{}(0.0));
  }

  void look_at_message(std::uint32_t number, double time_s) {
    EXPECT_EQ(number, ++received_);
    ++figures_.messages;
    for (const EntityId id : spawned_before_[number]) {
      if (!entities_[id].exists) continue;  // the client may have ended it in the same call
      ++figures_.known;
      EXPECT_NE(world_.client(0).info(id), nullptr)
          << describe(id, time_s) << "is unknown, but was spawned before message " << number;
    }
    spawned_before_.erase(number);
  }

  void look_at_event(const ClientEvent& event, double time_s) {
    if (!event.entity) return;
    const EntityId id = event.entity;
    ASSERT_TRUE(entities_.contains(id));
    const Entity& entity = entities_[id];
    if (event.kind == Kind::spawned) {
      EXPECT_TRUE(reported_.insert(id).second) << describe(id, time_s) << "is reported twice";
      const bool returns = !was_reported_.insert(id).second;
      figures_.returned += returns ? 1 : 0;
      EXPECT_TRUE(!returns || entity.comes_and_goes) << describe(id, time_s) << "returns after its end";
      if (entity.frame && entities_[entity.frame].exists) {
        ++figures_.framed;
        EXPECT_TRUE(reported_.contains(entity.frame))
            << describe(id, time_s) << "is reported before its frame";
      }
      expect_own_data(id, time_s);
      return;
    }
    EXPECT_TRUE(reported_.contains(id))
        << describe(id, time_s) << "does not exist at event " << static_cast<int>(event.kind);
    if (event.kind == Kind::given) owned_.insert(id);
    if (event.kind == Kind::revoked || event.kind == Kind::despawned) owned_.erase(id);
    figures_.owned += event.kind == Kind::given || event.kind == Kind::corrected ? 1 : 0;
    if (event.kind != Kind::despawned) return (void)++figures_.changes;
    reported_.erase(id);
    if (entity.comes_and_goes) return;
    ++figures_.ends;
    EXPECT_FALSE(entity.exists) << describe(id, time_s) << "ends at the client only";
    EXPECT_GE(received_, entity.messages_before_end)
        << describe(id, time_s) << "ends before messages that were sent before its end";
  }

  // Name, archetype and values are those of this entity, not of another one in its slot.
  void expect_own_data(EntityId id, double time_s) {
    const EntityInfo* info = world_.client(0).info(id);
    if (info == nullptr) return;  // it has ended in the same call
    const Entity& entity = entities_[id];
    EXPECT_EQ(info->name, entity.name) << describe(id, time_s);
    EXPECT_EQ(info->archetype, entity.archetype) << describe(id, time_s);
    const FieldValue* number = world_.client(0).field(id, kNumber);
    ASSERT_NE(number, nullptr);
    EXPECT_EQ(std::get<std::int64_t>(*number) / kChanges, entity.number) << describe(id, time_s);
  }

  void expect_complete() {
    EXPECT_EQ(received_, sent_);
    std::set<EntityId> exist;
    for (const EntityId id : alive_) {
      if (!entities_[id].is_relevant) continue;
      exist.insert(id);
      EXPECT_NE(world_.shown(0, id), nullptr) << describe(id, world_.now_s());
      const FieldValue* number = world_.client(0).field(id, kNumber);
      ASSERT_NE(number, nullptr);
      EXPECT_EQ(*number, world_.server().field(id, kNumber));
    }
    EXPECT_EQ(reported_, exist);
    EXPECT_EQ(world_.shown(0).size(), exist.size());
  }

  [[nodiscard]] std::string describe(EntityId id, double time_s) {
    return "at " + std::to_string(time_s) + " s, " + entities_[id].name + " (slot " +
           std::to_string(id.slot()) + ") ";
  }

  LinkCase link_;
  scenario::Random random_;
  World world_;
  ClientId client_;
  // The server's game:
  std::map<EntityId, Entity> entities_;  // also those that have ended
  std::vector<EntityId> alive_;
  std::set<std::size_t> slots_;
  std::uint32_t sent_ = 0, surely_sent_ = 0;
  double connected_s_ = 0.0;
  std::map<std::uint32_t, std::vector<EntityId>> spawned_before_;  // by number of the message
  // The client's game:
  std::uint32_t received_ = 0;
  std::size_t events_ = 0;
  std::set<EntityId> reported_, was_reported_, owned_;

  // How often each rule was checked.
  struct Figures {
    std::size_t messages = 0, known = 0, ends = 0, framed = 0, changes = 0, reused_slots = 0, returned = 0,
                owned = 0;
  } figures_;
};

class SpawnOrder : public testing::TestWithParam<LinkCase> {};

TEST_P(SpawnOrder, GameSeesEntitiesAndMessagesInOrder) {
  for (unsigned seed = 1; seed <= seeds_to_run(4); ++seed) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      SCOPED_TRACE("seed " + std::to_string(seed) +
                   (mode == PlayoutMode::present ? " present" : " adaptive"));
      Play(GetParam(), mode, seed).run();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, SpawnOrder, testing::ValuesIn(all_links()),
                         [](const testing::TestParamInfo<LinkCase>& link) { return link.param.name; });

// What a client knows of entities that rest and never end, and when messages arrive and are delivered.
class Arrivals {
 public:
  Arrivals(const harness::LinkOptions& link, std::uint64_t seed)
      : world_({.server = unlimited(), .links = both_ways(link), .seed = seed, .frame_rate_hz = 1000.0}) {
    world_.add_client();
    world_.tap(0).filter = [this](const TransportEvent& event) { return look_at(event); };
    world_.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity>) { look(time_s); };
    while (world_.server().clients().empty() && world_.now_s() < 20.0)
      world_.run_to(world_.now_s() + 1.0);
    world_.run_to(world_.now_s() + 1.0);
  }

  World& world() { return world_; }
  EntityId spawn() {
    const auto place = static_cast<double>(spawned_.size());
    spawned_.push_back(*world_.server().spawn(0, "body", Still{{place, 0.0, 0.0}}(0.0)));
    return spawned_.back();
  }
  // Call it after a tick: all entities so far are written.
  std::uint32_t send() {
    const auto client = world_.server().clients().front();
    EXPECT_TRUE(world_.server().send(client, bytes_of(++sent_), Delivery::reliable));
    spawned_before_.push_back(spawned_.size());
    return sent_;
  }

  [[nodiscard]] std::uint32_t sent() const { return sent_; }
  [[nodiscard]] bool knows(EntityId id) const { return known_s_.contains(id); }
  [[nodiscard]] bool has_delivered(std::uint32_t message) const { return delivered_s_.contains(message); }
  [[nodiscard]] double delivered_s(std::uint32_t message) const { return delivered_s_.at(message); }
  // When it should be delivered: it has arrived, and so have all messages and all spawns before it.
  [[nodiscard]] double due_s(std::uint32_t message) const {
    double due_s = 0.0;
    for (std::uint32_t m = 1; m <= message; ++m)
      due_s = std::max(due_s, arrived_s_.at(m));
    for (std::size_t i = 0; i < spawned_before_[message - 1]; ++i)
      due_s = std::max(due_s, known_s_.at(spawned_[i]));
    return due_s;
  }
  [[nodiscard]] bool has_arrived(std::uint32_t message) const { return arrived_s_.contains(message); }
  // Server time at which the message arrived at the client.
  [[nodiscard]] double arrived_s(std::uint32_t message) const { return arrived_s_.at(message); }

  // Datagrams with spawns that the server sends from this tick on are lost.
  std::optional<Tick> spawns_withheld_from;

 private:
  bool look_at(const TransportEvent& event) {
    if (event.kind != TransportEvent::Kind::received) return true;
    BitReader reader{event.payload};
    const ServerHeader head = read_server_header(reader);
    const auto tick = static_cast<Tick>(head.tick);  // it does not wrap in these tests
    if (head.has_spawns && spawns_withheld_from && tick >= *spawns_withheld_from) return false;
    stream_.add(event.payload);
    while (const auto message = stream_.next()) {
      const auto* game = std::get_if<GameDataMessage>(&*message);
      if (game != nullptr) arrived_s_.emplace(number_of(game->payload), world_.now_s());
    }
    return true;
  }
  void look(double time_s) {
    for (const EntityId id : spawned_) {
      if (world_.client(0).info(id) != nullptr) known_s_.emplace(id, time_s);
    }
    while (const auto message = world_.client(0).poll_message())
      delivered_s_.emplace(number_of(message->payload), time_s);
  }

  World world_;
  FollowedStream stream_;
  std::vector<EntityId> spawned_;
  std::uint32_t sent_ = 0;
  std::vector<std::size_t> spawned_before_;  // by message: number of entities
  std::map<EntityId, double> known_s_;
  std::map<std::uint32_t, double> arrived_s_, delivered_s_;
};

class MessageOrder : public testing::TestWithParam<LinkCase> {};

// To the millisecond of a frame: no message is early, and none waits for the spawns behind it.
TEST_P(MessageOrder, MessageWaitsForTheSpawnsBeforeItAndForNoOthers) {
  constexpr double kFrameS = 0.001 + 1e-6;
  std::size_t waited = 0, messages = 0;
  for (unsigned seed = 1; seed <= seeds_to_run(3); ++seed) {
    Arrivals arrivals(GetParam().options, seed);
    World& world = arrivals.world();
    scenario::Random random(seed);
    const double end_s = world.now_s() + 10.0;
    world.after_tick = [&](double time_s) {
      if (time_s > end_s) return;
      if (random.chance(0.5)) arrivals.send();
      if (random.chance(0.3)) arrivals.spawn();
    };
    world.run_to(end_s + 8.0);
    for (std::uint32_t message = 1; message <= arrivals.sent(); ++message) {
      ASSERT_TRUE(arrivals.has_delivered(message)) << message;
      const double due_s = arrivals.due_s(message);
      EXPECT_NEAR(arrivals.delivered_s(message), due_s, kFrameS) << "seed " << seed << " message " << message;
      ++messages;
      waited += due_s > arrivals.arrived_s(message) + 0.01 ? 1 : 0;
    }
  }
  EXPECT_GT(messages, 200u);
  EXPECT_GT(waited, 10u) << "messages that waited for a spawn or another message";
}

INSTANTIATE_TEST_SUITE_P(, MessageOrder, testing::ValuesIn(steady_links()),
                         [](const testing::TestParamInfo<LinkCase>& link) { return link.param.name; });

TEST(MessageOrderOverAQuietLink, LaterSpawnThatIsWithheldDelaysNoMessage) {
  constexpr double kOneWayS = 0.05;
  Arrivals arrivals({.latency_ms = 1e3 * kOneWayS}, 1);
  World& world = arrivals.world();
  EntityId first, second;
  std::uint32_t between = 0, behind = 0;
  Tick ticks = 0;
  world.after_tick = [&](double) {
    ++ticks;
    if (ticks == 1) first = arrivals.spawn();
    if (ticks == 2) between = arrivals.send();
    // The next tick has written the message. It arrives after the spawn was lost.
    if (ticks == 3) {
      arrivals.spawns_withheld_from = world.server().next_tick();
      second = arrivals.spawn();
    }
    if (ticks == 4) behind = arrivals.send();
  };
  const double begin_s = world.now_s();
  world.run_to(begin_s + 1.5);
  EXPECT_TRUE(arrivals.knows(first));
  EXPECT_FALSE(arrivals.knows(second));
  ASSERT_TRUE(arrivals.has_delivered(between));
  EXPECT_LT(arrivals.delivered_s(between), begin_s + kOneWayS + 0.06);
  EXPECT_TRUE(arrivals.has_arrived(behind));
  EXPECT_FALSE(arrivals.has_delivered(behind));
  arrivals.spawns_withheld_from.reset();
  world.run_to(begin_s + 3.0);
  EXPECT_TRUE(arrivals.knows(second));
  ASSERT_TRUE(arrivals.has_delivered(behind));
  EXPECT_NEAR(arrivals.delivered_s(behind), arrivals.due_s(behind), 0.001 + 1e-6);
}

}  // namespace
}  // namespace reckoner::test
