// SPDX-License-Identifier: MIT
// Clocks that jump, machines that sleep and hostile clients. Other clients are not affected, and an affected
// client is correct again soon.
#include "near_network.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

namespace reckoner::test {
namespace {

// The largest errors of a body that a client shows in a time interval.
class ShownErrors {
 public:
  ShownErrors(World& world, std::size_t client, Truth path, double from_s, double to_s) {
    const auto before = world.on_frame;
    world.on_frame = [this, before, &world, client, path = std::move(path), from_s, to_s](
                         std::size_t who, double time_s, std::span<const ShownEntity> shown) {
      if (before) before(who, time_s, shown);
      if (who != client || time_s < from_s || time_s > to_s) return;
      ++frames;
      const ShownEntity* entity = world.shown(client, world.body(0));
      if (entity == nullptr) return (void)++missing;
      const double off_m = glm::distance(entity->shown.position, path(entity->shown_time_s).position);
      worst_m = std::max(worst_m, off_m);
    };
  }
  double worst_m = 0.0;
  std::size_t frames = 0, missing = 0;
};

struct Jump {
  const char* name;
  double by_s;
};
class ClockJump : public testing::TestWithParam<Jump> {};

// The clock that the game reads is set forward or back, or stood still. The client continues and is correct
// again.
TEST_P(ClockJump, JumpIsRecoveredFrom) {
  World world(near_network());
  const Circle path;
  world.add_body(path);
  world.add_dialing_client();
  ShownErrors after(world, 0, path, 10.0, 14.0);
  world.run_to(6.0);
  world.set_local_clock(0, {.offset_s = 1000.0 + GetParam().by_s});
  world.run_to(14.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::restarted), 0u);
  EXPECT_GT(after.frames, 200u);
  EXPECT_EQ(after.missing, 0u);
  EXPECT_LT(after.worst_m, 0.15);
  EXPECT_EQ(world.server().stats().malformed, 0u);
}

INSTANTIATE_TEST_SUITE_P(, ClockJump,
                         testing::Values(Jump{"OnAnHour", 3600.0}, Jump{"OnALittle", 3.0},
                                         Jump{"BackAnHour", -3600.0}, Jump{"BackALittle", -3.0},
                                         Jump{"BackAMoment", -0.1}),
                         [](const auto& jump) { return std::string(jump.param.name); });

struct Sleep {
  double for_s;
  double queue_s;  ///< datagrams that arrive later than this do not fit in the queue
};
class ClientSleep : public testing::TestWithParam<Sleep> {};

// The largest errors of a client whose machine sleeps from `asleep_s` on while its clock continues. Three
// bodies spawn during the sleep.
struct SleepErrors {
  double clock_s = 0.0;  ///< error of the client's server time
  double off_m = 0.0;    ///< error of the shown positions
  double later_m = 0.0;  ///< error of the shown positions from 1.5 s after waking
};

SleepErrors sleep_through(const Sleep& sleep, double asleep_s) {
  const double wakes_s = asleep_s + sleep.for_s;
  WorldConfig config = near_network();
  config.silence_timeout_s = 0.0;
  if (sleep.queue_s < sleep.for_s) {
    const auto line = [](double time_s, int loss) {
      return std::to_string(time_s) + " down loss=" + std::to_string(loss) + "\n";
    };
    config.script = line(asleep_s + sleep.queue_s, 100) + line(wakes_s, 0);
  }
  World world(config);
  std::vector<Circle> paths;
  for (int i = 0; i < 6; ++i)
    paths.push_back({.radius_m = 4.0 + i, .turn_rps = 1.0, .phase_rad = 0.7 * i});
  std::size_t begun = 0;
  const auto begin = [&] { (void)world.add_body(paths[begun++]); };
  for (int i = 0; i < 3; ++i)
    begin();
  world.add_dialing_client();
  SleepErrors woken;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 5.0) return;
    const auto estimate = world.client(0).server_time_s();
    ASSERT_TRUE(estimate);
    woken.clock_s = std::max(woken.clock_s, std::abs(*estimate - time_s));
    for (const ShownEntity& entity : shown) {
      for (std::size_t i = 0; i < begun; ++i) {
        if (world.body(i) != entity.id) continue;
        const double off_m = glm::distance(entity.shown.position, paths[i](entity.shown_time_s).position);
        woken.off_m = std::max(woken.off_m, off_m);
        if (time_s > wakes_s + 1.5) woken.later_m = std::max(woken.later_m, off_m);
      }
    }
  };
  world.run_to(asleep_s);
  world.suspend_client(0, wakes_s);
  for (int i = 3; i < 6; ++i) {
    world.run_to(asleep_s + 0.1 * (i - 2));
    begin();
  }
  world.run_to(wakes_s + 5.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.shown(0).size(), paths.size());
  return woken;
}

