// SPDX-License-Identifier: MIT
// What a game sends after update() need not wait for the next picture.
#include "client/src/testing/test_switches.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/test_switches.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

constexpr double kFlushLatencyS = 0.02;

/// Sends only in service(), as NetworkTransport does.
class QueueingTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  void service(double now_s) override {
    for (const auto& [peer, payload] : queue_)
      ForwardingTransport::send(peer, payload);
    queue_.clear();
    ForwardingTransport::service(now_s);
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    queue_.push_back({peer, {payload.begin(), payload.end()}});
    return true;
  }

 private:
  struct Queued {
    PeerId peer;
    std::vector<std::byte> payload;
  };
  std::vector<Queued> queue_;
};

struct FlushPlan {
  double frame_rate_hz = 20.0;
  bool flushes = true;
  Delivery delivery = Delivery::reliable;
  int messages_per_frame = 1;
  double seconds = 8.0;
};

struct FlushOutcome {
  std::vector<double> took_s;  ///< from send() to the server's game, of each message
  std::size_t sent = 0;
  std::size_t unknown = 0;    ///< messages at whose arrival the server did not know what the client had shown
  double worst_seen_m = 0.0;  ///< distance between the pose that the server reconstructs and the drawn one
  std::uint64_t datagrams = 0;  ///< from the client
  std::uint64_t malformed = 0;
};

/// A client sends numbered messages after it has drawn, and flushes or not. The server reads arrivals at
/// once.
FlushOutcome run_plan(const FlushPlan& game) {
  harness::SimNetworkConfig config;
  config.links.up.latency_ms = config.links.down.latency_ms = 1000.0 * kFlushLatencyS;
  harness::SimNetwork network(config);
  ServerConfig server_config;
  server_config.rewind_s = 1.0;
  server_config.client_messages_per_second = 0.0;
  Server server = make_test_server(server_config, network.server(), {});
  const Circle path{};
  const EntityId body = *server.spawn(0, "body", path(0.0));
  QueueingTransport transport(network.add_client(kProtocolVersion));
  Client client = make_test_client({}, transport, {});
  struct Sent {
    double at_s = 0.0;
    double shown_time_s = 0.0;
    glm::dvec3 drawn{0.0};
  };
  std::map<int, Sent> sent;
  FlushOutcome played;
  int next = 0;
  double tick_s = 0.0, frame_s = 0.0;
  const auto read = [&](double now_s) {
    server.receive(now_s);
    while (server.poll_event()) {
    }
    while (const auto message = server.poll_message()) {
      const Sent& was = sent.at(std::to_integer<int>(message->payload[0]) +
                                256 * std::to_integer<int>(message->payload[1]));
      played.took_s.push_back(now_s - was.at_s);
      const auto seen = server.pose_seen_by(message->sender, body, was.shown_time_s);
      played.unknown += seen ? 0 : 1;
      if (seen) played.worst_seen_m = std::max(played.worst_seen_m, glm::distance(seen->position, was.drawn));
    }
  };
  constexpr double kFlushStepS = 0.001;
  for (int step = 0; step * kFlushStepS < game.seconds; ++step) {
    const double now_s = step * kFlushStepS;
    network.advance(now_s);
    if (network.server_has_events()) read(now_s);
    if (now_s >= tick_s - 1e-9) {
      EXPECT_TRUE(server.move(body, path(tick_s)));
      server.tick(now_s);
      tick_s = server.tick_time_s(server.next_tick());
    }
    if (now_s < frame_s - 1e-9) continue;
    frame_s += 1.0 / game.frame_rate_hz;
    const double local_s = 1000.0 + now_s;
    client.update(local_s);
    while (client.poll_event()) {
    }
    const auto shown = client.shown();
    if (now_s < 2.0 || now_s > game.seconds - 1.0 || shown.empty()) continue;
    for (int i = 0; i < game.messages_per_frame; ++i, ++next) {
      sent[next] = {now_s, shown[0].shown_time_s, shown[0].shown.position};
      const std::byte payload[] = {static_cast<std::byte>(next % 256), static_cast<std::byte>(next / 256)};
      EXPECT_TRUE(client.send(payload, game.delivery, shown[0].shown_time_s));
    }
    const std::uint64_t before = transport.stats().datagrams_sent;
    if (game.flushes) client.flush();
    played.datagrams += transport.stats().datagrams_sent - before;
  }
  played.sent = sent.size();
  played.malformed = server.stats().malformed + client.stats().malformed;
  return played;
}

