// SPDX-License-Identifier: MIT
#include "net/src/link/peer_link.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kAnswerDelayS = 0.05;

// Two ends that send each other a datagram every 10 ms, over a network that loses, delays, reorders and
// repeats.
class Pair {
 public:
  Pair(std::uint32_t seed, double loss, double one_way_s, double jitter_s)
      : random_(seed), loss_(loss), one_way_s_(one_way_s), jitter_s_(jitter_s) {}

  struct End {
    PeerLink link{kAnswerDelayS};
    std::set<std::uint32_t> arrived_here;  // of the other end's datagrams, counted without a wrap
    std::map<std::uint32_t, bool> outcomes;
    std::uint32_t sent = 0;
  };

  void run(double seconds) {
    for (const double until_s = now_s_ + seconds; now_s_ < until_s; now_s_ += 0.01) {
      deliver();
      for (int i = 0; i < 2; ++i) {
        End& end = ends[i];
        end.link.expire(now_s_);
        note(end, ends[1 - i]);
        const Sequence sequence = end.link.begin(now_s_);
        note(end, ends[1 - i]);
        ASSERT_EQ(sequence, static_cast<Sequence>(end.sent));
        send({1 - i, end.sent, end.link.acknowledge()});
        ++end.sent;
      }
    }
  }

  void set_one_way_s(double one_way_s) { one_way_s_ = one_way_s; }

  End ends[2];

 private:
  struct Datagram {
    int to;
    std::uint32_t number;
    std::optional<Ack> ack;
  };

  double uniform() { return std::uniform_real_distribution<>(0.0, 1.0)(random_); }

  void send(const Datagram& datagram) {
    const int copies = uniform() < loss_ ? 0 : uniform() < 0.05 ? 2 : 1;
    for (int i = 0; i < copies; ++i)
      network_.emplace(now_s_ + one_way_s_ + jitter_s_ * uniform(), datagram);
  }

  void deliver() {
    while (!network_.empty() && network_.begin()->first <= now_s_) {
      const Datagram datagram = network_.extract(network_.begin()).mapped();
      End& end = ends[datagram.to];
      const auto receipt =
          end.link.receive(static_cast<Sequence>(datagram.number), datagram.ack, 0.0, now_s_);
      ASSERT_NE(receipt, PeerLink::Receipt::refused);
      const bool is_newest = end.arrived_here.empty() || datagram.number > *end.arrived_here.rbegin();
      ASSERT_EQ(receipt == PeerLink::Receipt::newest, is_newest);
      if (receipt == PeerLink::Receipt::repeated) continue;
      ASSERT_TRUE(end.arrived_here.insert(datagram.number).second) << "accepted twice";
      end.link.want_ack(static_cast<Sequence>(datagram.number));
      note(end, ends[1 - datagram.to]);
    }
  }

  // Every datagram gets one outcome, and none counts as arrived that did not arrive.
  void note(End& end, const End& other) {
    for (const PeerLink::Outcome& outcome : end.link.outcomes()) {
      const std::uint32_t number = unwrap16(outcome.sequence, end.sent);
      ASSERT_TRUE(end.outcomes.emplace(number, outcome.acked).second) << "two outcomes of " << number;
      ASSERT_TRUE(!outcome.acked || other.arrived_here.contains(number)) << number << " never arrived";
    }
    for (const PeerLink::Outcome& late : end.link.late()) {
      const std::uint32_t number = unwrap16(late.sequence, end.sent);
      ASSERT_TRUE(end.outcomes.contains(number) && !end.outcomes.at(number));
      ASSERT_TRUE(other.arrived_here.contains(number));
    }
    end.link.clear_outcomes();
  }

  std::mt19937 random_;
  double loss_;
  double one_way_s_;
  double jitter_s_;
  double now_s_ = 0.0;
  std::multimap<double, Datagram> network_;
};

TEST(PeerLink, EachDatagramHasOneOutcomeAndItIsTrue) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Pair pair(seed, 0.02 * (seed % 5), 0.02 * (seed % 4), 0.01 * (seed % 7));
    pair.run(20.0);
    for (const Pair::End& end : pair.ends)
      EXPECT_GT(end.outcomes.size(), 1900u) << "seed " << seed;
  }
}

