// SPDX-License-Identifier: MIT
// A packet that blocks the reliable channel is repeated soon, however often it was lost.
#include "real_time.hpp"
#include "relay.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::kTimeoutS;
using test::now_s;
using test::Relay;

class EnetResendWait : public testing::Test {
 protected:
  End server, client;
  std::unique_ptr<Relay> relay;

  void SetUp() override {
    auto listening =
        EnetTransport::listen({.host = test::loopback(), .max_peers = 2, .security = Insecure{}});
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
    relay = std::make_unique<Relay>(server.transport->port());
    auto connecting = EnetTransport::connect(test::loopback(), relay->port(), 5, Insecure{});
    ASSERT_TRUE(connecting) << connecting.error();
    client.transport = std::move(*connecting);
  }
  bool until(const std::function<bool()>& done) {
    for (const double end_s = now_s() + kTimeoutS; now_s() < end_s; usleep(1000)) {
      server.turn();
      relay->turn();
      client.turn();
      if (done()) return true;
      if (!client.disconnected.empty()) return false;
    }
    return false;
  }
  bool joined() const { return !client.connected.empty() && !server.connected.empty(); }
};

TEST_F(EnetResendWait, ConnectsDespiteSixLostRequests) {
  std::size_t lost = 0;
  relay->drop_up = [&](const Bytes&) { return ++lost <= 6; };
  // If the timeouts doubled, this would take 31 s. A client gives up after 5 s.
  EXPECT_TRUE(until([&] { return joined(); }));
}

TEST_F(EnetResendWait, ConnectsDespiteThreeLostAnswers) {
  std::size_t lost = 0;
  relay->drop_down = [&](const Bytes&) { return ++lost <= 3; };
  EXPECT_TRUE(until([&] { return joined(); }));
}

TEST_F(EnetResendWait, OldestMessageIsRepeatedOften) {
  ASSERT_TRUE(until([&] { return joined(); }));
  constexpr std::size_t kLarge = 500;
  std::vector<double> tried_s;
  relay->drop_down = [&](const Bytes& bytes) {
    if (bytes.size() < kLarge) return false;
    tried_s.push_back(now_s());
    return true;
  };
  ASSERT_TRUE(server.transport->send(server.connected[0], Channel::control, Bytes(kLarge)));
  const double start_s = now_s();
  ASSERT_TRUE(until([&] { return now_s() - start_s > 4.0; }));
  // On an idle machine, 4 s contain at least a dozen tries. If the timeouts doubled, no try would happen in
  // half of this time.
  double longest_s = start_s + 4.0 - tried_s.back();
  for (std::size_t i = 1; i < tried_s.size(); ++i)
    longest_s = std::max(longest_s, tried_s[i] - tried_s[i - 1]);
  EXPECT_LT(longest_s, 1.0);
  relay->drop_down = nullptr;
  EXPECT_TRUE(until([&] { return !client.control.empty(); }));
}

}  // namespace
}  // namespace reckoner
