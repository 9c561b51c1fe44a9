// SPDX-License-Identifier: MIT
// Limits on what one peer can make ENet store and search. An honest peer never reaches them, even over a link
// with loss, repetition and reordering. A relay can also send in the client's name.
#include "enet_datagram.hpp"
#include "net/src/transport/enet/liveness.hpp"
#include "net/src/transport/enet/search_cost_limit.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"
#include "real_time.hpp"
#include "relay.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::EnetDatagram;
using test::kTimeoutS;
using test::now_s;
using test::Relay;

constexpr unsigned kReliable = 0x86, kAcknowledge = 0x01;
constexpr unsigned kMaxCommands = 32;  // per datagram

std::size_t enet_bytes = 0;  // memory allocated by ENet in this thread

void* take_memory(std::size_t bytes) {
  auto* const head = static_cast<std::max_align_t*>(std::malloc(sizeof(std::max_align_t) + bytes));
  if (head == nullptr) return nullptr;
  std::memcpy(head, &bytes, sizeof bytes);
  enet_bytes += bytes;
  return head + 1;
}
void give_back(void* memory) {
  if (memory == nullptr) return;
  auto* const head = static_cast<std::max_align_t*>(memory) - 1;
  std::size_t bytes = 0;
  std::memcpy(&bytes, head, sizeof bytes);
  enet_bytes -= bytes;
  std::free(head);
}

Bytes numbered(std::uint32_t number, std::size_t size = sizeof(std::uint32_t)) {
  Bytes made(std::max(size, sizeof number));
  std::memcpy(made.data(), &number, sizeof number);
  return made;
}
bool are_numbered(const std::vector<Bytes>& messages) {
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    if (messages[i].size() < sizeof i || std::memcmp(messages[i].data(), &i, sizeof i) != 0) return false;
  }
  return true;
}

/// Loses, repeats and delays datagrams independently.
class BadLink {
 public:
  std::function<void(const Bytes&)> out;
  double lost = 0.0, twice = 0.0, held_s = 0.0;

  bool operator()(const Bytes& bytes) {
    for (int copies = chance(twice) ? 2 : 1; copies > 0; --copies) {
      if (!chance(lost)) held_.push_back({now_s() + held_s * even_(random_), bytes});
    }
    return true;  // this class forwards it later
  }
  void turn() {
    const double t = now_s();
    const auto due =
        std::partition(held_.begin(), held_.end(), [&](const Held& held) { return held.until_s > t; });
    std::vector<Held> leaving(due, held_.end());
    held_.erase(due, held_.end());
    std::ranges::sort(leaving, {}, &Held::until_s);
    for (const Held& each : leaving)
      out(each.bytes);
  }

 private:
  struct Held {
    double until_s;
    Bytes bytes;
  };
  bool chance(double p) { return even_(random_) < p; }

  std::vector<Held> held_;
  std::mt19937 random_{11};
  std::uniform_real_distribution<double> even_{0.0, 1.0};
};

class EnetSearchCost : public testing::Test {
 protected:
  End server, client;
  std::unique_ptr<Relay> relay;
  BadLink up, down;
  unsigned header = 0;  // ENet header of the client's datagrams

  void SetUp() override {
    ASSERT_TRUE(set_enet_allocator({take_memory, give_back}));
    EnetListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}};
    // Other tests cover these limits.
    config.limits.datagrams_per_second = config.limits.bytes_per_second = 0.0;
    config.limits.address_datagrams_per_second = config.limits.address_bytes_per_second = 0.0;
    auto listening = EnetTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
    relay = std::make_unique<Relay>(server.transport->port());
    auto connecting = EnetTransport::connect(test::loopback(), relay->port(), 5, Insecure{});
    ASSERT_TRUE(connecting) << connecting.error();
    client.transport = std::move(*connecting);
    ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
    header =
        std::to_integer<unsigned>(relay->up.back()[0]) << 8 | std::to_integer<unsigned>(relay->up.back()[1]);
    header &= 0x3FFFu;
    up.out = [this](const Bytes& bytes) { relay->send_up(bytes); };
    down.out = [this](const Bytes& bytes) { relay->send_down(bytes); };
  }
  void TearDown() override {
    client.transport.reset();
    server.transport.reset();
    EXPECT_TRUE(set_enet_allocator({std::malloc, std::free}));
  }
  bool until(const std::function<bool()>& done, double patience_s = kTimeoutS) {
    const auto turn = [this] {
      server.turn();
      relay->turn();
      relay->up.resize(std::min<std::size_t>(relay->up.size(), 8));
      relay->down.clear();
      up.turn();
      down.turn();
      client.turn();
    };
    return test::turn_until(turn, done, patience_s);
  }
  void run(double seconds) {
    (void)until([] { return false; }, seconds);
  }
  void lose_and_delay_all(double held_s = 0.02) {
    for (BadLink* way : {&up, &down}) {
      way->lost = 0.2;
      way->twice = 0.5;
      way->held_s = held_s;
    }
    relay->drop_up = [this](const Bytes& bytes) { return up(bytes); };
    relay->drop_down = [this](const Bytes& bytes) { return down(bytes); };
  }
  /// Sends as the client. Never sends more at a time than the socket's buffer holds.
  void say(const EnetDatagram& datagram) {
    relay->send_up(datagram.bytes);
    if (++said_ % 50 == 0) server.turn();
  }
  /// A datagram with as many empty reliable packets as fit.
  EnetDatagram empty_packets(unsigned first) const {
    EnetDatagram made(header);
    for (unsigned i = 0; i < kMaxCommands; ++i)
      made.command(kReliable, 0, first + i).put16(0);
    return made;
  }
  EnetDatagram acknowledgements(unsigned channel, unsigned first, unsigned step) const {
    EnetDatagram made(header);
    for (unsigned i = 0; i < kMaxCommands; ++i)
      made.command(kAcknowledge, channel, 0).put16(first + step * i).put16(0);
    return made;
  }
  [[nodiscard]] std::uint64_t refused(Refusal why) const { return server.transport->stats().refusals[why]; }
  [[nodiscard]] std::uint64_t refused() const { return server.transport->stats().refusals.total(); }

 private:
  std::uint64_t said_ = 0;
};

