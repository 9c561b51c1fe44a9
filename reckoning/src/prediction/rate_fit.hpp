// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/four_floats.hpp"
#include "reckoning/src/prediction/least_squares.hpp"
#include "reckoning/src/util/prefetch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Predicts the mean velocity (or angular velocity) of an entity over the coming horizon, which is the time
/// that the prediction looks ahead. The prediction uses only the entity's own past. Four predictions compete:
/// the current rate; the current rate plus its derivative times half the horizon; zero; and a learned linear
/// predictor, whose inputs are the current rate and its smoothed past. The linear predictor has one set of
/// weights for the horizontal axes and one for the vertical axis, because gravity and jumps follow other laws
/// than steering. The result is their average, weighted by recent accuracy. If one prediction is clearly the
/// best, it dominates.
///
/// The past is stored in a cascade of four low-pass filters, not as a list of old values. This takes only a
/// few numbers at any tick rate. The differences between neighbouring filters are nearly independent, which
/// keeps least squares stable in single precision. Each sample comes from one axis only, because consecutive
/// ticks of one axis contain almost the same information. The order of the axes is aperiodic. With a periodic
/// order, only half of a motion that was recorded at half the tick rate would be seen.
///
/// Use one instance per entity for the velocity, and another one for the angular velocity. A value of less
/// than 1 KB; allocates nothing. Call observe() once per tick.
class RECKONER_RECKONING_API RateFit {
 public:
  /// `tick_rate_hz`: calls of observe() per second, Hz. `horizon_s`: how far ahead it predicts, s.
  RateFit(double tick_rate_hz, double horizon_s);

