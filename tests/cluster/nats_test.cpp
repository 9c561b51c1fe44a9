// SPDX-License-Identifier: MIT
// The bus over a real NATS server, which the tests start. They are skipped where nats-server is missing. No
// test compares times: it waits for what must happen.
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <random>
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
    std::random_device random;
    port = std::to_string(20'000 + random() % 30'000);
    if (!start()) GTEST_SKIP() << "nats-server is not installed (Debian: apt-get install nats-server)";
    ASSERT_TRUE(wait([&] { return server->output().find("Server is ready") != std::string::npos; }))
        << server->output();
  }
  bool start() {
    auto child = harness::ChildProcess::start(
        "nats-server", {"-js", "-sd", (scratch.path() / "js").string(), "-a", "127.0.0.1", "-p", port},
        scratch.path() / "nats.log");
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
    ids.push_back(running[0].simulator->spawn(0, "body", at));
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

}  // namespace
}  // namespace reckoner::test