// The first packet is missing. After it arrive as many empty packets as ENet keeps.
TEST_F(EnetSearchCost, NumberOfWaitingPacketsIsBounded) {
  const std::size_t before = enet_bytes;
  constexpr unsigned kDatagrams = 28'000 / kMaxCommands;
  for (unsigned n = 0; n < kDatagrams; ++n)
    say(empty_packets(2 + kMaxCommands * n));
  ASSERT_TRUE(until([&] { return refused() > 0; }));
  run(0.1);
  EXPECT_LT(enet_bytes - before, 200u * CommandWindow::kCommands) << "plus the acknowledgements";
  EXPECT_GT(enet_bytes - before, 100u * (CommandWindow::kCommands - kMaxCommands))
      << "packets wait up to the limit";
  EXPECT_EQ(refused(Refusal::peer_limit), kDatagrams - (CommandWindow::kCommands - 1) / kMaxCommands);
  EXPECT_EQ(refused(), refused(Refusal::peer_limit));

  // Repeats the oldest packet. For each repetition, ENet walks along the whole list, until the step budget is
  // used up.
  const std::uint64_t refused_before = refused();
  const double begin_s = now_s();
  constexpr unsigned kRepeated = 1000;
  for (unsigned n = 0; n < kRepeated; ++n)
    say(empty_packets(2));
  run(0.2);
  const double steps = SearchCostLimit::kStepsAtOnce + SearchCostLimit::kStepsPerSecond * (now_s() - begin_s);
  const double each = kMaxCommands * double{CommandWindow::kCommands - 2 * kMaxCommands};
  const double let_through = kRepeated - static_cast<double>(refused() - refused_before);
  EXPECT_LT(let_through, steps / each + 1.0);
  EXPECT_TRUE(server.disconnected.empty());

  // The missing packet arrives, and then all are delivered.
  relay->send_up(EnetDatagram(header).command(kReliable, 0, 1).put16(0).bytes);
  EXPECT_TRUE(until([&] { return server.control.size() >= CommandWindow::kCommands - kMaxCommands; }));
  EXPECT_LT(enet_bytes, before + 100'000);
}

// Messages are in flight, and the attacker acknowledges numbers that were never sent.
TEST_F(EnetSearchCost, FalseAcknowledgementsAreRefused) {
  relay->drop_up = [](const Bytes&) { return true; };  // the client never acknowledges
  constexpr std::uint32_t kSent = 1000;
  for (std::uint32_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(server.transport->send(server.connected[0], Channel::control, numbered(i)));
  ASSERT_TRUE(until([&] { return client.control.size() == kSent; }));

  constexpr unsigned kDatagrams = 100;
  for (const unsigned channel : {0xFEu, 2u, 0u, 0xFFu}) {
    SCOPED_TRACE(channel);
    const std::uint64_t before = refused(Refusal::never_sent);
    for (unsigned n = 0; n < kDatagrams; ++n)
      say(acknowledgements(channel, kSent + 1000, 1));
    EXPECT_TRUE(until([&] { return refused(Refusal::never_sent) == before + kDatagrams; }));
  }
  EXPECT_EQ(refused(), refused(Refusal::never_sent));

  // Very old numbers cannot be distinguished from repeated ones. They use up the step budget.
  const double begin_s = now_s();
  constexpr unsigned kRepeated = 2000;
  for (unsigned n = 0; n < kRepeated; ++n)
    say(acknowledgements(0, 60'000, 1));
  run(0.2);
  const double steps = SearchCostLimit::kStepsAtOnce + SearchCostLimit::kStepsPerSecond * (now_s() - begin_s);
  EXPECT_LT(kRepeated - static_cast<double>(refused(Refusal::peer_limit)),
            steps / (kMaxCommands * kSent) + 1.0);
  EXPECT_GT(refused(Refusal::peer_limit), 0u);

  // All messages are still in flight. They are released when the real client acknowledges them.
  const std::size_t under_way = enet_bytes;
  relay->drop_up = nullptr;
  EXPECT_TRUE(until([&] { return enet_bytes + 100u * kSent < under_way; }));
  EXPECT_TRUE(server.disconnected.empty() && client.disconnected.empty());
  EXPECT_TRUE(are_numbered(client.control));
}

TEST_F(EnetSearchCost, HonestPeersStayBelowTheLimitsOnABadLink) {
  lose_and_delay_all();
  constexpr std::uint32_t kBatch = 400, kBatches = 10;  // the client's window has 512
  for (std::uint32_t n = 0; n < kBatches; ++n) {
    for (std::uint32_t i = n * kBatch; i < (n + 1) * kBatch; ++i) {
      const std::size_t size = i % 40 == 0 ? 5000 : 4 + i % 30;  // some need fragments
      ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, numbered(i, size)));
      ASSERT_TRUE(server.transport->send(server.connected[0], Channel::control, numbered(i, size)));
    }
    const std::size_t all = (n + 1) * kBatch;
    ASSERT_TRUE(until([&] { return server.control.size() == all && client.control.size() == all; }))
        << server.control.size() << ' ' << client.control.size();
  }
  EXPECT_TRUE(are_numbered(server.control) && are_numbered(client.control));
  EXPECT_EQ(refused(), 0u);
}

// One packet is lost repeatedly while all others arrive. The sender then sends no more than the receiver's
// window allows. The test reads the command numbers on the wire.
TEST_F(EnetSearchCost, SendsAtMostAWindowBeyondALostPacket) {
  std::uint16_t last = 0;  // latest command number so far
  struct Case {
    std::uint32_t messages;
    std::size_t size;
    std::size_t most;  // commands
  };
  for (const Case& each :
       {Case{4000, 20, CommandWindow::kCommands}, Case{600, 1000, CommandWindow::kBytes / 1000 + 1},
        Case{100, 10'000, 10 * CommandWindow::kBytes / 10'000}}) {
    SCOPED_TRACE(each.size);
    server.control.clear();
    const auto lost = static_cast<std::uint16_t>(last + 1);  // the first of the next commands
    std::size_t most = 0;
    relay->drop_up = [&](const Bytes& bytes) {
      bool has_lost = false;
      enet_filter::for_each_command(bytes, [&](const enet_filter::Command& command) {
        if (command.kind == enet_filter::Kind::other || command.kind == enet_filter::Kind::acknowledge)
          return;
        has_lost = has_lost || command.about == lost;
        const auto ahead = static_cast<std::uint16_t>(command.about - lost);
        if (ahead >= 0x8000) return;  // a repeated command of the previous case
        most = std::max<std::size_t>(most, ahead + 1u);
      });
      return has_lost;
    };
    for (std::uint32_t i = 0; i < each.messages; ++i)
      ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, numbered(i, each.size)));
    run(0.8);
    EXPECT_TRUE(server.control.empty());
    EXPECT_LE(most, each.most);
    EXPECT_GT(most, each.most / 2);
    relay->drop_up = nullptr;
    last = static_cast<std::uint16_t>(last + each.messages);
    ASSERT_TRUE(until([&] { return server.control.size() == each.messages; }));
    EXPECT_TRUE(are_numbered(server.control));
  }
  EXPECT_EQ(refused(), 0u);
  EXPECT_TRUE(server.disconnected.empty());
}

