// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/datagram_batch.hpp"

#include "udp_socket.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using test::Bytes;
using test::UdpSocket;

constexpr int kPatienceMs = 10'000;

TEST(DatagramBatches, EachReachesItsAddressInOrder) {
  UdpSocket from, to[3];
  const Bytes head{std::byte{1}, std::byte{2}};
  DatagramBatch batch;
  EXPECT_TRUE(batch.empty());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < DatagramBatch::kMost; ++i) {
    ASSERT_FALSE(batch.full());
    const Bytes payload(i, static_cast<std::byte>(i));
    batch.add(to[i % 3].address(), head, payload);
    bytes += wire_size(to[0].address().host, head.size() + payload.size());
  }
  EXPECT_TRUE(batch.full());
  const auto outcome = batch.flush(from.socket());
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(outcome.sent, DatagramBatch::kMost);
  EXPECT_EQ(outcome.wire_bytes, bytes);
  EXPECT_EQ(outcome.errors, 0u);
  for (std::size_t i = 0; i < DatagramBatch::kMost; ++i) {
    Bytes expected(head.size() + i, static_cast<std::byte>(i));
    expected[0] = head[0];
    expected[1] = head[1];
    EXPECT_EQ(to[i % 3].await(kPatienceMs), expected) << i;
  }
}

TEST(DatagramBatches, FailedDatagramDoesNotBlockTheOthers) {
  UdpSocket from, to;
  DatagramBatch batch;
  const Bytes payload(5, std::byte{9});
  batch.add({to.address().host, 0}, {}, payload);  // no peer is reachable at port 0
  batch.add(to.address(), {}, payload);
  // Broadcast is not allowed without permission. No IPv6 address is refused on every system.
  const bool has_broadcast = test::loopback_ip().is_ipv4();
  if (has_broadcast) batch.add({IpAddress(0xFFFFFFFF), 1}, {}, payload);
  batch.add(to.address(), {}, payload);
  const auto outcome = batch.flush(from.socket());
  EXPECT_EQ(outcome.sent, 2u);
  EXPECT_EQ(outcome.errors, has_broadcast ? 2u : 1u);
  EXPECT_EQ(to.await(kPatienceMs), payload);
  EXPECT_EQ(to.await(kPatienceMs), payload);
}

}  // namespace
}  // namespace reckoner
