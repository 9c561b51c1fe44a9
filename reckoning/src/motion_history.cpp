// SPDX-License-Identifier: MIT
#include <reckoner/reckoning/motion_history.hpp>

namespace reckoner {

bool MotionHistory::is_news(double time_s) const {
  if (time_s > newest().time_s) return true;
  if (time_s < oldest().time_s) return count_ < kMost;
  return std::ranges::find(motions(), time_s, &Motion::time_s) == motions().end();
}

void MotionHistory::add(const Motion& motion) {
  if (count_ == kMost) {
    ++first_;
    --count_;
  }
  if (first_ + count_ == motions_.size()) {
    std::move(begin(), end(), motions_.data());
    first_ = 0;
  }
  Motion* place = end();
  for (; place != begin() && (place - 1)->time_s >= motion.time_s; --place)
    *place = *(place - 1);
  *place = motion;
  ++count_;
}

void MotionHistory::forget(FrameId frame, const Motion* instead) {
  const auto in_frame = [frame](const Motion& m) { return m.frame == frame; };
  count_ = static_cast<std::size_t>(std::remove_if(begin(), end(), in_frame) - begin());
  if (instead != nullptr) add(*instead);
}

}  // namespace reckoner
