// SPDX-License-Identifier: MIT
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {
namespace {

Motion motion_in_frame(double time_s, FrameId frame = {}) {
  Motion motion;
  motion.time_s = time_s;
  motion.state.position.x = 10.0 * time_s;
  motion.frame = frame;
  return motion;
}

// In whatever order they come, the newest are there, by time.
TEST(MotionHistory, KeepsTheNewestByTime) {
  std::mt19937 random{11};
  for (int round = 0; round < 100; ++round) {
    std::map<double, bool> times;
    const auto draw = [&] { return static_cast<double>(random() % 400); };
    double first_s = draw();
    MotionHistory history{motion_in_frame(first_s)};
    times[first_s] = true;
    for (int i = 0; i < 150; ++i) {
      // A quarter comes in order, as most do.
      const double time_s = i % 4 == 0 ? 400.0 + i : draw();
      const bool full = history.motions().size() == MotionHistory::kMost;
      const bool news = !(full && time_s < history.oldest().time_s) && !times.contains(time_s);
      if (times.contains(time_s) && time_s < history.oldest().time_s) continue;  // forgotten: either will do
      ASSERT_EQ(history.is_news(time_s), news) << time_s;
      if (!news) continue;
      history.add(motion_in_frame(time_s));
      times[time_s] = true;
    }
    ASSERT_EQ(history.motions().size(), MotionHistory::kMost);
    auto expected = times.rbegin();
    for (std::size_t i = MotionHistory::kMost; i-- > 0; ++expected) {
      EXPECT_EQ(history.motions()[i].time_s, expected->first);
      EXPECT_EQ(history.motions()[i].state.position.x, 10.0 * expected->first);
    }
  }
}

TEST(MotionHistory, StartsWithTheNewestOfWhatIsKnown) {
  std::vector<Motion> known;
  for (int i = 0; i < 50; ++i)
    known.push_back(motion_in_frame(i));
  const MotionHistory history{known};
  EXPECT_EQ(history.motions().size(), MotionHistory::kMost);
  EXPECT_EQ(history.oldest().time_s, 18.0);
  EXPECT_EQ(history.newest().time_s, 49.0);
}

TEST(MotionHistory, ForgetsWhatIsInAFrame) {
  const FrameId ship{7};
  MotionHistory history{motion_in_frame(0.0)};
  for (int i = 1; i < 40; ++i)
    history.add(motion_in_frame(i, i % 2 == 0 ? ship : FrameId{}));
  const Motion instead = motion_in_frame(20.5);
  history.forget(ship, &instead);
  double before_s = -1.0;
  bool found = false;
  for (const Motion& motion : history.motions()) {
    EXPECT_EQ(motion.frame, FrameId{});
    EXPECT_GT(motion.time_s, before_s);
    before_s = motion.time_s;
    found = found || motion.time_s == 20.5;
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(history.newest().time_s, 39.0);
}

TEST(MotionHistory, MayBeLeftWithWhatIsThereInsteadOnly) {
  const FrameId ship{7};
  MotionHistory history{motion_in_frame(3.0, ship)};
  const Motion instead = motion_in_frame(4.0);
  history.forget(ship, &instead);
  ASSERT_EQ(history.motions().size(), 1u);
  EXPECT_EQ(history.newest().time_s, 4.0);
}

}  // namespace
}  // namespace reckoner
