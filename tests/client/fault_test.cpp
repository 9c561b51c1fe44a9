// SPDX-License-Identifier: MIT
// Clocks that jump, machines that sleep, clients that lie: who is not concerned notices nothing, and who is,
// is right again soon after.
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

// The worst that a client shows of a body between two times.
class Watch {
 public:
  Watch(World& world, std::size_t client, Truth path, double from_s, double to_s) {
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
class AClock : public testing::TestWithParam<Jump> {};

// The clock that the game reads is set, on or back, or it slept: the client goes on, and is right again.
TEST_P(AClock, MayJump) {
  World world(near_network());
  const Circle path;
  world.add_body(path);
  world.add_dialing_client();
  Watch after(world, 0, path, 10.0, 14.0);
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

INSTANTIATE_TEST_SUITE_P(, AClock,
                         testing::Values(Jump{"OnAnHour", 3600.0}, Jump{"OnALittle", 3.0},
                                         Jump{"BackAnHour", -3600.0}, Jump{"BackALittle", -3.0},
                                         Jump{"BackAMoment", -0.1}),
                         [](const auto& jump) { return std::string(jump.param.name); });

struct Sleep {
  double for_s;
  double queue_s;  ///< what arrives later finds no room
};
class ClientSleep : public testing::TestWithParam<Sleep> {};

// The worst that a client shows whose machine sleeps from `asleep_s` on while its clock goes on, and while
// three bodies begin.
struct Woken {
  double clock_s = 0.0;  ///< error of its server time
  double off_m = 0.0;    ///< of what it shows
  double later_m = 0.0;  ///< the same from a second and a half after it woke
};

Woken sleep_through(const Sleep& sleep, double asleep_s) {
  const double wakes_s = asleep_s + sleep.for_s;
  WorldConfig config = near_network();
  config.silent_s = 0.0;
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
  Woken woken;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 5.0) return;
    const auto estimate = world.client(0).server_time_s(world.local_s(0, time_s));
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

// What queued meanwhile says nothing about the time, and what is new in it is not carried to where nobody has
// ever been.
TEST_P(ClientSleep, LeavesTheClockRight) {
  for (int i = 0; i < 6; ++i) {
    const Woken woken = sleep_through(GetParam(), 6.0 + 0.034 * i);
    EXPECT_LT(woken.clock_s, 0.02) << i;
    EXPECT_LT(woken.off_m, 35.0) << i << ": the largest circle is 18 m wide";
    EXPECT_LT(woken.later_m, 0.2) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, ClientSleep,
                         testing::Values(Sleep{0.3, 1e9}, Sleep{1.5, 1e9}, Sleep{4.0, 0.8}, Sleep{4.0, 1e9},
                                         Sleep{14.0, 0.8}, Sleep{14.0, 3.0}, Sleep{25.0, 2.0}));

// Meanwhile its server was started anew: what has queued from the one before keeps it waiting no longer.
TEST(AClientThatSlept, FindsOutSoonThatNobodyIsThere) {
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

// The server's machine sleeps, for less or for more than its clients wait.
TEST_P(ServerSleep, IsSleptThrough) {
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
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 1u) << "the same client all the time";
}

INSTANTIATE_TEST_SUITE_P(, ServerSleep, testing::Values(2.0, 8.0, 30.0));

// A server whose clock is wrong for a moment, in either direction, when it takes in what arrived.
TEST(AServersClock, MayBeWrongForAWhile) {
  World world(near_network());
  const Circle path;
  world.add_body(path);
  world.add_dialing_client();
  Watch after(world, 0, path, 10.0, 14.0);
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

// Beside an honest client, for a minute: it sees what it would have seen, and the server keeps no more of the
// other in the end than soon after it began.
void expect_harmless(World& world, const Truth& path, const std::function<void(double time_s)>& step) {
  Watch honest(world, 0, path, 4.0, 64.0);
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

TEST(BadClients, OneThatNeverAcknowledgesCostsABoundedAmount) {
  WorldConfig config = near_network();
  config.silent_s = 0.0;
  World world(config);
  const Circle path;
  world.add_body(path);
  for (int i = 0; i < 20; ++i)
    world.add_body(Circle{.radius_m = 3.0 + i, .turn_rps = 1.0, .phase_rad = 0.3 * i});
  world.add_dialing_client();
  const std::size_t mute = world.add_client();
  world.tap(mute).drop_sent = [](Channel channel, std::span<const std::byte>) {
    return channel == Channel::state;
  };
  // News of which each is to be confirmed.
  std::vector<EntityId> fleeting;
  expect_harmless(world, path, [&](double time_s) {
    const EntityId id = world.server().spawn(0, "fleeting", Still{}(time_s));
    fleeting.push_back(id);
    if (fleeting.size() > 20) {
      world.server().despawn(fleeting.front());
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

// Joins by hand, and acknowledges as `forge` has it.
class Liar {
 public:
  explicit Liar(World& world) : transport_(world.network().add_client(kProtocolVersion)) {}

  void step(const std::function<void(ClientDatagram&, std::uint16_t newest)>& forge) {
    std::array<std::byte, 256> buffer;
    while (const auto event = transport_.poll()) {
      if (event->kind == TransportEvent::Kind::connected) {
        server_ = event->peer;
        const JoinMessage join{.archetype_hash = archetype_hash(ClientConfig{}.archetypes)};
        transport_.send(server_, Channel::control, encode(join, buffer));
      } else if (event->kind == TransportEvent::Kind::received && event->channel == Channel::state) {
        BitReader reader{event->payload};
        newest_ = read_server_header(reader).sequence;
      } else if (event->kind == TransportEvent::Kind::received) {
        auto left = event->payload;
        while (!left.empty()) {
          const auto message = take_control(left);
          if (message && is_counted(*message)) ++counted_;
        }
      }
    }
    if (!server_) return;
    ClientDatagram datagram;
    datagram.sequence = sequence_++;
    datagram.control_count = counted_;
    forge(datagram, newest_);
    BitWriter writer{buffer};
    write(writer, datagram);
    transport_.send(server_, Channel::state, writer.finish());
  }

 private:
  Transport& transport_;
  PeerId server_;
  Sequence sequence_ = 0;
  Sequence newest_ = 0;
  std::uint16_t counted_ = 0;
};

TEST(BadClients, OneThatAcknowledgesEverythingFalselyHarmsNobody) {
  for (const bool plausible : {true, false}) {
    World world(near_network());
    const Circle path;
    world.add_body(path);
    world.add_dialing_client();
    Liar liar(world);
    expect_harmless(world, path, [&](double) {
      liar.step([&](ClientDatagram& datagram, std::uint16_t newest) {
        // All that can have been sent, or what never was.
        datagram.ack = Ack{static_cast<Sequence>(plausible ? newest : newest + 20'000), 0xffffffffu};
        if (!plausible) datagram.control_count = 60'000;
      });
    });
    if (plausible) continue;
    EXPECT_GT(world.server().stats().malformed, 500u) << "each is refused, and counted";
  }
}

}  // namespace
}  // namespace reckoner::test
