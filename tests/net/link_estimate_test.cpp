// SPDX-License-Identifier: MIT
#include "net/src/link/link_estimate.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(LinkEstimate, TimeoutIsASecondBeforeTheFirstSample) {
  const LinkEstimate link;
  EXPECT_FALSE(link.known());
  EXPECT_EQ(link.timeout_s(0.1), 1.0);
}

TEST(LinkEstimate, SettlesOnASteadyRoundTrip) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i)
    link.add(0.12);
  EXPECT_NEAR(link.round_trip_s(), 0.12, 1e-9);
  EXPECT_NEAR(link.timeout_s(0.05), 0.17, 1e-3);
  EXPECT_NEAR(link.one_way_s(), 0.06, 1e-3);
}

TEST(LinkEstimate, TimeoutCoversTheJitter) {
  LinkEstimate link;
  for (int i = 0; i < 200; ++i)
    link.add(i % 2 == 0 ? 0.1 : 0.2);
  EXPECT_GT(link.timeout_s(0.0), 0.2);
  EXPECT_LT(link.timeout_s(0.0), 0.45);
}

TEST(LinkEstimate, OneWayIsBounded) {
  LinkEstimate link;
  for (int i = 0; i < 50; ++i)
    link.add(5.0);
  EXPECT_EQ(link.one_way_s(), 0.25);
}

TEST(LinkEstimate, IgnoresImpossibleSamples) {
  LinkEstimate link;
  link.add(-0.1);
  link.add(11.0);
  link.add(std::nan(""));
  EXPECT_FALSE(link.known());
}

}  // namespace
}  // namespace reckoner
