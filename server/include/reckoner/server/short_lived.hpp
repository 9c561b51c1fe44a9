// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Properties of a short-lived entity (Server::spawn_short_lived()).
struct ShortLived {
  /// Server time at which the entity ends, s, if the game knows it: the instant at which a projectile hits a
  /// wall. The server and all clients then end it at this instant. After the next tick, and at most
  /// kMaxShortLifeS after it. Empty: it ends with Server::despawn().
  std::optional<double> end_s;
  /// The game's bytes, which the clients' games receive with the entity (EntityInfo::data). At most
  /// kMaxSpawnDataBytes.
  std::span<const std::byte> data{};
  /// The client whose prediction (Client::predict_spawn()) this entity fulfils; null if there is none.
  ClientId predicted_by{};
  /// The key of that prediction. The client's game sends the key with its request, for example in the message
  /// about the shot.
  std::uint32_t prediction = 0;
};
/// The largest time from the next tick to ShortLived::end_s, s.
inline constexpr double kMaxShortLifeS = 600.0;

}  // namespace reckoner
