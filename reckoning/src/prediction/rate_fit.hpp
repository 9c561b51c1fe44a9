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

/// Predicts the mean velocity (or angular velocity) of an entity over the coming horizon, from its own past.
/// Four predictions compete: the current rate; the current rate plus its derivative; zero; and a learned
/// linear predictor, whose inputs are the current rate and its smoothed past. The linear predictor has one
/// set of weights for the horizontal axes and one for the vertical axis, because gravity and jumps follow
/// other laws than steering. Each prediction is weighted by its recent accuracy, so a clearly best one
/// dominates.
///
/// The past is stored as a cascade of four low-pass filters instead of a record. This takes only a few
/// numbers at any tick rate. The differences between neighbouring filters are nearly independent, which keeps
/// least squares stable in single precision. Each sample is learned from one axis only, in an aperiodic
/// order. Consecutive ticks of one axis contain almost the same information. A fixed order would see only
/// half of a motion that was recorded at half the tick rate.
///
/// One instance per entity and kind of rate. A value of less than 1 KB; allocates nothing. Call observe()
/// once per tick.
class RECKONER_RECKONING_API RateFit {
 public:
  /// `tick_rate_hz`: calls of observe() per second, Hz. `horizon_s`: how far ahead it predicts, s.
  RateFit(double tick_rate_hz, double horizon_s);

  /// Takes the values at the next tick: the current rate, its derivative, and `way`, the displacement (m or
  /// rad) along each axis from a fixed origin. A value that is not finite or far too large causes a
  /// restart().
  void observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& way);

  /// Changes the horizon to `horizon_s`, s. The learned weights are scaled to the new horizon. Samples that
  /// do not fit the new horizon are discarded.
  void look_ahead(double tick_rate_hz, double horizon_s);

  /// Call this after a teleport: it forgets the recent past, but keeps what was learned about the entity.
  void restart();

  /// The horizon for which priors are expressed, s; independent of the horizons of the entities that use
  /// them.
  static constexpr double kPriorHorizonS = 0.18;
  /// The number of values of a Prior: the weights, the error of each prediction, and the noise.
  static constexpr std::size_t kPriorSize = 2 * 5 + 4 + 2;
  /// The learned parameters of an entity, converted to a horizon of kPriorHorizonS. Priors of entities of the
  /// same archetype and tick rate may be averaged.
  using Prior = std::array<float, kPriorSize>;

  /// The current parameters; nullopt until enough was learned to be useful for other entities.
  [[nodiscard]] std::optional<Prior> prior() const;
  /// Starts with a prior. Call it only before the first observe(). A prior that is not finite is ignored.
  void begin_with(const Prior& prior);

  /// The predicted mean rate over the coming horizon, as of the last tick.
  [[nodiscard]] const glm::vec3& mean_rate() const { return mean_; }

  /// The horizon in ticks.
  [[nodiscard]] std::size_t horizon_ticks() const { return horizon_ticks_; }

  /// True if the entity has rested for so long that more ticks at rest change nothing.
  [[nodiscard]] bool settled() const { return settled_; }

 private:
  static constexpr std::size_t kLags = 4;
  static constexpr std::size_t kInputs = kLags + 1;
  static constexpr std::size_t kGuesses = 4;
  static constexpr std::size_t kMostSlots = 16;
  static constexpr std::size_t kUpAxis = 2;
  using Predictor = LeastSquares<kInputs>;
  static_assert(kPriorSize == 2 * kInputs + kGuesses + 2);

  // A sample in flight: the state of one axis, to be compared with the actual motion one horizon later.
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
  std::uint8_t slots_ = 1;         // number of slots_in_flight_ in use
  std::uint8_t slot_ = 0;          // index of the oldest slot, which is replaced next
  std::uint8_t slots_filled_ = 0;  // filled slots since the last restart
  std::uint8_t lessons_ = 0;       // lessons in total, counted up to kLeastLessons
  /// Lessons with motion, counted up to kPriorLessons.
  std::uint8_t moved_ = 0;
  std::uint16_t ticks_per_slot_ = 1;  // above 1 only at high tick rates
  std::uint16_t ticks_to_slot_ = 1;
  std::uint16_t ticks_seen_ = 0;     // ticks since the last restart, counted up to 2
  std::uint16_t ticks_at_rest_ = 0;  // consecutive ticks at rest
  std::uint16_t ticks_to_settle_ = 0;
  std::uint16_t horizon_ticks_ = 1;
  std::uint32_t order_ = 0;  // selects the axis of the next slot
  float horizon_s_ = 0.0f;
  float samples_per_slot_ = 1.0f;  // weight of a slot, in samples of one axis at 60 Hz
  float kept_ = 0.0f;              // share of a prediction's old error that remains after a slot
  std::array<float, kLags> follow_{};
  glm::vec3 mean_{0.0f};
  std::array<glm::vec3, kLags> smooth_{};
  std::array<float, kGuesses> shares_{1.0f, 0.0f, 0.0f, 0.0f};  // weight of each prediction; sum 1
  std::array<float, kGuesses> errors_{};                        // recent mean square error of each prediction
  Predictor horizontal_;
  Predictor vertical_;
  std::array<Slot, kMostSlots> slots_in_flight_{};
};

}  // namespace reckoner
