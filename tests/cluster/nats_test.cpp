// SPDX-License-Identifier: MIT
// The bus over a real NATS server, which the tests start. They are skipped where nats-server is missing. No
// test compares times: it waits for what must happen.
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "nats_attacker.hpp"
#include "tests/support/locations.hpp"
#include "tests/support/random_port.hpp"

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <reckoner/cluster/nats_bus.hpp>
#include <reckoner/cluster/simulator.hpp>
#include <reckoner/cluster/world_entry.hpp>

namespace reckoner::test {
namespace {

double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class NatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    port = test::random_port();
    if (!start()) GTEST_SKIP() << "nats-server is not installed (Debian: apt-get install nats-server)";
    ASSERT_TRUE(wait([&] { return server->output().find("Server is ready") != std::string::npos; }))
        << server->output();
  }
  virtual std::vector<std::string> arguments() {
    return {"-js", "-sd", (scratch.path() / "js").string(), "-a", "127.0.0.1", "-p", port};
  }
  bool start() {
    auto child = harness::ChildProcess::start("nats-server", arguments(), scratch.path() / "nats.log");
    if (!child) return false;
    server.emplace(std::move(*child));
    return true;
  }
  static bool wait(const std::function<bool()>& done, double patience_s = 30.0) {
    for (const double end_s = clock_s() + patience_s; clock_s() < end_s;) {
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  std::unique_ptr<NatsBus> open(double lease_s = 2.0) {
    auto bus = NatsBus::open({.url = "nats://127.0.0.1:" + port, .lease_s = lease_s});
    EXPECT_TRUE(bus) << bus.error();
    return bus ? std::move(*bus) : nullptr;
  }
  static BusAnswer answer(NatsBus& bus, std::uint64_t request) {
    BusAnswer found;
    EXPECT_TRUE(wait([&] {
      bus.service(clock_s());
      const auto one = bus.poll_answer();
      if (one) found = *one;
      return one && one->request == request;
    }));
    return found;
  }
  static std::vector<std::byte> bytes(const std::string& text) {
    const auto all = std::as_bytes(std::span{text});
    return {all.begin(), all.end()};
  }

  harness::ScratchFolder scratch;
  std::string port;
  std::optional<harness::ChildProcess> server;
};

TEST_F(NatsTest, MessagesTablesAndListsWork) {
  auto a = open(), b = open();
  ASSERT_TRUE(a && b);
  b->subscribe("w.c.1");
  // A subscription needs a moment; messages are repeated until one arrives.
  ASSERT_TRUE(wait([&] {
    a->publish("w.c.1", bytes("hello"));
    b->service(clock_s());
    const auto message = b->poll();
    return message && message->subject == "w.c.1" && message->payload == bytes("hello");
  }));
  EXPECT_EQ(answer(*a, a->get(BusTable::epochs, "c.1")).status, BusAnswer::Status::missing);
  const BusAnswer first = answer(*a, a->put_if(BusTable::epochs, "c.1", bytes("one"), 0));
  ASSERT_EQ(first.status, BusAnswer::Status::done);
  EXPECT_EQ(answer(*b, b->put_if(BusTable::epochs, "c.1", bytes("two"), 0)).status,
            BusAnswer::Status::conflict);
  const BusAnswer second = answer(*b, b->put_if(BusTable::epochs, "c.1", bytes("two"), first.revision));
  ASSERT_EQ(second.status, BusAnswer::Status::done);
  EXPECT_GT(second.revision, first.revision);
  const BusAnswer read = answer(*a, a->get(BusTable::epochs, "c.1"));
  EXPECT_EQ(read.value, bytes("two"));
  EXPECT_EQ(read.revision, second.revision);
  EXPECT_TRUE(answer(*a, a->list(BusTable::checkpoints)).entries.empty());
  for (int i = 0; i < 20; ++i)
    a->put(BusTable::checkpoints, "e." + std::to_string(i), bytes("body " + std::to_string(i)));
  ASSERT_TRUE(wait([&] { return answer(*a, a->list(BusTable::checkpoints)).entries.size() == 20; }));
  const BusAnswer listed = answer(*a, a->list(BusTable::checkpoints));
  EXPECT_EQ(listed.entries[3].key, "e.3");
  EXPECT_EQ(listed.entries[3].value, bytes("body 3"));
}

TEST_F(NatsTest, ListsEnd) {
  auto a = open(), b = open();
  ASSERT_TRUE(a && b);
  const std::vector<std::byte> body(4096);
  const auto write = [&] {
    for (int i = 0; i < 20; ++i) {
      const std::string key = "e." + std::to_string(i);
      const std::uint64_t revision = answer(*b, b->get(BusTable::checkpoints, key)).revision;
      ASSERT_EQ(answer(*b, b->put_if(BusTable::checkpoints, key, body, revision)).status,
                BusAnswer::Status::done);
    }
  };
  write();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(answer(*a, a->list(BusTable::checkpoints)).entries.size(), 20u);
  (void)answer(*a, a->get(BusTable::epochs, "c.1"));  // answered after the end of the lists
  const std::uint64_t before = a->stats().bytes_received;
  write();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  a->service(clock_s());
  EXPECT_LT(a->stats().bytes_received - before, body.size()) << "a list still gets what is written later";
}

// The library's threads may still deliver a message, or report the end of the connection, when the bus has
// ended. The sanitizers find any access to its memory.
TEST_F(NatsTest, BusEndsWhileMessagesArrive) {
  auto sender = open();
  ASSERT_TRUE(sender);
  for (int round = 0; round < 20; ++round) {
    auto bus = open();
    ASSERT_TRUE(bus);
    bus->subscribe("w.c.1");
    bus->subscribe("w.c.2");
    bool arrived = false;
    ASSERT_TRUE(wait([&] {
      for (int i = 0; i < 200; ++i)
        sender->publish(i % 2 == 0 ? "w.c.1" : "w.c.2", bytes("motion"));
      bus->service(clock_s());
      arrived = arrived || bus->poll();
      return arrived;
    }));
    bus->unsubscribe("w.c.2");
    bus.reset();
  }
}

TEST_F(NatsTest, LeasesEnd) {
  auto bus = open(1.0);
  ASSERT_TRUE(bus);
  const BusAnswer taken = answer(*bus, bus->put_if(BusTable::leases, "c.1", bytes("me"), 0));
  ASSERT_EQ(taken.status, BusAnswer::Status::done);
  EXPECT_TRUE(wait([&] {
    return answer(*bus, bus->put_if(BusTable::leases, "c.1", bytes("you"), 0)).status ==
           BusAnswer::Status::done;
  }));
}

TEST_F(NatsTest, OtherSettingsAndAMissingServerAreErrors) {
  ASSERT_TRUE(open(2.0));
  const auto other = NatsBus::open({.url = "nats://127.0.0.1:" + port, .lease_s = 5.0});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().find("exists with other settings"), std::string::npos) << other.error();
  const auto nobody = NatsBus::open({.url = "nats://127.0.0.1:1"});
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().find("no NATS server at nats://127.0.0.1:1"), std::string::npos) << nobody.error();
}

