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

/// Samples many motions and their blends in one pass. Each component of the motions has its own array, so the
/// compiler can use vector instructions. For each entry the result is extrapolate() of the motion, with
/// Blend::apply() on top.
///
/// Use it for drawing only. Positions agree with extrapolate() to a relative error of 1e-9, and orientations
/// to 1e-6 rad, but not bit for bit. (Prediction must be equal at both ends, so it uses extrapolate().) It
/// supports quadratic motion, but no routes. Entries are numbered from 0. A value; use it from one thread at
/// a time. Sampling allocates nothing and changes nothing.
class RECKONER_RECKONING_API MotionBatch {
 public:
  /// The number of entries.
  [[nodiscard]] std::size_t size() const { return time_s_.size(); }

  /// Adds an entry at the end. The motion must be free (no route).
  void push_back(const Motion& motion, const Blend& blend = {});

  /// Replaces the entry `index`, which must be below size(). The motion must be free (no route).
  void set(std::size_t index, const Motion& motion, const Blend& blend = {});

  /// Removes the entry `index`, which must be below size(). The last entry moves to `index`.
  void swap_remove(std::size_t index);

  /// Removes all entries.
  void clear();

  /// Removes the blends that are over at `time_s`, so that sampling does not check them any more. Do not
  /// sample earlier times afterwards.
  void drop_blends(double time_s);
  /// The number of entries with a blend.
  [[nodiscard]] std::size_t blending() const { return blends_.size(); }

  /// Writes all positions at `time_s`, m. `positions` must have room for size() entries.
  void sample(double time_s, std::span<glm::dvec3> positions) const;

  /// Writes all positions and orientations at `time_s`. Both spans must have room for size() entries.
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
  std::vector<std::uint32_t> blend_of_;  // index in blends_, or kNoBlend
  std::vector<Entry> blends_;            // the entries with a blend, in any order
};

}  // namespace reckoner
