// SPDX-License-Identifier: MIT
#pragma once

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

  explicit References(EntityId id) : id_(id) {}
  [[nodiscard]] EntityId id() const { return id_; }

  /// Remembers a motion; beyond kHistory the one with the oldest time stamp is forgotten.
  void note(std::uint8_t level, Tick tick, const QuantisedState& state) {
    if (!levels_[level]) levels_[level] = std::make_unique<Level>();
    Level& l = *levels_[level];
    std::size_t at = l.count;
    while (at > 0 && later(l.motions[at - 1].tick, tick))
      --at;
    if (at > 0 && l.motions[at - 1].tick == tick) return;  // known
    if (l.count == kHistory) {
      if (at == 0) return;
      for (std::size_t i = 1; i < at; ++i)
        l.motions[i - 1] = l.motions[i];
      l.motions[at - 1] = {tick, state};
      return;
    }
    for (std::size_t i = l.count; i > at; --i)
      l.motions[i] = l.motions[i - 1];
    l.motions[at] = {tick, state};
    ++l.count;
  }

  /// Null if there is none with this level and time stamp.
  [[nodiscard]] const QuantisedState* find(std::uint8_t level, Tick tick) const {
    if (level >= levels_.size() || !levels_[level]) return nullptr;
    const Level& l = *levels_[level];
    for (std::size_t i = l.count; i > 0; --i) {
      if (l.motions[i - 1].tick == tick) return &l.motions[i - 1].state;
    }
    return nullptr;
  }

 private:
  struct Motion {
    Tick tick = 0;
    QuantisedState state;
  };
  struct Level {
    std::array<Motion, kHistory> motions;  // by time stamp, oldest first
    std::size_t count = 0;
  };

  static bool later(Tick a, Tick b) { return static_cast<std::int32_t>(a - b) > 0; }

  EntityId id_;
  std::array<std::unique_ptr<Level>, UpdateHeader::kLevels> levels_;  // made when first needed
};

}  // namespace reckoner
