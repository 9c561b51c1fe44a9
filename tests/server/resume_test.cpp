// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"
#include "server/src/session/session.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

/// Counts the reliable payloads of a session, and their bytes.
class ReliablePayloads final : public Transport {
 public:
  std::size_t payloads = 0;
  std::size_t bytes = 0;

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, Channel, std::span<const std::byte> payload) override {
    ++payloads;
    bytes += payload.size();
    return true;
  }
  [[nodiscard]] std::size_t max_state_bytes(PeerId) const override { return kMaxStateBytes; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
};

// A client that confirms nothing costs a bounded amount of memory. After it confirmed every message, its
// session can be resumed again.
TEST(SessionResume, KeepsABoundedAmountOfUnconfirmedMessages) {
  ServerConfig config;
  ReliablePayloads transport;
  Session session{{1}, {1}, config};
  EXPECT_FALSE(session.can_resume()) << "not enabled";
  session.enable_resume(SessionKey{1, 2});
  EXPECT_TRUE(session.can_resume());
  const OwnershipMessage message{.entity = {1, 1}};
  std::uint32_t sent = 0;
  for (; sent < 8192; ++sent)
    session.send_ownership(message, 0, transport);
  EXPECT_TRUE(session.reliable().can_resume_from(0));
  session.send_ownership(message, 0, transport);
  ++sent;
  EXPECT_FALSE(session.can_resume());
  EXPECT_EQ(session.reliable().retained_bytes(), 0u);
  ServerStats stats;
  ClientDatagram datagram;
  datagram.control_count = 150;
  ASSERT_EQ(session.receive(datagram, 0.1, stats), Session::Receipt::accepted);
  EXPECT_FALSE(session.can_resume());
  ++datagram.sequence;
  datagram.control_count = static_cast<std::uint16_t>(sent);
  ASSERT_EQ(session.receive(datagram, 0.2, stats), Session::Receipt::accepted);
  EXPECT_TRUE(session.can_resume());
}

TEST(SessionResume, SendsUnconfirmedMessagesAgainInFewPayloads) {
  ServerConfig config;
  ReliablePayloads transport;
  Session session{{1}, {1}, config};
  session.enable_resume(SessionKey{1, 2});
  std::array<std::byte, 200> buffer;
  const auto message = encode(GameDataMessage{std::vector<std::byte>(90), std::nullopt}, buffer);
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(session.send_reliable(message, transport));
  EXPECT_EQ(transport.payloads, 10u);
  session.set_peer({});
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(session.send_reliable(message, transport)) << "waits for the resume";
  EXPECT_EQ(transport.payloads, 10u);
  session.set_peer({2});
  ASSERT_TRUE(session.reliable().can_resume_from(5));
  EXPECT_FALSE(session.reliable().can_resume_from(21));
  transport = {};
  session.resume_from(5, config, 1.0, 60, transport);
  EXPECT_EQ(transport.bytes, 15 * message.size());
  EXPECT_EQ(transport.payloads, 2u);
  transport = {};
  session.resume_from(20, config, 2.0, 120, transport);
  EXPECT_EQ(transport.payloads, 0u);
}

}  // namespace
}  // namespace reckoner
