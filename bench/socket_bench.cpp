// SPDX-License-Identifier: MIT
// What a socket for both families costs IPv4 clients: sends batches of datagrams to 32 IPv4 sockets of this
// machine, through a socket for both families and, as the floor, through an IPv4 socket. On loopback, the
// sender's time includes the delivery.
#include "net/src/transport/socket/datagram_batch.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"

#include <array>
#include <vector>

#include <benchmark/benchmark.h>

namespace reckoner {
namespace {

constexpr std::size_t kPeers = 32;
constexpr IpAddress kLoopback{0x7f000001};

void send_batches(benchmark::State& run, IpFamilies families) {
  UdpSocket sender = UdpSocket::open(families);
  std::vector<UdpSocket> peers;
  std::vector<SocketAddress> addresses;
  bool works = sender && sender.bind({});
  for (std::size_t i = 0; i < kPeers && works; ++i) {
    peers.push_back(UdpSocket::open(IpFamilies::ipv4));
    works = peers.back() && peers.back().bind({kLoopback, 0});
    addresses.push_back({kLoopback, peers.back().local().port});
  }
  if (!works) return run.SkipWithError("this machine does not have both families");
  DatagramBatch batch;
  DatagramIntake intake{1};
  const std::array<std::byte, 60> payload{};
  std::uint64_t sent = 0;
  for ([[maybe_unused]] auto _ : run) {
    for (const SocketAddress& to : addresses) {
      if (batch.full()) sent += batch.flush(sender).sent;
      batch.add(to, {}, payload);
    }
    sent += batch.flush(sender).sent;
    run.PauseTiming();
    for (UdpSocket& peer : peers) {
      while (!intake.read(peer).empty()) {
      }
    }
    run.ResumeTiming();
  }
  run.SetItemsProcessed(static_cast<std::int64_t>(sent));
}

void BM_SendToIpv4Peers(benchmark::State& run) {
  send_batches(run, IpFamilies::both);
}
void BM_SendToIpv4PeersFloor(benchmark::State& run) {
  send_batches(run, IpFamilies::ipv4);
}
BENCHMARK(BM_SendToIpv4Peers)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SendToIpv4PeersFloor)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
