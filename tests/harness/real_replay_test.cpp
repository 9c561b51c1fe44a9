// SPDX-License-Identifier: MIT
// Compares replays over real sockets in real time with replays in virtual time. The limits are generous,
// because a busy machine is late.
#include "harness/conditioner/datagram_payload.hpp"
#include "harness/replay/replay.hpp"
#include "scenario/builtin/builtin.hpp"

#include <array>
#include <cstddef>
#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

std::unique_ptr<scenario::Source> crowd() {
  auto source = scenario::make_builtin("crowd", 6);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

ReplayOptions over_intercity(const char* method, ReplayTransport transport) {
  ReplayOptions options;
  options.method = method;
  options.transport = transport;
  options.links = {*find_network("intercity"), *find_network("intercity")};
  options.budget.updates_per_second = 10.0;
  options.seconds = 8.0;
  options.log_packets = true;
  return options;
}

Result<ReplayResult> run(const char* method, ReplayTransport transport) {
  return replay(*crowd(), over_intercity(method, transport));
}

// The real value may differ by `share` of the simulated value plus `more`.
void expect_near(double real, double simulated, double share, double more, const char* what) {
  EXPECT_NEAR(real, simulated, share * simulated + more) << what;
}

void expect_alike(const ReplayResult& real, const ReplayResult& simulated) {
  const Figures& a = real.run;
  const Figures& b = simulated.run;
  expect_near(a.entity_seconds, b.entity_seconds, 0.05, 0.0, "entity-seconds");
  expect_near(a.now_error_m.p95, b.now_error_m.p95, 0.5, 0.01, "same-time error");
  expect_near(a.shown_error_m.p95, b.shown_error_m.p95, 0.5, 0.01, "shown error");
  expect_near(a.delay_ms.mean, b.delay_ms.mean, 0.3, 10.0, "delay");
  expect_near(static_cast<double>(a.down->updates), static_cast<double>(b.down->updates), 0.2, 0.0,
              "updates");
  expect_near(static_cast<double>(a.down->wire_bytes), static_cast<double>(b.down->wire_bytes), 0.2, 0.0,
              "bytes");
  EXPECT_LE(a.missing_s, 0.02 * a.entity_seconds);
  EXPECT_LE(a.ghost_s, 0.02 * a.entity_seconds);
}

class RealReplay : public testing::TestWithParam<ReplayTransport> {};

TEST_P(RealReplay, AgreesWithTheSimulation) {
  const ReplayTransport over = GetParam();
  auto baseline = std::async(std::launch::async, [over] { return run("lerp-buffer", over); });
  const auto reckoner = run("reckoner", over);
  const auto simulated = run("reckoner", ReplayTransport::sim);
  ASSERT_TRUE(reckoner) << reckoner.error();
  ASSERT_TRUE(simulated) << simulated.error();
  EXPECT_FALSE(simulated->real_time);
  ASSERT_TRUE(reckoner->real_time);
  EXPECT_LT(reckoner->real_time->dropped_pictures, 48u);  // a tenth of all frames
  expect_alike(*reckoner, *simulated);
  ASSERT_TRUE(reckoner->run.clock_error_ms);
  EXPECT_LT(reckoner->run.clock_error_ms->p95, 20.0);

  const auto buffered = baseline.get();
  const auto simulated_buffered = run("lerp-buffer", ReplayTransport::sim);
  ASSERT_TRUE(buffered) << buffered.error();
  ASSERT_TRUE(simulated_buffered) << simulated_buffered.error();
  expect_alike(*buffered, *simulated_buffered);

  // The conditioner's log: the link's delays and losses, and all motions assigned to datagrams.
  std::size_t down = 0, lost = 0, motions = 0;
  double soonest_s = 1e9;
  for (const PacketRecord& packet : reckoner->packets) {
    if (packet.arrived_s) soonest_s = std::min(soonest_s, *packet.arrived_s - packet.sent_s);
    if (!packet.down) continue;
    ++down;
    lost += packet.arrived_s ? 0 : 1;
    if (!packet.duplicate) motions += packet.entities;
  }
  EXPECT_GE(soonest_s, 0.0799);
  EXPECT_GT(down, 200u);
  EXPECT_LT(lost, down / 10);
  expect_near(static_cast<double>(motions), static_cast<double>(reckoner->run.down->updates), 0.1, 10.0,
              "motions in the log");
}

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers)
    bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(Over, RealReplay, testing::Values(ReplayTransport::udp, ReplayTransport::enet),
                         [](const auto& which) {
                           return which.param == ReplayTransport::udp ? "Udp" : "Enet";
                         });

TEST(DatagramPayload, IsThatOfTheTransport) {
  // ENet: an acknowledgement, and an unsequenced command with three bytes.
  const auto state = bytes_of({0x00, 0x01, 1, 0, 0, 1, 0, 1, 0, 2, 0x49, 1, 0, 7, 0, 1, 0, 3, 9, 9, 9});
  EXPECT_EQ(datagram_payload_bytes(state), 3u);
  const auto ping = bytes_of({0x80, 0x01, 0, 5, 0x85, 0xFF, 0, 7});
  EXPECT_EQ(datagram_payload_bytes(ping), 0u);
  // udp: the kind, the session, and the payload.
  EXPECT_EQ(datagram_payload_bytes(bytes_of({0xA6, 1, 2, 3, 4, 9, 9})), 2u);
  EXPECT_EQ(datagram_payload_bytes(bytes_of({0xAB, 1, 2, 3, 4})), 0u);
  EXPECT_EQ(datagram_payload_bytes({}), 0u);
}

TEST(DatagramPayload, OfATruncatedCommandIsNothing) {
  const auto whole = bytes_of({0x00, 0x01, 0x49, 1, 0, 7, 0, 1, 0, 3, 9, 9, 9, 0x49, 1, 0, 8, 0, 1, 0, 1, 9});
  EXPECT_EQ(datagram_payload_bytes(whole), 4u);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(datagram_payload_bytes(std::span(whole).first(size)), size < 13 ? 0u : 3u) << size;
}

}  // namespace
}  // namespace reckoner::harness
