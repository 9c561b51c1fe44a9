// SPDX-License-Identifier: MIT
// Skips all tests of a program if this machine does not have the address over which they must run.
#include "loopback.hpp"
#include "net/src/transport/socket/udp_socket.hpp"

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

bool has_ipv6_loopback() {
  reckoner::UdpSocket socket = reckoner::UdpSocket::open(IpFamilies::ipv6);
  return socket && socket.bind({kLoopback6, 0});
}

class NeedsLoopback final : public testing::Environment {
  void SetUp() override {
    if (loopback() == "::1" && !has_ipv6_loopback())
      GTEST_SKIP() << "this machine does not have the address ::1";
  }
};

testing::Environment* const kNeedsLoopback = testing::AddGlobalTestEnvironment(new NeedsLoopback);

}  // namespace
}  // namespace reckoner::test
