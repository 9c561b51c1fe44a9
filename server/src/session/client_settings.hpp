// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The settings that decide which entities are relevant for one client.
struct ClientView {
  /// A relevance that the game set for this client only.
  struct RelevanceOverride {
    EntityId entity;
    Relevance relevance;
  };

  std::optional<glm::dvec3> eye;  ///< the client's eye in the world frame, m; empty: nothing is near it
  std::uint32_t groups = kAllGroups;
  std::vector<RelevanceOverride> relevance_overrides;  ///< overrides of the entities' own relevance; few
  bool shows_past = false;  ///< the client interpolates, and does not predict while updates arrive in time
  bool changed = true;      ///< the settings changed since the last full update of the client's interest
  std::optional<glm::dvec3> eye_for_rest;  ///< the eye at the last search of entities at rest

  /// Drops the overrides for an entity that ended.
  void forget(EntityId entity) {
    if (!relevance_overrides.empty())
      std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
  }

  void set_relevance(EntityId entity, Relevance relevance) {
    std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
    relevance_overrides.push_back({entity, relevance});
    changed = true;
  }

  /// The relevance of an entity for this client: the override, or else `own`, the entity's own relevance.
  [[nodiscard]] Relevance relevance_of(EntityId entity, Relevance own) const {
    const auto found = std::find_if(relevance_overrides.begin(), relevance_overrides.end(),
                                    [&](const RelevanceOverride& e) { return e.entity == entity; });
    return found == relevance_overrides.end() ? own : found->relevance;
  }
};

/// How a client shows entities, as it declares: predicted or interpolated, and how long a blend lasts.
/// Applying a change means to visit every entity that the client follows. Therefore changes are applied at
/// most twice a second, and only the newest declaration counts.
class DeclaredPlayout {
 public:
  DeclaredPlayout() = default;
  explicit DeclaredPlayout(const PlayoutMessage& at_join) : declared_(at_join) {}

  /// Accepts a new declaration. Returns Refusal::repeated if it changes nothing, Refusal::too_many if it
  /// replaces a declaration that was not applied yet, and nullopt otherwise.
  [[nodiscard]] std::optional<Refusal> declare(const PlayoutMessage& message) {
    if (message == declared_) return Refusal::repeated;
    declared_ = message;
    if (pending_) return Refusal::too_many;
    pending_ = true;
    return std::nullopt;
  }

  /// The declaration to apply now; nullopt if there is none, or if the last one was applied too recently.
  [[nodiscard]] std::optional<PlayoutMessage> due(double now_s) {
    constexpr double kMinIntervalS = 0.5;
    if (!pending_ || now_s - applied_s_ < kMinIntervalS) return std::nullopt;
    pending_ = false;
    applied_s_ = now_s;
    return declared_;
  }

 private:
  PlayoutMessage declared_;
  bool pending_ = false;
  double applied_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