// Datagrams that were queued during the sleep must not change the clock. New entities in them must not be
// extrapolated to positions where they never were.
TEST_P(ClientSleep, KeepsTheClockAndTheShownPositionsCorrect) {
  for (int i = 0; i < 6; ++i) {
    const SleepErrors woken = sleep_through(GetParam(), 6.0 + 0.034 * i);
    EXPECT_LT(woken.clock_s, 0.02) << i;
    EXPECT_LT(woken.off_m, 35.0) << i << ": the largest circle is 18 m wide";
    EXPECT_LT(woken.later_m, 0.2) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, ClientSleep,
                         testing::Values(Sleep{0.3, 1e9}, Sleep{1.5, 1e9}, Sleep{4.0, 0.8}, Sleep{4.0, 1e9},
                                         Sleep{14.0, 0.8}, Sleep{14.0, 3.0}, Sleep{25.0, 2.0}));

// The server restarts while the client sleeps. Queued datagrams of the old server do not delay the reconnect.
TEST(SleptClient, NoticesARestartedServerSoon) {
  World world(near_network());
  world.add_body(Circle{});
  world.add_dialing_client();
  world.run_to(6.0);
  world.suspend_client(0, 14.0);
  world.run_to(8.0);
  world.kill_server();
  world.run_to(10.0);
  world.start_server();
  world.run_to(17.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::restarted), 1u);
}

class ServerSleep : public testing::TestWithParam<double> {};

// The server's machine sleeps for a shorter or a longer time than its clients wait.
TEST_P(ServerSleep, ClientsStayJoinedOrResume) {
  World world(near_network());
  const Still path{{3.0, 4.0, 0.0}};
  world.add_body(path);
  world.add_dialing_client();
  world.run_to(6.0);
  world.suspend_server(6.0 + GetParam());
  world.run_to(6.0 + GetParam() + 20.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  ASSERT_NE(world.shown(0, world.body(0)), nullptr);
  EXPECT_LT(glm::distance(world.shown(0, world.body(0))->shown.position, path(0.0).position), 0.05);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 1u) << "the client never joined again";
}

INSTANTIATE_TEST_SUITE_P(, ServerSleep, testing::Values(2.0, 8.0, 30.0));

