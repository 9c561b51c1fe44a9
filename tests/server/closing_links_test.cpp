// SPDX-License-Identifier: MIT
#include "server/src/session/closing_links.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// Keeps why each connection ended.
class EndedPeers final : public Transport {
 public:
  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, std::span<const std::byte>) override { return true; }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId peer, std::uint32_t reason) override { reasons[peer] = reason; }
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

  std::map<PeerId, std::uint32_t> reasons;

 private:
  TransportStats stats_;
};

ClosingLink::Rest rest_with(std::size_t bytes) {
  ClosingLink::Rest rest{PeerLink{0.1}, {}, {}, 0};
  (void)rest.messages.add(std::vector<std::byte>(bytes));
  return rest;
}
constexpr auto kNobody = [](PeerId) { FAIL(); };

// The server is destroyed before the clients have everything.
TEST(ManyClosingLinks, ClientsHearWhyWhenTheServerIsDestroyed) {
  EndedPeers peers;
  {
    ClosingLinks links(peers, 8);
    links.add({1}, 6, rest_with(100), 0.0, kNobody);
    links.add({2}, 9, rest_with(100), 0.0, kNobody);
    EXPECT_TRUE(peers.reasons.empty());
  }
  EXPECT_EQ(peers.reasons, (std::map<PeerId, std::uint32_t>{{{1}, 6u}, {{2}, 9u}}));
}

TEST(ManyClosingLinks, TheOldestGiveWay) {
  EndedPeers peers;
  ClosingLinks links(peers, 2);
  std::vector<PeerId> early;
  const auto note = [&](PeerId peer) { early.push_back(peer); };
  links.add({7}, 1, rest_with(100), 0.0, note);
  links.add({3}, 2, rest_with(100), 1.0, note);
  links.add({5}, 3, rest_with(100), 2.0, note);
  EXPECT_EQ(early, std::vector{PeerId{7}});
  EXPECT_EQ(links.size(), 2u);
  EXPECT_FALSE(links.receive({7}, {}, 2.0));
  EXPECT_TRUE(links.receive({3}, {}, 2.0));
  links.remove({3});
  EXPECT_FALSE(peers.reasons.contains({3}));
  EXPECT_EQ(links.size(), 1u);
}

TEST(ManyClosingLinks, MessagesTogetherAreBounded) {
  constexpr std::size_t kEach = 1024 * 1024;
  EndedPeers peers;
  ClosingLinks links(peers, 1000);
  std::size_t early = 0;
  for (std::uint32_t peer = 1; peer <= 80; ++peer) {
    links.add({peer}, 1, rest_with(kEach), peer, [&](PeerId) { ++early; });
    EXPECT_LE(links.size() * kEach, ClosingLinks::kMostBytes);
  }
  EXPECT_EQ(early, 80u - links.size());
  EXPECT_GT(links.size(), 60u);
}

}  // namespace
}  // namespace reckoner::test
