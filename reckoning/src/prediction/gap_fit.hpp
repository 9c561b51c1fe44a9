// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Watches the gap since the last publish on behalf of clients that show the past. They do not predict, they
/// interpolate (interpolate.hpp): what makes an update due is not that the published motion has left the
/// entity, but that the curve from there to the present would stray from the path in between, and the server
/// has seen that path. The curve is the cubic between two states and what bends it most like that path, by
/// least squares: one number an axis, which travels in place of an acceleration that nobody predicts with.
///
/// It also learns what makes the best end of such a cubic: the game's own position and velocity, or those of
/// a polynomial fitted to the last positions, which are better where what the game says is noisy or an
/// average over the last tick. Each candidate is scored by how far cubics with it strayed between the
/// publishes of the recent past; the best is used. The same for the turn, by candidates of its own.
///
/// One per entity; a value, no allocation. Fed once a tick.
class RECKONER_RECKONING_API GapFit {
 public:
  /// `tick_rate_hz`: how often observe() is called, a second.
  explicit GapFit(double tick_rate_hz);

  /// The truth at the next tick.
  void observe(const State& truth);

  /// After a teleport: the path before does not count any more; what was learned of the entity does.
  void restart() { filled_ = 0; }

  /// How far what clients show of the gap would be off, at most, if `truth`, observed last and at `time_s`,
  /// were published now, after `published`. Up to `longest_gap_s` a gap need only be interpolated well;
  /// beyond it clients may have nothing to interpolate to when they show it, so that the motion itself has to
  /// hold.
  struct Off {
    double m = 0.0;    ///< m
    double rad = 0.0;  ///< rad, of orientation
  };
  /// By the rule above.
  [[nodiscard]] Off off(const Motion& published, const State& truth, double time_s,
                        double longest_gap_s) const;

  /// `truth`, as observed last, with the position and velocity, orientation and angular velocity that are
  /// best interpolated from. What does not move is left as it is, and what does not turn.
  [[nodiscard]] State smoothed(const State& truth) const;

  /// The acceleration with which smoothed() has to end the way from `published`, so that it bends as the
  /// entity did. Nothing if that does not bend, too little is known of the gap, or there is nothing in
  /// between.
  [[nodiscard]] std::optional<glm::vec3> bend(const Motion& published, const State& truth,
                                              double time_s) const;

  /// An entity was published now and `gap_s` ago, and not in between.
  void learn(double gap_s);

 private:
  static constexpr std::size_t kPast = 32;  // ticks
  static constexpr std::size_t kCandidates = 5;

  // The polynomial fitted to the last ticks + 1 positions, at the newest of them: in its value and derivative
  // the position j ticks ago weighs c0 + c1 j + c2 j^2. The first candidate is what the game says: no ticks.
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
  // Of a turn, as rotation vectors from some orientation to those of the last ticks, the newest first.
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

  [[nodiscard]] bool turns_far(std::size_t ticks) const;
  [[nodiscard]] Turns turns(std::size_t count) const;
  [[nodiscard]] TurnEnd turn_end(const Turns& turns, std::size_t candidate, std::size_t ticks_ago) const;
  [[nodiscard]] double strayed(const Turns& turns, std::size_t candidate, std::size_t gap_ticks) const;

  [[nodiscard]] bool bends_over(std::size_t gap_ticks) const;

  // How far the path of the last ticks lies from a cubic, the newest first, and what bends this most like it.
  struct Strays {
    std::array<glm::dvec3, kPast> by{};
    std::size_t count = 0;
    glm::dvec3 bend{0.0};
    [[nodiscard]] glm::dvec3 left(std::size_t ticks_ago, std::size_t gap_ticks) const;
  };
  [[nodiscard]] Strays strays(const Motion& from, const Motion& to, std::size_t gap_ticks) const;

  double tick_rate_hz_;
  std::array<Candidate, kCandidates> candidates_;
  std::array<double, kCandidates> errors_{};  // recent mean of strayed()
  std::size_t best_ = 0;
  std::array<double, kCandidates> turn_errors_{};
  std::size_t best_turn_ = 0;
  std::array<Past, kPast> past_{};  // ring; newest at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace reckoner
