// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// Counts how often each entity was published. The class uses only the public interface of the server.
class PublishCount {
 public:
  explicit PublishCount(std::size_t entities) : last_s_(entities, -1.0), counts_(entities, 0) {}

  /// Call this for every entity after every tick.
  void observe(const Server& server, std::size_t entity, EntityId id) {
    const auto motion = server.published(id);
    if (!motion || motion->time_s == last_s_[entity]) return;
    last_s_[entity] = motion->time_s;
    ++counts_[entity];
  }
  [[nodiscard]] std::uint64_t of(std::size_t entity) const { return counts_[entity]; }

 private:
  std::vector<double> last_s_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace reckoner::harness
