// SPDX-License-Identifier: MIT
#include "net/src/link/ack_window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(Sequence, DistanceWorksAcrossTheWrap) {
  EXPECT_EQ(sequence_distance(2, 65534), 4);
  EXPECT_EQ(sequence_distance(65534, 2), -4);
  EXPECT_EQ(sequence_distance(7, 7), 0);
}

TEST(Sequence, UnwrapFindsTheNearestValue) {
  for (const std::uint32_t reference : {0u, 5u, 65535u, 65536u, 1'000'000u, 4'294'967'290u}) {
    for (const int offset : {-30000, -1, 0, 1, 30000}) {
      const std::uint32_t expected = reference + static_cast<std::uint32_t>(offset);
      EXPECT_EQ(unwrap16(static_cast<std::uint16_t>(expected), reference), expected);
    }
  }
}

TEST(ReceivedWindow, RefusesDuplicatesAndOldDatagrams) {
  ReceivedWindow window;
  EXPECT_FALSE(window.any());
  EXPECT_TRUE(window.note(1100));
  EXPECT_FALSE(window.note(1100));
  EXPECT_TRUE(window.note(1102));
  EXPECT_TRUE(window.note(1101));
  EXPECT_FALSE(window.note(1101));
  EXPECT_FALSE(window.note(1100));
  EXPECT_TRUE(window.note(1102 - Ack::kMaxDatagrams));  // the last that fits
  EXPECT_FALSE(window.note(1102 - Ack::kMaxDatagrams));
  EXPECT_FALSE(window.note(1101 - Ack::kMaxDatagrams));
}

// Compares the window with a plain set, over a shuffled stream that crosses the wrap, with gaps of all sizes.
TEST(ReceivedWindow, AcknowledgesExactlyTheArrivedDatagrams) {
  ReceivedWindow window;
  std::set<int> arrived;
  std::mt19937 random(1);
  int newest = 0;
  for (int i = 0; i < 30'000; ++i) {
    const bool gap = random() % 300 == 0;
    const int sequence = newest + (gap ? static_cast<int>(random() % 3000)
                                       : static_cast<int>(random() % 45u) - (random() % 9 == 0 ? 1100 : 40));
    if (sequence < 0) continue;
    const bool fresh = !arrived.contains(sequence) &&
                       (arrived.empty() || sequence >= *arrived.rbegin() - Ack::kMaxDatagrams);
    ASSERT_EQ(window.note(static_cast<Sequence>(sequence)), fresh) << sequence;
    if (fresh) {
      arrived.insert(sequence);
      if (random() % 2 == 0) window.want(static_cast<Sequence>(sequence));
    }
    newest = *arrived.rbegin();
    if (random() % 3 != 0) continue;
    const Ack ack = window.acknowledge();
    ASSERT_EQ(ack.newest, static_cast<Sequence>(newest));
    ASSERT_TRUE(ack.words >= 1 && ack.words <= Ack::kMaxWords);
    for (int behind = 1; behind <= ack.covered(); ++behind)
      ASSERT_EQ(ack.names(behind), arrived.contains(newest - behind)) << "behind " << behind;
    for (std::size_t w = ack.words; w < Ack::kMaxWords; ++w)
      ASSERT_EQ(ack.window[w], 0u);
  }
  EXPECT_GT(newest, 65'536);
}

// What arrived or turned out to be missing is in the next three acknowledgements, however many datagrams lie
// between two of them.
TEST(ReceivedWindow, ThreeAcknowledgementsCoverAllNews) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    ReceivedWindow window;
    int next = 60'000;
    std::vector<std::set<int>> news(3);  // of the last three intervals, oldest first
    std::set<int> arrived;
    for (int i = 0; i < 400; ++i) {
      news.erase(news.begin());
      news.emplace_back();
      const int first = next;
      const int burst = 1 + static_cast<int>(random() % (random() % 4 == 0 ? 340 : 20));
      std::vector<int> sent(static_cast<std::size_t>(burst));
      std::iota(sent.begin(), sent.end(), first);
      std::shuffle(sent.begin(), sent.end(), random);
      next += burst;
      for (const int number : sent) {
        if (random() % 10 == 0 && !arrived.empty()) continue;
        ASSERT_TRUE(window.note(static_cast<Sequence>(number)));
        window.want(static_cast<Sequence>(number));
        arrived.insert(number);
        news.back().insert(number);
      }
      if (news.back().empty()) continue;
      const Ack ack = window.acknowledge();
      const int newest = *arrived.rbegin();
      for (const std::set<int>& interval : news) {
        for (const int number : interval) {
          if (number < newest - Ack::kMaxDatagrams) continue;
          ASSERT_TRUE(ack.names(newest - number)) << newest - number;
        }
      }
      for (int number = std::max(*arrived.begin(), first - 100); number <= newest - kReorderedDatagrams;
           ++number) {
        const bool judged_now = !arrived.contains(number) && number > first - kReorderedDatagrams;
        ASSERT_TRUE(!judged_now || ack.covered() >= newest - number);
      }
    }
  }
}

