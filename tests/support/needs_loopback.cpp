// SPDX-License-Identifier: MIT
// Skips all tests of a program if this machine does not have the address over which they must run.
#include "loopback.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace reckoner::test {
namespace {

bool has_ipv6_loopback() {
  const int file = socket(AF_INET6, SOCK_DGRAM, 0);
  if (file < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool bound = bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(file);
  return bound;
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
