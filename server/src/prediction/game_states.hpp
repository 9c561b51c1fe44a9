// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The bytes of the game that travel with the exact state of a predicted entity (Server::set_game_state()).
class GameStates {
 public:
  void set(EntityId id, std::span<const std::byte> bytes) {
    std::vector<std::byte>& kept = states_[id];
    kept.assign(bytes.begin(), bytes.end());
  }
  /// Empty if the game has set none. Valid until the next change.
  [[nodiscard]] std::span<const std::byte> of(EntityId id) const {
    const auto found = states_.find(id);
    return found != states_.end() ? std::span<const std::byte>(found->second) : std::span<const std::byte>{};
  }
  void forget(EntityId id) { states_.erase(id); }

 private:
  std::unordered_map<EntityId, std::vector<std::byte>> states_;
};

}  // namespace reckoner
