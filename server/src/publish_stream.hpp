// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/motion_codec.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Levels of detail: the threshold of each is four times that of the one before.
inline constexpr std::size_t kLevels = 3;
inline constexpr double kLevelFactor = 4.0;

/// What was published of an entity at one level of detail: the motion in force, and the last ones that
/// clients may hold, for the next to be encoded against. Publishes are numbered from 1.
class PublishStream {
 public:
  /// So many of the last publishes are kept; clients keep as many (DESIGN.md, Publish streams).
  static constexpr std::uint32_t kHistory = 32;

  struct Publish {
    QuantisedState encoded;
    Tick tick = 0;  ///< time stamp
  };

  /// `motion` is what clients decode from `encoded`; `urgency` is how far off the motion before was, in
  /// thresholds.
  void publish(const QuantisedState& encoded, const Motion& motion, Tick tick, double urgency) {
    if (!ring_) ring_ = std::make_unique<std::array<Publish, kHistory>>();
    ++number_;
    (*ring_)[number_ % kHistory] = {encoded, tick};
    motion_ = motion;
    urgency_ = static_cast<float>(urgency);
  }

  /// Number of the newest; 0: none yet.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const Motion& motion() const { return motion_; }
  [[nodiscard]] const Publish& newest() const { return (*ring_)[number_ % kHistory]; }
  [[nodiscard]] double urgency() const { return urgency_; }

  /// True if the publish of this number is among those kept.
  [[nodiscard]] bool has(std::uint32_t number) const { return number != 0 && number_ - number < kHistory; }
  [[nodiscard]] const Publish& at(std::uint32_t number) const {
    assert(has(number));
    return (*ring_)[number % kHistory];
  }

 private:
  Motion motion_;
  std::unique_ptr<std::array<Publish, kHistory>> ring_;  // made with the first publish
  std::uint32_t number_ = 0;
  float urgency_ = 0.0f;
};

}  // namespace reckoner