// Two simulators share a world, one ends without a word, and the other takes over what it held.
TEST_F(NatsTest, ASimulatorTakesOverFromADeadOne) {
  struct Running {
    std::unique_ptr<NatsBus> bus;
    std::unique_ptr<WorldEntry> entry;
    std::optional<Simulator> simulator;
    void run() {
      if (entry) {
        const auto entered = entry->service(clock_s());
        if (!entered) return;
        ASSERT_TRUE(*entered) << entered->error();
        auto created = Simulator::create({}, **entered, *bus, clock_s());
        ASSERT_TRUE(created);
        simulator.emplace(std::move(*created));
        entry.reset();
      }
      simulator->receive(clock_s());
      while (simulator->tick_time_s(simulator->next_tick()) <= clock_s())
        simulator->tick(clock_s());
    }
  };
  std::vector<Running> running(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    running[i].bus = open();
    ASSERT_TRUE(running[i].bus);
    running[i].entry = std::make_unique<WorldEntry>(ClusterConfig{}, "sim" + std::to_string(i),
                                                    ProcessId{i + 1}, *running[i].bus);
  }
  const auto run_all = [&] {
    for (Running& one : running)
      one.run();
  };
  ASSERT_TRUE(wait([&] {
    run_all();
    return running[0].simulator && running[1].simulator && running[0].simulator->ready() &&
           running[0].simulator->cell_count() > 0 && running[1].simulator->cell_count() > 0 &&
           running[0].simulator->cell_count() + running[1].simulator->cell_count() == 16;
  }));
  std::vector<EntityId> ids;
  for (int i = 0; i < 16; ++i) {
    State at;
    at.position = {100.0 * (i % 4) - 150.0, 100.0 * static_cast<double>(i / 4) - 150.0, 0.0};
    ids.push_back(*running[0].simulator->spawn(0, "body", at));
    ASSERT_TRUE(ids.back());
  }
  ASSERT_TRUE(wait([&] {
    run_all();
    return running[0].simulator->held_count() + running[1].simulator->held_count() == 16 &&
           running[0].simulator->held_count() > 0 && running[1].simulator->held_count() > 0 &&
           running[1].simulator->stats().checkpoints >= running[1].simulator->held_count() &&
           running[0].simulator->stats().checkpoints >= 16;
  }));
  running.erase(running.begin());
  EXPECT_TRUE(wait([&] {
    run_all();
    return running[0].simulator->held_count() == 16 && running[0].simulator->cell_count() == 16;
  })) << running[0].simulator->held_count();
  for (const EntityId id : ids)
    EXPECT_TRUE(running[0].simulator->holds(id));
}

