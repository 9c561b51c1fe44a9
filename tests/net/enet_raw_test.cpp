// SPDX-License-Identifier: MIT
// The transport "enet" with an end that is ENet and nothing else: an older program, a hostile one, or a
// witness.
#include "enet_datagram.hpp"
#include "enet_world.hpp"
#include "net/src/transport/enet/enet_filter.hpp"
#include "raw_enet.hpp"

#include <chrono>
#include <thread>

namespace reckoner {
namespace {

using test::EnetEnd;
using test::kEnetHost;
using test::kTimeoutS;
using test::now_s;
using test::pattern;
using test::RawEnet;

class EnetRaw : public test::EnetWorld {
 protected:
  void SetUp() override { listen(config()); }
  bool until_with(RawEnet& raw, const std::function<bool()>& done, double patience_s = kTimeoutS) {
    const auto turn = [&] {
      server.turn();
      raw.turn();
    };
    return test::turn_until(turn, done, patience_s);
  }
  void join(RawEnet& raw, std::uint32_t data = 13) {
    ASSERT_NO_FATAL_FAILURE(raw.connect(port(), data));
    ASSERT_TRUE(until_with(raw, [&] { return raw.connected && !server.connected.empty(); }));
  }
};

// An older client shows its player the reason with which the server refuses it.
TEST_F(EnetRaw, AnOlderClientGetsItsReason) {
  RawEnet old;
  join(old, 12);
  EXPECT_EQ(server.versions[0], 12u);
  server.transport->disconnect(server.connected[0], 0x01020304);
  ASSERT_TRUE(until_with(old, [&] { return old.disconnected && !server.disconnected.empty(); }));
  EXPECT_EQ(old.reason, 0x01020304u);
  EXPECT_EQ(server.reasons[0], 0u);
}

// Clients of version 11 and older send a reliable message at once, in one datagram with the acknowledgement
// that establishes the connection.
TEST_F(EnetRaw, AStillOlderClientToo) {
  RawEnet old;
  ASSERT_NO_FATAL_FAILURE(old.connect(port(), 11));
  const auto step = [&] {
    server.turn();
    (void)old.step();
  };
  ASSERT_TRUE(test::turn_until(
      step, [&] { return old.connected; }, kTimeoutS));
  ASSERT_NO_FATAL_FAILURE(old.send(0, ENET_PACKET_FLAG_RELIABLE, 100));
  const enet_uint32 before = old.host->totalSentPackets;
  (void)old.step();
  ASSERT_EQ(old.host->totalSentPackets - before, 1u);
  ASSERT_TRUE(until({}, [&] { return server.stats().datagrams_received == 2; }));
  ASSERT_EQ(server.connected.size(), 1u);
  EXPECT_EQ(server.refused(Refusal::malformed), 1u) << "the message";
  EXPECT_EQ(server.versions[0], 11u);
  server.transport->disconnect(server.connected[0], 99);
  ASSERT_TRUE(until_with(old, [&] { return old.disconnected; }));
  EXPECT_EQ(old.reason, 99u);
  EXPECT_TRUE(server.received.empty());
}

// ENet turns a datagram that is too large for the peer's MTU into reliable fragments.
TEST_F(EnetRaw, LargestDatagramFollowsThePeersMtu) {
  RawEnet narrow(0, ENET_PROTOCOL_MINIMUM_MTU);
  join(narrow);
  const PeerId peer = server.connected[0];
  constexpr std::size_t kMost = ENET_PROTOCOL_MINIMUM_MTU - 4 - 24;
  ASSERT_EQ(server.transport->max_datagram_bytes(peer), kMost);
  EXPECT_FALSE(server.transport->send(peer, pattern(kMost + 1)));
  EXPECT_EQ(server.refused(Refusal::too_large), 1u);
  EXPECT_TRUE(server.transport->send(peer, pattern(kMost)));
  ASSERT_TRUE(until_with(narrow, [&] { return !narrow.sizes.empty(); }));
  EXPECT_EQ(narrow.sizes[0], kMost);
}

TEST_F(EnetRaw, APeerWithALargeMtuGetsNoLargerDatagrams) {
  RawEnet wide(0, ENET_PROTOCOL_MAXIMUM_MTU);
  join(wide);
  const PeerId peer = server.connected[0];
  EXPECT_EQ(server.transport->max_datagram_bytes(peer), kMaxDatagramBytes);
  (void)until_with(
      wide, [] { return false; }, 0.2);
  const enet_uint32 before = wide.host->totalReceivedPackets;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(server.transport->send(peer, pattern(1000)));
  ASSERT_TRUE(until_with(wide, [&] { return wide.sizes.size() == 3; }));
  EXPECT_GE(wide.host->totalReceivedPackets - before, 3u) << "not in one datagram";
}

// ENet at the other end has counted what our statistics say.
TEST_F(EnetRaw, EnetItselfCountsTheDatagrams) {
  RawEnet witness;
  EnetEnd client;
  dial(client, witness.host->address.port);
  const auto turn = [&] {
    witness.turn();
    client.turn();
  };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return witness.connected && !client.connected.empty(); }, kTimeoutS));
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.transport->send(client.connected[0], pattern(200, i)));
    ASSERT_NO_FATAL_FAILURE(witness.send(1, ENET_PACKET_FLAG_UNSEQUENCED, 300));
    turn();
  }
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return witness.sizes.size() == 100 && client.received.size() == 100; }, kTimeoutS));
  (void)test::turn_until(
      turn, [] { return false; }, 0.1);
  constexpr std::uint64_t kHeaders = 28;
  const TransportStats& stats = client.stats();
  EXPECT_EQ(stats.datagrams_sent, witness.host->totalReceivedPackets);
  EXPECT_EQ(stats.wire_bytes_sent, witness.host->totalReceivedData + kHeaders * stats.datagrams_sent);
  EXPECT_EQ(stats.datagrams_received, witness.host->totalSentPackets);
  EXPECT_EQ(stats.wire_bytes_received, witness.host->totalSentData + kHeaders * stats.datagrams_received);
  EXPECT_GE(stats.datagrams_sent, 100u);
  EXPECT_EQ(client.received[0].payload.size(), 300u);
}

