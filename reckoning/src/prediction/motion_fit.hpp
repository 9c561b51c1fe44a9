// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Recursive least squares with exponential forgetting, for a linear predictor of N inputs (L. Ljung and T.
/// Söderström, "Theory and Practice of Recursive Identification", 1983, sec. 2.2). Before any learning, the
/// prediction is the first input. Learning finds how the other inputs improve the prediction. Outliers have
/// less weight (P. J. Huber, "Robust estimation of a location parameter", 1964), because rare events such as
/// collisions do not describe normal motion.
///
/// It stays stable for days. The trace of the covariance never exceeds its initial value, so inputs without
/// information cannot make the covariance grow. The noise level, which sets the gain, is measured from the
/// first sample on. A sample without any motion is ignored. If rounding makes the covariance invalid, it is
/// reset to its initial value. Single precision saves memory, because every entity has several of these
/// predictors.
template <std::size_t N>
class LeastSquares {
 public:
  using Inputs = std::array<float, N>;  ///< one value per weight

  LeastSquares() {
    weights_[0] = 1.0f;
    forget_covariance();
  }

  /// The weights learned so far, one per input.
  [[nodiscard]] const Inputs& weights() const { return weights_; }

  /// Mean square of the recent prediction errors, in squared input units.
  [[nodiscard]] float noise() const { return noise_; }

  /// Starts with weights and noise that other entities of the archetype have learned. Call it only before the
  /// first learn(). The predictor trusts these weights as if it had learned them from many samples, but
  /// learning continues.
  void begin_with(const Inputs& weights, float noise) {
    weights_ = weights;
    noise_ = noise;
    noise_gain_ = kPriorNoiseGain;
    for (float& c : covariance_)
      c *= kPriorVarianceFactor;
  }

  /// The number of values in a Memory: weights, covariance, noise and its gain.
  static constexpr std::size_t kMemorySize = N + N * (N + 1) / 2 + 2;
  /// All that it has learned.
  using Memory = std::array<float, kMemorySize>;
  [[nodiscard]] Memory memory() const {
    Memory memory{};
    auto next = std::copy(weights_.begin(), weights_.end(), memory.begin());
    next = std::copy(covariance_.begin(), covariance_.end(), next);
    *next++ = noise_;
    *next = noise_gain_;
    return memory;
  }
  /// Continues as the predictor whose memory this is. All values must be finite. An invalid covariance is
  /// reset by the next learn().
  void resume(const Memory& memory) {
    const auto* const end_of_weights = memory.data() + N;
    std::copy(memory.data(), end_of_weights, weights_.begin());
    std::copy_n(end_of_weights, kPairs, covariance_.begin());
    noise_ = std::max(kMinNoise, memory[kMemorySize - 2]);
    noise_gain_ = std::clamp(memory[kMemorySize - 1], 0.0f, 1.0f);
  }