double longest_delay_s(const FlushOutcome& played) {
  return played.took_s.empty() ? 1e9 : *std::ranges::max_element(played.took_s);
}

TEST(Flush, MessagesLeaveAtOnce) {
  for (const Delivery delivery : {Delivery::reliable, Delivery::unreliable}) {
    for (const double frame_rate_hz : {5.0, 20.0, 60.0}) {
      const FlushOutcome at_once = run_plan({.frame_rate_hz = frame_rate_hz, .delivery = delivery});
      EXPECT_EQ(at_once.took_s.size(), at_once.sent) << frame_rate_hz;
      EXPECT_GT(at_once.sent, 10u);
      EXPECT_LT(longest_delay_s(at_once), kFlushLatencyS + 0.002) << frame_rate_hz;
      EXPECT_EQ(at_once.malformed, 0u);
      const FlushOutcome waits =
          run_plan({.frame_rate_hz = frame_rate_hz, .flushes = false, .delivery = delivery});
      EXPECT_GT(longest_delay_s(waits), kFlushLatencyS + 0.9 / frame_rate_hz) << "flush() proves nothing";
    }
  }
}

// Messages of one frame share a datagram.
TEST(Flush, SendsAllWaitingMessagesTogether) {
  const FlushOutcome played =
      run_plan({.frame_rate_hz = 30.0, .delivery = Delivery::unreliable, .messages_per_frame = 10});
  EXPECT_EQ(played.took_s.size(), played.sent);
  EXPECT_LE(static_cast<double>(played.datagrams), 1.05 * static_cast<double>(played.sent) / 10.0);
}

// A shot that leaves at once carries what the client shows, so that the server can judge it when it arrives.
TEST(Flush, ServerKnowsWhatTheClientShowedWhenAShotArrives) {
  for (const Delivery delivery : {Delivery::reliable, Delivery::unreliable}) {
    const FlushOutcome played = run_plan({.frame_rate_hz = 60.0, .delivery = delivery});
    EXPECT_EQ(played.took_s.size(), played.sent);
    EXPECT_LT(played.worst_seen_m, 0.002);
    if (delivery == Delivery::unreliable) {
      EXPECT_EQ(played.unknown, 0u) << "the report is in the same datagram";
    }
  }
}

// Below ten frames a second, unreliable messages were dropped before they were ever offered to a datagram.
TEST(Flush, SlowFramesLoseNoUnreliableMessage) {
  for (const double frame_rate_hz : {2.0, 5.0, 9.0}) {
    const FlushOutcome played =
        run_plan({.frame_rate_hz = frame_rate_hz, .flushes = false, .delivery = Delivery::unreliable});
    EXPECT_GE(played.sent, 6u);
    EXPECT_EQ(played.took_s.size(), played.sent) << frame_rate_hz;
  }
}

TEST(Flush, DoesNothingWithoutAConnection) {
  harness::SimNetwork network({});
  network.set_server_up(false);
  QueueingTransport transport(network.add_client(kProtocolVersion));
  Client client = make_test_client({}, transport, {});
  client.flush();
  client.update(2.0);
  client.flush();
  client.leave();
  client.flush();
  EXPECT_NE(client.status(), ClientStatus::joined);
}

}  // namespace
}  // namespace reckoner::test
