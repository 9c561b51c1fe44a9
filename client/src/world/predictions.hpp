// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Entities that the client shows because it expects the server to spawn them (Client::predict_spawn()).
/// Their ids have slots that no server uses.
class Predictions {
 public:
  /// Largest number of predictions at a time.
  static constexpr std::uint32_t kMax = 64;

  struct Prediction {
    EntityId id;
    std::uint32_t key = 0;
    EntityInfo info;
    Motion motion;           ///< in the world frame; its time stamp is server time
    double until_s = 0.0;    ///< server time at which the prediction fails
    bool confirmed = false;  ///< the server's entity has arrived but is not shown yet
  };

  /// Adds a prediction in place of an earlier one with the same key. Null if there are kMax.
  [[nodiscard]] EntityId add(std::uint32_t key, std::size_t archetype, const Motion& motion, double until_s) {
    std::erase_if(all_, [&](const Prediction& p) { return p.key == key && !p.confirmed; });
    if (all_.size() == kMax) return {};
    const EntityId id{kMaxEntities + 1u + next_ % kMax, static_cast<std::uint16_t>(next_ / kMax)};
    ++next_;
    all_.push_back({id, key, {.archetype = archetype, .name = {}, .short_lived = true}, motion, until_s});
    return id;
  }

  /// The server's entity has arrived. The prediction is shown until release().
  void confirm(std::uint32_t key) {
    for (Prediction& p : all_)
      p.confirmed = p.confirmed || p.key == key;
  }
  /// Removes and returns the prediction with this key; nullopt if there is none.
  [[nodiscard]] std::optional<Prediction> release(std::uint32_t key) {
    return release_if([&](const Prediction& p) { return p.key == key; });
  }
  [[nodiscard]] std::optional<Prediction> release(EntityId id) {
    return release_if([&](const Prediction& p) { return p.id == id; });
  }
  /// Removes a prediction that the server should have confirmed before `now_s`, and returns its id; null if
  /// there is none. Call it again until it returns null.
  [[nodiscard]] EntityId expire(double now_s) {
    const auto late = release_if([&](const Prediction& p) { return !p.confirmed && p.until_s <= now_s; });
    return late ? late->id : EntityId{};
  }

  [[nodiscard]] const Prediction* find(EntityId id) const {
    const auto found = std::ranges::find(all_, id, &Prediction::id);
    return found != all_.end() ? &*found : nullptr;
  }
  [[nodiscard]] std::span<const Prediction> all() const { return all_; }

 private:
  template <class Matches>
  std::optional<Prediction> release_if(Matches&& matches) {
    const auto found = std::ranges::find_if(all_, matches);
    if (found == all_.end()) return std::nullopt;
    Prediction released = std::move(*found);
    all_.erase(found);
    return released;
  }

  std::vector<Prediction> all_;
  std::uint32_t next_ = 0;
};

}  // namespace reckoner
