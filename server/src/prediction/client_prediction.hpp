// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/predicted_result.hpp"
#include "server/src/prediction/input_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/server/prediction.hpp>

namespace reckoner {

/// The inputs of one client and the entities that it predicts. Each tick, it compares the client's results
/// with the server's states, and decides whether the client needs a correction: the exact states of all
/// entities that it predicts.
///
/// A correction is repeated with newer states until a result of the client agrees that was computed after one
/// of them. So a lost correction costs kRepeatTicks. While the client sends no results, the time between
/// repetitions doubles.
class ClientPrediction {
 public:
  struct Predicted {
    EntityId id;
    PredictionTolerance tolerance;
  };

  // The entities.

  /// The client predicts the entity from now on, or with other rules. False if there are kMaxPredicted
  /// already.
  [[nodiscard]] bool add(EntityId id, const PredictionTolerance& tolerance);
  /// False if the client does not predict the entity.
  [[nodiscard]] bool remove(EntityId id);
  [[nodiscard]] bool predicts(EntityId id) const;
  /// In order of slot.
  [[nodiscard]] std::span<const Predicted> entities() const { return entries_; }

  // Inputs and results of the client.

  [[nodiscard]] InputQueue& inputs() { return inputs_; }
  [[nodiscard]] const InputQueue& inputs() const { return inputs_; }
  /// Accepts a section of the client at `now_s`. The other arguments and the result are as in
  /// InputQueue::add().
  [[nodiscard]] std::optional<Refusal> accept(const InputBatch& batch, Tick next, double wait_ticks,
                                              double now_s);

  // Corrections.

  /// Compares the client's result for `tick`, after the game has moved the entities, and decides whether to
  /// correct it. `states` are those of all entities() that the client knows, in their order.
  void judge(Tick tick, double now_s, std::span<const ExactState> states);
  /// Makes a correction necessary, for example because the session has resumed.
  void request_correction();
  /// The correction that waits to be sent in the tick of the last judge(); null if there is none. The caller
  /// calls note_written() with the number of its entities that were written.
  [[nodiscard]] const CorrectionPart* correction() const { return is_due_ ? &correction_ : nullptr; }
  /// Index of the first entity of correction() that was not written yet.
  [[nodiscard]] std::size_t written() const { return written_; }
  void note_written(std::size_t entities);
  /// A datagram with the whole correction of this number has arrived.
  void note_arrived(std::uint8_t number);

  [[nodiscard]] PredictionStats& stats() { return stats_; }
  [[nodiscard]] const PredictionStats& stats() const { return stats_; }

 private:
  // After this number of ticks, a correction is repeated with newer states; without results of the client,
  // then after twice as many, and so on.
  static constexpr Tick kRepeatTicks = 3;
  static constexpr Tick kLongestRepeatTicks = 24;
  // A client that predicts without results that can be compared is corrected after this number of ticks.
  static constexpr Tick kLongestUnchecked = 15;
  // A client without inputs for longer than this is not corrected, s: its game does not run.
  static constexpr double kSilenceS = 1.0;

  // The client's results for one tick.
  struct Claim {
    Tick tick = 0;
    std::uint32_t corrected = 0;  // the newest correction that the client had applied
    std::uint8_t count = 0;       // of results; 0: none
    std::array<PredictedResult, kMaxPredicted> results{};
  };

  void keep_claim(const InputBatch& batch);
  void begin(CorrectionReason reason);
  [[nodiscard]] std::uint32_t next_number() const { return is_number_used_ ? number_ + 1 : number_; }
  void capture(std::span<const ExactState> states);
  [[nodiscard]] bool is_same_set(std::span<const ExactState> states) const;
  void compare(Tick tick, std::span<const ExactState> states);
  void repeat_if_due(Tick tick);

  InputQueue inputs_;
  std::vector<Predicted> entries_;                      // in order of slot
  std::array<Claim, InputQueue::kMostAhead> claims_{};  // index: tick modulo their number
  double arrived_s_ = -1e300;                           // when the newest section of inputs arrived, s

  CorrectionPart correction_;         // the newest one
  std::uint32_t number_ = 0;          // of correction_, not modulo 256
  bool is_number_used_ = true;        // a part with number_ was written; 0 is never written
  std::uint32_t since_ = 0;           // the first correction about the present disagreement
  bool disagrees_ = false;            // no result that agrees has followed correction `since_`
  bool is_due_ = false;               // correction_ was not written completely
  std::size_t written_ = 0;           // entities of correction_ that were written
  Tick judged_tick_ = 0;              // of the last judge()
  std::uint32_t sent_ = 0;            // number of the last complete correction
  Tick sent_tick_ = 0;                // its tick
  Tick repeat_ticks_ = kRepeatTicks;  // until it is repeated
  bool has_results_ = false;          // for all entities, since then
  Tick compared_tick_ = 0;            // of the last result that was compared
  Tick agreed_tick_ = 0;              // of the last result that agreed
  PredictionStats stats_;
};

}  // namespace reckoner