  /// Takes the values at the next tick: the current rate, its derivative, and the position or angle (m or
  /// rad) along each axis relative to a fixed origin. A value that is not finite or far too large causes a
  /// restart().
  void observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& displacement);

  /// Changes the horizon to `horizon_s`, s. The learned weights are scaled to the new horizon. Samples that
  /// do not fit the new horizon are discarded.
  void look_ahead(double tick_rate_hz, double horizon_s);

  /// Call this after a teleport: it forgets the recent past, but keeps what was learned about the entity.
  void restart();

  /// Every prior is converted to this horizon, s. The entities that use the prior may have other horizons.
  static constexpr double kPriorHorizonS = 0.18;
  /// The number of values in a Prior: the weights, the error of each prediction, and the noise.
  static constexpr std::size_t kPriorSize = 2 * 5 + 4 + 2;
  /// The learned parameters of an entity, converted to a horizon of kPriorHorizonS. Priors of entities of the
  /// same archetype and tick rate may be averaged.
  using Prior = std::array<float, kPriorSize>;

  /// The current parameters; nullopt until the entity has learned enough to be useful for other entities.
  [[nodiscard]] std::optional<Prior> prior() const;
  /// Starts with a prior. Call it only before the first observe(). A prior that is not finite is ignored.
  void begin_with(const Prior& prior);

  /// The number of values in a Memory: the horizon, the predictors, the error of each prediction, and the
  /// smoothed past.
  static constexpr std::size_t kMemorySize = 1 + 2 * LeastSquares<5>::kMemorySize + 4 + 3 * 4;
  /// All that was learned about an entity, and its smoothed past: another process can continue with it as if
  /// it had observed the entity itself. Only the samples in flight are not in it.
  using Memory = std::array<float, kMemorySize>;

  /// The memory after the last tick; nullopt as long as prior() is nullopt.
  [[nodiscard]] std::optional<Memory> memory() const;
  /// Continues with a memory, and with its horizon. Call it only before the first observe(). A memory that is
  /// not finite is ignored.
  void resume(const Memory& memory, double tick_rate_hz);

  /// The mean rate over the coming horizon, as predicted at the last tick.
  [[nodiscard]] const glm::vec3& mean_rate() const { return mean_; }

  /// The horizon in ticks.
  [[nodiscard]] std::size_t horizon_ticks() const { return horizon_ticks_; }

  /// Prefetch what the next observe() reads, in two steps. fetch_lesson() reads what fetch() has prefetched.
  void fetch() const { prefetch(this, offsetof(RateFit, slots_in_flight_)); }
  void fetch_lesson() const {
    if (!settled_) prefetch(&slots_in_flight_[slot_], sizeof(Slot));
  }

  /// True if it has observed one horizon since the start or the last restart().
  [[nodiscard]] bool knows_horizon() const { return slots_filled_ == slots_; }

  /// True if the rate has stayed the same for a while. Then mean_rate() is that rate.
  [[nodiscard]] bool is_steady() const { return steady_ticks_ >= ticks_to_steady_; }

  /// True if the entity has rested for so long that more ticks at rest change nothing.
  [[nodiscard]] bool settled() const { return settled_; }

 private:
  static constexpr std::size_t kLags = 4;
  static constexpr std::size_t kInputs = kLags + 1;
  static constexpr std::size_t kGuesses = 4;  // the lanes of a FourFloats
  static constexpr std::size_t kMaxSlots = 16;
  static constexpr std::size_t kUpAxis = 2;
  using Predictor = LeastSquares<kInputs>;
  static_assert(kPriorSize == 2 * kInputs + kGuesses + 2);
  static_assert(kMemorySize == 1 + 2 * Predictor::kMemorySize + kGuesses + 3 * kLags);

  // A sample in flight: the state of one axis, to be compared with the actual motion one horizon later.
  struct alignas(32) Slot {  // so that it lies in one cache line
    double displacement = 0.0;
    Predictor::Inputs inputs{};
    float derivative = 0.0f;
  };

  void forget_slots();
  void keep_newest_slots(std::size_t slots_before);
  void set_horizon(double tick_rate_hz, double horizon_s);
  [[nodiscard]] Predictor::Inputs inputs(float rate, std::size_t axis) const;
  void count_steady_ticks(const glm::vec3& rate);
  void follow(const glm::vec3& rate);
  void step(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& displacement);
  void learn(const Slot& then, std::size_t axis, double displacement);
  void weigh_guesses();
  void guess(const glm::vec3& rate, const glm::vec3& derivative);
  void settle();
  void wake(const glm::vec3& rate, const glm::dvec3& displacement);
  [[nodiscard]] Predictor& predictor(std::size_t axis) { return axis == kUpAxis ? vertical_ : horizontal_; }

  bool settled_ = false;
  std::uint8_t slots_ = 1;         // number of slots_in_flight_ in use
  std::uint8_t slot_ = 0;          // index of the oldest slot, which is replaced next
  std::uint8_t slots_filled_ = 0;  // filled slots since the last restart
  std::uint8_t lessons_ = 0;       // lessons (samples learned from) in total, counted up to kMinLessons
  // Lessons with motion, counted up to kPriorLessons.
  std::uint8_t moving_lessons_ = 0;
  std::uint16_t ticks_per_slot_ = 1;  // ticks from one slot to the next; above 1 only at high tick rates
  std::uint16_t ticks_to_slot_ = 1;
  std::uint16_t ticks_seen_ = 0;     // ticks since the last restart, counted up to 2
  std::uint16_t ticks_at_rest_ = 0;  // consecutive ticks at rest
  std::uint16_t ticks_to_settle_ = 0;
  std::uint16_t horizon_ticks_ = 1;
  std::uint16_t steady_ticks_ = 0;  // ticks in a row with about steady_rate_, counted up to ticks_to_steady_
  std::uint16_t ticks_to_steady_ = 1;
  std::uint32_t order_ = 0;  // selects the axis of the next slot
  float horizon_s_ = 0.0f;
  float samples_per_slot_ = 1.0f;  // weight of a slot, in samples of one axis at 60 Hz
  float kept_ = 0.0f;              // share of a prediction's old error that remains after a slot
  std::array<float, kLags> follow_{};
  glm::vec3 mean_{0.0f};
  glm::vec3 steady_rate_{0.0f};
  std::array<FourFloats, kLags> smooth_{};
  FourFloats shares_{1.0f, 0.0f, 0.0f, 0.0f};  // weight of each prediction; sum 1
  FourFloats errors_{};                        // recent mean square error of each prediction
  Predictor horizontal_;
  Predictor vertical_;
  std::array<Slot, kMaxSlots> slots_in_flight_{};
};

}  // namespace reckoner
