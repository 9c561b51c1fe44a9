// SPDX-License-Identifier: MIT
#include "client/src/prediction/predicted_entities.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// An error that is longer than this does not fade, m: it would take less than three pictures.
constexpr double kLongestErrorM = 100.0;
// A path that has changed by more than this below the last picture fades, m, as after a correction: the game
// has stepped ticks late, of which pictures were shown already.
constexpr double kChangedM = 0.01;

}  // namespace

PredictedEntities::Predicted* PredictedEntities::find(EntityId id) {
  const auto found = std::ranges::find_if(all_, [&](const auto& one) { return one->id == id; });
  return found != all_.end() ? found->get() : nullptr;
}

void PredictedEntities::receive(const CorrectionPart& part, Tick tick, const TickClock& ticks) {
  ticks_ = ticks;
  // The ticks order corrections, not their numbers: while the network path to this client is broken, the
  // server may count on.
  if (newest_tick_ && !earlier(*newest_tick_, tick)) return;
  if (arriving_ && earlier(tick, arriving_->tick)) return;
  if (!arriving_ || arriving_->tick != tick) {
    arriving_.emplace();
    arriving_->number = part.number;
    arriving_->tick = tick;
    arriving_->reason = part.reason;
    arriving_->entities.resize(part.total);
  }
  if (arriving_->entities.size() != part.total || arriving_->number != part.number)
    return;  // no honest server
  for (std::size_t i = 0; i < part.entities.size(); ++i) {
    arriving_->has[part.first + i] = true;
    arriving_->entities[part.first + i] = part.entities[i];
  }
  if (!is_complete(*arriving_)) return;
  newest_tick_ = tick;
  if (!is_in_order(*arriving_)) return arriving_.reset();  // no honest server
  inputs_.begin();
  const bool right = is_right(*arriving_);
  change_set(*arriving_);
  if (right || all_.empty()) {
    waiting_.reset();
    inputs_.set_corrected(arriving_->number);
  } else {
    waiting_ = std::move(*arriving_);
  }
  arriving_.reset();
}

bool PredictedEntities::is_complete(const ArrivingCorrection& arriving) const {
  return std::all_of(arriving.has.begin(),
                     arriving.has.begin() + static_cast<std::ptrdiff_t>(arriving.entities.size()),
                     [](bool has) { return has; });
}

// True if no entity is there twice.
bool PredictedEntities::is_in_order(const ArrivingCorrection& arriving) const {
  return std::ranges::adjacent_find(arriving.entities, [](const ExactState& a, const ExactState& b) {
           return a.entity.index1 >= b.entity.index1;
         }) == arriving.entities.end();
}

// True if the game has computed these states by now, after an earlier correction.
bool PredictedEntities::is_right(const ArrivingCorrection& arriving) const {
  return std::ranges::equal(arriving.entities, all_, [&](const ExactState& exact, const auto& known) {
    const PredictedPath::Step* step = known->path.find(arriving.tick);
    return step != nullptr && known->id == exact.entity && known->teleports == exact.teleports &&
           agrees(result_of(step->state, step->bytes(), exact.tolerance, arriving.tick), exact.state,
                  exact.game_state, exact.tolerance, arriving.tick);
  });
}

void PredictedEntities::change_set(const ArrivingCorrection& arriving) {
  std::vector<std::unique_ptr<Predicted>> before = std::move(all_);
  all_.clear();
  for (const ExactState& exact : arriving.entities) {
    const auto known =
        std::ranges::find_if(before, [&](const auto& one) { return one && one->id == exact.entity; });
    const bool is_new = known == before.end();
    all_.push_back(is_new ? std::make_unique<Predicted>() : std::move(*known));
    if (is_new) all_.back()->began = arriving.tick;
    all_.back()->id = exact.entity;
    all_.back()->tolerance = exact.tolerance;
  }
  for (auto& gone : before) {
    if (gone) ended_.push_back(std::move(gone));
  }
  has_changed_ = true;
}

