// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/socket/socket_filter.hpp"

#include "udp_socket.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using test::Bytes;
using test::UdpSocket;

constexpr std::uint32_t kLoopback = 0x7F000001;
constexpr int kPatienceMs = 5000;

TEST(SocketFilter, DropsAndCountsEmptyAndTooLongDatagrams) {
  const UdpSocket from, to;
  if (!filter_socket(to.file(), 100)) GTEST_SKIP() << "this system filters no sockets";
  for (const std::size_t size : {0u, 1u, 101u, 100u, 0u, 2000u, 2u})
    EXPECT_TRUE(from.send({kLoopback, to.port()}, Bytes(size)));
  for (const std::size_t size : {1u, 100u, 2u}) {
    const auto got = to.await(kPatienceMs);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size(), size);
  }
  EXPECT_FALSE(to.receive());
  EXPECT_EQ(dropped_for_socket(to.file()).value_or(4), 4u);
}

TEST(SocketFilter, SkipsEmptyDatagramsBeforeTheNext) {
  const UdpSocket from, to;
  const auto send = [&](std::size_t size) { return from.send({kLoopback, to.port()}, Bytes(size)); };
  for (const std::size_t size : {0u, 0u, 5u, 0u})
    ASSERT_TRUE(send(size));
  Skipped skipped = skip_empty(to.file(), 10);
  EXPECT_EQ(skipped.empty, 2);
  EXPECT_TRUE(skipped.more);
  EXPECT_EQ(skip_empty(to.file(), 10).empty, 0) << "the next datagram is not consumed";
  const auto got = to.await(kPatienceMs);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 5u);
  skipped = skip_empty(to.file(), 10);
  EXPECT_EQ(skipped.empty, 1);
  EXPECT_FALSE(skipped.more);
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(send(0));
  EXPECT_EQ(skip_empty(to.file(), 3).empty, 3);
  EXPECT_EQ(skip_empty(to.file(), 3).empty, 2);
}

}  // namespace
}  // namespace reckoner