TEST(ReceivedWindow, UsualAcknowledgementsHaveOneWord) {
  ReceivedWindow window;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(window.note(static_cast<Sequence>(i)));
    window.want(static_cast<Sequence>(i));
    if (i % 8 != 0) continue;
    const Ack ack = window.acknowledge();
    ASSERT_EQ(ack.words, 1u);
    ASSERT_TRUE(i < 32 || ack.bits() == 18u) << "shorter than a window of 32 bits";
  }
}

std::set<Sequence> settled(const SentWindow& window, bool acked) {
  std::set<Sequence> result;
  for (const auto& outcome : window.outcomes()) {
    if (outcome.acked != acked) continue;
    EXPECT_TRUE(result.insert(outcome.sequence).second) << "settled twice";
  }
  return result;
}

constexpr double kOvertakingS = 0.01;

TEST(SentWindow, ReportsTheOutcomeOfEachDatagram) {
  SentWindow window;
  for (int i = 0; i < 80; ++i)
    EXPECT_EQ(window.send(0.1 * i), i);
  EXPECT_TRUE(window.acknowledge({36, {0b101}}, 0.0, kOvertakingS));
  EXPECT_EQ(settled(window, true), (std::set<Sequence>{36, 35, 33}));
  EXPECT_TRUE(settled(window, false).empty()) << "the window does not cover 0 to 3";
  window.clear_outcomes();
  EXPECT_TRUE(window.acknowledge({36, {0b101, 0b1}, 2}, 8.0, kOvertakingS));
  EXPECT_EQ(settled(window, true), (std::set<Sequence>{3}));
  window.expire(8.0 + kOvertakingS, 10.0, kOvertakingS);
  EXPECT_TRUE(settled(window, false).empty()) << "an earlier acknowledgement may still arrive";
  window.expire(8.0 + 1.1 * kOvertakingS, 10.0, kOvertakingS);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0, 1, 2})) << "33 newer ones were sent";
  EXPECT_EQ(window.in_flight(), 80u - 7u);
  window.clear_outcomes();

  EXPECT_TRUE(window.acknowledge({36, {0b1}}, 0.0, kOvertakingS));  // repeated acknowledgement: nothing new
  EXPECT_TRUE(window.outcomes().empty());
  EXPECT_TRUE(window.acknowledge({2, {0b11}}, 0.0, kOvertakingS));  // late: what was given up stays given up
  EXPECT_TRUE(window.outcomes().empty());
}

// All datagrams of a burst leave at one instant, and may arrive in any order.
TEST(SentWindow, DatagramsOfABurstAreNotLostBecauseOthersOvertookThem) {
  SentWindow window;
  for (int i = 0; i < 300; ++i)
    (void)window.send(1.0);
  EXPECT_TRUE(window.acknowledge({299, {0, 1}, 10}, 1.1, kOvertakingS));
  EXPECT_EQ(settled(window, true), (std::set<Sequence>{299, 266}));
  window.clear_outcomes();
  const auto lost_after = [&](const Ack& ack, double now_s) {
    EXPECT_TRUE(window.acknowledge(ack, now_s, kOvertakingS));
    window.expire(now_s + 2.0 * kOvertakingS, 10.0, kOvertakingS);
    return settled(window, false).size();
  };
  EXPECT_EQ(lost_after({299, {0, 1}, 10}, 1.2), 0u);
  // Later datagrams arrive. The acknowledgement need not cover the burst again: it is known what is missing.
  for (int i = 0; i < 40; ++i)
    (void)window.send(1.0 + 0.5 * kOvertakingS);
  EXPECT_EQ(lost_after({339, {0}, 1}, 1.3), 0u) << "they may still be overtaken";
  for (int i = 0; i < 40; ++i)
    (void)window.send(1.0 + 1.5 * kOvertakingS);
  EXPECT_EQ(lost_after({379, {0}, 1}, 1.4), 300u - 2u - 32u) << "all that an acknowledgement found missing";
}

