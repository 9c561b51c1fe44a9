// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/socket/datagram_batch.hpp"

#include "udp_socket.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace reckoner {
namespace {

using test::Bytes;
using test::UdpSocket;

constexpr int kPatienceMs = 10'000;

DatagramBatch::Address address_of(const UdpSocket& socket) {
  return {htonl(INADDR_LOOPBACK), socket.port()};
}

class DatagramBatches : public testing::Test {
 protected:
  void SetUp() override {
    if (!DatagramBatch::kAvailable) GTEST_SKIP() << "this system sends one at a time";
  }
};

TEST_F(DatagramBatches, EachReachesItsAddressInOrder) {
  const UdpSocket from, to[3];
  const Bytes head{std::byte{1}, std::byte{2}};
  DatagramBatch batch;
  EXPECT_TRUE(batch.empty());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < DatagramBatch::kMost; ++i) {
    ASSERT_FALSE(batch.full());
    const Bytes payload(i, static_cast<std::byte>(i));
    batch.add(address_of(to[i % 3]), head, payload);
    bytes += head.size() + payload.size();
  }
  EXPECT_TRUE(batch.full());
  const auto outcome = batch.flush(from.file());
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(outcome.sent, DatagramBatch::kMost);
  EXPECT_EQ(outcome.bytes, bytes);
  EXPECT_EQ(outcome.errors, 0u);
  for (std::size_t i = 0; i < DatagramBatch::kMost; ++i) {
    Bytes expected(head.size() + i, static_cast<std::byte>(i));
    expected[0] = head[0];
    expected[1] = head[1];
    EXPECT_EQ(to[i % 3].await(kPatienceMs), expected) << i;
  }
}

TEST_F(DatagramBatches, FailedDatagramDoesNotBlockTheOthers) {
  const UdpSocket from, to;
  DatagramBatch batch;
  const Bytes payload(5, std::byte{9});
  batch.add({address_of(to).host, 0}, {}, payload);  // no peer is reachable at port 0
  batch.add(address_of(to), {}, payload);
  batch.add({htonl(INADDR_BROADCAST), 1}, {}, payload);  // not allowed without permission
  batch.add(address_of(to), {}, payload);
  const auto outcome = batch.flush(from.file());
  EXPECT_EQ(outcome.sent, 2u);
  EXPECT_EQ(outcome.errors, 2u);
  EXPECT_EQ(to.await(kPatienceMs), payload);
  EXPECT_EQ(to.await(kPatienceMs), payload);
}

}  // namespace
}  // namespace reckoner