// When the server receives datagrams, its clock is wrong for a moment, in either direction.
TEST(ServerClock, MayBeWrongForAMoment) {
  World world(near_network());
  const Circle path;
  world.add_body(path);
  world.add_dialing_client();
  ShownErrors after(world, 0, path, 10.0, 14.0);
  world.before_tick = [&](double time_s) {
    if (time_s > 5.0 && time_s < 7.0) world.server().receive(time_s - 1000.0);
    if (time_s > 5.5 && time_s < 5.6) world.server().receive(time_s + 2.0);
  };
  world.run_to(14.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(after.missing, 0u);
  EXPECT_LT(after.worst_m, 0.15);
}

std::size_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

// Runs a hostile client for a minute beside an honest one. The honest client sees its body correctly, and the
// server's memory does not grow after the first 20 s.
void expect_harmless(World& world, const Truth& path, const std::function<void(double time_s)>& step) {
  ShownErrors honest(world, 0, path, 4.0, 64.0);
  std::size_t early = 0;
  for (double time_s = 0.05; time_s < 64.0; time_s += 0.05) {
    world.run_to(time_s);
    step(time_s);
    if (early == 0 && time_s > 20.0) early = heap_bytes();
  }
  EXPECT_LT(heap_bytes(), early + 400'000) << "was " << early;
  EXPECT_EQ(honest.missing, 0u);
  EXPECT_LT(honest.worst_m, 0.12);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
}

TEST(HostileClients, ClientThatNeverAcknowledgesCostsBoundedMemory) {
  WorldConfig config = near_network();
  config.silence_timeout_s = 0.0;
  World world(config);
  const Circle path;
  world.add_body(path);
  for (int i = 0; i < 20; ++i)
    world.add_body(Circle{.radius_m = 3.0 + i, .turn_rps = 1.0, .phase_rad = 0.3 * i});
  world.add_dialing_client();
  const std::size_t mute = world.add_client();
  world.tap(mute).drop_sent = [](std::span<const std::byte>) { return true; };
  // The client should confirm each of these spawns, despawns and messages.
  std::vector<EntityId> fleeting;
  expect_harmless(world, path, [&](double time_s) {
    const EntityId id = *world.server().spawn(0, "fleeting", Still{}(time_s));
    fleeting.push_back(id);
    if (fleeting.size() > 20) {
      EXPECT_TRUE(world.server().despawn(fleeting.front()));
      fleeting.erase(fleeting.begin());
    }
    const std::array<std::byte, 100> message{};
    (void)world.server().broadcast(message, Delivery::reliable);
    while (world.client(0).poll_message()) {
    }
    while (world.client(mute).poll_message()) {
    }
  });
}

// Joins without a Client. `forge` changes its acknowledgements.
class FalseAcknowledger {
 public:
  explicit FalseAcknowledger(World& world) : transport_(world.network().add_client(kProtocolVersion)) {}

  void step(const std::function<void(ClientDatagram&, std::uint16_t newest)>& forge) {
    std::array<std::byte, 256> buffer;
    while (const auto event = transport_.poll()) {
      if (event->kind == TransportEvent::Kind::connected) {
        server_ = event->peer;
        const JoinRequest request{.archetype_hash = archetype_hash(ClientConfig{}.archetypes), .resume = {}};
        transport_.send(server_, request_datagram(request));
      } else if (event->kind == TransportEvent::Kind::received) {
        BitReader reader{event->payload};
        newest_ = read_server_header(reader).sequence;
      }
    }
    if (!server_) return;
    ClientDatagram datagram;
    datagram.sequence = sequence_++;
    forge(datagram, newest_);
    BitWriter writer{buffer};
    write(writer, datagram);
    transport_.send(server_, writer.finish());
  }

 private:
  Transport& transport_;
  PeerId server_;
  Sequence sequence_ = 0;
  Sequence newest_ = 0;
};

TEST(HostileClients, FalseAcknowledgementsAreHarmless) {
  for (const bool plausible : {true, false}) {
    World world(near_network());
    const Circle path;
    world.add_body(path);
    world.add_dialing_client();
    FalseAcknowledger liar(world);
    expect_harmless(world, path, [&](double) {
      liar.step([&](ClientDatagram& datagram, std::uint16_t newest) {
        // Acknowledges everything that may have been sent, or datagrams that were never sent.
        datagram.ack = Ack{static_cast<Sequence>(plausible ? newest : newest + 20'000), {0xffffffffu}};
        if (!plausible) datagram.processed = 60'000;
      });
    });
    if (plausible) continue;
    EXPECT_GT(world.server().stats().malformed, 500u) << "every false acknowledgement is refused and counted";
  }
}

}  // namespace
}  // namespace reckoner::test
