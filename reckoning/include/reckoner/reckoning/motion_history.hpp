// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The newest motions that are known of an entity, by time, in one piece. Never empty. A value; no
/// allocation.
class RECKONER_RECKONING_API MotionHistory {
 public:
  /// So many are kept.
  static constexpr std::size_t kMost = 32;

  /// Begins with one.
  explicit MotionHistory(const Motion& first) { motions_[0] = first; }
  /// Of `known` (in order of time, one at least) the newest.
  explicit MotionHistory(std::span<const Motion> known) : count_(std::min(known.size(), kMost)) {
    std::ranges::copy(known.last(count_), motions_.begin());
  }

  /// In order of time; valid until the next change.
  [[nodiscard]] std::span<const Motion> motions() const { return {motions_.data() + first_, count_}; }
  /// By its time stamp; there always is one.
  [[nodiscard]] const Motion& oldest() const { return motions().front(); }
  /// By its time stamp; there always is one.
  [[nodiscard]] const Motion& newest() const { return motions().back(); }

  /// False if add() would not: one of that time is known, or as many as are kept are newer.
  [[nodiscard]] bool is_news(double time_s) const;

  /// Takes in a motion that is_news(); the oldest goes if there are too many.
  void add(const Motion& motion);

  /// Forgets what is in a frame. If `instead` is given, it is then known; otherwise something must be left.
  void forget(FrameId frame, const Motion* instead);

 private:
  [[nodiscard]] Motion* begin() { return motions_.data() + first_; }
  [[nodiscard]] Motion* end() { return begin() + count_; }

  // The window of what is kept moves along, and back to the start only when it is at the end: moving it with
  // every motion is a good part of what a motion costs a client.
  static constexpr std::size_t kSpare = 8;
  std::array<Motion, kMost + kSpare> motions_;
  std::size_t first_ = 0;
  std::size_t count_ = 1;
};

}  // namespace reckoner