// The disconnect is reported as soon as all messages are delivered, not later when the close times out.
TEST_F(EnetSearchCost, DisconnectIsReportedAsSoonAsAllIsDelivered) {
  constexpr std::uint32_t kSent = 3000;  // more than may be in flight
  for (std::uint32_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, numbered(i)));
  const double left_s = now_s();
  client.transport->disconnect(client.connected[0], 7);
  EXPECT_TRUE(until([&] { return !server.disconnected.empty(); }));
  EXPECT_LT(now_s() - left_s, 0.6 * Liveness::kClosingSeconds);
  EXPECT_EQ(server.control.size(), kSent);
}

// A leaving client sends all of its queued messages at once: up to 8192, possibly small ones.
TEST_F(EnetSearchCost, LeavingClientDeliversAllMessages) {
  constexpr std::uint32_t kSent = 8192;
  lose_and_delay_all();
  for (std::uint32_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, numbered(i)));
  client.transport->disconnect(client.connected[0], 7);
  EXPECT_TRUE(until([&] { return !server.disconnected.empty(); }));
  EXPECT_EQ(server.control.size(), kSent);
  EXPECT_TRUE(are_numbered(server.control));
  EXPECT_EQ(server.reasons, std::vector<std::uint32_t>{7});
  EXPECT_EQ(refused(), 0u);
}

}  // namespace
}  // namespace reckoner
