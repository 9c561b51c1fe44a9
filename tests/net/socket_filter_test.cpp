// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/socket_filter.hpp"

#include "udp_socket.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using test::Bytes;
using test::UdpSocket;

constexpr int kPatienceMs = 5000;

TEST(SocketFilter, DropsAndCountsEmptyAndTooLongDatagrams) {
  UdpSocket from, to;
  if (!filter_socket(to.file(), 100)) GTEST_SKIP() << "this system filters no sockets";
  for (const std::size_t size : {0u, 1u, 101u, 100u, 0u, 2000u, 2u})
    EXPECT_TRUE(from.send(to.address(), Bytes(size)));
  for (const std::size_t size : {1u, 100u, 2u}) {
    const auto got = to.await(kPatienceMs);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size(), size);
  }
  EXPECT_FALSE(to.receive());
  EXPECT_EQ(dropped_for_socket(to.file()).value_or(4), 4u);
}

}  // namespace
}  // namespace reckoner
