// SPDX-License-Identifier: MIT
#include "net/src/link/peer_link.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>

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
        send({1 - i, end.sent, end.link.ack()});
        ++end.sent;
      }
    }
  }

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
  pair.run(700.0);  // 70,000 datagrams each way
  EXPECT_GT(pair.ends[0].outcomes.size(), 69'900u);
}

TEST(PeerLink, MeasuresTheRoundTripAndTheLoss) {
  for (const double loss : {0.0, 0.05, 0.2}) {
    Pair pair(3, loss, 0.04, 0.0);
    pair.run(60.0);
    // Each way, a datagram may wait up to 10 ms until it is received.
    EXPECT_NEAR(pair.ends[0].link.round_trip().round_trip_s(), 0.09, 0.012);
    EXPECT_NEAR(pair.ends[0].link.loss(), loss, 0.3 * loss + 0.02);
  }
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
  EXPECT_EQ(link.receive(0, Ack{0, 0}, 0.0, 0.0), PeerLink::Receipt::refused);
  EXPECT_FALSE(link.ack()) << "a refused datagram has not arrived";
  (void)link.begin(0.0);
  EXPECT_EQ(link.receive(0, Ack{1, 1}, 0.0, 0.1), PeerLink::Receipt::refused);
  EXPECT_EQ(link.receive(0, Ack{0, 0}, 0.0, 0.1), PeerLink::Receipt::newest);
}

TEST(PeerLink, RepeatsAWantedAcknowledgementForAWhile) {
  PeerLink link(kAnswerDelayS);
  EXPECT_FALSE(link.wanted_ack());
  Sequence next = 65'530;  // the numbers wrap meanwhile
  (void)link.receive(next, {}, 0.0, 0.0);
  EXPECT_FALSE(link.wanted_ack());
  link.want_ack(next);
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(link.wanted_ack()) << i;
    EXPECT_EQ(link.wanted_ack()->newest, next);
    (void)link.receive(++next, {}, 0.0, 0.0);
  }
  ASSERT_TRUE(link.wanted_ack());
  (void)link.receive(++next, {}, 0.0, 0.0);
  EXPECT_FALSE(link.wanted_ack());
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
