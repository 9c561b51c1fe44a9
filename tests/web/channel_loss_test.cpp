// SPDX-License-Identifier: MIT
// Data channels over a network that loses datagrams, in real time: OpenSSL and usrsctp repeat by the
// machine's clock.
#include "tests/web/channel_world.hpp"

#include <random>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

struct RealWorld : ChannelWorld {
  RealWorld() {
    is_real = true;
    step();
  }
};

TEST(ChannelLoss, HandshakeSurvivesLosses) {
  std::mt19937 random(6);
  std::size_t lost = 0;
  RealWorld world;  // last: it sends when it ends
  world.loses = [&](const ChannelWorld::Datagram&) {
    const bool is_lost = random() % 8 == 0;
    lost += is_lost ? 1 : 0;
    return is_lost;
  };
  const auto& browser = world.add(1);
  EXPECT_TRUE(world.run_until([&] { return browser.client->is_open(); }, 9.5));
  EXPECT_GE(lost, 1u);
}

TEST(ChannelLoss, StateArrivesUnderLoss) {
  std::mt19937 random(11);
  RealWorld world;
  const auto& browser = world.join(1);
  world.loses = [&](const ChannelWorld::Datagram&) { return random() % 20 == 0; };
  constexpr int kMessages = 180;
  std::size_t arrived = 0;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(world.hub->send(1, Bytes(300, std::byte{1})));
    world.run(1.0 / 60.0);
    arrived += browser.client->take_messages().size();
  }
  EXPECT_GT(arrived, kMessages * 3 / 4);
  EXPECT_TRUE(world.hub->is_open(1));
}

// The gate: what is old when the network works again is not sent.
TEST(ChannelLoss, AfterAnOutageTheNewestMessageArrivesAndNoQueue) {
  RealWorld world;
  const auto& browser = world.join(1);
  world.loses = [](const ChannelWorld::Datagram&) { return true; };
  unsigned number = 0;
  const auto send = [&] {
    Bytes message(600);
    message[0] = static_cast<std::byte>(++number);
    ASSERT_TRUE(world.hub->send(1, message));
  };
  while (number < 90) {
    send();
    world.run(1.0 / 60.0);
  }
  EXPECT_GT(world.hub->replaced(), 60u);
  world.loses = nullptr;
  const double works_s = world.now_s;
  std::size_t old = 0;
  ASSERT_TRUE(world.run_until(
      [&] {
        for (const auto& message : browser.client->take_messages()) {
          if (message.payload[0] == std::byte{90}) return true;
          ++old;
        }
        return false;
      },
      4.0));
  EXPECT_LT(world.now_s - works_s, 2.5) << "SCTP tries again at least once in a second";
  EXPECT_LE(old, 10u) << "what was on its way";
  EXPECT_TRUE(world.hub->is_open(1));
}

}  // namespace
}  // namespace reckoner::test
