// SPDX-License-Identifier: MIT
#include "reckoning/src/statistics/quantile.hpp"

#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(Quantile, IsTheValueThatTheGivenShareDoesNotExceed) {
  std::vector<double> values;
  for (int i = 1000; i > 0; --i)
    values.push_back(i);
  EXPECT_EQ(quantile(values, 0.5), 500.0);
  EXPECT_EQ(quantile(values, 0.99), 990.0);
  EXPECT_EQ(quantile(values, 0.999), 999.0);
  EXPECT_EQ(quantile(values, 1.0), 1000.0);
  EXPECT_EQ(quantile(values, 0.0), 1.0);
  EXPECT_EQ(quantile(std::span<double>{}, 0.5), 0.0);
}

}  // namespace
}  // namespace reckoner
