// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <reckoner/reckoning/result.hpp>

namespace reckoner {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<std::string> value{std::string("seven")};
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, "seven");
  EXPECT_EQ(value->size(), 5u);
  const Result<std::string> error{Error{"no numbers"}};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error(), "no numbers");
}

enum class Fault : unsigned char { full };

std::string_view describe(Fault) {
  return "the ship is full";
}

TEST(Result, HoldsAnErrorOfAnotherType) {
  Result<int, Fault> value{7};
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
  const Result<int, Fault> failed{Fault::full};
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), Fault::full);
  EXPECT_DEATH((void)*failed, "reckoner: Result has no value, but the error: the ship is full");
}

// In every build: a release build would otherwise read memory that is not there.
TEST(Result, AccessToAMissingValueAbortsWithTheError) {
  Result<std::string> failed{Error{"port 9 is in use"}};
  EXPECT_DEATH((void)failed->size(), "reckoner: Result has no value, but the error: port 9 is in use");
  EXPECT_DEATH((void)*failed, "port 9 is in use");
  const Result<std::string> failed_too{Error{"no server"}};
  EXPECT_DEATH((void)*failed_too, "no server");
  const Result<std::string> value{std::string("seven")};
  EXPECT_DEATH((void)value.error(), "reckoner: Result has no error");
}

}  // namespace
}  // namespace reckoner
