// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/enet_filter.hpp"

#include "enet_datagram.hpp"
#include "net/src/transport/other_transport.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using enet_filter::passable_bytes;
using enet_filter::Role;
using test::Bytes;
using Datagram = test::EnetDatagram;

bool passes(const Datagram& datagram, Role role = Role::server) {
  return passable_bytes(datagram.bytes, role) == datagram.bytes.size();
}

Datagram unsequenced(unsigned length, unsigned peer = 3) {
  return Datagram(peer, false).command(0x49, 1).put16(1).put16(length).data(length);
}

Datagram verify_connect(unsigned channels, unsigned bandwidth) {
  Datagram made(3);
  made.command(0x83, 0xFF).put16(0).put8(0).put8(0).put32(1232).put32(65536).put32(channels).put32(bandwidth);
  return made.put32(0).put32(5000).put32(2).put32(2).put32(0x12345678);
}

Datagram throttle(unsigned deceleration) {
  return Datagram(3).command(0x8B, 0xFF).put32(5000).put32(32).put32(deceleration);
}

TEST(EnetFilter, PassesWhatATransportSends) {
  EXPECT_TRUE(passes(Datagram::connect(2)));
  EXPECT_TRUE(passes(verify_connect(2, 0), Role::client));
  for (const Role role : {Role::server, Role::client}) {
    EXPECT_TRUE(passes(Datagram(3, false).command(0x01, 0xFF).put32(0), role)) << "acknowledge";
    EXPECT_TRUE(passes(Datagram(3).command(0x84, 0xFF).put32(42), role)) << "disconnect";
    EXPECT_TRUE(passes(Datagram(3, false).command(0x44, 0xFF).put32(42), role)) << "disconnect_now";
    EXPECT_TRUE(passes(Datagram(3).command(0x85, 0xFF), role)) << "ping";
    EXPECT_TRUE(passes(Datagram(3).command(0x8A, 0xFF).put32(0).put32(0), role)) << "bandwidth_limit";
    EXPECT_TRUE(passes(throttle(0), role));
    EXPECT_TRUE(passes(unsequenced(1), role));
    EXPECT_TRUE(passes(unsequenced(kMaxDatagramBytes), role));
  }
  EXPECT_TRUE(passes(Datagram(3)
                         .command(0x01, 0xFF)
                         .put32(0)
                         .command(0x85, 0xFF)
                         .command(0x49, 1)
                         .put16(1)
                         .put16(7)
                         .data(7)))
      << "several commands";
}

TEST(EnetFilter, RefusesWhatNoTransportSends) {
  const std::vector<Datagram> refused{
      Datagram::connect(1),
      Datagram::connect(255),
      Datagram(0x0FFF).command(0x85, 0xFF),            // a ping without a peer
      Datagram(3).command(0x82, 0xFF).data(44),        // a connect from a peer
      verify_connect(2, 0),                            // only a client has asked
      Datagram(3),                                     // no command
      Datagram(3).command(0x80, 0xFF),                 // command 0
      Datagram(3).command(0x8D, 0xFF),                 // command 13
      Datagram(3).command(0x86, 0).put16(4).data(4),   // reliable
      Datagram(3).command(0x86, 1).put16(4).data(4),   // reliable
      Datagram(3).command(0x07, 1).put16(1).put16(0),  // unreliable, sequenced
      Datagram(3).command(0x88, 0).put16(1).put16(1).put32(2).put32(0).put32(100).put32(0).data(
          1),  // fragment
      Datagram(3).command(0x8C, 1).put16(1).put16(1).put32(2).put32(0).put32(100).put32(0).data(
          1),                                                  // and another
      Datagram(3).command(0x49, 0).put16(1).put16(4).data(4),  // on the other channel
      Datagram(3).command(0x49, 2).put16(1).put16(4).data(4),  // on a channel that does not exist
      Datagram(3).command(0xC9, 1).put16(1).put16(4).data(4),  // unsequenced, but wants an acknowledgement
      Datagram(3).command(0x49, 1).put16(1).put16(5).data(4),  // truncated
      unsequenced(0),
      unsequenced(kMaxDatagramBytes + 1),
      Datagram(3).command(0x01, 0).put32(0),     // acknowledges on a channel without such commands
      Datagram(3).command(0x81, 0xFF).put32(0),  // wants an acknowledgement acknowledged
      Datagram(3).command(0x85, 0),              // a ping on a channel
      Datagram(3).command(0x05, 0xFF),           // a ping that wants no answer
      Datagram(0x4003).command(0x85, 0xFF),      // compressed
  };
  for (std::size_t i = 0; i < refused.size(); ++i)
    EXPECT_EQ(passable_bytes(refused[i].bytes, Role::server), 0u) << i;
  EXPECT_FALSE(passes(Datagram::connect(2), Role::client)) << "nobody connects to a client";
  EXPECT_FALSE(passes(verify_connect(1, 0), Role::client));
  EXPECT_EQ(passable_bytes({}, Role::server), 0u);
  EXPECT_EQ(passable_bytes(Bytes(1), Role::server), 0u);
}

