// SPDX-License-Identifier: MIT
// Peers with another protocol version, and senders of garbage, against the real programs.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "process.hpp"
#include "tests/support/loopback.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::test {
namespace {

/// Serves a transport for up to `seconds`, until `handle` returns true for an event.
template <class Handle>
bool serve(NetworkTransport& transport, double seconds, Handle handle) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    transport.wait(0.01);
    transport.service(0.0);
    while (const auto event = transport.poll()) {
      if (handle(*event)) return true;
    }
  }
  return false;
}

TEST(Strangers, ClientReportsThatTheServerHasAnotherVersion) {
  auto transport = NetworkTransport::listen({.host = loopback(), .security = Insecure{}, .transport = "udp"});
  ASSERT_TRUE(transport) << transport.error();
  Process client("reckoner-client",
                 {"--insecure", "--transport", "udp", "--connect", loopback_address((*transport)->port())});

  const bool refused = serve(**transport, 20.0, [&](const TransportEvent& event) {
    if (event.kind == TransportEvent::Kind::connected) {
      (*transport)->disconnect(event.peer, pack({EndReason::version, kProtocolVersion + 1u}));
    }
    return event.kind == TransportEvent::Kind::disconnected;
  });
  EXPECT_TRUE(refused);
  const auto exit_code = client.wait();
  ASSERT_TRUE(exit_code.has_value());
  EXPECT_GT(*exit_code, 0);
  EXPECT_LT(*exit_code, 128);
  EXPECT_NE(client.errors().find("version"), std::string::npos) << client.errors();
}

TEST(Strangers, ServerRefusesAnotherVersionAndContinues) {
  const std::string port = free_udp_port();
  Process server("reckoner-server",
                 {"--insecure", "--transport", "udp", "--scenario", "orbit", "--port", port});

  const std::uint16_t other_version = kProtocolVersion + 7u;
  auto transport = NetworkTransport::connect({.host = loopback(),
                                              .port = static_cast<std::uint16_t>(std::stoi(port)),
                                              .security = Insecure{},
                                              .transport = "udp",
                                              .version = other_version});
  ASSERT_TRUE(transport) << transport.error();
  EndCode code;
  const bool refused = serve(**transport, 20.0, [&](const TransportEvent& event) {
    if (event.kind == TransportEvent::Kind::connected) {
      JoinRequest request;
      request.version = other_version;
      (*transport)->send(event.peer, request_datagram(request));
    }
    if (event.kind == TransportEvent::Kind::disconnected) code = unpack_end_code(event.reason);
    return event.kind == TransportEvent::Kind::disconnected;
  });
  ASSERT_TRUE(refused);
  EXPECT_EQ(code.reason, EndReason::version);
  EXPECT_EQ(code.detail, kProtocolVersion);

  const Finished client =
      run("reckoner-client",
          {"--insecure", "--transport", "udp", "--connect", loopback_address(port), "--seconds", "1"}, 30.0);
  EXPECT_EQ(client.exit_code, 0) << client.errors;
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.errors();
}

TEST(Strangers, PeerThatSendsGarbageIsCountedAndDisconnected) {
  const ScratchDir dir;
  const std::string port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--transport", "udp", "--scenario", "orbit", "--port",
                                     port, "--json", dir.file("server.json")});
  auto transport = NetworkTransport::connect({.host = loopback(),
                                              .port = static_cast<std::uint16_t>(std::stoi(port)),
                                              .security = Insecure{},
                                              .transport = "udp"});
  ASSERT_TRUE(transport) << transport.error();
  EndCode code;
  const bool shown_out = serve(**transport, 20.0, [&](const TransportEvent& event) {
    if (event.kind == TransportEvent::Kind::connected) {
      const std::array<std::byte, 40> garbage{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
      (*transport)->send(event.peer, garbage);
    }
    if (event.kind == TransportEvent::Kind::disconnected) code = unpack_end_code(event.reason);
    return event.kind == TransportEvent::Kind::disconnected;
  });
  EXPECT_TRUE(shown_out);
  EXPECT_EQ(code.reason, EndReason::join_timeout);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.errors();
  EXPECT_EQ(read_file(dir.file("server.json")).find("\"malformed\": 0,"), std::string::npos);
  EXPECT_NE(read_file(dir.file("server.json")).find("\"malformed\":"), std::string::npos);
}

TEST(Strangers, GarbageDatagramsStopNeitherServerNorConditioner) {
  const std::string port = free_udp_port();
  const std::string relay_port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--transport", "udp", "--scenario", "crowd", "--entities",
                                     "5", "--port", port});
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", loopback_address(port),
                                     "--network", "lan", "--seed", "1"});
  Process client("reckoner-client", {"--insecure", "--transport", "udp", "--connect",
                                     loopback_address(relay_port), "--seconds", "3"});

  const UdpSocket stranger;
  std::uint32_t random = 12345;  // an LCG is random enough for garbage
  for (int datagram = 0; datagram < 400; ++datagram) {
    std::string bytes;
    for (int i = 0; i < 1 + datagram % 150 * 9; ++i) {
      random = random * 1664525u + 1013904223u;
      bytes += static_cast<char>(random >> 24);
    }
    stranger.send_to(static_cast<std::uint16_t>(std::stoi(port)), bytes);
    stranger.send_to(static_cast<std::uint16_t>(std::stoi(relay_port)), bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  EXPECT_EQ(client.wait(30.0), 0) << client.errors();
  for (Process* process : {&relay, &server}) {
    process->send_signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0) << process->errors();
  }
}

}  // namespace
}  // namespace reckoner::test
