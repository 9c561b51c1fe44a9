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
inline constexpr std::size_t kLevels = 3;
inline constexpr double kLevelFactor = 4.0;

/// What every client that follows a stream needs of it, every tick; kept together for all streams.
struct StreamHead {
  std::uint32_t number = 0;           ///< of the newest publish
  std::uint32_t first_reference = 0;  ///< the oldest publish that the newest can be encoded against
  Tick tick = 0;                      ///< time stamp of the newest
  float urgency = 0.0f;               ///< how far off the motion before was, in thresholds
  RouteId route;                      ///< that the newest is on
  std::uint32_t frame_index1 = 0;     ///< of the entity in whose frame the newest is; 0: the world

  /// True if the newest can be encoded against the publish of this number.
  [[nodiscard]] bool can_refer_to(std::uint32_t held) const;
};

/// What was published of an entity at one level of detail: the motion in force, and the last ones that
/// clients may hold, for the next to be encoded against. Publishes are numbered from 1.
class PublishStream {
 public:
  /// So many of the last publishes are kept; clients keep as many (DESIGN.md, Publish streams).
  static constexpr std::uint32_t kHistory = 32;

  /// One that clients may still refer to.
  struct Publish {
    QuantisedState encoded;  ///< as it travels
    Tick tick = 0;           ///< time stamp
  };

  /// `motion` is what clients decode from `encoded`; `urgency` is how far off the motion before was, in
  /// thresholds.
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

  /// Number of the newest; 0: none yet.
  [[nodiscard]] std::uint32_t number() const { return head_.number; }
  /// What those who follow the stream need in every tick.
  [[nodiscard]] const StreamHead& head() const { return head_; }
  /// The one in force, as clients decode it.
  [[nodiscard]] const Motion& motion() const { return motion_; }
  /// Only if number() is not 0.
  [[nodiscard]] const Publish& newest() const { return (*ring_)[head_.number % kHistory]; }

  /// True if the publish of this number is among those kept.
  [[nodiscard]] bool has(std::uint32_t number) const {
    return number != 0 && head_.number - number < kHistory;
  }
  /// One of those kept: has(number).
  [[nodiscard]] const Publish& at(std::uint32_t number) const {
    assert(has(number));
    return (*ring_)[number % kHistory];
  }

 private:
  Motion motion_;
  std::unique_ptr<std::array<Publish, kHistory>> ring_;  // made with the first publish
  StreamHead head_;
};

inline bool StreamHead::can_refer_to(std::uint32_t held) const {
  return held != 0 && held >= first_reference && number - held < PublishStream::kHistory;
}

/// The last motions that arrived of an entity, exactly as they travelled, by level of detail and time stamp:
/// what later ones are encoded against. Those that come late are kept too.
class References {
 public:
  /// Of each level. The server never refers to one that more than 31 later ones may have followed.
  static constexpr std::size_t kHistory = 32;

  /// None yet, for the entity that has the slot now.
  explicit References(EntityId id) : id_(id) {}
  /// Whose they are.
  [[nodiscard]] EntityId id() const { return id_; }

  /// Remembers a motion; beyond kHistory the one with the oldest time stamp is forgotten.
  void note(std::uint8_t level, Tick tick, const QuantisedState& state) {
    if (!levels_[level]) levels_[level] = std::make_unique<Level>();
    Level& l = *levels_[level];
    std::size_t age = 0;  // how many are newer
    while (age < l.count && later(l.ticks[l.place(age)], tick))
      ++age;
    if (age < l.count && l.ticks[l.place(age)] == tick) return;  // known
    if (age == kHistory) return;
    l.newest = (l.newest + 1) % kHistory;  // over the oldest, if all places are taken
    l.count = std::min(l.count + 1, kHistory);
    for (std::size_t i = 0; i < age; ++i) {  // one that comes late goes in behind those
      l.ticks[l.place(i)] = l.ticks[l.place(i + 1)];
      l.motions[l.place(i)] = l.motions[l.place(i + 1)];
    }
    l.ticks[l.place(age)] = tick;
    l.motions[l.place(age)] = state;
  }

  /// Null if there is none with this level and time stamp.
  [[nodiscard]] const QuantisedState* find(std::uint8_t level, Tick tick) const {
    if (level >= levels_.size() || !levels_[level]) return nullptr;
    const Level& l = *levels_[level];
    for (std::size_t age = 0; age < l.count; ++age) {
      if (l.ticks[l.place(age)] == tick) return &l.motions[l.place(age)];
    }
    return nullptr;
  }

 private:
  // A ring. The time stamps are apart: what looks for one touches two cache lines and not fifty.
  struct Level {
    std::array<Tick, kHistory> ticks{};
    std::array<QuantisedState, kHistory> motions;
    std::size_t newest = kHistory - 1;
    std::size_t count = 0;

    [[nodiscard]] std::size_t place(std::size_t age) const { return (newest + kHistory - age) % kHistory; }
  };

  static bool later(Tick a, Tick b) { return static_cast<std::int32_t>(a - b) > 0; }

  EntityId id_;
  std::array<std::unique_ptr<Level>, UpdateHeader::kLevels> levels_;  // made when first needed
};

}  // namespace reckoner
