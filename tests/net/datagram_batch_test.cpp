// SPDX-License-Identifier: MIT
#include "datagram_batch.hpp"

#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

/// A UDP socket of its own on loopback.
class Socket {
 public:
  Socket() : file_(socket(AF_INET, SOCK_DGRAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    EXPECT_EQ(setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  }
  ~Socket() { close(file_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] DatagramBatch::Address address() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return {address.sin_addr.s_addr, ntohs(address.sin_port)};
  }
  [[nodiscard]] Bytes receive() const {
    Bytes bytes(2000);
    const ssize_t size = recv(file_, bytes.data(), bytes.size(), 0);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }

 private:
  int file_;
};

class DatagramBatches : public testing::Test {
 protected:
  void SetUp() override {
    if (!DatagramBatch::kAvailable) GTEST_SKIP() << "this system sends one at a time";
  }
};

TEST_F(DatagramBatches, EachGoesWhereItShallInOrder) {
  const Socket from, to[3];
  const Bytes head{std::byte{1}, std::byte{2}};
  DatagramBatch batch;
  EXPECT_TRUE(batch.empty());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < DatagramBatch::kMost; ++i) {
    ASSERT_FALSE(batch.full());
    const Bytes payload(i, static_cast<std::byte>(i));
    batch.add(to[i % 3].address(), head, payload);
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
    EXPECT_EQ(to[i % 3].receive(), expected) << i;
  }
}

TEST_F(DatagramBatches, OneThatCannotBeSentDoesNotHoldTheOthersUp) {
  const Socket from, to;
  DatagramBatch batch;
  const Bytes payload(5, std::byte{9});
  batch.add({to.address().host, 0}, {}, payload);  // nobody can be reached at port 0
  batch.add(to.address(), {}, payload);
  batch.add({htonl(INADDR_BROADCAST), 1}, {}, payload);  // not without permission
  batch.add(to.address(), {}, payload);
  const auto outcome = batch.flush(from.file());
  EXPECT_EQ(outcome.sent, 2u);
  EXPECT_EQ(outcome.errors, 2u);
  EXPECT_EQ(to.receive(), payload);
  EXPECT_EQ(to.receive(), payload);
}

}  // namespace
}  // namespace reckoner