TEST(PeerLink, OutcomesStayTrueAcrossTheWrapOfNumbers) {
  Pair pair(7, 0.05, 0.04, 0.03);
  pair.run(700.0);  // 70,000 datagrams in each direction
  EXPECT_GT(pair.ends[0].outcomes.size(), 69'900u);
}

TEST(PeerLink, MeasuresTheRoundTripAndTheLoss) {
  for (const double loss : {0.0, 0.05, 0.2}) {
    Pair pair(3, loss, 0.04, 0.0);
    pair.run(60.0);
    // In each direction, a datagram may wait up to 10 ms until it is received.
    EXPECT_NEAR(pair.ends[0].link.round_trip().round_trip_s(), 0.09, 0.012);
    EXPECT_NEAR(pair.ends[0].link.loss(), loss, 0.3 * loss + 0.02);
  }
}

// The time-out has passed for every datagram when its acknowledgement arrives.
TEST(PeerLink, MeasuresARoundTripThatHasBecomeMuchLonger) {
  for (const double one_way_s : {0.3, 1.0, 3.0}) {
    Pair pair(3, 0.0, 0.02, 0.0);
    pair.run(5.0);
    pair.set_one_way_s(one_way_s);
    pair.run(4.0 * one_way_s + 10.0);
    for (const Pair::End& end : pair.ends)
      EXPECT_NEAR(end.link.round_trip().round_trip_s(), 2.0 * one_way_s, 0.1 * one_way_s) << one_way_s;
  }
}

TEST(PeerLink, TakesLittleMemoryOnAnOrdinaryLink) {
  constexpr std::size_t kLittle = 64;  // datagrams; the ends send 100 a second
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Pair pair(seed, 0.03, 0.1, 0.05);
    pair.run(60.0);
    for (const Pair::End& end : pair.ends)
      EXPECT_EQ(end.link.memory(), kLittle);
  }
}

TEST(PeerLink, TakesTheMemoryThatItsFlightNeeds) {
  Pair pair(1, 0.03, 0.5, 0.05);
  pair.run(60.0);
  for (const Pair::End& end : pair.ends)
    EXPECT_EQ(end.link.memory(), 128u) << "a round trip of one second";
}

TEST(PeerLink, LosesNothingByATimeOutOnAPathThatKeepsTheOrder) {
  for (const bool ordered : {true, false}) {
    Pair pair(1, 0.0, 0.02, 0.0);
    for (auto& end : pair.ends)
      end.link.set_ordered(ordered);
    pair.run(5.0);
    pair.set_one_way_s(1.0);
    pair.run(5.0);
    for (const auto& end : pair.ends)
      EXPECT_EQ(end.link.loss() == 0.0, ordered);
  }
}

TEST(PeerLink, NoticesWhatALaterDatagramHasOvertakenOnAPathThatKeepsTheOrder) {
  Pair pair(1, 0.1, 0.02, 0.0);  // payloads that did not fit into a queue, for example
  for (auto& end : pair.ends)
    end.link.set_ordered(true);
  pair.run(20.0);
  for (const auto& end : pair.ends)
    EXPECT_NEAR(end.link.loss(), 0.1, 0.06);
}

TEST(PeerLink, ForgetsTheRoundTripOfAnotherPathButNoDatagram) {
  Pair pair(5, 0.0, 0.04, 0.0);
  pair.run(2.0);
  pair.ends[0].link.forget_path();
  EXPECT_FALSE(pair.ends[0].link.round_trip().known());
  pair.run(1.0);
  EXPECT_TRUE(pair.ends[0].link.round_trip().known());
  for (const auto& [number, arrived] : pair.ends[0].outcomes)
    EXPECT_TRUE(arrived) << number;
}

TEST(PeerLink, RefusesTheAcknowledgementOfWhatWasNeverSent) {
  PeerLink link(kAnswerDelayS);
  EXPECT_EQ(link.receive(0, Ack{0}, 0.0, 0.0), PeerLink::Receipt::refused);
  EXPECT_FALSE(link.acknowledge()) << "a refused datagram has not arrived";
  (void)link.begin(0.0);
  EXPECT_EQ(link.receive(0, Ack{1, {1}}, 0.0, 0.1), PeerLink::Receipt::refused);
  EXPECT_EQ(link.receive(0, Ack{0}, 0.0, 0.1), PeerLink::Receipt::newest);
}

