// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::cluster {

/// The cells of a world, by index: row by row. The outermost cells have no outer border.
class Grid {
 public:
  explicit Grid(const ClusterConfig& config)
      : cell_m_(config.cell_m),
        columns_(config.columns),
        rows_(config.rows),
        hysteresis_m_(config.hysteresis_m) {}

  [[nodiscard]] std::uint32_t size() const { return columns_ * rows_; }

  [[nodiscard]] std::uint32_t cell_at(const glm::dvec3& p) const {
    return row_at(p.y) * columns_ + column_at(p.x);
  }
  /// The cell of an entity that was in `before`.
  [[nodiscard]] std::uint32_t cell_at(const glm::dvec3& p, std::uint32_t before) const {
    const std::uint32_t now = cell_at(p);
    return now != before && outside_m(p, before) <= hysteresis_m_ ? before : now;
  }

  /// The cells whose square is at most `radius_m` from a point along each axis.
  template <class F>
  void for_each_near(const glm::dvec3& p, double radius_m, F&& f) const {
    for (std::uint32_t row = row_at(p.y - radius_m); row <= row_at(p.y + radius_m); ++row) {
      for (std::uint32_t column = column_at(p.x - radius_m); column <= column_at(p.x + radius_m); ++column)
        f(row * columns_ + column);
    }
  }
  /// The cells that touch a cell, and the cell itself.
  template <class F>
  void for_each_around(std::uint32_t cell, F&& f) const {
    const std::uint32_t column = cell % columns_, row = cell / columns_;
    for (std::uint32_t r = row > 0 ? row - 1 : 0; r <= std::min(row + 1, rows_ - 1); ++r) {
      for (std::uint32_t c = column > 0 ? column - 1 : 0; c <= std::min(column + 1, columns_ - 1); ++c)
        f(r * columns_ + c);
    }
  }

  /// Which of `count` simulators should hold a cell: each gets a contiguous strip.
  [[nodiscard]] std::size_t share_of(std::uint32_t cell, std::size_t count) const {
    // Columns vary slowest, so strips are as compact as possible in a square world.
    const std::uint64_t along = std::uint64_t{cell % columns_} * rows_ + cell / columns_;
    return static_cast<std::size_t>(along * count / size());
  }

 private:
  [[nodiscard]] static std::uint32_t clamped(double cells, std::uint32_t count) {
    if (!(cells > 0.0)) return 0;
    return std::min(static_cast<std::uint32_t>(std::min(cells, 1e6)), count - 1);
  }
  [[nodiscard]] std::uint32_t column_at(double x) const {
    return clamped(std::floor(x / cell_m_ + 0.5 * columns_), columns_);
  }
  [[nodiscard]] std::uint32_t row_at(double y) const {
    return clamped(std::floor(y / cell_m_ + 0.5 * rows_), rows_);
  }
  // How far a point is outside of a cell along the worse axis, m.
  [[nodiscard]] double outside_m(const glm::dvec3& p, std::uint32_t cell) const {
    const auto beyond = [&](double v, std::uint32_t index, std::uint32_t count) {
      const double low = (index - 0.5 * count) * cell_m_;
      const double below = index > 0 ? low - v : 0.0;
      const double above = index + 1 < count ? v - (low + cell_m_) : 0.0;
      return std::max(below, above);
    };
    return std::max(beyond(p.x, cell % columns_, columns_), beyond(p.y, cell / columns_, rows_));
  }

  double cell_m_;
  std::uint32_t columns_;
  std::uint32_t rows_;
  double hysteresis_m_;
};

}  // namespace reckoner::cluster
