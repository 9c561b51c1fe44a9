// SPDX-License-Identifier: MIT
// A failed ASSERT_ in a helper function ends the whole test, not only the helper. Otherwise the test would
// continue without the objects that the helper could not prepare, and crash.
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

class ThrowOnFatalFailure final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.type() == testing::TestPartResult::kFatalFailure) throw testing::AssertionException(result);
  }
};

const bool kRegistered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new ThrowOnFatalFailure);  // the list deletes it
  return true;
}();

}  // namespace
}  // namespace reckoner::test
