// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/roamers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// What all processes of a load run agree on.
struct LoadWorldOptions {
  std::size_t clients = 100;
  std::size_t entities = 1000;  ///< that move
  std::size_t resting = 0;      ///< besides, on the same plane
  std::size_t see = 100;        ///< about so many of those that move are in a client's view; 0: all
  std::uint64_t seed = 1;
};

/// The world of a load run: roamers, things at rest between them, and clients who each follow a roamer.
class LoadWorld {
 public:
  explicit LoadWorld(const LoadWorldOptions& options);

  [[nodiscard]] std::size_t moving() const { return roamers_.size(); }
  [[nodiscard]] State moving(std::size_t number, double time_s) { return roamers_.state(number, time_s); }
  [[nodiscard]] State resting(std::size_t number) const;

  /// The roamer that a client follows.
  [[nodiscard]] std::size_t followed_by(std::size_t client) const;

  /// How far a client sees, m, so that in the mean over all clients as many are in view as was asked for; 0:
  /// everywhere.
  [[nodiscard]] double view_radius_m();

  /// Names tell which is which at the other end.
  [[nodiscard]] static std::string moving_name(std::size_t number) { return std::to_string(number); }
  [[nodiscard]] static std::string resting_name(std::size_t number) { return "r" + std::to_string(number); }
  /// The number of a moving entity with this name, or the largest value.
  [[nodiscard]] static std::size_t number_of(const std::string& name);

 private:
  LoadWorldOptions options_;
  scenario::Roamers roamers_;
};

}  // namespace reckoner::harness
