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
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Number of levels of detail. From each level to the next, the publish threshold grows by kLevelFactor.
inline constexpr std::size_t kLevels = UpdateHeader::kLevels;
inline constexpr double kLevelFactor = 4.0;

/// The part of a publish stream that the server reads in every tick for every subscriber. The server stores
/// the heads of all streams next to each other in memory.
struct StreamHead {
  std::uint32_t number = 0;           ///< number of the newest publish
  std::uint32_t first_reference = 0;  ///< number of the oldest publish that can be a baseline of the newest
  Tick tick = 0;                      ///< time stamp of the newest publish
  float urgency = 0.0f;  ///< error of the previous motion when the newest one replaced it, in thresholds
  RouteId route;         ///< route of the newest motion; null: none
  std::uint32_t frame_index1 = 0;  ///< EntityId::index1 of the newest motion's frame; 0: the world

  /// Returns true if the newest publish can be encoded with publish number `acknowledged` as its baseline.
  [[nodiscard]] bool can_refer_to(std::uint32_t acknowledged) const;
};

/// The publishes of an entity at one level of detail. The stream stores the current motion and the last
/// kHistory publishes, which are the possible baselines of later publishes. Publishes are numbered from 1.
class PublishStream {
 public:
  /// Number of publishes that the stream stores. Clients store this number of motions, too.
  static constexpr std::uint32_t kHistory = 32;

  /// A publish that may still be a baseline.
  struct Publish {
    QuantisedState encoded;  ///< the motion in the form in which it is sent
    Tick tick = 0;           ///< time stamp of the motion
  };

  /// Adds a publish. `motion` must be the motion that clients decode from `encoded`. `urgency` is the error
  /// of the previous motion at this moment, in thresholds.
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

  /// Returns the number of the newest publish, or 0 if there is none yet.
  [[nodiscard]] std::uint32_t number() const { return head_.number; }
  [[nodiscard]] const StreamHead& head() const { return head_; }
  /// Returns the current motion, as clients decode it.
  [[nodiscard]] const Motion& motion() const { return motion_; }
  /// Returns the newest publish. The caller must make sure that number() is not 0.
  [[nodiscard]] const Publish& newest() const { return (*ring_)[head_.number % kHistory]; }

  /// Returns true if the publish with this number is still stored.
  [[nodiscard]] bool has(std::uint32_t number) const {
    return number != 0 && head_.number - number < kHistory;
  }
  /// Returns the publish with this number. The caller must make sure that has(number) is true.
  [[nodiscard]] const Publish& at(std::uint32_t number) const {
    assert(has(number));
    return (*ring_)[number % kHistory];
  }

 private:
  Motion motion_;
  std::unique_ptr<std::array<Publish, kHistory>> ring_;  // null before the first publish
  StreamHead head_;
};

inline bool StreamHead::can_refer_to(std::uint32_t acknowledged) const {
  return acknowledged != 0 && acknowledged >= first_reference &&
         number - acknowledged < PublishStream::kHistory;
}

/// The last received motions of an entity, exactly as they were sent. They are the baselines of later
/// motions. A motion is found by its level of detail and its time stamp. Motions that arrive late are stored,
/// too.
class References {
 public:
  /// Number of motions that are stored for each level. This is enough, because the server uses a baseline
  /// only if at most 31 publishes came after it.
  static constexpr std::size_t kHistory = 32;

  /// Creates an empty store for the motions of this entity.
  explicit References(EntityId id) : id_(id) {}
  /// Returns the entity to which the motions belong.
  [[nodiscard]] EntityId id() const { return id_; }

  /// Stores a motion. If the level then has more than kHistory motions, drops its motion with the oldest time
  /// stamp. Ignores a motion whose level and time stamp are already stored.
  void note(std::uint8_t level, Tick tick, const QuantisedState& state) {
    if (!levels_[level]) levels_[level] = std::make_unique<Level>();
    Level& l = *levels_[level];
    std::size_t age = 0;  // number of stored motions that are newer than this motion
    while (age < l.count && later(l.ticks[l.index_of(age)], tick))
      ++age;
    if (age < l.count && l.ticks[l.index_of(age)] == tick) return;  // already stored
    if (age == kHistory) return;
    l.newest = (l.newest + 1) % kHistory;  // if the ring is full, this is the place of the oldest motion
    l.count = std::min(l.count + 1, kHistory);
    if (l.ticks.size() < l.count) {
      l.ticks.resize(l.count);
      l.motions.resize(l.count);
    }
    for (std::size_t i = 0; i < age; ++i) {  // if this motion is late, moves the newer motions forward
      l.ticks[l.index_of(i)] = l.ticks[l.index_of(i + 1)];
      l.motions[l.index_of(i)] = l.motions[l.index_of(i + 1)];
    }
    l.ticks[l.index_of(age)] = tick;
    l.motions[l.index_of(age)] = state;
  }

  /// Returns the motion with this level and time stamp, or null if none is stored.
  [[nodiscard]] const QuantisedState* find(std::uint8_t level, Tick tick) const {
    if (level >= levels_.size() || !levels_[level]) return nullptr;
    const Level& l = *levels_[level];
    for (std::size_t age = 0; age < l.count; ++age) {
      if (l.ticks[l.index_of(age)] == tick) return &l.motions[l.index_of(age)];
    }
    return nullptr;
  }

 private:
  // A ring buffer, which grows until it is full: most entities have few motions. The time stamps have their
  // own array, so that a search reads two cache lines instead of fifty.
  struct Level {
    std::vector<Tick> ticks;
    std::vector<QuantisedState> motions;
    std::size_t newest = kHistory - 1;
    std::size_t count = 0;

    [[nodiscard]] std::size_t index_of(std::size_t age) const { return (newest + kHistory - age) % kHistory; }
  };

  static bool later(Tick a, Tick b) { return static_cast<std::int32_t>(a - b) > 0; }

  EntityId id_;
  std::array<std::unique_ptr<Level>, UpdateHeader::kLevels> levels_;  // null if the level has no motions
};

}  // namespace reckoner