CallResult PredictedEntities::predict(EntityId id, Tick tick, const State& counted,
                                      std::span<const std::byte> game_state, bool& complete) {
  complete = false;
  Predicted* entity = find(id);
  if (entity == nullptr) return CallError::not_predicted;
  if (game_state.size() > kMaxGameStateBytes) return CallError::data_too_long;
  if (!is_sane(counted)) return CallError::not_finite;
  if (!inputs_.is_running()) return CallError::no_step;
  const Tick stepped = inputs_.stepped();
  if (earlier(stepped, tick) || stepped - tick >= PredictedPath::kKept) return CallError::no_step;
  const auto newest = entity->path.newest();
  if (!newest || earlier(*newest, tick)) ++entity->ticks;
  entity->path.set(tick, counted, game_state);
  complete = tick == stepped && are_results_complete();
  return {};
}

// Passes on the results for the newest tick, if there is one for each entity.
bool PredictedEntities::are_results_complete() const {
  const Tick tick = inputs_.stepped();
  std::array<PredictedResult, kMaxPredicted> results;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const PredictedPath::Step* step = all_[i]->path.find(tick);
    if (step == nullptr) return false;
    results[i] = result_of(step->state, step->bytes(), all_[i]->tolerance, tick);
  }
  inputs_.set_results(std::span(results).first(all_.size()));
  return true;
}

std::optional<Correction> PredictedEntities::poll_correction(const glm::dvec3& origin) {
  if (!waiting_ || !inputs_.is_running()) return std::nullopt;
  // The pictures of the game may be longer than the lead, or it stood still: it steps up to this tick first.
  if (earlier(inputs_.stepped(), waiting_->tick) && inputs_.due()) return std::nullopt;
  inputs_.skip_to(waiting_->tick);
  applied_ = std::move(*waiting_);
  waiting_.reset();
  inputs_.set_corrected(applied_.number);
  ++stats_.mispredictions;
  note_errors(applied_);
  corrected_.clear();
  for (std::size_t i = 0; i < applied_.entities.size(); ++i) {
    const ExactState& exact = applied_.entities[i];
    Predicted& entity = *all_[i];
    const bool jumps = entity.path.newest() && entity.teleports != exact.teleports;
    entity.teleports = exact.teleports;
    entity.path.set(applied_.tick, exact.state, exact.game_state);
    entity.fades_next = entity.shown && !jumps;
    if (jumps) {
      entity.fade.stop();
      entity.held.reset();
    }
    corrected_.push_back({exact.entity, exact.state, exact.game_state});
    corrected_.back().state.position -= origin;
  }
  steps_.clear();
  const Tick stepped = inputs_.stepped();
  if (stepped - applied_.tick < PredictedPath::kKept) {
    for (Tick tick = applied_.tick + 1; !earlier(stepped, tick); ++tick)
      steps_.push_back({tick, inputs_.input(tick).bytes()});
  }
  return Correction{applied_.tick, applied_.reason, corrected_, steps_};
}

std::optional<State> PredictedEntities::show(EntityId id, const State* as_remote, double as_remote_s) {
  Predicted* found = find(id);
  if (found == nullptr) return std::nullopt;
  Predicted& entity = *found;
  const double time_s = inputs_.clock().time_s();
  const auto path = entity.path.at(time_s, ticks_);
  if (!path) return std::nullopt;
  // A fade begins at the last picture: both paths are known there.
  const auto then = entity.shown ? entity.path.at(shown_s_, ticks_) : std::nullopt;
  const bool has_changed =
      then && entity.held && glm::distance(then->position, entity.held->position) > kChangedM;
  if (entity.fades_next || has_changed) {
    const double begin_s = then ? shown_s_ : time_s;
    const double duration_s = std::max(ErrorFade::kDurationS, entity.fade.left_s(begin_s));
    entity.fade.begin(*entity.shown, then.value_or(*path), begin_s, kLongestErrorM, duration_s);
  } else if (!entity.shown && as_remote != nullptr) {
    const double behind_s = std::abs(time_s - as_remote_s);
    const double speed_mps = glm::length(glm::dvec3(as_remote->velocity));
    entity.fade.begin(*as_remote, *path, time_s, kLongestErrorM + behind_s * speed_mps,
                      std::max(ErrorFade::kDurationS, time_fade_s(behind_s)));
  }
  entity.fades_next = false;
  // Games that draw before they step extrapolate one tick in each picture, which is no reason to fade.
  constexpr double kTicks = 1.5;
  const double known_s = ticks_.time_of(*entity.path.newest()) + kTicks / ticks_.tick_rate_hz;
  entity.held = time_s > known_s ? path : std::nullopt;
  entity.shown = entity.fade.apply(*path, time_s);
  return entity.shown;
}

}  // namespace reckoner
