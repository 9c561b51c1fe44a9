// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/predicted_result.hpp"
#include "server/src/prediction/input_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/server/prediction.hpp>

namespace reckoner {

/// The inputs of one client and the entities that it predicts. Each tick, it compares the client's results with
/// the server's states, and decides whether the client needs a correction: the exact states of all entities that
/// it predicts.
///
/// A correction is repeated with newer states until a result of the client agrees that was computed after one of
/// them. So a lost correction costs kRepeatTicks.
class ClientPrediction {
 public:
  /// Returns the exact state of an entity that the client knows; nullopt if the client does not know it, or if
  /// the entity has ended.
  using StateOf = std::function<std::optional<ExactState>(EntityId)>;

  // The entities.

  /// The client predicts the entity from now on, or with other rules. False if there are kMaxPredicted already.
  [[nodiscard]] bool add(EntityId id, const PredictionTolerance& tolerance);
  /// False if the client does not predict the entity.
  [[nodiscard]] bool remove(EntityId id);
  [[nodiscard]] bool predicts(EntityId id) const;

  // Inputs and results of the client.

  [[nodiscard]] InputQueue& inputs() { return inputs_; }
  [[nodiscard]] const InputQueue& inputs() const { return inputs_; }
  /// Accepts a section of the client at `now_s`. The other arguments and the result are as in InputQueue::add().
  [[nodiscard]] std::optional<Refusal> accept(const InputBatch& batch, Tick next, double wait_ticks,
                                              double now_s);

  // Corrections.

  /// Compares the client's result for `tick`, after the game has moved the entities, and decides whether to
  /// correct it.
  void judge(Tick tick, double now_s, const StateOf& state_of);
  /// Makes a correction necessary, for example because the session has resumed.
  void request_correction();
  /// The correction that waits to be sent in the tick of the last judge(); null if there is none. The caller
  /// calls note_sent() with the number of its entities that were written.
  [[nodiscard]] const CorrectionPart* correction() const { return is_due_ ? &correction_ : nullptr; }
  /// Index of the first entity of correction() that was not written yet.
  [[nodiscard]] std::size_t written() const { return written_; }
  void note_written(std::size_t entities);
  /// A datagram with the whole correction of this number has arrived.
  void note_arrived(std::uint8_t number);

  [[nodiscard]] PredictionStats& stats() { return stats_; }
  [[nodiscard]] const PredictionStats& stats() const { return stats_; }

 private:
  // After this number of ticks, a correction is repeated with newer states.
  static constexpr Tick kRepeatTicks = 3;
  // A client that predicts without results that can be compared is corrected after this number of ticks.
  static constexpr Tick kLongestUnchecked = 15;
  // A client without inputs for longer than this is not corrected, s: its game does not run.
  static constexpr double kSilenceS = 1.0;

  struct Predicted {
    EntityId id;
    PredictionTolerance tolerance;
  };
  // The client's results for one tick.
  struct Claim {
    Tick tick = 0;
    std::uint32_t corrected = 0;  // the newest correction that the client had applied
    std::uint8_t count = 0;       // of results; 0: none
    std::array<PredictedResult, kMaxPredicted> results{};
  };

  void keep_claim(const InputBatch& batch);
  void begin(CorrectionReason reason);
  void capture();
  [[nodiscard]] bool is_same_set() const;
  void compare(Tick tick);
  void repeat_if_due(Tick tick);

  InputQueue inputs_;
  std::vector<Predicted> entries_;               // in order of slot
  std::array<Claim, InputQueue::kMostAhead> claims_{};  // index: tick modulo their number
  double arrived_s_ = -1e300;                    // when the newest section of inputs arrived, s

  std::vector<ExactState> states_;  // exact states in the tick of the last judge()
  CorrectionPart correction_;       // the newest one
  std::uint32_t number_ = 0;        // of correction_, not modulo 256
  std::uint32_t since_ = 0;         // the first correction about the present disagreement
  bool disagrees_ = false;          // no result that agrees has followed correction `since_`
  bool is_due_ = false;             // correction_ was not written completely
  std::size_t written_ = 0;         // entities of correction_ that were written
  Tick judged_tick_ = 0;            // of the last judge()
  Tick sent_tick_ = 0;              // of the last complete correction
  Tick compared_tick_ = 0;          // of the last result that was compared
  Tick agreed_tick_ = 0;            // of the last result that agreed
  PredictionStats stats_;
};

}  // namespace reckoner
