// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner {
namespace {

/// Records how it was called and returns values that differ from the defaults.
class Recorder final : public Transport {
 public:
  mutable std::vector<std::string> calls;
  std::array<std::byte, 3> arrived{};
  bool accepts = true;

  void service(double now_s) override { calls.push_back("service " + std::to_string(now_s)); }
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    calls.emplace_back("poll");
    return TransportEvent{TransportEvent::Kind::received, {7}, 5, arrived};
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    calls.push_back("send " + std::to_string(peer.value) + ' ' + std::to_string(payload.size()));
    return accepts;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override {
    calls.push_back("room " + std::to_string(peer.value));
    return 321;
  }
  void disconnect(PeerId peer, std::uint32_t reason) override {
    calls.push_back("disconnect " + std::to_string(peer.value) + ' ' + std::to_string(reason));
  }
  [[nodiscard]] PeerLogin login(PeerId peer) const override {
    calls.push_back("login " + std::to_string(peer.value));
    return {.client_id = 77};
  }
  void revoke_login(const PeerLogin& login) override {
    calls.push_back("revoke " + std::to_string(login.client_id.value_or(0)));
  }
  [[nodiscard]] std::string problem() const override {
    calls.emplace_back("problem");
    return "no such host";
  }
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
};

TEST(ForwardingTransport, ForwardsEveryCallAndEveryResult) {
  Recorder inner;
  ForwardingTransport transport(inner);

  transport.service(1.5);
  const auto event = transport.poll();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, TransportEvent::Kind::received);
  EXPECT_EQ(event->peer, PeerId{7});
  EXPECT_EQ(event->reason, 5u);
  EXPECT_EQ(event->payload.data(), inner.arrived.data());
  EXPECT_TRUE(transport.send({4}, inner.arrived));
  inner.accepts = false;
  EXPECT_FALSE(transport.send({4}, {}));
  EXPECT_EQ(transport.max_datagram_bytes({9}), 321u);
  transport.disconnect({2}, 11);
  EXPECT_EQ(transport.login({3}).client_id, 77u);
  transport.revoke_login({.client_id = 5});
  EXPECT_EQ(transport.problem(), "no such host");
  EXPECT_EQ(&transport.stats(), &inner.stats());

  const std::vector<std::string> expected{"service 1.500000", "poll",    "send 4 3", "send 4 0", "room 9",
                                          "disconnect 2 11",  "login 3", "revoke 5", "problem"};
  EXPECT_EQ(inner.calls, expected);
}

/// Overrides one function only.
class NoPollTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    (void)ForwardingTransport::poll();
    return std::nullopt;
  }
};

TEST(ForwardingTransport, DerivedClassChangesOnlyItsOverrides) {
  Recorder inner;
  NoPollTransport transport(inner);
  EXPECT_FALSE(transport.poll());
  EXPECT_TRUE(transport.send({1}, {}));
  const std::vector<std::string> expected{"poll", "send 1 0"};
  EXPECT_EQ(inner.calls, expected);
}

}  // namespace
}  // namespace reckoner
