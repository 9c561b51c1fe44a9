// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/roamers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// The options that all processes of a load run must share.
struct LoadWorldOptions {
  std::size_t clients = 100;
  std::size_t entities = 1000;  ///< number of moving entities
  std::size_t resting = 0;      ///< number of additional entities at rest on the same plane
  std::size_t see = 100;        ///< mean number of moving entities in a client's view; 0: all
  std::uint64_t seed = 1;
};

/// The world of a load run: roamers, entities at rest between them, and clients that each follow a roamer.
class LoadWorld {
 public:
  explicit LoadWorld(const LoadWorldOptions& options);

  [[nodiscard]] std::size_t moving() const { return roamers_.size(); }
  [[nodiscard]] State moving(std::size_t number, double time_s) { return roamers_.state(number, time_s); }
  [[nodiscard]] State resting(std::size_t number) const;

  /// The number of the roamer that the client follows.
  [[nodiscard]] std::size_t followed_by(std::size_t client) const;

  /// The view radius of a client, m. It is chosen so that the mean number of moving entities in view is
  /// LoadWorldOptions::see. 0: unlimited.
  [[nodiscard]] double view_radius_m();

  /// The names of entities, by which a client finds their numbers.
  [[nodiscard]] static std::string moving_name(std::size_t number) { return std::to_string(number); }
  [[nodiscard]] static std::string resting_name(std::size_t number) { return "r" + std::to_string(number); }
  /// The number of the moving entity called `name`, or the largest value if no moving entity has this name.
  [[nodiscard]] static std::size_t number_of(const std::string& name);

 private:
  LoadWorldOptions options_;
  scenario::Roamers roamers_;
};

}  // namespace reckoner::harness