// Acknowledgements overtake each other, too. One that is newer and covers less arrives first.
TEST(SentWindow, AnOvertakenAcknowledgementStillCounts) {
  SentWindow window;
  for (int i = 0; i < 100; ++i)
    (void)window.send(i < 50 ? 1.0 : 2.0);
  EXPECT_TRUE(window.acknowledge({49, {0, 0}, 2}, 1.1, kOvertakingS));
  EXPECT_TRUE(window.acknowledge({99, {0}, 1}, 2.1, kOvertakingS));
  window.expire(2.1, 10.0, kOvertakingS);
  EXPECT_TRUE(window.acknowledge({60, {0, 0x0fffffffu}, 2}, 2.1, kOvertakingS));
  window.expire(2.2, 10.0, kOvertakingS);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{}));
}

TEST(SentWindow, GivesUpAfterATimeout) {
  SentWindow window;
  window.send(0.0);
  window.send(0.5);
  window.expire(0.7, 0.3, kOvertakingS);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0}));
  window.clear_outcomes();
  window.expire(0.7, 0.3, kOvertakingS);
  EXPECT_TRUE(window.outcomes().empty());
  EXPECT_EQ(window.in_flight(), 1u);
}

TEST(SentWindow, ReportsALateAcknowledgementOnce) {
  SentWindow window;
  window.send(0.25);
  window.send(0.5);
  window.expire(1.0, 0.1, kOvertakingS);
  window.clear_outcomes();
  EXPECT_TRUE(window.acknowledge({1, {0b1}}, 0.0, kOvertakingS));
  EXPECT_TRUE(window.outcomes().empty());
  ASSERT_EQ(window.late().size(), 2u);
  EXPECT_EQ(window.late()[0].sent_s, 0.25);
  window.clear_outcomes();
  EXPECT_TRUE(window.acknowledge({1, {0b1}}, 0.0, kOvertakingS));
  EXPECT_TRUE(window.late().empty());
}

TEST(SentWindow, RefusesAcknowledgementsOfUnsentDatagrams) {
  SentWindow window;
  EXPECT_FALSE(window.acknowledge({0}, 0.0, kOvertakingS));
  window.send(0.0);
  EXPECT_FALSE(window.acknowledge({1, {~0u}}, 0.0, kOvertakingS));
  EXPECT_FALSE(window.acknowledge({1000}, 0.0, kOvertakingS));
  EXPECT_EQ(window.in_flight(), 1u);
  EXPECT_TRUE(window.acknowledge({0}, 0.0, kOvertakingS));
}