TEST(PeerLink, RepeatsAWantedAcknowledgementForAWhile) {
  PeerLink link(kAnswerDelayS);
  EXPECT_FALSE(link.acknowledge_if_wanted());
  Sequence next = 65'530;  // the numbers wrap meanwhile
  (void)link.receive(next, {}, 0.0, 0.0);
  EXPECT_FALSE(link.acknowledge_if_wanted());
  link.want_ack(next);
  for (int i = 0; i < 32; ++i) {
    const auto ack = link.acknowledge_if_wanted();
    ASSERT_TRUE(ack) << i;
    EXPECT_EQ(ack->newest, next);
    (void)link.receive(++next, {}, 0.0, 0.0);
  }
  ASSERT_TRUE(link.acknowledge_if_wanted());
  for (int i = 0; i < 70'000; ++i) {
    (void)link.receive(++next, {}, 0.0, 0.0);
    ASSERT_FALSE(link.acknowledge_if_wanted()) << i;
  }
}

// Many datagrams arrive before this end sends anything.
TEST(PeerLink, AcknowledgesAWantedDatagramThreeTimesHoweverManyFollow) {
  PeerLink link(kAnswerDelayS);
  (void)link.receive(0, {}, 0.0, 0.0);
  link.want_ack(0);
  for (Sequence next = 1; next < 500; ++next)
    (void)link.receive(next, {}, 0.0, 0.0);
  for (int i = 0; i < 3; ++i) {
    const auto ack = link.acknowledge_if_wanted();
    ASSERT_TRUE(ack);
    EXPECT_TRUE(ack->names(499)) << i;
  }
  EXPECT_FALSE(link.acknowledge_if_wanted());
  // What nobody waited for costs nothing later.
  (void)link.receive(500, {}, 0.0, 0.0);
  link.want_ack(500);
  EXPECT_EQ(link.acknowledge_if_wanted()->words, 1u);
}

// A sender of bursts whose size and rate vary, over a path that shuffles each burst and repeats datagrams.
// The receiver acknowledges after `per_ack` datagrams; acknowledgements are lost and shuffled, too.
struct BurstyPath {
  std::uint32_t seed = 1;
  int largest_burst = 1000;
  int per_ack = 8;
  double loss = 0.0;
  double ack_loss = 0.0;

  struct Result {
    int sent = 0;
    int arrived = 0;
    int lost = 0;        // outcomes
    int false_lost = 0;  // outcomes of datagrams that arrived
    int open = 0;
    int slow_losses = 0;  // losses that the time-out could have found
  };

  [[nodiscard]] Result run(int bursts) const {
    std::mt19937 random(seed);
    const auto uniform = [&] { return std::uniform_real_distribution<>(0.0, 1.0)(random); };
    PeerLink sender(kAnswerDelayS), receiver(kAnswerDelayS);
    struct Packet {
      Sequence sequence;
      std::uint32_t number;
      std::optional<Ack> ack;
    };
    std::multimap<double, Packet> down, up;
    std::vector<int> outcomes, arrived;  // by number, of the sender's datagrams
    Result result;
    Sequence next_up = 0;
    int since_ack = 0;
    double now_s = 0.0;
    const auto settle = [&] {
      for (const PeerLink::Outcome& outcome : sender.outcomes()) {
        const std::uint32_t number = unwrap16(outcome.sequence, static_cast<std::uint32_t>(result.sent));
        ++outcomes[number];
        EXPECT_TRUE(!outcome.acked || arrived[number] == 1);
        if (outcome.acked) continue;
        ++result.lost;
        result.false_lost += arrived[number];
        result.slow_losses += now_s - outcome.sent_s > kAnswerDelayS ? 1 : 0;
      }
      sender.clear_outcomes();
    };
    const auto acknowledge = [&] {
      since_ack = 0;
      const Packet answer{next_up++, 0, receiver.acknowledge()};
      if (uniform() >= ack_loss) up.emplace(now_s + 0.01 + 0.0005 * uniform(), answer);
    };
    for (int tick = 0; tick < 40 * bursts + 400; ++tick, now_s += 0.002) {
      for (; !down.empty() && down.begin()->first <= now_s; down.erase(down.begin())) {
        const Packet& packet = down.begin()->second;
        const auto receipt = receiver.receive(packet.sequence, {}, 0.0, now_s);
        EXPECT_EQ(receipt == PeerLink::Receipt::repeated, arrived[packet.number] != 0);
        if (receipt == PeerLink::Receipt::repeated) continue;
        arrived[packet.number] = 1;
        receiver.want_ack(packet.sequence);
        if (++since_ack >= per_ack) acknowledge();
      }
      if (since_ack > 0) acknowledge();
      for (; !up.empty() && up.begin()->first <= now_s; up.erase(up.begin())) {
        EXPECT_NE(sender.receive(up.begin()->second.sequence, up.begin()->second.ack, 0.0, now_s),
                  PeerLink::Receipt::refused);
        settle();
      }
      sender.expire(now_s);
      settle();
      if (tick >= 40 * bursts || (tick % 40 != 0 && tick % 40 != 8)) continue;
      const bool large = tick % 40 == 0;
      const int burst = 1 + static_cast<int>(uniform() * (large ? largest_burst - 1 : 20));
      for (int i = 0; i < burst; ++i) {
        const Sequence sequence = sender.begin(now_s);
        settle();
        outcomes.push_back(0);
        arrived.push_back(0);
        const Packet packet{sequence, static_cast<std::uint32_t>(result.sent++), {}};
        for (int copies = uniform() < loss ? 0 : uniform() < 0.02 ? 2 : 1; copies > 0; --copies)
          down.emplace(now_s + 0.01 + 0.0005 * uniform(), packet);
      }
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_LE(outcomes[i], 1) << i;
      result.open += outcomes[i] == 0 ? 1 : 0;
      result.arrived += arrived[i];
    }
    return result;
  }
};

