// SPDX-License-Identifier: MIT
#include "harness/sim/link.hpp"

#include "harness/sim/link_script.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

constexpr std::size_t kBytes = 100;
constexpr double kInterval = 0.01;

std::vector<LinkFate> send(Link& link, int datagrams, double interval_s = kInterval) {
  std::vector<LinkFate> fates;
  for (int i = 0; i < datagrams; ++i)
    fates.push_back(link.pass(i * interval_s, kBytes));
  return fates;
}

double lost_share(const std::vector<LinkFate>& fates) {
  return static_cast<double>(std::ranges::count_if(fates, &LinkFate::lost)) /
         static_cast<double>(fates.size());
}

double mean_burst(const std::vector<LinkFate>& fates) {
  int bursts = 0;
  int lost = 0;
  bool before = false;
  for (const LinkFate& fate : fates) {
    if (fate.lost()) ++lost;
    if (fate.lost() && !before) ++bursts;
    before = fate.lost();
  }
  return bursts > 0 ? static_cast<double>(lost) / bursts : 0.0;
}

TEST(Link, PerfectByDefault) {
  Link link({}, 1);
  for (const LinkFate& fate : send(link, 100)) {
    ASSERT_EQ(fate.count, 1u);
  }
  EXPECT_EQ(link.pass(2.5, kBytes).arrived_s[0], 2.5);
}

TEST(Link, KnowsTheNamedNetworks) {
  ASSERT_EQ(named_networks().size(), 6u);
  const auto mobile = find_network("mobile");
  ASSERT_TRUE(mobile);
  EXPECT_EQ(mobile->latency_ms, 80.0);
  EXPECT_EQ(mobile->jitter_ms, 40.0);
  EXPECT_EQ(mobile->loss_percent, 3.0);
  EXPECT_EQ(mobile->burst, 3.0);
  EXPECT_FALSE(find_network("Mobile"));
  for (const NamedNetwork& network : named_networks())
    EXPECT_FALSE(check(network.options)) << network.name;
}

TEST(Link, DelaysByLatencyPlusHalfNormalJitter) {
  Link link({.latency_ms = 80, .jitter_ms = 20}, 7);
  const auto fates = send(link, 50000);
  double sum = 0.0;
  double least = 1e9;
  for (std::size_t i = 0; i < fates.size(); ++i) {
    const double delay = fates[i].arrived_s[0] - static_cast<double>(i) * kInterval;
    sum += delay;
    least = std::min(least, delay);
  }
  EXPECT_GE(least, 0.080 - 1e-9);
  EXPECT_LT(least, 0.0801);
  // E|N(0,1)| = sqrt(2/pi); the standard error of the mean is 0.00005 s here.
  EXPECT_NEAR(sum / 50000, 0.080 + 0.020 * std::sqrt(2.0 / std::numbers::pi), 0.0003);
}

TEST(Link, JitterReordersDatagrams) {
  Link link({.latency_ms = 80, .jitter_ms = 40}, 3);
  const auto fates = send(link, 1000);
  int overtaken = 0;
  for (std::size_t i = 1; i < fates.size(); ++i)
    overtaken += fates[i].arrived_s[0] < fates[i - 1].arrived_s[0];
  EXPECT_GT(overtaken, 100);
}

TEST(Link, LosesIndependently) {
  Link link({.loss_percent = 10}, 11);
  const auto fates = send(link, 100000);
  EXPECT_NEAR(lost_share(fates), 0.10, 0.005);
  EXPECT_NEAR(mean_burst(fates), 1.0 / 0.9, 0.03);
}

class LinkBursts : public ::testing::TestWithParam<double> {};

TEST_P(LinkBursts, HaveTheConfiguredLossAndMeanLength) {
  const double burst = GetParam();
  Link link({.loss_percent = 3, .burst = burst}, 5);
  const auto fates = send(link, 400000);
  EXPECT_NEAR(lost_share(fates), 0.03, 0.003);
  EXPECT_NEAR(mean_burst(fates), burst, burst * 0.05);
}

