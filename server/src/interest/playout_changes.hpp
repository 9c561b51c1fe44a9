// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The clients that have declared another playout, and for which it is not in effect yet (DeclaredPlayout).
class PlayoutChanges {
 public:
  /// The client declares how it shows entities. Returns the reason if the declaration counts as refused.
  [[nodiscard]] std::optional<Refusal> declare(Session& session, const PlayoutMessage& message);
  /// Call it once a tick: puts the declarations into effect that are due.
  void apply_due(double now_s, const SessionTable& sessions, EntityTable& entities);

 private:
  std::vector<ClientId> changing_;
};

}  // namespace reckoner
