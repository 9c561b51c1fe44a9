// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The bytes of the game that travel with the exact state of a predicted entity (Server::set_game_state()).
/// There is one place for each slot, so entities that end leave nothing behind that grows.
class GameStates {
 public:
  void set(EntityId id, std::span<const std::byte> bytes) {
    Kept& kept = states_[id.slot()];
    kept.id = id;
    kept.bytes.assign(bytes.begin(), bytes.end());
  }
  /// Empty if the game has set none. Valid until the next change.
  [[nodiscard]] std::span<const std::byte> of(EntityId id) const {
    const auto found = states_.find(id.slot());
    const bool is_known = found != states_.end() && found->second.id == id;
    return is_known ? std::span<const std::byte>(found->second.bytes) : std::span<const std::byte>{};
  }
  /// The number of slots with bytes.
  [[nodiscard]] std::size_t size() const { return states_.size(); }

 private:
  struct Kept {
    EntityId id;
    std::vector<std::byte> bytes;
  };

  std::unordered_map<std::size_t, Kept> states_;  // by slot
};

}  // namespace reckoner