// The permissions of deploy/nats.conf, with another port, folder and passwords.
class NatsRolesTest : public NatsTest {
 protected:
  std::vector<std::string> arguments() override {
    std::ifstream file(source_dir() / "deploy/nats.conf");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    replace(text, "127.0.0.1:4222", "127.0.0.1:" + port);
    replace(text, "/var/lib/nats", (scratch.path() / "js").string());
    replace(text, "$RECKONER_SIMULATOR_PASSWORD", "one");
    replace(text, "$RECKONER_GATEWAY_PASSWORD", "two");
    const auto path = scratch.path() / "nats.conf";
    std::ofstream(path) << text;
    return {"-c", path.string()};
  }
  static void replace(std::string& text, const std::string& what, const std::string& by) {
    const std::size_t at = text.rfind(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  }
  std::unique_ptr<NatsBus> open_as(const std::string& user, const std::string& password) {
    auto bus = NatsBus::open({.url = "nats://127.0.0.1:" + port,
                              .world = "arena",
                              .user = user,
                              .password = password,
                              .request_timeout_s = 2.0});
    EXPECT_TRUE(bus) << bus.error();
    return bus ? std::move(*bus) : nullptr;
  }
};

TEST_F(NatsRolesTest, AGatewayWritesOnlyWhatAGatewayMay) {
  const auto early = NatsBus::open({.url = "nats://127.0.0.1:" + port,
                                    .world = "arena",
                                    .user = "gateway",
                                    .password = "two",
                                    .connect_timeout_s = 0.5});
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().find("start a simulator first"), std::string::npos) << early.error();

