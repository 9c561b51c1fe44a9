// SPDX-License-Identifier: MIT
// Datagrams from UDP port 0, to which no answer can be sent. An ordinary socket cannot send them.
#include "enet_datagram.hpp"
#include "net/src/secure/handshake.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "real_time.hpp"
#include "relay.hpp"

#include <functional>
#include <memory>
#include <span>

#include <gtest/gtest.h>
#include <unistd.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::EnetDatagram;
using test::kTimeoutS;
using test::unix_s;

constexpr int kDatagrams = 200;

/// A raw socket that sends with its own UDP headers. The system allows this to privileged users only.
class RawSocket {
 public:
  RawSocket() : file_(socket(test::loopback_ip().is_ipv4() ? AF_INET : AF_INET6, SOCK_RAW, IPPROTO_UDP)) {
    const int checksum_at = 6;  // IPv6 needs a checksum, which the system computes
    if (!test::loopback_ip().is_ipv4())
      (void)setsockopt(file_, IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof checksum_at);
  }
  ~RawSocket() {
    if (file_ >= 0) close(file_);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  [[nodiscard]] bool permitted() const { return file_ >= 0; }
  /// Sends from port 0 of the loopback address to another port. True if it was sent.
  [[nodiscard]] bool send_from_nowhere(std::uint16_t port, std::span<const std::byte> bytes) const {
    EnetDatagram datagram(0);  // EnetDatagram writes big endian, as UDP needs
    datagram.bytes.clear();
    datagram.put16(0).put16(port).put16(static_cast<unsigned>(8 + bytes.size())).put16(0);  // no checksum
    datagram.bytes.insert(datagram.bytes.end(), bytes.begin(), bytes.end());
    SystemAddress to{};
    const socklen_t size =
        to_system({test::loopback_ip(), 0}, test::loopback_ip().is_ipv4() ? AF_INET : AF_INET6, to);
    const ssize_t sent = sendto(file_, datagram.bytes.data(), datagram.bytes.size(), 0, &to.generic, size);
    return sent == static_cast<ssize_t>(datagram.bytes.size());
  }

 private:
  int file_;
};

class PortZero : public testing::TestWithParam<bool> {
 protected:
  RawSocket nowhere;
  SecretKey key = SecretKey::make();
  End server;
  std::vector<std::unique_ptr<End>> clients;

  void SetUp() override {
    if (!nowhere.permitted()) GTEST_SKIP() << "raw sockets are not permitted here";
    ListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}, .transport = "udp"};
    if (sealed()) config.security = ServerSecurity{.key = key};
    auto listening = NetworkTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
  }
  [[nodiscard]] static bool sealed() { return GetParam(); }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), server.transport->port()}};
    return *issue_token(grant, key, 0);
  }
  End& join() {
    OrInsecure<ClientSecurity> security = Insecure{};
    if (sealed()) security = ClientSecurity{token(1 + clients.size())};
    auto connecting = NetworkTransport::connect(test::loopback(), server.transport->port(), kProtocolVersion,
                                                security, {}, "udp");
    EXPECT_TRUE(connecting);
    clients.push_back(std::make_unique<End>());
    clients.back()->transport = std::move(*connecting);
    return *clients.back();
  }
  bool until(const std::function<bool()>& done) {
    const auto turn = [this] {
      server.turn();
      for (const auto& client : clients)
        client->turn();
    };
    return test::turn_until(turn, done, kTimeoutS);
  }
};

// The datagrams are valid requests. The server would answer them if they came from any other port.
TEST_P(PortZero, IsNotAnsweredAndDoesNotDelayOthers) {
  const End& here = join();
  ASSERT_TRUE(until([&] { return !here.connected.empty() && !server.connected.empty(); }));
  secure::ClientHandshake handshake(kProtocolVersion);
  const auto request = handshake.to_send(0.0);
  ASSERT_TRUE(request);
  const Bytes question(request->begin(), request->end());
  const std::uint64_t answered = server.transport->stats().datagrams_sent;
  ASSERT_TRUE(test::UdpSocket().send({test::loopback_ip(), server.transport->port()}, question));
  ASSERT_TRUE(until([&] { return server.transport->stats().datagrams_sent > answered; }));
  const RefusalCounts before = server.transport->stats().refusals;
  for (int i = 0; i < kDatagrams; ++i)
    ASSERT_TRUE(nowhere.send_from_nowhere(server.transport->port(), question));
  const RefusalCounts& now = server.transport->stats().refusals;
  (void)until([&] { return now.total() >= before.total() + kDatagrams; });
  EXPECT_EQ(now[Refusal::malformed], before[Refusal::malformed] + kDatagrams);
  EXPECT_EQ(now.total(), before.total() + kDatagrams);
  (void)here.transport->send(here.connected[0], Bytes(20));
  const End& next = join();
  EXPECT_TRUE(until([&] { return server.received.size() == 1 && !next.connected.empty(); }));
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_EQ(server.transport->stats().service_errors, 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, PortZero, testing::Bool(),
                         [](const auto& which) { return which.param ? "Sealed" : "Open"; });

}  // namespace
}  // namespace reckoner
