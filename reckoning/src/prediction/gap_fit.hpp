// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Decides how to publish for clients in buffered mode, which interpolate (interpolate.hpp) and do not
/// predict. Such clients show the curve from the last published motion to the next. An update is due when the
/// curve from the last published motion to the present would deviate too far from the entity's true path. The
/// server knows that path.
///
/// The curve is the Hermite cubic between two states plus a bend. The bend is fitted to the true path by
/// least squares. It is one number per axis, and it is sent in place of the acceleration, which these clients
/// do not use for prediction.
///
/// GapFit also learns which position and velocity make the best ends of such a cubic. The candidates are the
/// values that the game reports and several polynomials fitted to the last positions. A polynomial is better
/// if the game's values are noisy, or are averages over the last tick. Each candidate is scored by how far
/// its cubics between recent publishes deviate from the true path, and the best candidate is used. The best
/// candidate for orientations is chosen separately.
///
/// One instance per entity. A value; allocates nothing. Call observe() once per tick.
class RECKONER_RECKONING_API GapFit {
 public:
  /// `tick_rate_hz`: calls of observe() per second, Hz.
  explicit GapFit(double tick_rate_hz);

  /// Takes the true state at the next tick.
  void observe(const State& truth);

  /// Call this after a teleport: it forgets the path, but keeps what was learned about the entity.
  void restart() { filled_ = 0; }

  /// The largest error of the shown pose.
  struct GapError {
    double m = 0.0;    ///< distance, m
    double rad = 0.0;  ///< angle, rad

    /// The error as a multiple of `allowed`: of the distance or of the angle, whichever is larger.
    [[nodiscard]] double relative_to(const GapError& allowed) const;
  };
  /// The largest error that clients would show in the gap after `published`, if `truth` were published now.
  /// `truth` must be the last observed state, at `time_s`. In a gap of up to `longest_gap_s` seconds only the
  /// interpolation counts. After a longer gap clients may have nothing to interpolate to yet, so the error of
  /// the extrapolated motion counts, too. The motion is not sudden (MotionTransition::sudden).
  [[nodiscard]] GapError worst_error(const Motion& published, const State& truth, double time_s,
                                     double longest_gap_s) const;

  /// True if the largest error in the gap after `published` would be smaller if `truth`, published now, were
  /// sudden (MotionTransition::sudden). `allowed`: the errors of distance and angle that count as equally
  /// large. False for a gap in which clients may have extrapolated.
  [[nodiscard]] bool is_sudden(const Motion& published, const State& truth, double time_s,
                               double longest_gap_s, const GapError& allowed) const;

  /// Returns `truth` with the position, velocity, orientation and angular velocity that interpolate best.
  /// `truth` must be the last observed state. If the entity does not move, position and velocity stay
  /// unchanged. If it does not turn, orientation and angular velocity stay unchanged.
  [[nodiscard]] State smoothed(const State& truth) const;

  /// The acceleration, m/s^2, to publish with smoothed(). With it, the curve from `published` bends like the
  /// true path. Nullopt if the gap is too short for a bend, or if part of the path in the gap is not known.
  [[nodiscard]] std::optional<glm::vec3> bend(const Motion& published, const State& truth,
                                              double time_s) const;

  /// True if the entity has moved with its present velocity and turned with its present angular velocity
  /// during the last `span_s` seconds, except for errors of `slack`. Such a motion often goes on for long. At
  /// most the last 0.5 s at 60 ticks per second are known.
  [[nodiscard]] bool is_steady(double span_s, const GapError& slack) const;

  /// Learns from the path between two consecutive publishes: one now, and one `gap_s` seconds ago.
  void learn(double gap_s);

 private:
  static constexpr std::size_t kPast = 32;  // ticks of history
  static constexpr std::size_t kCandidates = 5;

  // A polynomial that is fitted to the last `ticks` + 1 positions and evaluated at the newest of them. Its
  // value and its derivative are weighted sums of these positions. The position j ticks ago has the weight c0
  // + c1 j + c2 j^2. The first candidate has no ticks; it is the game's own state.
  using Weights = std::array<double, 3>;
  struct Candidate {
    std::size_t ticks = 0;
    bool smooths_position = false;
    Weights value{};
    Weights derivative{};
  };
  struct Past {
    Pose pose;
    glm::vec3 velocity{0.0f};
    glm::vec3 angular_velocity{0.0f};
  };
  struct End {
    glm::dvec3 position;
    glm::dvec3 velocity;
  };
  // Rotation vectors from a reference orientation to the orientations of the last ticks, newest first.
  using Turns = std::array<glm::dvec3, kPast>;
  struct TurnEnd {
    glm::dvec3 turn{0.0};
    glm::dvec3 rate{0.0};
  };

  [[nodiscard]] static Candidate make_candidate(std::size_t index, double tick_rate_hz);
  [[nodiscard]] std::size_t ticks_in(double gap_s) const;
  [[nodiscard]] const Past& past(std::size_t ticks_ago) const {
    return past_[(next_ + kPast - 1 - ticks_ago) % kPast];
  }
  [[nodiscard]] End end(std::size_t candidate, std::size_t ticks_ago) const;
  [[nodiscard]] double strayed(std::size_t candidate, std::size_t gap_ticks) const;

  [[nodiscard]] bool turns_too_far(std::size_t ticks) const;
  [[nodiscard]] Turns turns(std::size_t count) const;
  [[nodiscard]] TurnEnd turn_end(const Turns& turns, std::size_t candidate, std::size_t ticks_ago) const;
  [[nodiscard]] double strayed(const Turns& turns, std::size_t candidate, std::size_t gap_ticks) const;

  [[nodiscard]] bool bends_over(std::size_t gap_ticks) const;

  // How far the true path of the last ticks deviates from a cubic (newest tick first), and the bend that fits
  // this deviation best.
  struct PathDeviations {
    std::array<glm::dvec3, kPast> by{};
    std::size_t count = 0;
    glm::dvec3 bend{0.0};
    [[nodiscard]] glm::dvec3 left(std::size_t ticks_ago, std::size_t gap_ticks) const;
  };
  [[nodiscard]] PathDeviations path_deviations(const Motion& from, const Motion& to,
                                               std::size_t gap_ticks) const;

  [[nodiscard]] GapError interpolation_error(const Motion& from, const Motion& to,
                                             std::size_t gap_ticks) const;

  double tick_rate_hz_;
  std::array<Candidate, kCandidates> candidates_;
  std::array<double, kCandidates> errors_{};  // recent mean of strayed() per candidate
  std::size_t best_ = 0;
  std::array<double, kCandidates> turn_errors_{};
  std::size_t best_turn_ = 0;
  std::array<Past, kPast> past_{};  // ring buffer; the newest entry is at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace reckoner
