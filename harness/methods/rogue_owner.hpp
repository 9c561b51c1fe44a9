// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

/// How an owner lies.
enum class Cheat : std::uint8_t {
  none,      ///< not at all: for comparison
  speed,     ///< three times as fast as it may
  teleport,  ///< somewhere else once a second
  future,    ///< stamps half a second ahead
  flood,     ///< a thousand motions a second
};
[[nodiscard]] std::optional<Cheat> cheat_named(std::string_view name);

/// A client without a game and without scruples that owns one entity. It speaks the protocol by hand, and
/// says of its entity, which runs in a circle close to its top speed, whatever suits it. It knows the true
/// time.
class RogueOwner {
 public:
  /// The top speed of its archetype, m/s.
  static constexpr double kTopSpeedMps = 8.0;

  RogueOwner(Cheat cheat, std::span<const Archetype> archetypes, std::size_t archetype, Transport& transport);

  /// Takes in what arrived.
  void receive();
  /// A tick has come: tells the server its story.
  void tick(Tick tick, double time_s, double tick_rate_hz);

  /// What it says its entity does.
  [[nodiscard]] State story(double time_s) const;

  /// What it says of itself: for the server to tell it from others.
  static constexpr std::byte kName{0x66};

 private:
  void send_motion(Tick tick, const State& state);

  Cheat cheat_;
  std::uint32_t archetype_hash_;
  Quantisation quantisation_;
  Transport& transport_;
  PeerId server_;
  bool joined_ = false;
  std::uint16_t control_count_ = 0;
  std::uint16_t sequence_ = 0;
  std::uint8_t term_ = 0;
  std::optional<EntityId> entity_;
};

}  // namespace reckoner::harness
