// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace reckoner::harness::test {

/// A source with any function of time as motion, and with lifetimes, teleports and gaps chosen by the test.
class MotionSource final : public scenario::Source {
 public:
  struct Entity {
    scenario::SourceEntity info;
    std::function<Pose(double)> pose;
    std::vector<double> teleports_s{};
    std::vector<std::pair<double, double>> gaps_s{};
  };

  explicit MotionSource(std::vector<Entity> entities) : entities_(std::move(entities)) {}

  /// One entity that lives forever.
  static MotionSource single(std::function<Pose(double)> pose) {
    scenario::SourceEntity info;
    info.name = "it";
    info.last_s = std::numeric_limits<double>::infinity();
    return MotionSource({Entity{info, std::move(pose)}});
  }

  [[nodiscard]] Entity& at(std::size_t index) { return entities_[index]; }
  [[nodiscard]] std::size_t size() const override { return entities_.size(); }
  [[nodiscard]] const scenario::SourceEntity& entity(std::size_t i) const override {
    return entities_[i].info;
  }
  [[nodiscard]] Pose pose(std::size_t i, double time_s) const override { return entities_[i].pose(time_s); }
  [[nodiscard]] bool teleports_within(std::size_t i, double from_s, double to_s) const override {
    for (const double stamp_s : entities_[i].teleports_s) {
      if (stamp_s > from_s && stamp_s <= to_s) return true;
    }
    return false;
  }
  [[nodiscard]] bool in_gap(std::size_t i, double time_s) const override {
    for (const auto& [from_s, to_s] : entities_[i].gaps_s) {
      if (time_s > from_s && time_s < to_s) return true;
    }
    return false;
  }
  [[nodiscard]] double start_s() const override { return 0.0; }
  [[nodiscard]] double end_s() const override { return entities_.front().info.last_s; }

 private:
  std::vector<Entity> entities_;
};

}  // namespace reckoner::harness::test
