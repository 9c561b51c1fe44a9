// SPDX-License-Identifier: MIT
#include "net/src/codec/codes_text.hpp"

#include "net/src/codec/residual/coding_statistics.hpp"
#include "tests/reckoning/random_states.hpp"

#include <string>

#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

TEST(CodesText, RoundTrip) {
  auto orders = CodeParameters{}.orders;
  EXPECT_EQ(read_codes(codes_text(orders)), orders);
  orders.front() = {OrderRule::kMinOffset, OrderRule::kMaxSlope};
  orders.back() = {OrderRule::kMaxOffset, 0};
  EXPECT_EQ(read_codes(codes_text(orders) + "\r\n"), orders);
}

TEST(CodesText, MalformedTextIsRefused) {
  const std::string good = codes_text(CodeParameters{}.orders);
  ASSERT_TRUE(read_codes(good));
  for (const std::string& bad :
       {std::string(), std::string("codes-1"), "codes-2" + good.substr(7), good + " 0", good + " x",
        good.substr(0, good.rfind(' ')), "codes-1 64" + good.substr(good.find(' ', 8)),
        "codes-1 -65" + good.substr(good.find(' ', 8)), good.substr(0, good.rfind(' ')) + " 32",
        good.substr(0, good.rfind(' ')) + " -1", good.substr(0, good.rfind(' ')) + " 1.5"})
    EXPECT_FALSE(read_codes(bad)) << bad;
}

// Bodies in free space, which the default codes were not fitted to.
double bits_of(const Quantisation& q, std::uint64_t seed, std::string* fitted) {
  test::RandomStates random{seed};
  CodingStatistics statistics;
  for (int i = 0; i < 2000; ++i) {
    State s;
    s.position = random.vector(30.0);
    s.velocity = glm::vec3{random.vector(3.0)};
    s.angular_velocity = glm::vec3{random.vector(2.0)};
    const QuantisedState baseline = quantise(s, 0, CodingMode{.reach = 3, .steady = true}, q);
    s = extrapolate(s, 1.0);
    s.position += random.vector(0.3);
    s.velocity += glm::vec3{random.vector(1.0)};
    s.angular_velocity += glm::vec3{random.vector(0.5)};
    const QuantisedState state = quantise(s, 0, CodingMode{.reach = 3, .steady = true}, q);
    statistics.add(state, &baseline, 1.0, q, 0);
  }
  const CodingFigures figures = statistics.figures();
  if (fitted != nullptr) *fitted = figures.fitted_codes;
  return figures.residual_bits;
}

TEST(CodesText, FittedCodesSaveBitsOnOtherMotionOfTheSameKind) {
  Archetype archetype;
  std::string fitted;
  bits_of(quantisation_for(archetype), 1, &fitted);
  const double before = bits_of(quantisation_for(archetype), 2, nullptr);
  archetype.codes = fitted;
  EXPECT_LT(bits_of(quantisation_for(archetype), 2, nullptr), 0.98 * before);
}

}  // namespace
}  // namespace reckoner
