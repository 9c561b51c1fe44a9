// SPDX-License-Identifier: MIT
// Over a transport that keeps the order of payloads, as a stream does, what takes long is not lost.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {
namespace {

class OrderedTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  [[nodiscard]] bool is_ordered(PeerId) const override { return true; }
};

struct Sent {
  std::uint64_t lost = 0;
  int delivered = 0;
};

// The delay of the link rises to a second. The server sends a message of 200 bytes every quarter second.
Sent play(bool ordered) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 20.0});
  config.script = "5 latency-ms=1000\n";
  if (ordered) config.door = [](Transport& network) { return std::make_unique<OrderedTransport>(network); };
  World world(config);
  const std::size_t client = world.add_client();
  world.add_body(Circle{});
  int sent = 0;
  Sent result;
  world.after_tick = [&](double time_s) {
    if (time_s < 4.0 + 0.25 * sent || sent == 16) return;
    EXPECT_TRUE(world.server().send(world.server().clients().front(), Bytes(200), Delivery::reliable));
    ++sent;
  };
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    while (world.client(client).poll_message())
      ++result.delivered;
  };
  world.run_to(20.0);
  result.lost = world.server().stats().datagrams_lost;
  EXPECT_EQ(sent, 16);
  return result;
}

TEST(OrderedLink, NothingIsSentAgainBecauseItTakesLong) {
  const Sent stream = play(true), datagrams = play(false);
  EXPECT_EQ(stream.delivered, 16);
  EXPECT_EQ(datagrams.delivered, 16);
  EXPECT_EQ(stream.lost, 0u);
  EXPECT_GT(datagrams.lost, 10u) << "by the time-out, although nothing was lost";
}

}  // namespace
}  // namespace reckoner::test
