// SPDX-License-Identifier: MIT
// How far ENet would walk along a peer's lists for a datagram, and which datagrams ENet must not see.
#include "net/src/transport/enet/search_cost_limit.hpp"

#include "enet_datagram.hpp"
#include "tests/support/enet_lists.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using test::EnetDatagram;
using test::EnetLists;

constexpr unsigned kReliable = 0x86, kFragment = 0x88, kAcknowledge = 0x01;
constexpr std::uint16_t kReach = CommandWindow::kCommands;

struct Outcome {
  std::optional<Refusal> why;
  std::uint64_t steps = 0;
  bool operator==(const Outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << (outcome.why ? name_of(*outcome.why) : "let through") << " after " << outcome.steps;
}

Outcome outcome(const EnetLists& lists, const EnetDatagram& datagram) {
  SearchCostLimit work;
  const auto why = work.refuse(lists.peer, datagram.bytes, 0.0);
  return {why, work.steps()};
}
EnetDatagram reliable(unsigned number) {
  return EnetDatagram(3).command(kReliable, 0, number).put16(4).data(4);
}
EnetDatagram fragment(unsigned first, unsigned index) {
  return EnetDatagram(3)
      .command(kFragment, 0, first + index)
      .put16(first)
      .put16(10)
      .put32(3)
      .put32(index)
      .put32(30)
      .put32(10 * index)
      .data(10);
}
EnetDatagram acknowledgement(unsigned number, unsigned channel = 0) {
  return EnetDatagram(3).command(kAcknowledge, channel, 0).put16(number).put16(0);
}

// The limit works at any command number, also across the wrap.
class SearchCostLimitAt : public testing::TestWithParam<unsigned> {
 protected:
  [[nodiscard]] std::uint16_t at(int ahead) const { return static_cast<std::uint16_t>(GetParam() + ahead); }
};

TEST_P(SearchCostLimitAt, PacketsInOrderCostNothing) {
  const EnetLists lists(at(0), 0);
  EXPECT_EQ(outcome(lists, reliable(at(1))), (Outcome{{}, 1}));
  EXPECT_EQ(outcome(lists, fragment(at(1), 2)), (Outcome{{}, 2}));
}

TEST_P(SearchCostLimitAt, RepeatedPacketsCostNothing) {
  EnetLists lists(at(0), 0);
  for (int i = 2; i < 100; ++i)
    lists.wait(at(i));
  for (const int behind : {0, -1, -50, -5000, -32768})
    EXPECT_EQ(outcome(lists, reliable(at(behind))), (Outcome{{}, 0})) << behind;
}

TEST_P(SearchCostLimitAt, CountsTheStepsFromTheEndOfTheList) {
  EnetLists lists(at(0), 0);
  for (int i = 2; i <= 1000; ++i)
    lists.wait(at(i));
  EXPECT_EQ(outcome(lists, reliable(at(1001))).steps, 1u);
  EXPECT_EQ(outcome(lists, reliable(at(1000))).steps, 1u);
  EXPECT_EQ(outcome(lists, reliable(at(900))).steps, 101u);
  EXPECT_EQ(outcome(lists, reliable(at(1))).steps, 1000u);
  EXPECT_EQ(outcome(lists, fragment(at(900), 1)).steps, 202u);
  // Commands earlier in the same datagram are in the list, too.
  EnetDatagram both = reliable(at(1020));
  both.command(kReliable, 0, at(1010)).put16(0);
  EXPECT_EQ(outcome(lists, both).steps, 1u + 11u);
}

TEST_P(SearchCostLimitAt, PacketsBeyondTheWindowAreRefused) {
  const EnetLists lists(at(0), 0);
  for (const int ahead : {1, 2, kReach - 1, int{kReach}})
    EXPECT_EQ(outcome(lists, reliable(at(ahead))).why, std::nullopt) << ahead;
  for (const int ahead : {kReach + 1, 4096, 28'000, 32'767}) {
    EXPECT_EQ(outcome(lists, reliable(at(ahead))).why, Refusal::peer_limit) << ahead;
    EXPECT_EQ(outcome(lists, fragment(at(ahead), 0)).why, Refusal::peer_limit) << ahead;
    EnetDatagram behind_another = reliable(at(1));
    behind_another.command(kReliable, 0, at(ahead)).put16(0);
    EXPECT_EQ(outcome(lists, behind_another).why, Refusal::peer_limit) << ahead;
  }
}

TEST_P(SearchCostLimitAt, CountsTheStepsOfAnAcknowledgement) {
  EnetLists lists(0, at(14));
  for (int i = 1; i <= 10; ++i)
    lists.send(at(i));
  lists.queue(at(0), 2);
  lists.queue(at(11), 0);
  EXPECT_EQ(outcome(lists, acknowledgement(at(1))), (Outcome{{}, 1}));
  EXPECT_EQ(outcome(lists, acknowledgement(at(10))), (Outcome{{}, 10}));
  EXPECT_EQ(outcome(lists, acknowledgement(at(0))), (Outcome{{}, 11})) << "to be sent again";
  EXPECT_EQ(outcome(lists, acknowledgement(at(-1))), (Outcome{{}, 12})) << "acknowledged before";
  for (const int ahead : {11, 14, 15, 100, 32'000})  // the first two wait to be sent
    EXPECT_EQ(outcome(lists, acknowledgement(at(ahead))).why, Refusal::never_sent) << ahead;
  EXPECT_EQ(outcome(lists, acknowledgement(at(1), 1)).why,
            at(1) < 0x8000 && at(1) != 0 ? std::optional(Refusal::never_sent) : std::nullopt)
      << "the state channel's numbers stay 0";
  for (const unsigned channel : {2u, 254u})
    EXPECT_EQ(outcome(lists, acknowledgement(at(1), channel)), (Outcome{Refusal::never_sent, 0})) << channel;
}

INSTANTIATE_TEST_SUITE_P(Numbers, SearchCostLimitAt,
                         testing::Values(100u, 4096u, 32'760u, 40'000u, 65'000u, 65'530u));

// More than half of all command numbers may wait to be sent. Acknowledged numbers are not mistaken for newer
// ones.
TEST(SearchCostLimit, LongQueueDoesNotInvalidateAcknowledgements) {
  EnetLists lists(0, 50'000);
  lists.send(5);
  lists.queue(6, 0);
  EXPECT_EQ(outcome(lists, acknowledgement(5)).why, std::nullopt);
  EXPECT_EQ(outcome(lists, acknowledgement(4)).why, std::nullopt);
  EXPECT_EQ(outcome(lists, acknowledgement(6)).why, Refusal::never_sent);
}

// ENet 1.3.18 keeps reliable commands with a packet in a list of their own.
TEST(EnetQueues, BothListsOfNewerVersionsAreVisited) {
  struct OneList {
    ENetList outgoingCommands;
  } older{};
  struct TwoLists {
    ENetList outgoingSendReliableCommands;
    ENetList outgoingCommands;
  } newer{};
  ASSERT_EQ(queues_of(older).size(), 1u);
  EXPECT_EQ(queues_of(older)[0], &older.outgoingCommands);
  const TwoLists& read_only = newer;
  ASSERT_EQ(queues_of(read_only).size(), 2u);
  // In the order in which ENet searches them for an acknowledged command.
  EXPECT_EQ(queues_of(read_only)[0], &newer.outgoingCommands);
  EXPECT_EQ(queues_of(read_only)[1], &newer.outgoingSendReliableCommands);
}

TEST(SearchCostLimit, StepsAreLimitedPerSecond) {
  EnetLists lists(0, 5000);
  for (std::uint16_t i = 2; i <= kReach; ++i)
    lists.wait(i);
  for (std::uint16_t i = 4001; i <= 5000; ++i)
    lists.send(i);
  for (const bool by_acknowledging : {false, true}) {
    const EnetDatagram datagram = by_acknowledging ? acknowledgement(3000) : reliable(1);
    SearchCostLimit work;
    std::uint64_t let_through = 0;
    for (int i = 0; i < 20'000; ++i)
      let_through += work.refuse(lists.peer, datagram.bytes, 1.0) ? 0u : 1u;
    EXPECT_LE(static_cast<double>(work.steps()), SearchCostLimit::kStepsAtOnce);
    EXPECT_GE(let_through, 7000u);
    EXPECT_LE(let_through, 8001u);
    EXPECT_EQ(work.refuse(lists.peer, datagram.bytes, 1.0), Refusal::peer_limit);
    // A tenth of a second later there is budget again.
    std::uint64_t later = 0;
    for (int i = 0; i < 20'000; ++i)
      later += work.refuse(lists.peer, datagram.bytes, 1.1) ? 0u : 1u;
    EXPECT_NEAR(static_cast<double>(later), 0.1 * SearchCostLimit::kStepsPerSecond / 1000.0, 40.0);
  }
}

}  // namespace
}  // namespace reckoner
