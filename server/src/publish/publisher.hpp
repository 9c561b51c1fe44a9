// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_table.hpp"
#include "server/src/publish/kind_priors.hpp"
#include "server/src/publish/published.hpp"
#include "server/src/worker_pool.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

/// Decides, tick by tick, what is published: looks at every entity that is awake, and at each level of detail
/// that somebody follows. Entities are independent of each other, so that the workers share them out.
class Publisher {
 public:
  Publisher(const ServerConfig& config, std::span<const Quantisation> quantisation, unsigned workers)
      : config_(config), quantisation_(quantisation), counts_(workers), kinds_(config.archetypes.size()) {}

  /// A new entity's part of publishing.
  [[nodiscard]] Entity make_entity(std::size_t archetype, const std::string& name, const State& truth,
                                   std::uint32_t phase) const;

  /// Publishes what is due at `tick`, whose server time is `time_s`.
  void run(EntityTable& entities, const RouteTable& routes, Tick tick, double time_s, WorkerPool& pool,
           ServerStats& stats);

  /// An entity ends.
  void ends(const Entity& entity) { kinds_.ends(entity); }

  /// How long a gap between updates lasts at most, s, at a level of that factor that clients interpolate,
  /// unless the motion before it holds.
  [[nodiscard]] double longest_gap_s(double factor) const;

  /// The slots that were published in the last run(), by level.
  [[nodiscard]] const Published& published() const { return published_; }

 private:
  // What one worker counted; alone on its cache line.
  struct alignas(64) Counts {
    PublishCauses causes;
    std::uint64_t publishes = 0;
    std::uint64_t route_entity_ticks = 0;
  };
  struct Now {
    const RouteTable& routes;
    Tick tick;
    double time_s;
  };

  // What is published of free motion.
  struct Told {
    State state;
    bool bends = false;
    std::uint8_t link = 0;
  };

  // Of the finest level of detail, which is what most of those see that look closely. 0: by threshold.
  [[nodiscard]] double rate_hz() const { return std::max(config_.updates_per_second, config_.fixed_rate_hz); }
  [[nodiscard]] bool look_at(Entity& entity, const Now& now, Counts& counts);
  [[nodiscard]] double ahead_s(const EntityLevel& level) const;
  [[nodiscard]] bool is_due(const Entity& entity, EntityLevel& level, const Now& now) const;
  void look_at_level(Entity& entity, std::size_t level, const Now& now, Counts& counts);
  void publish(Entity& entity, EntityLevel& level, const Now& now, double urgency) const;
  void publish_owned(Entity& entity, EntityLevel& level, const Now& now) const;
  void learn_coding_mode(EntityLevel& level, const QuantisedState& encoded, Tick tick,
                         const Quantisation& q) const;
  [[nodiscard]] bool followed(const Entity& entity, std::size_t level) const;
  [[nodiscard]] bool rides(const Entity& entity) const;
  [[nodiscard]] State fitted(const Entity& entity) const;
  [[nodiscard]] Told to_publish(Entity& entity, const EntityLevel& level, double time_s) const;
  [[nodiscard]] std::optional<glm::vec3> bend_of(const Entity& entity, const EntityLevel& level,
                                                 double time_s) const;
  [[nodiscard]] SendPolicy::Comparison compare(const Entity& entity, const EntityLevel& level,
                                               double time_s) const;

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // by archetype
  std::vector<Counts> counts_;                  // by worker
  Published published_;
  KindPriors kinds_;
};

}  // namespace reckoner