TEST(SentWindow, RefusesAcknowledgementsWithBitsOfUnsentDatagrams) {
  SentWindow window;
  for (int i = 0; i < 40; ++i)
    (void)window.send(0.0);
  EXPECT_FALSE(window.acknowledge({20, {1u << 20}}, 0.0, kOvertakingS)) << "the one before number 0";
  EXPECT_FALSE(window.acknowledge({39, {0, 1u << 7}, 2}, 0.0, kOvertakingS));
  EXPECT_FALSE(window.acknowledge({39, {0, 0, 0, 1u << 31}, 4}, 0.0, kOvertakingS));
  EXPECT_FALSE(window.acknowledge({60'000}, 0.0, kOvertakingS));
  EXPECT_EQ(window.in_flight(), 40u) << "a refused acknowledgement changes nothing";
  EXPECT_TRUE(window.acknowledge({20, {1u << 19}}, 0.0, kOvertakingS));
  EXPECT_TRUE(window.acknowledge({39, {0, 1u << 6, 0, 0}, 4}, 0.0, kOvertakingS)) << "zeros say nothing";
  // When the numbers have wrapped, all were sent.
  for (int i = 40; i < 65'536 + 5; ++i)
    (void)window.send(0.0);
  EXPECT_TRUE(window.acknowledge({2, {~0u, ~0u}, 2}, 0.0, kOvertakingS));
  EXPECT_FALSE(window.acknowledge({5}, 0.0, kOvertakingS)) << "comes next";
}

TEST(SentWindow, ReportsEachOutcomeOnceAcrossTheWrap) {
  SentWindow window;
  std::size_t total = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Sequence sequence = window.send(i);
    EXPECT_TRUE(i % 3 != 0 || window.acknowledge({sequence, {i < 32 ? 0 : 0x11111111u}}, 0.0, kOvertakingS));
    total += window.outcomes().size();
    window.clear_outcomes();
  }
  EXPECT_EQ(total + window.in_flight(), 200'000u);
}

// The rules of SentWindow, followed for each datagram by itself. Numbers do not wrap here.
class PlainWindow {
 public:
  void send(double now_s) {
    if (sent_.size() - first_open() >= SentWindow::kCapacity) sent_[first_open()].lost = true;
    sent_.push_back({.sent_s = now_s});
  }
  void acknowledge(std::size_t newest, const Ack& ack, double now_s, double overtaking_s) {
    for (std::size_t i = first_open(); i <= newest; ++i) {
      Sent& sent = sent_[i];
      const auto behind = static_cast<int>(newest - i);
      if (!sent.open()) continue;
      if (ack.names(behind)) {
        sent.acked = true;
      } else if (behind >= kReorderedDatagrams) {
        sent.missing = sent.missing || behind <= ack.covered();
        const bool overtaken = sent.sent_s < sent_[newest].sent_s - overtaking_s;
        if (sent.missing && !sent.doubted && overtaken)
          sent.doubted = static_cast<float>(now_s - sent.sent_s);
      }
    }
  }
  void expire(double now_s, double timeout_s, double overtaking_s) {
    for (std::size_t i = first_open(); i < sent_.size(); ++i) {
      Sent& sent = sent_[i];
      const bool is_missing = sent.doubted && sent.sent_s + double{*sent.doubted} < now_s - overtaking_s;
      if (sent.open() && (sent.sent_s < now_s - timeout_s || is_missing)) sent.lost = true;
    }
  }

  struct Sent {
    double sent_s = 0.0;
    bool acked = false, lost = false, missing = false;
    std::optional<float> doubted;
    [[nodiscard]] bool open() const { return !acked && !lost; }
  };
  [[nodiscard]] const std::vector<Sent>& sent() const { return sent_; }
  [[nodiscard]] std::size_t in_flight() {
    const auto from = sent_.begin() + static_cast<std::ptrdiff_t>(first_open());
    return static_cast<std::size_t>(std::count_if(from, sent_.end(), std::mem_fn(&Sent::open)));
  }

 private:
  std::size_t first_open() {
    while (first_ < sent_.size() && !sent_[first_].open())
      ++first_;
    return first_;
  }
  std::vector<Sent> sent_;
  std::size_t first_ = 0;
};

// Acknowledgements that no honest client would send, too: any number, any words, in any order.
TEST(SentWindow, FollowsItsRulesForAnyAcknowledgement) {
  std::size_t acked = 0, lost = 0, late = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    SentWindow window;
    PlainWindow plain;
    const std::size_t largest_burst = seed % 3 == 0 ? 300 : 1 + seed;
    double now_s = 0.0;
    for (int step = 0; step < 300; ++step) {
      now_s += 0.001 * static_cast<double>(below(20));
      for (std::size_t i = below(largest_burst); i > 0; --i) {
        plain.send(now_s);
        (void)window.send(now_s);
      }
      const std::size_t count = plain.sent().size();
      for (std::size_t i = count > 0 ? below(3) : 0; i > 0; --i) {
        const std::size_t newest = count - 1 - below(std::min<std::size_t>(count, below(2) == 0 ? 40 : 1200));
        Ack ack{.newest = static_cast<Sequence>(newest),
                .words = 1 + below(below(2) == 0 ? 2 : Ack::kMaxWords)};
        for (std::size_t w = 0; w < ack.words; ++w) {
          for (std::size_t bit = 0; bit < 32; ++bit) {
            const bool was_sent = 32 * w + bit < newest;
            if (was_sent && below(seed % 4 == 0 ? 2 : 30) != 0) ack.window[w] |= 1u << bit;
          }
        }
        ASSERT_TRUE(window.acknowledge(ack, now_s, kOvertakingS));
        plain.acknowledge(newest, ack, now_s, kOvertakingS);
      }
      window.expire(now_s, 0.3, kOvertakingS);
      plain.expire(now_s, 0.3, kOvertakingS);
      for (const auto& outcome : window.outcomes()) {
        ASSERT_EQ(outcome.acked, plain.sent()[outcome.sequence].acked);
        ASSERT_NE(outcome.acked, plain.sent()[outcome.sequence].lost) << "seed " << seed << ", step " << step;
        ASSERT_EQ(outcome.sent_s, plain.sent()[outcome.sequence].sent_s);
        ++(outcome.acked ? acked : lost);
      }
      for (const auto& outcome : window.late())
        ASSERT_TRUE(plain.sent()[outcome.sequence].lost);
      late += window.late().size();
      window.clear_outcomes();
      ASSERT_EQ(window.in_flight(), plain.in_flight());
    }
  }
  EXPECT_GT(acked, 100'000u);
  EXPECT_GT(lost, 10'000u);
  EXPECT_GT(late, 1000u);
}

TEST(SentWindow, OldestIsLostWhenTooManyAreInFlight) {
  SentWindow window;
  for (std::size_t i = 0; i <= SentWindow::kCapacity; ++i)
    window.send(0.0);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0}));
  EXPECT_EQ(window.in_flight(), SentWindow::kCapacity);
}

}  // namespace
}  // namespace reckoner