INSTANTIATE_TEST_SUITE_P(Means, LinkBursts, ::testing::Values(1.5, 2.0, 3.0, 8.0));

TEST(Link, KeepsTheLossWhenBurstsMustGrow) {
  Link link({.loss_percent = 90, .burst = 2}, 5);
  EXPECT_NEAR(lost_share(send(link, 100000)), 0.90, 0.01);
}

TEST(Link, ExtremesAreExact) {
  for (const double burst : {1.0, 4.0}) {
    Link none({.loss_percent = 0, .burst = burst}, 2);
    EXPECT_EQ(lost_share(send(none, 10000)), 0.0);
    Link all({.loss_percent = 100, .burst = burst}, 2);
    EXPECT_EQ(lost_share(send(all, 10000)), 1.0);
  }
}

TEST(Link, DuplicatesHaveTheirOwnDelay) {
  Link link({.latency_ms = 10, .jitter_ms = 5, .loss_percent = 20, .duplicate_percent = 25}, 9);
  const auto fates = send(link, 100000);
  double twice = 0;
  double once = 0;
  for (const LinkFate& fate : fates) {
    if (fate.count == 2) {
      ++twice;
      EXPECT_NE(fate.arrived_s[0], fate.arrived_s[1]);
    } else if (fate.count == 1) {
      ++once;
    }
  }
  EXPECT_NEAR(twice / (twice + once), 0.25, 0.01);
}

TEST(Link, RateLimitSerialises) {
  // 100 bytes at 80 kbit/s occupy the line for 10 ms each.
  Link link({.latency_ms = 5, .rate_kbps = 80, .queue_ms = 1000}, 1);
  for (int i = 0; i < 10; ++i) {
    const LinkFate fate = link.pass(1.0, kBytes);
    ASSERT_EQ(fate.count, 1u);
    EXPECT_NEAR(fate.arrived_s[0], 1.0 + 0.010 * (i + 1) + 0.005, 1e-12);
  }
  // An idle line has no queue.
  EXPECT_NEAR(link.pass(5.0, kBytes).arrived_s[0], 5.015, 1e-12);
}

TEST(Link, DropsDatagramsBeyondTheQueue) {
  Link link({.rate_kbps = 80, .queue_ms = 50}, 1);
  const auto fates = send(link, 2000, 0.005);  // twice what the line can carry
  EXPECT_NEAR(lost_share(fates), 0.5, 0.01);
  for (std::size_t i = 0; i < fates.size(); ++i) {
    EXPECT_EQ(fates[i].lost(), fates[i].queue_full);
    if (!fates[i].lost()) {
      EXPECT_LE(fates[i].arrived_s[0] - static_cast<double>(i) * 0.005, 0.060 + 1e-9);
    }
  }
}

TEST(Link, SameSeedGivesTheSameFate) {
  const LinkOptions options{
      .latency_ms = 50, .jitter_ms = 20, .loss_percent = 5, .burst = 2, .duplicate_percent = 5};
  Link a(options, 42);
  Link b(options, 42);
  Link c(options, 43);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const LinkFate fate = a.pass(i * kInterval, kBytes);
    const LinkFate same = b.pass(i * kInterval, kBytes);
    const LinkFate other = c.pass(i * kInterval, kBytes);
    ASSERT_EQ(fate.count, same.count);
    ASSERT_EQ(fate.arrived_s, same.arrived_s);
    differs |= fate.arrived_s != other.arrived_s;
  }
  EXPECT_TRUE(differs);
}

