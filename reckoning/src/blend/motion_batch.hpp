// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Many motions and their blends, in one array for each number, so that all are sampled in one pass that a
/// compiler turns into vector instructions: what Blend::apply(extrapolate()) gives for one, for all.
///
/// For drawing only: positions are the same to 1e-9 of their size, orientations to 1e-6 rad, but not bit for
/// bit (extrapolate() is for predicting alike at both ends). Quadratic motion only, no routes. Entries are
/// numbered from 0; a value, one thread at a time; sampling neither allocates nor changes anything.
class RECKONER_RECKONING_API MotionBatch {
 public:
  /// How many entries there are.
  [[nodiscard]] std::size_t size() const { return time_s_.size(); }

  /// Adds an entry at the end.
  void push_back(const Motion& motion, const Blend& blend = {});

  /// `index` must be below size().
  void set(std::size_t index, const Motion& motion, const Blend& blend = {});

  /// Removes an entry; the last one takes its number. `index` must be below size().
  void swap_remove(std::size_t index);

  /// Removes all entries and keeps the memory.
  void clear();

  /// Drops the blends that are over at `time_s`: they cost no more then. Do not sample earlier times any
  /// more.
  void drop_blends(double time_s);
  /// How many entries have a blend.
  [[nodiscard]] std::size_t blending() const { return blends_.size(); }

  /// All positions at `time_s`, m. `positions` takes size() of them.
  void sample(double time_s, std::span<glm::dvec3> positions) const;

  /// Orientations as well; both spans take size() each.
  void sample(double time_s, std::span<glm::dvec3> positions, std::span<glm::quat> orientations) const;

 private:
  static constexpr std::uint32_t kNoBlend = 0xFFFFFFFF;
  struct Entry {
    std::uint32_t index = 0;
    Blend blend;
  };

  void set_blend(std::size_t index, const Blend& blend);
  void remove_blend(std::size_t index);
  void sample_positions(std::size_t begin, std::size_t count, double time_s, glm::dvec3* positions) const;
  void sample_orientations(std::size_t begin, std::size_t count, double time_s,
                           glm::quat* orientations) const;

  std::vector<double> time_s_;
  std::vector<double> position_[3];
  std::vector<float> velocity_[3];
  std::vector<float> acceleration_[3];
  std::vector<float> orientation_[4];  // w, x, y, z
  std::vector<float> angular_velocity_[3];
  std::vector<std::uint32_t> blend_of_;  // where in blends_, or kNoBlend
  std::vector<Entry> blends_;            // of those that are being blended, in no order
};

}  // namespace reckoner
