// SPDX-License-Identifier: MIT
// Over a transport that keeps the order of payloads, as a stream does, what takes long is not lost.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <glm/geometric.hpp>
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

// A stream that is slow at times, and drops payloads instead of waiting (as a pipe server does).
class DroppingTransport final : public ForwardingTransport {
 public:
  DroppingTransport(Transport& inner, const bool& drops) : ForwardingTransport(inner), drops_(drops) {}
  [[nodiscard]] bool is_ordered(PeerId) const override { return true; }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    return drops_ || ForwardingTransport::send(peer, payload);
  }

 private:
  const bool& drops_;
};

// The last motion before a rest and a message are dropped. Only heartbeats follow. The server notices at the
// first of them.
TEST(OrderedLink, DroppedPayloadsAreNoticedByTheNextOne) {
  constexpr double kRestFromS = 4.0;
  bool drops = false;
  WorldConfig config;
  config.links = both_ways({.latency_ms = 20.0});
  config.door = [&](Transport& network) { return std::make_unique<DroppingTransport>(network, drops); };
  World world(config);
  const Straight moves{};
  const EntityId body = world.add_body([&](double time_s) {
    return time_s < kRestFromS ? moves(time_s) : Still{moves(kRestFromS).position}(time_s);
  });
  const std::size_t client = world.add_client();
  world.run_to(kRestFromS - 0.1);
  drops = true;
  ASSERT_TRUE(world.server().send(world.server().clients().front(), Bytes(20), Delivery::reliable));
  world.run_to(kRestFromS + 0.1);
  drops = false;
  // A heartbeat, its acknowledgement, and what was dropped.
  world.run_to(kRestFromS + 0.6);
  EXPECT_TRUE(world.client(client).poll_message());
  world.run_to(kRestFromS + 1.5);
  ASSERT_NE(world.shown(client, body), nullptr);
  EXPECT_LT(glm::distance(world.shown(client, body)->shown.position, moves(kRestFromS).position), 0.05);
}

// The door drops the request to join, as it drops payloads of clients beyond their limits.
TEST(OrderedLink, RequestThatWasDroppedIsRepeated) {
  class Door final : public ForwardingTransport {
   public:
    using ForwardingTransport::ForwardingTransport;
    [[nodiscard]] bool is_ordered(PeerId) const override { return true; }
    [[nodiscard]] std::optional<TransportEvent> poll() override {
      auto event = ForwardingTransport::poll();
      const bool received = event && event->kind == TransportEvent::Kind::received;
      return received && !std::exchange(has_dropped_, true) ? ForwardingTransport::poll() : event;
    }

   private:
    bool has_dropped_ = false;
  };
  WorldConfig config;
  config.links = both_ways({.latency_ms = 20.0});
  config.door = [&](Transport& network) { return std::make_unique<Door>(network); };
  World world(config);
  const std::size_t client = world.add_client();
  world.run_to(2.0);
  EXPECT_EQ(world.client(client).status(), ClientStatus::joined);
}

}  // namespace
}  // namespace reckoner::test