  /// Converts `weights` to targets whose difference from the first input is `factor` times as large.
  [[nodiscard]] static Inputs stretched(const Inputs& weights, float factor) {
    Inputs result{1.0f};
    for (std::size_t i = 0; i < N; ++i)
      result[i] += factor * (weights[i] - result[i]);
    return result;
  }
  /// Call this when the difference between the targets and the first input becomes about `factor` times as
  /// large, for example when the horizon changes. It scales the weights and the noise, and increases the
  /// covariance a little.
  void stretch(float factor) {
    weights_ = stretched(weights_, factor);
    noise_ = std::max(kMinNoise, noise_ * factor * factor);
    const float doubt = kStretchDoubt * (factor - 1.0f);
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      k += i;
      covariance_[k++] += (i == 0 ? kFirstPriorVariance : kPriorVariance) * doubt * doubt;
    }
  }

  /// The predicted value: the weighted sum of the inputs.
  [[nodiscard]] float predict(const Inputs& x) const {
    float sum = 0.0f;
    for (std::size_t i = 0; i < N; ++i)
      sum += weights_[i] * x[i];
    return sum;
  }

  /// Learns that the inputs `x` were followed by `target`. The sample has the weight `samples`; 1 is the
  /// weight of a sample at 60 Hz.
  void learn(const Inputs& x, float target, float samples) {
    const float error = target - predict(x);
    float size = target * target;
    for (const float input : x)
      size += input * input;
    if (!(size > kMinSize) || !(size < kMaxSize) || !(error * error < kMaxSize)) return;

    Inputs gain{};
    const float spread = spread_along(x, gain);
    if (!(spread >= 0.0f)) return forget_covariance();
    measure_noise(error * error, samples);
    const float outlier = std::max(1.0f, std::abs(error) / (kOutlier * std::sqrt(noise_)));
    const float kept = 1.0f - (1.0f - kForgetting) * samples;
    const float scale = 1.0f / (kept * noise_ * outlier / samples + spread);
    for (std::size_t i = 0; i < N; ++i)
      weights_[i] += gain[i] * (scale * error);
    shrink(gain, scale, 1.0f / kept, kDrift * samples);
  }

 private:
  static constexpr std::size_t kPairs = N * (N + 1) / 2;
  // Variance of a weight before any sample. The first input is larger than the others, which are differences.
  // If all weights had the same variance, the weight of the first input would absorb most of the first
  // errors.
  static constexpr float kPriorVariance = 1.0f;
  static constexpr float kFirstPriorVariance = 0.01f;
  static constexpr float kPriorVarianceFactor = 0.1f;  // factor on the variances after begin_with()
  static constexpr float kPriorNoiseGain = 0.05f;      // noise gain after begin_with()
  // Standard deviation of the doubt that stretch() adds to the weights, per unit of (factor - 1). On recorded
  // motion, all values up to 0.1 give similar results. With as much doubt as begin_with() assumes, the
  // results are 3 percent worse.
  static constexpr float kStretchDoubt = 0.05f;
  // Factor on the weight of all older samples at each new sample. Older samples fade within a minute or two.
  static constexpr float kForgetting = 0.9998f;
  // Variance that each weight gains per sample. Without it, an hour of perfectly constant motion would make
  // the weights so certain that learning anything else would take an hour.
  static constexpr float kDrift = 1e-8f;
  static constexpr float kNoiseGain = 0.002f;  // share of a sample in noise_, after the first samples
  static constexpr float kMinNoise = 1e-9f;    // squared input units
  static constexpr float kMinSize = 1e-12f;    // squared input units; a smaller sample counts as no motion
  static constexpr float kMaxSize = 1e12f;     // squared input units; a larger sample is ignored as invalid
  static constexpr float kOutlier = 3.0f;      // standard deviations above which an error has less weight

  // At first noise_ is the mean over all samples. Later it is an exponential average over the recent samples.
  void measure_noise(float error2, float samples) {
    noise_gain_ = std::max(noise_gain_ / (1.0f + noise_gain_), std::min(0.5f, kNoiseGain * samples));
    noise_ = std::max(kMinNoise, noise_ + noise_gain_ * (error2 - noise_));
  }

  void forget_covariance() {
    covariance_.fill(0.0f);
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      k += i;
      covariance_[k + i] = i == 0 ? kFirstPriorVariance : kPriorVariance;
    }
  }

  // Computes gain = covariance x and returns x' covariance x.
  float spread_along(const Inputs& x, Inputs& gain) const {
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j, ++k) {
        gain[i] += covariance_[k] * x[j];
        gain[j] += covariance_[k] * x[i];
      }
      gain[i] += covariance_[k++] * x[i];
    }
    float spread = 0.0f;
    for (std::size_t i = 0; i < N; ++i)
      spread += gain[i] * x[i];
    return spread;
  }

  // Updates the covariance. The sample reduces it; forgetting (`growth`) and `drift` increase it. The trace
  // of the covariance never exceeds its initial value.
  void shrink(const Inputs& gain, float scale, float growth, float drift) {
    float trace = 0.0f;
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      const float taken = gain[i] * scale;
      for (std::size_t j = 0; j <= i; ++j, ++k)
        covariance_[k] = (covariance_[k] - taken * gain[j]) * growth;
      covariance_[k - 1] += drift;
      trace += covariance_[k - 1];
    }
    constexpr float kMaxTrace = kFirstPriorVariance + kPriorVariance * (N - 1);
    if (trace > kMaxTrace) {
      for (float& c : covariance_)
        c *= kMaxTrace / trace;
    }
  }

  Inputs weights_{};
  std::array<float, kPairs> covariance_{};  // symmetric; lower triangle by rows
  float noise_ = 0.1f;                      // mean square of the errors, squared input units
  // Share of the newest sample in noise_. After the first sample, the sample has one half and the initial
  // guess the other half.
  float noise_gain_ = 1.0f;
};

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

  /// True if the entity has rested for so long that more ticks at rest change nothing.
  [[nodiscard]] bool settled() const { return settled_; }

 private:
  static constexpr std::size_t kLags = 4;
  static constexpr std::size_t kInputs = kLags + 1;
  static constexpr std::size_t kGuesses = 4;
  static constexpr std::size_t kMaxSlots = 16;
  static constexpr std::size_t kUpAxis = 2;
  using Predictor = LeastSquares<kInputs>;
  static_assert(kPriorSize == 2 * kInputs + kGuesses + 2);
  static_assert(kMemorySize == 1 + 2 * Predictor::kMemorySize + kGuesses + 3 * kLags);

  // A sample in flight: the state of one axis, to be compared with the actual motion one horizon later.
  struct Slot {
    double displacement = 0.0;
    Predictor::Inputs inputs{};
    float derivative = 0.0f;
  };

  void forget_slots();
  void keep_newest_slots(std::size_t slots_before);
  void set_horizon(double tick_rate_hz, double horizon_s);
  [[nodiscard]] Predictor::Inputs inputs(const glm::vec3& rate, std::size_t axis) const;
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
  std::array<Slot, kMaxSlots> slots_in_flight_{};
};

