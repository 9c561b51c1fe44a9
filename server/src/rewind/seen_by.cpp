// SPDX-License-Identifier: MIT
#include "server/src/rewind/seen_by.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/frame.hpp>

namespace reckoner {
namespace {

// A client's clock may be off by this, more if the delay differs between the two directions. Reports within
// it are accepted.
constexpr double kClockSlackS = 0.25;

// A report that is older than this comes too late to matter.
constexpr double kOldestReportS = 1.5;

// A client blends over a jump in time for at most this long (kLongestCatchUpS). How it blends is unknown
// here.
constexpr double kJumpS = 0.5;

// If the client acknowledged a datagram but did not report when it applied it, the time is guessed after this
// long.
constexpr double kPatienceS = 0.4;

constexpr double kLagGain = 1.0 / 16.0;

// The shown time lags by up to the longest delay of buffered modes, and a blend needs the motions before it.
constexpr double kKeepS = SeenBy::kHistoryS + 0.5;

// Returns the server time with these low bits that is nearest to the present.
double unwrap_clock(std::uint16_t clock, double now_s) {
  constexpr double kWrapS = static_cast<double>(1u << ShowingReport::kClockBits) * kStampUnitS;
  const double low_s = clock * kStampUnitS;
  return low_s + std::round((now_s - low_s) / kWrapS) * kWrapS;
}

}  // namespace

SeenEntity* SeenBy::find(EntityId id) const {
  if (!id || id.slot() >= entities_.size() || !entities_[id.slot()]) return nullptr;
  SeenEntity* found = entities_[id.slot()].get();
  return found->id() == id ? found : nullptr;
}

void SeenBy::change(Path path, double blend_s) {
  changed_ = changed_ || path != path_ || blend_s != blend_s_;
  path_ = path;
  blend_s_ = blend_s;
}

void SeenBy::announced(EntityId id, const Motion& first) {
  if (id.slot() >= entities_.size()) entities_.resize(id.slot() + 1);
  entities_[id.slot()] = std::make_unique<SeenEntity>(id, first, path_);
  note_frame(first);
}

void SeenBy::announced_again(EntityId id, const Motion& newer) {
  const SeenEntity* entity = find(id);
  if (entity != nullptr && !entity->appeared()) announced(id, newer);
}

void SeenBy::confirmed(EntityId id) {
  confirmed_.push_back(id);
}

void SeenBy::own(EntityId id) {
  forget(id);
  own_.push_back(id);
}

void SeenBy::forget(EntityId id) {
  std::erase(own_, id);
  std::erase(confirmed_, id);
  if (find(id) != nullptr) entities_[id.slot()].reset();
}

void SeenBy::sent(Sequence sequence, EntityId id, const Motion& motion, double now_s) {
  Sent& datagram = sent_[sequence % kSent];
  if (!datagram.open || datagram.sequence != sequence) {
    datagram.sequence = sequence;
    datagram.open = true;
    datagram.sent_s = now_s;
    datagram.carried.clear();
  }
  datagram.carried.push_back({id, motion});
}

std::optional<Refusal> SeenBy::take_in(const ShowingReport& report, const std::optional<Ack>& ack,
                                       double now_s) {
  const double client_s = unwrap_clock(report.clock, now_s);
  if (client_s > now_s + kClockSlackS || client_s < now_s - kOldestReportS) {
    instants_.clear();
    return client_s > now_s ? Refusal::from_future : Refusal::too_old;
  }
  const Instant instant{client_s, client_s - report.delay * kStampUnitS};
  if (era_ != report.era || changed_) begin_era(report.era, instant.shown_s);
  note_instant(instant);
  for (std::size_t i = 0; i < report.count; ++i) {
    const ShowingReport::Arrival& arrival = report.arrivals[i];
    Sent& datagram = sent_[arrival.sequence % kSent];
    if (!datagram.open || datagram.sequence != arrival.sequence) continue;
    const double shown_s = instant.shown_s - arrival.ago * ShowingReport::kArrivalUnitS;
    lag_s_ += kLagGain * (std::clamp(shown_s - datagram.sent_s, -2.0, 2.0) - lag_s_);
    apply(datagram, shown_s);
  }
  if (ack) guess_arrivals(*ack, instant, now_s);
  for (const EntityId id : confirmed_) {
    if (SeenEntity* entity = find(id); entity != nullptr && !entity->appeared())
      entity->appear(instant.shown_s);
  }
  confirmed_.clear();
  return std::nullopt;
}

void SeenBy::begin_era(unsigned era, double shown_s) {
  known_from_s_ = era_ ? shown_s + kJumpS : shown_s;
  era_ = era;
  changed_ = false;
  instants_.clear();
  for (const auto& entity : entities_) {
    if (entity) entity->restart(path_, shown_s);
  }
}

void SeenBy::note_instant(const Instant& instant) {
  // Late reports are sorted by time, too, as far as they matter.
  auto place = instants_.end();
  while (place != instants_.begin() && (place - 1)->now_s > instant.now_s)
    --place;
  instants_.insert(place, instant);
  const double oldest_s = instants_.back().now_s - kHistoryS - kClockSlackS;
  while (instants_.size() > kMostInstants || (instants_.size() > 2 && instants_[1].now_s < oldest_s))
    instants_.pop_front();
}

void SeenBy::apply(Sent& datagram, double shown_s) {
  // A motion is not applied before it is sent, and not at a shown time further back than a report can say. A
  // client gains nothing by claiming that a motion arrived later than the limit.
  constexpr double kLongestDelayS = ShowingReport::kMostDelay * kStampUnitS + kClockSlackS;
  shown_s =
      std::clamp(shown_s, datagram.sent_s - kLongestDelayS, datagram.sent_s + std::max(limit_s_, kHistoryS));
  const auto carry = [this](const State& state, FrameId from, FrameId to,
                            double time_s) -> std::optional<State> {
    const auto out_of = frame_at(from, time_s, kMostFrames);
    const auto into = frame_at(to, time_s, kMostFrames);
    if (!out_of || !into) return std::nullopt;
    const State world = from ? out_of_frame(*out_of, state) : state;
    return to ? into_frame(*into, world) : world;
  };
  for (const SentPublish& carried : datagram.carried) {
    if (SeenEntity* entity = find(carried.id)) {
      entity->add(shown_s, carried.motion, blend_s_, kKeepS, carry);
    } else if (std::erase(own_, carried.id) > 0) {  // how it blends from its own motion is unknown
      announced(carried.id, carried.motion);
      find(carried.id)->appear(shown_s + blend_s_);
    }
    note_frame(carried.motion);
  }
  datagram.open = false;
}

// Guesses when the client applied datagrams that it acknowledged long ago without reporting their arrival.
// Either the reports were lost, or the client applied them before it showed anything.
void SeenBy::guess_arrivals(const Ack& ack, const Instant& instant, double now_s) {
  for (unsigned behind = 0; behind <= 32; ++behind) {
    if (behind > 0 && ((ack.window >> (behind - 1)) & 1u) == 0) continue;
    const auto sequence = static_cast<Sequence>(ack.newest - behind);
    Sent& datagram = sent_[sequence % kSent];
    if (!datagram.open || datagram.sequence != sequence || now_s - datagram.sent_s < kPatienceS) continue;
    apply(datagram, std::min(datagram.sent_s + lag_s_, instant.shown_s));
  }
}

std::optional<double> SeenBy::shown_at(double time_s, double now_s) const {
  const double oldest_s = now_s - std::min(limit_s_, kHistoryS);
  if (instants_.empty() || !(time_s >= oldest_s) || !(time_s <= now_s + kClockSlackS)) return std::nullopt;
  if (time_s < instants_.front().now_s) return std::nullopt;
  const auto after =
      std::find_if(instants_.begin(), instants_.end(), [&](const Instant& i) { return i.now_s > time_s; });
  double shown_s = 0.0;
  if (after == instants_.end()) {
    shown_s = time_s - (instants_.back().now_s - instants_.back().shown_s);
  } else {
    const Instant& a = *(after - 1);
    const double share = (time_s - a.now_s) / (after->now_s - a.now_s);
    shown_s = a.shown_s + share * (after->shown_s - a.shown_s);
  }
  if (shown_s < oldest_s || shown_s < known_from_s_) return std::nullopt;
  return shown_s;
}

// Like the client, corrects an entity gently if its frame contains others.
void SeenBy::note_frame(const Motion& motion) const {
  if (!motion.frame) return;
  if (SeenEntity* frame = find(entity_of(motion.frame))) frame->carry(glm::length(motion.state.position));
}

std::optional<State> SeenBy::frame_at(FrameId frame, double shown_s, int most) const {
  if (!frame) return State{};
  const SeenEntity* entity = find(entity_of(frame));
  return entity != nullptr && most > 0 ? in_world(*entity, shown_s, most - 1) : std::nullopt;
}

std::optional<State> SeenBy::in_world(const SeenEntity& entity, double shown_s, int most) const {
  const auto shown = entity.shown(shown_s);
  if (!shown) return std::nullopt;
  if (!shown->frame) return shown->state;
  const auto frame = frame_at(shown->frame, shown_s, most);
  if (!frame) return std::nullopt;
  return out_of_frame(*frame, shown->state);
}

std::optional<State> SeenBy::shown(EntityId id, double shown_s) const {
  const SeenEntity* entity = find(id);
  return entity != nullptr ? in_world(*entity, shown_s, kMostFrames) : std::nullopt;
}

void SeenBy::shown(double shown_s, std::vector<SeenPose>& poses) const {
  for (const auto& entity : entities_) {
    if (!entity) continue;
    if (const auto state = in_world(*entity, shown_s, kMostFrames))
      poses.push_back({entity->id(), state->pose()});
  }
}

}  // namespace reckoner
