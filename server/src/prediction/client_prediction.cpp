// SPDX-License-Identifier: MIT
#include "server/src/prediction/client_prediction.hpp"

#include <algorithm>
#include <utility>

namespace reckoner {

bool ClientPrediction::add(EntityId id, const PredictionTolerance& tolerance) {
  const auto place = std::ranges::lower_bound(entries_, id, {}, &Predicted::id);
  if (place != entries_.end() && place->id == id) {
    place->tolerance = tolerance;
    return true;
  }
  if (entries_.size() >= kMaxPredicted) return false;
  entries_.insert(place, {id, tolerance});
  return true;
}

bool ClientPrediction::remove(EntityId id) {
  return std::erase_if(entries_, [&](const Predicted& one) { return one.id == id; }) > 0;
}

bool ClientPrediction::predicts(EntityId id) const {
  return std::ranges::binary_search(entries_, id, {}, &Predicted::id);
}

std::optional<Refusal> ClientPrediction::accept(const InputBatch& batch, Tick next, double wait_ticks,
                                                double now_s) {
  if (const auto why = inputs_.add(batch, next, wait_ticks, stats_)) return why;
  arrived_s_ = now_s;
  if (!batch.results.empty() && !earlier(batch.newest - batch.results_behind, next)) keep_claim(batch);
  return std::nullopt;
}

void ClientPrediction::keep_claim(const InputBatch& batch) {
  const auto behind = static_cast<std::uint8_t>(static_cast<std::uint8_t>(number_) - batch.corrected);
  const Tick tick = batch.newest - batch.results_behind;
  Claim& claim = claims_[tick % claims_.size()];
  // Of two sections for one tick, the later one counts: it may follow a correction. Numbers of corrections
  // that were never sent look old, and such results are not compared.
  claim.tick = tick;
  claim.corrected = number_ - behind;
  claim.count = static_cast<std::uint8_t>(batch.results.size());
  std::ranges::copy(batch.results, claim.results.begin());
  has_results_ = has_results_ || batch.results.size() == correction_.entities.size();
}

void ClientPrediction::request_correction() {
  begin(CorrectionReason::begins);
}

void ClientPrediction::begin(CorrectionReason reason) {
  disagrees_ = true;
  is_due_ = true;
  since_ = next_number();
  correction_.reason = reason;
}

// Takes the present states into a correction. It keeps the number of the one before, if nothing of that was
// written: the client knows only numbers that it has received.
void ClientPrediction::capture(std::span<const ExactState> states) {
  number_ = next_number();
  is_number_used_ = false;
  correction_.number = static_cast<std::uint8_t>(number_);
  correction_.first = 0;
  correction_.total = static_cast<std::uint8_t>(states.size());
  correction_.entities.assign(states.begin(), states.end());
  written_ = 0;
}

// True if the newest correction names the entities that the client should predict.
bool ClientPrediction::is_same_set(std::span<const ExactState> states) const {
  return std::ranges::equal(states, correction_.entities, [](const ExactState& a, const ExactState& b) {
    return a.entity == b.entity && a.tolerance == b.tolerance;
  });
}

void ClientPrediction::judge(Tick tick, double now_s, std::span<const ExactState> states) {
  judged_tick_ = tick;
  const auto are_continuous = [](const ExactState& a, const ExactState& b) {
    return a.teleports == b.teleports;
  };
  if (!is_same_set(states)) {
    begin(CorrectionReason::begins);
  } else if (!std::ranges::equal(states, correction_.entities, are_continuous)) {
    begin(CorrectionReason::teleported);
  } else if (!states.empty()) {
    compare(tick, states);
  }
  if (now_s - arrived_s_ > kSilenceS && !is_due_ && !states.empty()) return;
  repeat_if_due(tick);
  if (is_due_) capture(states);
}

void ClientPrediction::compare(Tick tick, std::span<const ExactState> states) {
  const Claim& claim = claims_[tick % claims_.size()];
  const bool is_of_this_set = claim.tick == tick && claim.count == states.size() &&
                              static_cast<std::int32_t>(claim.corrected - since_) >= 0;
  if (!is_of_this_set) {
    if (!disagrees_ && tick - compared_tick_ > kLongestUnchecked) begin(CorrectionReason::input_missing);
    return;
  }
  compared_tick_ = tick;
  ++stats_.results;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const ExactState& own = states[i];
    if (agrees(claim.results[i], own.state, own.game_state, own.tolerance, tick)) continue;
    ++stats_.mispredicted;
    // The result for the tick without input was missing with it. It is a later result that differs.
    const bool has_missed = inputs_.has_repeated_since(agreed_tick_);
    if (!disagrees_) begin(has_missed ? CorrectionReason::input_missing : CorrectionReason::differs);
    return;
  }
  agreed_tick_ = tick;
  disagrees_ = false;
  is_due_ = false;
}

void ClientPrediction::repeat_if_due(Tick tick) {
  if (disagrees_ && tick - sent_tick_ >= repeat_ticks_) is_due_ = true;
}

void ClientPrediction::note_written(std::size_t entities) {
  is_number_used_ = true;
  written_ += entities;
  if (written_ < correction_.entities.size()) return;
  is_due_ = false;
  // Without results of the client, ever more seldom: it must not draw many bytes by silence.
  const bool answers = std::exchange(has_results_, false) || sent_ < since_;
  repeat_ticks_ = answers ? kRepeatTicks : std::min(2 * repeat_ticks_, kLongestRepeatTicks);
  sent_ = number_;
  sent_tick_ = judged_tick_;
  ++stats_.corrections;
}

void ClientPrediction::note_arrived(std::uint8_t number) {
  if (correction_.total == 0 && number == correction_.number) disagrees_ = is_due_ = false;
}

}  // namespace reckoner