/// Computes the motion to publish, so that it matches the expected future of the entity. Position and
/// velocity are the true values. The acceleration is chosen so that the quadratic motion reaches the position
/// that RateFit expects after horizon_s(). The angular velocity is chosen so that the motion reaches the
/// expected orientation. The receiver remains simple, whatever the sender learns.
///
/// One instance per entity. A value of less than 2 KB; allocates nothing. Call observe() once per tick. An
/// entity that never turns costs no time for rotation, and a resting entity costs no time once it is
/// settled().
class RECKONER_RECKONING_API MotionFit {
 public:
  /// The default horizon, s. It fits ten updates per second with a delay of 0.1 s (horizon_for()).
  static constexpr double kTypicalHorizonS = 0.18;

  /// `tick_rate_hz`: calls of observe() per second, Hz. `horizon_s`: the horizon, how far ahead the published
  /// motion is fitted, s.
  explicit MotionFit(double tick_rate_hz, double horizon_s = kTypicalHorizonS);

  /// The best horizon, s, for a link that carries `updates_per_second` updates per second, each with a delay
  /// of `delay_s` seconds. It is about the typical age of an update while a client uses it. Pass 0 for an
  /// unknown rate or delay.
  [[nodiscard]] static double horizon_for(double updates_per_second, double delay_s);

  /// Changes the horizon to `horizon_s`, s, for example when a link changes. A very small change is ignored.
  /// Learned weights are scaled to the new horizon.
  void change_horizon(double horizon_s);

  /// Takes the true state at the next tick.
  void observe(const State& truth);

  /// The learned parameters, as a starting point for other entities of the same archetype and tick rate. They
  /// are independent of the horizon (RateFit::Prior).
  struct Priors {
    /// Prior of the velocity; nullopt until the entity has moved for a while.
    std::optional<RateFit::Prior> linear;
    /// Prior of the angular velocity; nullopt until the entity has turned for a while.
    std::optional<RateFit::Prior> angular;
  };
  /// The parameters learned up to the last tick. A missing part is not yet reliable enough for other
  /// entities.
  [[nodiscard]] Priors priors() const { return {linear_.prior(), angular_.prior()}; }
  /// Starts with the parameters of other entities of the archetype. Call it only before the first observe().
  void begin_with(const Priors& priors);

  /// What another process needs to continue the fit of an entity (RateFit::Memory).
  struct Memory {
    std::optional<RateFit::Memory>
        linear;  ///< of the velocity; nullopt until the entity has moved for a while
    std::optional<RateFit::Memory>
        angular;  ///< of the angular velocity; nullopt until it has turned for a while
  };
  /// The memory after the last tick.
  [[nodiscard]] Memory memory() const { return {linear_.memory(), angular_.memory()}; }
  /// Continues the fit of another process, with its horizon. Call it only before the first observe(). A part
  /// that is missing or not finite changes nothing.
  void resume(const Memory& memory);

  /// Call this after a teleport: it forgets the recent path, but keeps what was learned about the entity.
  void restart();

  /// Returns `truth` with the acceleration and angular velocity to publish. `truth` must be the last observed
  /// state.
  [[nodiscard]] State fitted(const State& truth) const;

  /// The horizon in force, s: a whole number of ticks.
  [[nodiscard]] double horizon_s() const { return horizon_s_; }

  /// True if the entity has rested for so long that more ticks at rest change nothing. The caller may then
  /// skip observe() while the entity rests.
  [[nodiscard]] bool settled() const { return linear_.settled() && angular_.settled(); }

 private:
  double horizon_s_;
  double tick_s_;
  glm::dvec3 turned_{0.0};  // sum of the rotation vectors of all ticks, rad
  RateFit linear_;
  RateFit angular_;
};

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
  };
  /// The largest error that clients would show in the gap after `published`, if `truth` were published now.
  /// `truth` must be the last observed state, at `time_s`. In a gap of up to `longest_gap_s` seconds only the
  /// interpolation counts. After a longer gap clients may have nothing to interpolate to yet, so the error of
  /// the extrapolated motion counts, too.
  [[nodiscard]] GapError worst_error(const Motion& published, const State& truth, double time_s,
                                     double longest_gap_s) const;

  /// Returns `truth` with the position, velocity, orientation and angular velocity that interpolate best.
  /// `truth` must be the last observed state. If the entity does not move, position and velocity stay
  /// unchanged. If it does not turn, orientation and angular velocity stay unchanged.
  [[nodiscard]] State smoothed(const State& truth) const;

  /// The acceleration, m/s^2, to publish with smoothed(). With it, the curve from `published` bends like the
  /// true path. Nullopt if the gap is too short for a bend, or if part of the path in the gap is not known.
  [[nodiscard]] std::optional<glm::vec3> bend(const Motion& published, const State& truth,
                                              double time_s) const;

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