// The peer slows ENet down as far as it can, and answers late, which makes ENet's throttle work. All
// datagrams still arrive.
TEST_F(EnetRaw, AHostilePeerCannotMakeEnetDropWhatWeSend) {
  RawEnet hostile;
  join(hostile);
  enet_peer_throttle_configure(hostile.peer, 1, 0, ENET_PEER_PACKET_THROTTLE_SCALE);
  hostile.send_raw(hostile.datagram().command(0x8A, 0xFF).put32(1).put32(1));  // bandwidth_limit: 1 byte/s
  constexpr std::size_t kCount = 300;
  double answer_s = 0.0;
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(server.transport->send(server.connected[0], pattern(100, i)));
    server.turn();
    if (now_s() >= answer_s) {
      hostile.turn();
      answer_s = now_s() + 0.001 * static_cast<double>(i % 7 * 30);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(until_with(
      hostile, [&] { return hostile.sizes.size() == kCount; }, 5.0))
      << hostile.sizes.size();
  EXPECT_GT(server.refused(Refusal::malformed), 1u);
}

TEST_F(EnetRaw, APeerWithABandwidthGetsNoAnswer) {
  RawEnet slow(1000);
  ASSERT_NO_FATAL_FAILURE(slow.connect(port(), 13));
  ASSERT_TRUE(until_with(slow, [&] { return server.refused(Refusal::malformed) > 0; }));
  (void)until_with(
      slow, [] { return false; }, 0.1);
  EXPECT_FALSE(slow.connected);
  EXPECT_EQ(server.stats().datagrams_sent, 0u);
}

TEST_F(EnetRaw, OneChannelGetsNoAnswer) {
  RawEnet odd;
  ASSERT_NO_FATAL_FAILURE(odd.connect(port(), 13, 1));
  ASSERT_TRUE(until_with(odd, [&] { return server.refused(Refusal::malformed) > 0; }));
  EXPECT_EQ(server.stats().datagrams_sent, 0u);
}

// Nothing but unsequenced packets gets in, and the connection stays.
TEST_F(EnetRaw, ReliableSequencedAndFragmentedPacketsAreRefused) {
  RawEnet hostile;
  join(hostile);
  (void)until_with(
      hostile, [] { return false; }, 0.2);
  ASSERT_EQ(server.stats().refused, 0u);
  constexpr std::uint32_t kSequenced = 0;
  ASSERT_NO_FATAL_FAILURE(hostile.send(1, kSequenced, 10));
  ASSERT_NO_FATAL_FAILURE(hostile.send(0, ENET_PACKET_FLAG_UNSEQUENCED, 10));
  ASSERT_NO_FATAL_FAILURE(hostile.send(1, ENET_PACKET_FLAG_RELIABLE, 10));
  ASSERT_NO_FATAL_FAILURE(hostile.send(0, ENET_PACKET_FLAG_RELIABLE, 100'000));
  ASSERT_NO_FATAL_FAILURE(hostile.send(1, ENET_PACKET_FLAG_UNRELIABLE_FRAGMENT, 100'000));
  ASSERT_TRUE(until_with(hostile, [&] { return server.refused(Refusal::malformed) > 100; }));
  ASSERT_NO_FATAL_FAILURE(hostile.send(1, ENET_PACKET_FLAG_UNSEQUENCED, 77));
  ASSERT_TRUE(until_with(hostile, [&] { return !server.received.empty(); }));
  (void)until_with(
      hostile, [] { return false; }, 0.2);
  ASSERT_EQ(server.received.size(), 1u);
  EXPECT_EQ(server.received[0].payload.size(), 77u);
  EXPECT_TRUE(server.disconnected.empty());
}

TEST_F(EnetRaw, CompressedDatagramsAreRefused) {
  RawEnet hostile;
  join(hostile);
  (void)until_with(
      hostile, [] { return false; }, 0.2);
  ASSERT_EQ(enet_host_compress_with_range_coder(hostile.host.get()), 0);
  ASSERT_NO_FATAL_FAILURE(hostile.send(1, ENET_PACKET_FLAG_UNSEQUENCED, 1000));
  ASSERT_TRUE(until_with(hostile, [&] { return server.refused(Refusal::malformed) > 0; }));
  EXPECT_TRUE(server.received.empty());
}

}  // namespace
}  // namespace reckoner