  auto simulator = open_as("simulator", "one");
  auto gateway = open_as("gateway", "two");
  ASSERT_TRUE(simulator && gateway);
  for (const char* subject :
       {"arena.c.1", "arena.p.1.simulator", "arena.p.1.gateway", "arena.m.simulator", "arena.m.gateway"}) {
    simulator->subscribe(subject);
    gateway->subscribe(subject);
  }
  // The subjects under which a text arrives before a last message, which is repeated until it arrives.
  int rounds = 0;
  const auto received = [&](NatsBus& from, NatsBus& by, const std::string& subject, const std::string& text) {
    const std::vector<std::byte> last = bytes("the last one " + std::to_string(++rounds));
    std::vector<std::string> subjects;
    EXPECT_TRUE(wait([&] {
      from.publish(subject, last);
      by.service(clock_s());
      while (const auto message = by.poll()) {
        if (message->payload == last) return true;
        if (message->payload == bytes(text)) subjects.push_back(message->subject);
      }
      return false;
    })) << subject;
    return subjects;
  };
  (void)received(*gateway, *simulator, "arena.m.gateway", "");  // the subscriptions have arrived
  (void)received(*simulator, *gateway, "arena.m.simulator", "");
  for (const char* subject : {"arena.c.1", "arena.p.1.simulator", "arena.m.simulator", "arena.p.1.gateway"})
    gateway->publish(subject, bytes("forged"));
  EXPECT_EQ(received(*gateway, *simulator, "arena.m.gateway", "forged"),
            std::vector<std::string>{"arena.p.1.gateway"});
  for (const char* subject : {"arena.c.1", "arena.p.1.simulator", "arena.p.1.gateway"})
    simulator->publish(subject, bytes("a word"));
  EXPECT_EQ(received(*simulator, *gateway, "arena.m.simulator", "a word"),
            (std::vector<std::string>{"arena.c.1", "arena.p.1.simulator"}));

  // The tables: a gateway reads epochs and ids, and writes its own leases.
  const BusAnswer epoch = answer(*simulator, simulator->put_if(BusTable::epochs, "c.1", bytes("one"), 0));
  ASSERT_EQ(epoch.status, BusAnswer::Status::done);
  EXPECT_EQ(answer(*gateway, gateway->get(BusTable::epochs, "c.1")).value, bytes("one"));
  EXPECT_EQ(answer(*gateway, gateway->get(BusTable::epochs, "c.2")).status, BusAnswer::Status::missing);
  EXPECT_EQ(answer(*gateway, gateway->put_if(BusTable::leases, "n.gate", bytes("me"), 0)).status,
            BusAnswer::Status::done);
  const BusAnswer mine =
      answer(*gateway, gateway->put_if(BusTable::leases, "m.gateway.gate", bytes("me"), 0));
  EXPECT_EQ(mine.status, BusAnswer::Status::done);
  EXPECT_EQ(
      answer(*gateway, gateway->put_if(BusTable::leases, "m.gateway.gate", bytes("me"), mine.revision + 9))
          .status,
      BusAnswer::Status::conflict);
  const std::vector<std::pair<BusTable, const char*>> foreign{
      {BusTable::leases, "c.1"}, {BusTable::leases, "m.simulator.one"}, {BusTable::epochs, "c.1"},
      {BusTable::epochs, "e.1"}, {BusTable::checkpoints, "e.1"},        {BusTable::world, "ids"},
      {BusTable::world, "world"}};
  std::vector<std::uint64_t> requests;
  for (const auto& [table, key] : foreign) {
    gateway->put(table, key, bytes("forged"));
    requests.push_back(gateway->put_if(table, key, bytes("forged"), 0));
  }
  requests.push_back(gateway->list(BusTable::checkpoints));
  std::size_t unanswered = 0;
  ASSERT_TRUE(wait([&] {
    gateway->service(clock_s());
    while (const auto one = gateway->poll_answer())
      unanswered += one->status == BusAnswer::Status::unavailable ? 1 : 0;
    return unanswered == requests.size();
  })) << unanswered;
  for (const auto& [table, key] : foreign) {
    const BusAnswer read = answer(*simulator, simulator->get(table, key));
    EXPECT_NE(read.value, bytes("forged")) << key;
  }
}

