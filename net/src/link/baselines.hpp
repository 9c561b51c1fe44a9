// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Levels of detail: the threshold of each is four times that of the one before.
inline constexpr std::size_t kLevels = UpdateHeader::kLevels;
inline constexpr double kLevelFactor = 4.0;

/// The part of a publish stream that every tick reads for every subscriber. The heads of all streams lie
/// together in memory.
struct StreamHead {
  std::uint32_t number = 0;           ///< number of the newest publish
  std::uint32_t first_reference = 0;  ///< oldest publish that can be its baseline
  Tick tick = 0;                      ///< time stamp of the newest publish
  float urgency = 0.0f;               ///< error of the previous motion when it was replaced, in thresholds
  RouteId route;                      ///< route of the newest motion; null: none
  std::uint32_t frame_index1 = 0;     ///< frame of the newest motion: slot + 1 of its entity; 0: the world

  /// True if the newest publish can be encoded with publish number `held` as its baseline.
  [[nodiscard]] bool can_refer_to(std::uint32_t held) const;
};

/// The publishes of an entity at one level of detail: the current motion, and the last ones as possible
/// baselines of later publishes. Publishes are numbered from 1.
class PublishStream {
 public:
  /// Number of publishes that are stored. Clients store as many.
  static constexpr std::uint32_t kHistory = 32;

  /// A publish that may still be a baseline.
  struct Publish {
    QuantisedState encoded;  ///< as sent
    Tick tick = 0;           ///< time stamp
  };

  /// Adds a publish. `motion` is what clients decode from `encoded`; `urgency` is the error of the previous
  /// motion, in thresholds.
  void publish(const QuantisedState& encoded, const Motion& motion, Tick tick, double urgency) {
    if (!ring_) ring_ = std::make_unique<std::array<Publish, kHistory>>();
    const bool continues = head_.number > 0 && can_refer(encoded, newest().encoded);
    ++head_.number;
    if (!continues) head_.first_reference = head_.number;
    (*ring_)[head_.number % kHistory] = {encoded, tick};
    motion_ = motion;
    head_.tick = tick;
    head_.urgency = static_cast<float>(urgency);
    head_.route = encoded.along.route;
    head_.frame_index1 = encoded.frame.index1;
  }

  /// Number of the newest publish; 0: there is none yet.
  [[nodiscard]] std::uint32_t number() const { return head_.number; }
  [[nodiscard]] const StreamHead& head() const { return head_; }
  /// The current motion, as clients decode it.
  [[nodiscard]] const Motion& motion() const { return motion_; }
  /// Requires that number() is not 0.
  [[nodiscard]] const Publish& newest() const { return (*ring_)[head_.number % kHistory]; }

  /// True if the publish of this number is still stored.
  [[nodiscard]] bool has(std::uint32_t number) const {
    return number != 0 && head_.number - number < kHistory;
  }
  /// Requires has(number).
  [[nodiscard]] const Publish& at(std::uint32_t number) const {
    assert(has(number));
    return (*ring_)[number % kHistory];
  }

 private:
  Motion motion_;
  std::unique_ptr<std::array<Publish, kHistory>> ring_;  // allocated with the first publish
  StreamHead head_;
};

inline bool StreamHead::can_refer_to(std::uint32_t held) const {
  return held != 0 && held >= first_reference && number - held < PublishStream::kHistory;
}

/// The last received motions of an entity, exactly as they were sent, by level of detail and time stamp: the
/// baselines of later motions. Late arrivals are stored, too.
class References {
 public:
  /// Motions of each level. The server never uses a baseline that more than 31 later publishes may have
  /// followed.
  static constexpr std::size_t kHistory = 32;

  /// Starts empty, for the entity that now has the slot.
  explicit References(EntityId id) : id_(id) {}
  /// The entity of these motions.
  [[nodiscard]] EntityId id() const { return id_; }

  /// Stores a motion. If kHistory are stored, drops the one with the oldest time stamp.
  void note(std::uint8_t level, Tick tick, const QuantisedState& state) {
    if (!levels_[level]) levels_[level] = std::make_unique<Level>();
    Level& l = *levels_[level];
    std::size_t age = 0;  // number of newer motions
    while (age < l.count && later(l.ticks[l.index_of(age)], tick))
      ++age;
    if (age < l.count && l.ticks[l.index_of(age)] == tick) return;  // already stored
    if (age == kHistory) return;
    l.newest = (l.newest + 1) % kHistory;  // replaces the oldest if the ring is full
    l.count = std::min(l.count + 1, kHistory);
    for (std::size_t i = 0; i < age; ++i) {  // moves newer motions forward, if this one is late
      l.ticks[l.index_of(i)] = l.ticks[l.index_of(i + 1)];
      l.motions[l.index_of(i)] = l.motions[l.index_of(i + 1)];
    }
    l.ticks[l.index_of(age)] = tick;
    l.motions[l.index_of(age)] = state;
  }

  /// Null if there is none with this level and time stamp.
  [[nodiscard]] const QuantisedState* find(std::uint8_t level, Tick tick) const {
    if (level >= levels_.size() || !levels_[level]) return nullptr;
    const Level& l = *levels_[level];
    for (std::size_t age = 0; age < l.count; ++age) {
      if (l.ticks[l.index_of(age)] == tick) return &l.motions[l.index_of(age)];
    }
    return nullptr;
  }

 private:
  // A ring. A separate array of time stamps makes a search touch two cache lines and not fifty.
  struct Level {
    std::array<Tick, kHistory> ticks{};
    std::array<QuantisedState, kHistory> motions;
    std::size_t newest = kHistory - 1;
    std::size_t count = 0;

    [[nodiscard]] std::size_t index_of(std::size_t age) const { return (newest + kHistory - age) % kHistory; }
  };

  static bool later(Tick a, Tick b) { return static_cast<std::int32_t>(a - b) > 0; }

  EntityId id_;
  std::array<std::unique_ptr<Level>, UpdateHeader::kLevels> levels_;  // allocated when first needed
};

}  // namespace reckoner