TEST(Link, OneOptionDoesNotChangeOtherRandomDraws) {
  const LinkOptions base{.latency_ms = 50, .jitter_ms = 20, .loss_percent = 5};
  LinkOptions changed = base;
  changed.duplicate_percent = 30;
  changed.loss_percent = 15;
  Link a(base, 42);
  Link b(changed, 42);
  for (int i = 0; i < 5000; ++i) {
    const LinkFate few = a.pass(i * kInterval, kBytes);
    const LinkFate more = b.pass(i * kInterval, kBytes);
    if (few.lost()) {
      ASSERT_TRUE(more.lost());
    }
    if (!more.lost()) {
      ASSERT_EQ(few.arrived_s[0], more.arrived_s[0]);
    }
  }
}

TEST(Link, OptionsMayChangeDuringARun) {
  Link link({.latency_ms = 10}, 1);
  EXPECT_NEAR(link.pass(1.0, kBytes).arrived_s[0], 1.010, 1e-12);
  link.set_options({.latency_ms = 90, .loss_percent = 0});
  EXPECT_NEAR(link.pass(1.1, kBytes).arrived_s[0], 1.190, 1e-12);
  link.set_options({.loss_percent = 100});
  EXPECT_TRUE(link.pass(1.2, kBytes).lost());
}

TEST(LinkOptions, RefusesValuesOutOfRange) {
  LinkOptions options;
  EXPECT_FALSE(set_option(options, "loss", 12.5));
  EXPECT_EQ(options.loss_percent, 12.5);
  EXPECT_TRUE(set_option(options, "loss", 101));
  EXPECT_TRUE(set_option(options, "loss", std::nan("")));
  EXPECT_TRUE(set_option(options, "latency-ms", -1));
  EXPECT_TRUE(set_option(options, "latency", 1));
  EXPECT_EQ(options, (LinkOptions{.loss_percent = 12.5}));
}

TEST(LinkScript, AppliesChangesAtTheirTime) {
  auto script = LinkScript::parse(
      "# a comment\n"
      "10 network=mobile\r\n"
      "\n"
      "12.5 down loss=20 burst=4  # worse\n"
      "20 up latency-ms=30 jitter-ms=0");
  ASSERT_TRUE(script) << script.error();
  LinkPair links;
  EXPECT_EQ(script->next_s(), 10.0);
  EXPECT_FALSE(script->advance(9.99, links));
  EXPECT_TRUE(script->advance(10.0, links));
  EXPECT_EQ(links.up, *find_network("mobile"));
  EXPECT_EQ(links.down, *find_network("mobile"));
  EXPECT_FALSE(script->advance(12.0, links));
  EXPECT_TRUE(script->advance(30.0, links));
  EXPECT_EQ(links.down.loss_percent, 20.0);
  EXPECT_EQ(links.down.burst, 4.0);
  EXPECT_EQ(links.down.latency_ms, 80.0);
  EXPECT_EQ(links.up.loss_percent, 3.0);
  EXPECT_EQ(links.up.latency_ms, 30.0);
  EXPECT_EQ(links.up.jitter_ms, 0.0);
  EXPECT_TRUE(std::isinf(script->next_s()));
}

TEST(LinkScript, ErrorsNameTheLine) {
  for (const char* bad :
       {"x loss=1", "-1 loss=1", "1", "1 loss", "1 loss=", "1 loss=abc", "1 loss=200", "1 speed=3",
        "1 network=moon", "1 up", "0.5 loss=1", "nan loss=1", "1e999 loss=1"}) {
    const auto script = LinkScript::parse(std::string("1 loss=1\n") + bad + "\n");
    ASSERT_FALSE(script) << bad;
    EXPECT_NE(script.error().find("line 2"), std::string::npos) << script.error();
  }
  EXPECT_FALSE(LinkScript::load("no/such/file"));
  EXPECT_FALSE(LinkScript::load("/dev/zero")) << "has no end";
  EXPECT_FALSE(LinkScript::load("/tmp")) << "is a directory";
  EXPECT_TRUE(LinkScript::parse(""));
}

}  // namespace
}  // namespace reckoner::harness
