// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <reckoner/net/datagram.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/motion_codec.hpp>

namespace reckoner {

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
