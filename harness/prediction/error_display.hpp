// SPDX-License-Identifier: MIT
#pragma once

#include <glm/vec3.hpp>

namespace reckoner::harness::football {

/// How an engine shows a predicted entity after a correction: the difference between what was shown and the
/// corrected path shrinks by a factor with each picture. 0: the correction snaps. 0.9 and 0.85 are usual.
class ErrorDisplay {
 public:
  explicit ErrorDisplay(double factor) : factor_(factor) {}

  /// The path has changed. It would have shown `path` in the last picture, which showed `shown`.
  void correct(const glm::dvec3& shown, const glm::dvec3& path) { offset_ = shown - path; }
  /// What was shown does not matter any more: a teleport.
  void reset() { offset_ = glm::dvec3{0.0}; }
  /// The next picture, `picture_s` after the last one.
  void advance(double picture_s) {
    const glm::dvec3 before = offset_;
    offset_ *= factor_;
    velocity_ = factor_ > 0.0 && picture_s > 0.0 ? (offset_ - before) / picture_s : glm::dvec3{0.0};
  }
  [[nodiscard]] const glm::dvec3& offset() const { return offset_; }
  [[nodiscard]] const glm::dvec3& velocity() const { return velocity_; }

 private:
  double factor_;
  glm::dvec3 offset_{0.0};
  glm::dvec3 velocity_{0.0};
};

}  // namespace reckoner::harness::football
