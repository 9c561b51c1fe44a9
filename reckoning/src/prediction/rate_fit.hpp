// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/least_squares.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Learns, from an entity's own past, what its mean velocity (or angular velocity) over the coming horizon
/// will be. Four guesses compete: the rate as it is; the rate carried on by its own derivative; none at all;
/// and a linear predictor over the rate and its smoothed past, learned online with one set of weights for the
/// horizontal axes and one for the vertical, because gravity and jumps obey other laws than steering. Each
/// guess counts by how well it did in the recent past, so that a guess which is clearly best decides alone.
///
/// The past is a cascade of four low-passes rather than a record: it is a few numbers, whatever the tick
/// rate, and differences of neighbours are nearly independent, which keeps least squares sound in single
/// precision. One axis is learned from at a time, in an order without period: what consecutive ticks teach
/// about one axis overlaps anyway, and a fixed order would see only one half of a motion that was recorded at
/// half the tick rate.
///
/// One per entity and kind of rate; a value of less than 1 KB, no allocation. Fed once a tick.
class RECKONER_RECKONING_API RateFit {
 public:
  /// `tick_rate_hz`: how often observe() is called, a second; `horizon_s`: how far ahead it looks, s.
  RateFit(double tick_rate_hz, double horizon_s);

  /// The next tick: the rate now, its derivative, and how far the entity has come (m or rad) along each axis
  /// since any fixed origin. What is not finite, or beyond all measure, counts as a restart.
  void observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& way);

  /// Looks so far ahead from now on, s. What was learned holds for what it is about, the mean of the horizon,
  /// and is stretched to the new one; the rest is learned again in time.
  void look_ahead(double tick_rate_hz, double horizon_s);

  /// After a teleport: the recent past no longer connects; what was learned about the entity still holds.
  void restart();

  /// What priors are about, s, whatever the horizons of those who have them.
  static constexpr double kPriorHorizonS = 0.18;
  /// The numbers of a Prior: weights, how far off each guess is, and the noise.
  static constexpr std::size_t kPriorSize = 2 * 5 + 4 + 2;
  /// What was learned about the entity, not about its present, as for a horizon of kPriorHorizonS. Means can
  /// be taken of it over entities of a kind with the same tick rate.
  using Prior = std::array<float, kPriorSize>;

  /// Nothing before enough was learned to be of use to others.
  [[nodiscard]] std::optional<Prior> prior() const;
  /// Begins as one that has this prior; only before the first observe(). A prior that is not finite is none.
  void begin_with(const Prior& prior);

  /// The mean rate expected over the coming horizon, as of the last tick.
  [[nodiscard]] const glm::vec3& mean_rate() const { return mean_; }

  /// How far ahead it looks, ticks.
  [[nodiscard]] std::size_t horizon_ticks() const { return horizon_ticks_; }

  /// True if it has rested for so long that ticks without motion change nothing any more.
  [[nodiscard]] bool settled() const { return settled_; }

 private:
  static constexpr std::size_t kLags = 4;
  static constexpr std::size_t kInputs = kLags + 1;
  static constexpr std::size_t kGuesses = 4;
  static constexpr std::size_t kMostSlots = 16;
  static constexpr std::size_t kUpAxis = 2;
  using Predictor = LeastSquares<kInputs>;
  static_assert(kPriorSize == 2 * kInputs + kGuesses + 2);

  // What was known about one axis a horizon ago, to be compared with what became of it.
  struct Slot {
    double way = 0.0;
    Predictor::Inputs inputs{};
    float derivative = 0.0f;
  };

  void forget_slots();
  void keep_newest_slots(std::size_t slots_before);
  void set_horizon(double tick_rate_hz, double horizon_s);
  [[nodiscard]] Predictor::Inputs inputs(const glm::vec3& rate, std::size_t axis) const;
  void follow(const glm::vec3& rate);
  void step(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& way);
  void learn(const Slot& then, std::size_t axis, double way);
  void weigh_guesses();
  void guess(const glm::vec3& rate, const glm::vec3& derivative);
  void settle();
  void wake(const glm::vec3& rate, const glm::dvec3& way);
  [[nodiscard]] Predictor& predictor(std::size_t axis) { return axis == kUpAxis ? vertical_ : horizontal_; }

  bool settled_ = false;
  std::uint8_t slots_ = 1;         // of slots_in_flight_ in use
  std::uint8_t slot_ = 0;          // the oldest, and next to be written
  std::uint8_t slots_filled_ = 0;  // since the last restart
  std::uint8_t lessons_ = 0;       // ever, and those in which anything moved, both as far as they matter
  std::uint8_t moved_ = 0;
  std::uint16_t ticks_per_slot_ = 1;  // above 1 at high tick rates only
  std::uint16_t ticks_to_slot_ = 1;
  std::uint16_t ticks_seen_ = 0;     // since the last restart; up to 2
  std::uint16_t ticks_at_rest_ = 0;  // in a row
  std::uint16_t ticks_to_settle_ = 0;
  std::uint16_t horizon_ticks_ = 1;
  std::uint32_t order_ = 0;  // which axis the next slot is about
  float horizon_s_ = 0.0f;
  float samples_per_slot_ = 1.0f;  // in samples of 60 a second and axis
  float kept_ = 0.0f;              // share of a guess's old error that is kept a slot
  std::array<float, kLags> follow_{};
  glm::vec3 mean_{0.0f};
  std::array<glm::vec3, kLags> smooth_{};
  std::array<float, kGuesses> shares_{1.0f, 0.0f, 0.0f, 0.0f};  // of each guess; sum 1
  std::array<float, kGuesses> errors_{};                        // recent mean squares of each guess
  Predictor horizontal_;
  Predictor vertical_;
  std::array<Slot, kMostSlots> slots_in_flight_{};
};

}  // namespace reckoner