// The other end must not be able to make ENet drop what we send.
TEST(EnetFilter, RefusesBandwidthAndThrottle) {
  Datagram slow = Datagram::connect(2);
  slow.bytes[4 + 23] = std::byte{1};  // the last byte of the incoming bandwidth
  EXPECT_FALSE(passes(slow));
  EXPECT_FALSE(passes(verify_connect(2, 1), Role::client));
  EXPECT_FALSE(passes(Datagram(3).command(0x8A, 0xFF).put32(1).put32(0)));
  EXPECT_FALSE(passes(throttle(1)));
  EXPECT_TRUE(passes(Datagram(3).command(0x8A, 0xFF).put32(0).put32(1))) << "what it sends is its own choice";
}

// What follows the first refused command is lost.
TEST(EnetFilter, PassesTheCommandsBeforeARefusedOne) {
  const Datagram good = Datagram(3).command(0x01, 0xFF).put32(0).command(0x85, 0xFF);
  Datagram both = good;
  both.command(0x86, 0).put16(4).data(4).command(0x85, 0xFF);
  EXPECT_EQ(passable_bytes(both.bytes, Role::server), good.bytes.size());
}

// ENet writes at most 32 commands into a datagram.
TEST(EnetFilter, PassesAsManyCommandsAsEnetWrites) {
  Datagram datagram(3);
  for (std::size_t n = 1; n <= 40; ++n) {
    datagram.command(0x85, 0xFF);
    EXPECT_EQ(passable_bytes(datagram.bytes, Role::server), 4 + 4 * std::min<std::size_t>(n, 32)) << n;
  }
}

TEST(EnetFilter, PassesNothingOfATruncatedCommand) {
  const Bytes whole = Datagram(3).command(0x49, 1).put16(1).put16(10).data(10).bytes;
  ASSERT_EQ(passable_bytes(whole, Role::server), whole.size());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(passable_bytes(std::span(whole).first(size), Role::server), 0u) << size;
}

TEST(EnetFilter, KnowsThePeer) {
  EXPECT_EQ(enet_filter::peer_of(unsequenced(1, 0x123).bytes), 0x123u);
  EXPECT_EQ(enet_filter::peer_of(Datagram::connect(2).bytes), 0x0FFFu);
}

TEST(EnetFilter, AnswersNobodyWithoutAnAddress) {
  EXPECT_TRUE(enet_filter::answerable({IpAddress(0x7F000001), 1}));
  EXPECT_FALSE(enet_filter::answerable({IpAddress(0x7F000001), 0}));
  EXPECT_FALSE(enet_filter::answerable({IpAddress(0), 1}));
  EXPECT_FALSE(enet_filter::answerable({IpAddress(0xE0000001), 1}));
  EXPECT_FALSE(enet_filter::answerable({IpAddress(0xFFFFFFFF), 1}));
}

TEST(OtherTransport, RecognisesTheFirstDatagrams) {
  EXPECT_TRUE(is_enet_request(Datagram::connect(2).bytes));
  EXPECT_FALSE(is_enet_request(unsequenced(42).bytes));
  Bytes request(128);
  request[0] = std::byte{0xA1};
  EXPECT_TRUE(is_udp_request(request));
  EXPECT_EQ(passable_bytes(request, Role::server), 0u);
  request.pop_back();
  EXPECT_FALSE(is_udp_request(request));
  EXPECT_FALSE(is_udp_request({}));
  EXPECT_FALSE(is_notice(kServerUsesEnet, kServerUsesUdp));
  EXPECT_EQ(passable_bytes(kServerUsesUdp, Role::client), 0u);
}

// A datagram of one of our peers can look like a request of "udp".
TEST(OtherTransport, APeersDatagramPassesFirst) {
  Datagram datagram(0x2100 | 0x0042);  // session 2, peer 0x142, with a sent time
  datagram.command(0x49, 1).put16(1).put16(116).data(116);
  ASSERT_TRUE(is_udp_request(datagram.bytes));
  EXPECT_TRUE(passes(datagram));
}

}  // namespace
}  // namespace reckoner
