// SPDX-License-Identifier: MIT
// Corrections that need several datagrams: many entities, long bytes of the game, a small MTU, little
// bandwidth.
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {
namespace {

// The smallest MTU that a peer of ENet may have, without ENet's headers.
constexpr std::size_t kSmallestRoom = 576 - 28;

class SmallDatagrams final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  bool send(PeerId peer, std::span<const std::byte> payload) override {
    EXPECT_LE(payload.size(), kSmallestRoom);
    return ForwardingTransport::send(peer, payload);
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override {
    return std::min(ForwardingTransport::max_datagram_bytes(peer), kSmallestRoom);
  }
};

// Eight machines with 128 bytes each, all of which count ticks. The server's game changes them now and then.
struct Machines {
  World world;
  std::vector<EntityId> ids;
  ClientId player;
  std::array<std::byte, kMaxGameStateBytes> truth{}, own{};
  std::size_t corrections = 0, wrong = 0;
  bool began = false;

  explicit Machines(WorldConfig config) : world(std::move(config)) {
    world.add_client();
    for (std::size_t i = 0; i < kMaxPredicted; ++i)
      ids.push_back(*world.server().spawn(0, "machine", state_of(i)));
    world.before_tick = [this](double) { tick(); };
    world.on_frame = [this](std::size_t, double, std::span<const ShownEntity>) { play(); };
  }
  static State state_of(std::size_t i) {
    State state;
    state.position = {1.0 + static_cast<double>(i), 2.0, 3.0};
    return state;
  }
  static void step(std::array<std::byte, kMaxGameStateBytes>& bytes) {
    bytes[0] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[0]) + 1);
  }
  void tick() {
    Server& server = world.server();
    if (!player && !server.clients().empty()) {
      player = server.clients()[0];
      for (const EntityId id : ids)
        EXPECT_TRUE(server.let_predict(id, player));
    }
    (void)server.input(player);
    step(truth);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_TRUE(server.move(ids[i], state_of(i)));
      EXPECT_TRUE(server.set_game_state(ids[i], truth));
    }
  }
  void play() {
    Client& client = world.client(0);
    if (const auto correction = client.poll_correction()) {
      EXPECT_EQ(correction->entities.size(), ids.size());
      for (const CorrectedEntity& entity : correction->entities) {
        const auto place = std::ranges::find(ids, entity.id) - ids.begin();
        wrong += entity.state.position != state_of(static_cast<std::size_t>(place)).position ? 1 : 0;
        wrong += std::ranges::equal(entity.game_state, correction->entities[0].game_state) ? 0 : 1;
        std::ranges::copy(entity.game_state, own.begin());
      }
      began = true;
      ++corrections;
      for (const PredictionStep& again : correction->steps)
        predict(again.tick);
    }
    while (const auto due = client.next_step({})) {
      if (began) predict(due->tick);
    }
  }
  void predict(Tick tick) {
    step(own);
    for (std::size_t i = 0; i < ids.size(); ++i)
      EXPECT_TRUE(world.client(0).predict(ids[i], tick, state_of(i), own));
  }
};

void expect_corrected(WorldConfig config) {
  config.door = [](Transport& network) { return std::make_unique<SmallDatagrams>(network); };
  Machines machines(std::move(config));
  machines.world.run_to(10.0);
  ASSERT_TRUE(machines.began);
  const std::size_t before = machines.corrections;
  std::uint64_t sent = machines.world.server().prediction_stats(machines.player)->corrections;
  machines.world.run_to(12.0);
  EXPECT_EQ(machines.corrections, before);
  EXPECT_EQ(machines.world.server().prediction_stats(machines.player)->corrections, sent);
  machines.truth[100] = std::byte{7};
  machines.world.run_to(15.0);
  EXPECT_GT(machines.corrections, before);
  EXPECT_EQ(machines.own[100], std::byte{7});
  EXPECT_EQ(machines.wrong, 0u);
  sent = machines.world.server().prediction_stats(machines.player)->corrections;
  machines.world.run_to(17.0);
  EXPECT_EQ(machines.world.server().prediction_stats(machines.player)->corrections, sent);
}

TEST(SplitCorrection, ArrivesOverASmallMtu) {
  expect_corrected({.links = network("lan")});
}

TEST(SplitCorrection, ArrivesOverASmallMtuWithLoss) {
  expect_corrected({.links = network("intercity")});
}

TEST(SplitCorrection, ArrivesWithTheSmallestBudget) {
  WorldConfig config{.links = network("lan")};
  config.server.bytes_per_second = 2000;
  expect_corrected(std::move(config));
}

}  // namespace
}  // namespace reckoner::test