// A user chooses the reply subject of a request, and the NATS server answers there. From its own account, a
// gateway reaches gateways only, and they refuse such messages.
TEST_F(NatsRolesTest, NoReplyOrHeaderGetsAroundThePermissions) {
  auto simulator = open_as("simulator", "one");
  ASSERT_TRUE(simulator);
  ASSERT_EQ(answer(*simulator, simulator->put_if(BusTable::epochs, "c.3", bytes("right"), 0)).status,
            BusAnswer::Status::done);
  ASSERT_EQ(answer(*simulator, simulator->put_if(BusTable::leases, "c.3", bytes("right"), 0)).status,
            BusAnswer::Status::done);
  auto victim = open_as("gateway", "two");
  ASSERT_TRUE(victim);
  victim->subscribe("arena.c.3");
  simulator->subscribe("arena.c.3");
  const auto port_number = static_cast<std::uint16_t>(std::stoi(port));
  NatsAttacker attacker(port_number, "gateway", "two");
  ASSERT_TRUE(attacker.is_open());
  attacker.subscribe("_INBOX.attacker.>");
  attacker.publish("$KV.arena-leases.n.evil", "EVIL", "_INBOX.attacker.1");
  ASSERT_TRUE(attacker.wait_for("\"seq\""));
  for (const char* target : {"$KV.arena-epochs.c.3", "$KV.arena-epochs.c.4", "$KV.arena-checkpoints.e.3",
                             "$KV.arena-world.ids", "$KV.arena-leases.c.4", "arena.c.3"}) {
    // The server writes the stored value, or its own confirmation, to the reply subject.
    attacker.publish("$JS.API.DIRECT.GET.KV_arena-leases.$KV.arena-leases.n.evil", "", target);
    attacker.publish("$KV.arena-leases.n.evil", "EVIL", target);
    attacker.publish("$JS.API.STREAM.INFO.KV_arena-epochs", "", target);
  }
  // A rollup would remove all other keys.
  attacker.publish_with_header("$KV.arena-leases.n.evil", "Nats-Rollup: all", "EVIL", "_INBOX.attacker.2");
  // A consumer delivers what is stored to any subject.
  attacker.publish(
      "$JS.API.CONSUMER.CREATE.KV_arena-leases.evil",
      R"({"stream_name":"KV_arena-leases","config":{"name":"evil","deliver_subject":"arena.c.3",)"
      R"("deliver_policy":"all","ack_policy":"none"}})",
      "_INBOX.attacker.3");
  attacker.publish("$JS.API.STREAM.DELETE.KV_arena-epochs", "", "_INBOX.attacker.4");
  attacker.publish("$JS.API.STREAM.PURGE.KV_arena-epochs", "", "_INBOX.attacker.5");
  ASSERT_TRUE(attacker.wait_for("Permissions Violation for Publish to \"$JS.API.STREAM.PURGE"))
      << attacker.said();
  EXPECT_NE(attacker.said().find("$JS.API.CONSUMER.CREATE"), std::string::npos);
  EXPECT_NE(attacker.said().find("$JS.API.STREAM.DELETE"), std::string::npos);

  EXPECT_EQ(answer(*simulator, simulator->get(BusTable::epochs, "c.3")).value, bytes("right"));
  EXPECT_EQ(answer(*simulator, simulator->get(BusTable::epochs, "c.4")).status, BusAnswer::Status::missing);
  EXPECT_EQ(answer(*simulator, simulator->get(BusTable::checkpoints, "e.3")).status,
            BusAnswer::Status::missing);
  EXPECT_EQ(answer(*simulator, simulator->get(BusTable::world, "ids")).status, BusAnswer::Status::missing);
  EXPECT_EQ(answer(*simulator, simulator->get(BusTable::leases, "c.4")).status, BusAnswer::Status::missing);
  std::size_t honest = 0, evil = 0;
  ASSERT_TRUE(wait([&] {
    simulator->publish("arena.c.3", bytes("honest"));
    victim->service(clock_s());
    while (const auto message = victim->poll()) {
      honest += message->payload == bytes("honest") ? 1 : 0;
      evil += message->payload == bytes("EVIL") ? 1 : 0;
    }
    return honest > 0;
  }));
  EXPECT_EQ(evil, 0u);
  EXPECT_GT(victim->stats().foreign, 0u);
  simulator->service(clock_s());
  while (const auto message = simulator->poll())
    EXPECT_EQ(message->payload, bytes("honest"));
}

}  // namespace
}  // namespace reckoner::test