TEST(PeerLink, NothingThatArrivedInABurstCountsAsLost) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    for (const int per_ack : {1, 8, 300, 1000}) {
      const auto result = BurstyPath{.seed = seed, .per_ack = per_ack}.run(40);
      EXPECT_GT(result.sent, 10'000);
      EXPECT_EQ(result.arrived, result.sent);
      EXPECT_EQ(result.lost, 0) << "seed " << seed << ", an acknowledgement for " << per_ack;
      EXPECT_EQ(result.open, 0);
    }
  }
}

TEST(PeerLink, BurstsCrossTheWrapOfNumbers) {
  const auto result = BurstyPath{.seed = 3}.run(300);
  EXPECT_GT(result.sent, 140'000);
  EXPECT_EQ(result.lost + result.open, 0);
}

// Each loss is found, most of them by acknowledgements: the time-out finds only the last ones of a burst.
// Nothing else counts as lost.
TEST(PeerLink, LossesInBurstsAreFound) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const auto result = BurstyPath{.seed = seed, .loss = 0.05}.run(40);
    EXPECT_EQ(result.lost, result.sent - result.arrived) << seed;
    EXPECT_EQ(result.false_lost, 0);
    EXPECT_EQ(result.open, 0);
    EXPECT_LT(result.slow_losses, result.lost / 4) << result.lost;
  }
}

TEST(PeerLink, LostAcknowledgementsMakeNothingLost) {
  int sent = 0, false_lost = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const auto result = BurstyPath{.seed = seed, .loss = 0.02, .ack_loss = 0.1}.run(40);
    sent += result.sent;
    false_lost += result.false_lost;
    EXPECT_EQ(result.open, 0);
    EXPECT_EQ(result.lost - result.false_lost, result.sent - result.arrived);
  }
  EXPECT_LT(false_lost, sent / 500) << "only if three acknowledgements in a row are lost, out of " << sent;
}

TEST(PeerLink, KnowsTheBytesOfDatagramsInFlight) {
  PeerLink link(kAnswerDelayS);
  for (std::size_t i = 0; i < 3 * SentWindow::kCapacity; ++i) {
    const Sequence sequence = link.begin(0.001 * static_cast<double>(i));
    link.set_bytes(sequence, 100 + i);
    for (const PeerLink::Outcome& outcome : link.outcomes()) {
      EXPECT_FALSE(outcome.acked);
      EXPECT_EQ(outcome.sequence, i - SentWindow::kCapacity);
    }
    link.clear_outcomes();
    EXPECT_EQ(link.bytes(sequence), 100 + i);
  }
  EXPECT_NEAR(link.loss(), 1.0, 0.1);
}

}  // namespace
}  // namespace reckoner
