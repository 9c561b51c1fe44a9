// SPDX-License-Identifier: MIT
#include "harness/explain/finding.hpp"

#include "harness/explain/explain_corrections.hpp"
#include "harness/explain/wording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/blend_profile.hpp>

namespace reckoner::harness {
namespace {

// A motion that moved the shown state before the step, as a candidate for its cause.
struct Trigger {
  const EntityFacts* entity = nullptr;  // the entity of the episode, or the frame that it is in
  std::size_t motion = 0;               // index in EntityFacts::motions
  double strength_mps2 = 0.0;           // acceleration that the blend adds
};

// The acceleration at the start of a blend that corrects a position and a velocity (docs/TUNING.md).
double blend_acceleration(double step_m, double step_mps, const BlendSettings& blend) {
  const BlendShape::Weights start = blend_shape(blend.curve).second(0.0);
  return std::abs(start.offset) * step_m / (blend.duration_s * blend.duration_s) +
         std::abs(start.rate) * step_mps / blend.duration_s;
}

class CauseFinder {
 public:
  CauseFinder(const Episode& episode, const SessionFacts& facts, const LinkHistory& link)
      : episode_(episode),
        facts_(facts),
        link_(link),
        tick_s_(1.0 / facts.tick_rate_hz),
        frame_s_(std::clamp(episode.peak.frame_s, 1e-3, 0.1)),
        blend_{facts.blend.curve, std::max(facts.blend.duration_s, frame_s_)} {}

  [[nodiscard]] Finding find() const {
    if (episode_.late_spawn_s > 0.0) return late_spawn();
    if (episode_.peak.predicted) return prediction();
    if (auto changed = ownership_change()) return std::move(*changed);
    if (episode_.teleported) return teleport();
    if (episode_.changed_frame) return frame_change();
    const auto trigger = strongest_trigger(*episode_.entity, 0);
    if (trigger && motion_of(*trigger).changes_frame) return frame_change();
    const double strength = trigger ? trigger->strength_mps2 : 0.0;
    if (auto corrected = clock_step(strength)) return std::move(*corrected);
    if (!trigger || is_weak(strength)) {
      if (auto paced = change_of_pace()) return std::move(*paced);
      if (auto silent = silence()) return std::move(*silent);
    }
    if (!trigger || is_negligible(strength)) return smooth_motion();
    return arrival(*trigger);
  }

 private:
  static const MotionFact& motion_of(const Trigger& trigger) {
    return trigger.entity->motions[trigger.motion];
  }
  // How far a trigger can change the drawn velocity from one picture to the next, compared with the step.
  [[nodiscard]] bool is_weak(double strength) const { return strength * frame_s_ < 0.3 * episode_.size_mps; }
  [[nodiscard]] bool is_negligible(double strength) const {
    return strength * frame_s_ < 0.1 * episode_.size_mps;
  }

  [[nodiscard]] std::optional<Trigger> strongest_trigger(const EntityFacts& entity, int depth) const {
    std::optional<Trigger> strongest;
    const double until_s = episode_.peak.local_s;
    for (const double window_s : {blend_.duration_s + 2.5 * frame_s_, 0.6}) {
      for (std::size_t i = 0; i < entity.motions.size(); ++i) {
        const MotionFact& motion = entity.motions[i];
        if (!motion.applied || motion.fresh || motion.local_s > until_s ||
            motion.local_s < until_s - window_s)
          continue;
        if (motion.changes_frame) return Trigger{&entity, i, 1e300};
        const double strength = blend_acceleration(motion.step_m, motion.step_mps, blend_);
        if (!strongest || strength > strongest->strength_mps2) strongest = Trigger{&entity, i, strength};
      }
      if (strongest && !is_weak(strongest->strength_mps2)) break;
    }
    if (strongest && !is_weak(strongest->strength_mps2)) return strongest;
    // What moves the frame moves everything in it.
    constexpr int kDeepest = 4;
    const EntityFacts* frame = depth < kDeepest ? frame_entity(entity) : nullptr;
    if (frame == nullptr) return strongest;
    const auto outer = strongest_trigger(*frame, depth + 1);
    const bool stronger = outer && outer->strength_mps2 < 1e300 &&
                          (!strongest || outer->strength_mps2 > strongest->strength_mps2);
    return stronger ? outer : strongest;
  }

  [[nodiscard]] const EntityFacts* frame_entity(const EntityFacts& entity) const {
    const EntityId id = &entity == episode_.entity ? episode_.peak.in_frame : EntityId{};
    if (!id) return nullptr;
    const auto found = std::find_if(facts_.entities.begin(), facts_.entities.end(),
                                    [&](const EntityFacts& other) { return other.id == id; });
    return found != facts_.entities.end() ? &*found : nullptr;
  }

  [[nodiscard]] Finding late_spawn() const;
  [[nodiscard]] Finding prediction() const;
  [[nodiscard]] Finding teleport() const;
  [[nodiscard]] Finding frame_change() const;
  [[nodiscard]] std::optional<Finding> ownership_change() const;
  [[nodiscard]] std::optional<Finding> clock_step(double strength) const;
  [[nodiscard]] std::optional<Finding> change_of_pace() const;
  [[nodiscard]] std::optional<Finding> silence() const;
  [[nodiscard]] Finding smooth_motion() const;
  [[nodiscard]] Finding arrival(const Trigger& trigger) const;

  // What is known about a motion that came as an update.
  struct Delivery {
    double previous_sent_s = 0.0;  // when the motion before was sent
    double age_s = 0.0;            // how old the motion was when it was sent, beyond what is usual
    double late_s = 0.0;           // how much later than usual its datagram arrived
    double clock_off_s = 0.0;      // how far the clock was ahead of what is usual
    double allowed_m = 0.0;        // threshold at its level of detail
    bool is_old = false;           // the server sent it later than it was due
    bool drifted = false;          // the motion before was off by more than the server allows
    bool nearly_drifted = false;
    bool overtook = false;  // it overtook an earlier datagram, within the usual jitter
    std::size_t arrival = 0;
    std::vector<LinkHistory::Missing> missing;
  };
  [[nodiscard]] Delivery delivery_of(const Trigger& trigger) const;
  [[nodiscard]] Finding inferred(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding with_decisions(const Trigger& trigger, const Delivery& d, Finding finding) const;
  [[nodiscard]] Finding known_delay(const Trigger& trigger, const DelayFact& delay) const;
  [[nodiscard]] std::optional<Finding> missing_datagram(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding late_datagram(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding wrong_clock(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding postponed(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding allowed_error(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding own_motion(const Trigger& trigger, const Delivery& d) const;
  [[nodiscard]] Finding finding(Cause cause, const Trigger& trigger) const {
    Finding result{.cause = cause, .correction_m = motion_of(trigger).step_m};
    result.evidence = {{"correction_m", motion_of(trigger).step_m},
                       {"correction_mps", motion_of(trigger).step_mps}};
    return result;
  }
  [[nodiscard]] std::string moved(const Trigger& trigger) const {
    const std::string whom = trigger.entity == episode_.entity ? "The motion to show moved by "
                                                               : "The frame that it is in moved by ";
    return whom + metres(motion_of(trigger).step_m) + ".";
  }

  const Episode& episode_;
  const SessionFacts& facts_;
  const LinkHistory& link_;
  double tick_s_;
  double frame_s_;
  BlendSettings blend_;
};

// Levels of detail have thresholds 1, 4 and 16 times that of the archetype.
double level_factor(std::uint8_t level) {
  return std::pow(4.0, level);
}

Finding CauseFinder::late_spawn() const {
  Finding result{.cause = Cause::late_spawn};
  result.sentence = "The spawn of this entity arrived " + milliseconds(episode_.late_spawn_s) +
                    " later than usual, so the entity appeared " + metres(episode_.peak.position_step_m) +
                    " further along its path.";
  result.evidence = {{"late_s", episode_.late_spawn_s}};
  return result;
}

Finding CauseFinder::teleport() const {
  Finding result{.cause = Cause::teleport, .known = true};
  result.sentence = "The game declared a teleport over " + metres(episode_.peak.position_step_m) +
                    "; clients never blend across one.";
  return result;
}

Finding CauseFinder::frame_change() const {
  Finding result{.cause = Cause::frame_change, .known = true};
  const EntityId in = episode_.peak.in_frame;
  result.sentence =
      in ? "The entity moved into the frame of the entity in slot " + std::to_string(in.slot()) +
               ", and its shown pose now follows that frame."
         : std::string("The entity left the frame of another entity and now moves in the world frame.");
  if (in) result.evidence.push_back({"frame_slot", static_cast<double>(in.slot())});
  return result;
}

std::optional<Finding> CauseFinder::ownership_change() const {
  constexpr double kEffectS = 0.8;  // a blend after a correction lasts at most half a second
  using Kind = OwnershipFact::Kind;
  const double at_s = episode_.peak.local_s;
  const OwnershipFact* last = nullptr;
  for (const OwnershipFact& change : episode_.entity->ownership) {
    if (change.local_s <= at_s && change.local_s > at_s - kEffectS) {
      const bool more = last == nullptr || change.kind == Kind::corrected || last->kind != Kind::corrected;
      if (more) last = &change;
    }
  }
  if (last == nullptr) return std::nullopt;
  Finding result{.cause = Cause::owner_correction, .known = true};
  result.sentence =
      last->kind == Kind::corrected
          ? "The server corrected this client, which owns the entity: it moved the entity to another state."
      : last->kind == Kind::given ? "The server gave this entity to this client, whose game now moves it."
                                  : "The server took this entity back from this client.";
  result.sentence += " The correction arrived " + milliseconds(at_s - last->local_s) + " before the step.";
  result.evidence = {{"correction_at_s", last->local_s - facts_.first_local_s}};
  return result;
}

std::optional<Finding> CauseFinder::clock_step(double strength) const {
  constexpr double kLongestCatchUpS = 0.5;
  for (auto step = facts_.clock_steps.rbegin(); step != facts_.clock_steps.rend(); ++step) {
    const double ago_s = episode_.peak.local_s - step->local_s;
    if (ago_s < 0.0) continue;
    const double catch_up_s = std::max(blend_.duration_s, std::min(std::abs(step->by_s), kLongestCatchUpS));
    if (ago_s > catch_up_s + 2.5 * frame_s_) return std::nullopt;
    const double moved_m = std::abs(step->by_s) * episode_.peak.speed_mps;
    if (blend_acceleration(moved_m, 0.0, {BlendCurve::cubic, catch_up_s}) < 0.5 * strength)
      return std::nullopt;
    Finding result{.cause = Cause::clock, .known = true, .correction_m = moved_m};
    result.sentence =
        "The client corrected its clock by " + signed_milliseconds(step->by_s) +
        ", so everything that moves had to be shown at another instant; at this speed that is " +
        metres(moved_m) + ".";
    result.evidence = {{"clock_step_s", step->by_s},
                       {"clock_step_at_s", step->local_s - facts_.first_local_s}};
    return result;
  }
  return std::nullopt;
}

// Shown time began to run faster or slower.
std::optional<Finding> CauseFinder::change_of_pace() const {
  const StepFact& peak = episode_.peak;
  if (peak.delay_change_mps > 0.5 * episode_.size_mps) {
    Finding result{.cause = Cause::jitter, .known = true};
    result.sentence = "The client adapted its delay to the jitter: shown time ran at " +
                      percent(peak.shown_rate) + " of its usual speed.";
    result.evidence = {{"shown_rate", peak.shown_rate}};
    return result;
  }
  if (peak.clock_change_mps > 0.5 * episode_.size_mps) {
    Finding result{.cause = Cause::clock, .known = true};
    result.sentence = "The client corrected its clock slowly: server time ran at " +
                      percent(peak.clock_rate) + " of its usual speed.";
    result.evidence = {{"clock_rate", peak.clock_rate}};
    return result;
  }
  return std::nullopt;
}

// Nothing arrived for so long that motions faded to rest, or continue after that.
std::optional<Finding> CauseFinder::silence() const {
  constexpr double kSilenceS = 0.8;  // the client lets motions fade after a second
  auto silent = link_.silence(episode_.peak.local_s, kSilenceS);
  if (!silent) silent = link_.silence(episode_.peak.local_s - blend_.duration_s - 0.5, kSilenceS);
  if (!silent) return std::nullopt;
  const auto datagrams = link_.datagrams();
  const DatagramFact& before = datagrams[silent->before];
  Finding result{.cause = Cause::loss};
  result.sentence = "Nothing arrived from the server for " + milliseconds(silent->seconds);
  result.evidence = {{"silence_s", silent->seconds}};
  if (!silent->after) {
    result.sentence += ", until the end of the recording, so the motion faded to rest.";
    return result;
  }
  const DatagramFact& after = datagrams[*silent->after];
  const auto lost = link_.missing(before.sent_s + 0.5 * tick_s_, after.sent_s, *silent->after);
  const auto never = std::count_if(lost.begin(), lost.end(), [](const auto& m) { return !m.arrived; });
  if (never == 0) result.cause = Cause::jitter;
  result.evidence.push_back({"lost_datagrams", static_cast<double>(never)});
  result.sentence += never > 0 ? ": " + counted(never, "datagram was", "datagrams were") + " lost"
                               : ": the datagrams were delayed";
  result.sentence += ", so the motion faded to rest and then caught up.";
  return result;
}

Finding CauseFinder::smooth_motion() const {
  Finding result{.cause = Cause::motion};
  result.sentence =
      episode_.owned ? "This client owns the entity, and its own game moved it like this."
                     : "No update, clock or frame disturbed it: the known motion itself bends this sharply.";
  result.known = episode_.owned;
  return result;
}

CauseFinder::Delivery CauseFinder::delivery_of(const Trigger& trigger) const {
  const std::vector<MotionFact>& motions = trigger.entity->motions;
  const MotionFact& motion = motions[trigger.motion];
  Delivery d;
  d.arrival = motion.datagram;
  // Motions of an entity that another client owns are old when the server gets them.
  std::vector<double> ages;
  for (const MotionFact& other : motions) {
    if (other.applied && !other.in_spawn) ages.push_back(other.sent_s - other.time_s);
  }
  double usual_age_s = 0.0;
  if (!ages.empty()) {
    const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
    std::nth_element(ages.begin(), middle, ages.end());
    usual_age_s = *middle;
  }
  d.previous_sent_s = -1e300;
  for (std::size_t i = trigger.motion; i-- > 0;) {
    if (!motions[i].applied) continue;
    d.previous_sent_s = motions[i].sent_s;
    break;
  }
  d.age_s = motion.sent_s - motion.time_s - usual_age_s;
  d.late_s = link_.lateness_s(motion.sent_s, motion.local_s);
  d.clock_off_s = motion.now_s - motion.sent_s - link_.usual_latency_s() - std::max(0.0, d.late_s);
  d.allowed_m = trigger.entity->threshold_m * level_factor(motion.level);
  const double in_one_tick_m = motion.turn_mps * tick_s_;
  d.is_old = d.age_s > 2.5 * tick_s_;
  d.drifted = motion.error_m > 1.5 * d.allowed_m + in_one_tick_m;
  d.nearly_drifted = motion.error_m > 0.8 * d.allowed_m + 0.5 * in_one_tick_m;
  constexpr double kLongS = 1.5;
  constexpr double kShortS = 0.4;
  const double back_s = d.is_old || d.drifted ? kLongS : kShortS;
  const double from_s = std::max(d.previous_sent_s + 0.5 * tick_s_, motion.sent_s - back_s);
  d.missing = link_.missing(from_s, motion.sent_s, d.arrival);
  // Usual jitter reorders datagrams, too.
  std::erase_if(d.missing, [&](const LinkHistory::Missing& missing) {
    if (!missing.arrived) return false;
    const DatagramFact& late = link_.datagrams()[*missing.arrived];
    const bool is_usual = link_.lateness_s(late.sent_s, late.local_s) <= link_.late_limit_s();
    d.overtook = d.overtook || is_usual;
    return is_usual;
  });
  // The server publishes before the error reaches the threshold, so that the update arrives in time. A larger
  // step after several missing datagrams means that one of them contained an earlier motion.
  d.nearly_drifted = d.nearly_drifted || (d.missing.size() > 1 && motion.step_m > 1.3 * d.allowed_m);
  return d;
}

Finding CauseFinder::arrival(const Trigger& trigger) const {
  const Delivery d = delivery_of(trigger);
  Finding result = inferred(trigger, d);
  return facts_.decisions ? with_decisions(trigger, d, std::move(result)) : result;
}

// What the server's own log says about a motion decides about causes at the server. What happened in flight
// is still inferred from what arrived.
Finding CauseFinder::with_decisions(const Trigger& trigger, const Delivery& d, Finding finding) const {
  const MotionFact& motion = motion_of(trigger);
  const EntityId entity = trigger.entity->id;
  const DelayFact* const delay = facts_.decisions->delay(facts_.client, entity, motion.time_s);
  const PublishFact* const published = facts_.decisions->publication(entity, motion.level, motion.time_s);
  if (published == nullptr) return finding;  // the log does not cover this time
  const double waited_s = delay != nullptr ? delay->at_s - delay->since_s : 0.0;
  const bool waited = delay != nullptr && delay->why != DelayFact::Why::repair && waited_s > 2.5 * tick_s_;
  const bool of_server =
      finding.cause == Cause::budget || finding.cause == Cause::threshold || finding.cause == Cause::motion;
  // After a loss, updates wait for the repair, and then for the budget. The loss came first.
  if (waited && waited_s > d.late_s && of_server) return known_delay(trigger, *delay);
  if (finding.cause == Cause::loss && delay != nullptr && delay->why == DelayFact::Why::repair) {
    finding.known = true;
  } else if (of_server && !waited) {
    // The server sent it at once, so either it allowed the error, or the entity changed its motion.
    const bool allowed = finding.cause == Cause::threshold || (finding.cause == Cause::budget && d.drifted &&
                                                               published->error_m > 0.5 * d.allowed_m);
    finding = allowed ? allowed_error(trigger, d) : own_motion(trigger, d);
    finding.known = true;
  }
  finding.evidence.push_back({"published_s", published->at_s});
  finding.evidence.push_back({"published_error_m", published->error_m});
  return finding;
}

Finding CauseFinder::known_delay(const Trigger& trigger, const DelayFact& delay) const {
  const double waited_s = delay.at_s - delay.since_s;
  Finding result = finding(Cause::budget, trigger);
  result.known = true;
  result.evidence.push_back({"postponed_s", waited_s});
  result.evidence.push_back({"due_s", delay.since_s});
  const std::string postponed = "The server postponed this update for " + milliseconds(waited_s) + ", ";
  switch (delay.why) {
    case DelayFact::Why::late:
      result.sentence = "The server was late with its ticks, and sent this update " + milliseconds(waited_s) +
                        " after it was due. ";
      break;
    case DelayFact::Why::turn:
      result.sentence = postponed + "until the client's next datagram (send_rate_hz). ";
      break;
    default:
      result.sentence = postponed + "because the client's byte budget was used up. ";
  }
  result.sentence += moved(trigger);
  return result;
}

Finding CauseFinder::inferred(const Trigger& trigger, const Delivery& d) const {
  const MotionFact& motion = motion_of(trigger);
  if (d.is_old || d.drifted || d.nearly_drifted) {
    if (auto missing = missing_datagram(trigger, d)) return std::move(*missing);
  }
  if (d.late_s > link_.late_limit_s()) return late_datagram(trigger, d);
  constexpr double kClockOffS = 0.05;
  if (std::abs(d.clock_off_s) > kClockOffS + link_.late_limit_s()) return wrong_clock(trigger, d);
  const double backlog_s =
      link_.backlog_s(std::max(d.previous_sent_s, motion.sent_s - 1.5), motion.sent_s + 0.5 * tick_s_);
  // A motion that overtook the one before it was sent in time.
  const bool drifted = d.drifted && !d.overtook;
  if (d.is_old || (drifted && backlog_s > 2.5 * tick_s_)) return postponed(trigger, d);
  if (drifted) return allowed_error(trigger, d);
  const bool by_position =
      blend_acceleration(motion.step_m, 0.0, blend_) > blend_acceleration(0.0, motion.step_mps, blend_);
  if (motion.step_m <= 1.3 * d.allowed_m && by_position) return allowed_error(trigger, d);
  return own_motion(trigger, d);
}

std::optional<Finding> CauseFinder::missing_datagram(const Trigger& trigger, const Delivery& d) const {
  const MotionFact& motion = motion_of(trigger);
  if (d.missing.empty()) return std::nullopt;
  const auto is_lost = [](const LinkHistory::Missing& m) { return !m.arrived; };
  const auto lost = std::find_if(d.missing.begin(), d.missing.end(), is_lost);
  const bool is_loss = lost != d.missing.end();
  const LinkHistory::Missing& first = is_loss ? *lost : d.missing.front();
  Finding result = finding(is_loss ? Cause::loss : Cause::jitter, trigger);
  const double waited_s = motion.sent_s - first.sent_s;
  result.evidence.push_back(
      {is_loss ? "lost_sequence" : "late_sequence", static_cast<double>(first.sequence)});
  result.evidence.push_back({"sent_s", first.sent_s});
  result.evidence.push_back({"repaired_after_s", waited_s});
  if (is_loss) {
    const auto count = std::count_if(d.missing.begin(), d.missing.end(), is_lost);
    result.evidence.push_back({"lost_datagrams", static_cast<double>(count)});
    result.sentence = "Datagram " + std::to_string(first.sequence) + ", sent at " + seconds(first.sent_s) +
                      (count > 1 ? ", and " + std::to_string(count - 1) + " more were lost" : " was lost");
    result.sentence += ". The server repaired that " + milliseconds(waited_s) + " later";
  } else {
    const DatagramFact& late = link_.datagrams()[*first.arrived];
    result.evidence.push_back({"late_s", link_.lateness_s(late.sent_s, late.local_s)});
    result.sentence = "Datagram " + std::to_string(first.sequence) + ", sent at " + seconds(first.sent_s) +
                      ", came " + milliseconds(link_.lateness_s(late.sent_s, late.local_s)) +
                      " later than usual, after newer ones";
  }
  const auto by = link_.datagrams()[motion.datagram].sequence;
  result.sentence += is_loss ? ", with datagram " + std::to_string(by)
                             : "; datagram " + std::to_string(by) + " brought the newer motion";
  result.evidence.push_back({"repaired_by_sequence", static_cast<double>(by)});
  result.sentence += ". " + moved(trigger);
  return result;
}

Finding CauseFinder::late_datagram(const Trigger& trigger, const Delivery& d) const {
  Finding result = finding(Cause::jitter, trigger);
  const MotionFact& motion = motion_of(trigger);
  result.evidence.push_back({"late_s", d.late_s});
  result.evidence.push_back({"late_limit_s", link_.late_limit_s()});
  const auto sequence = link_.datagrams()[motion.datagram].sequence;
  result.evidence.push_back({"late_sequence", static_cast<double>(sequence)});
  result.sentence = "The update arrived " + milliseconds(d.late_s) + " later than usual (datagram " +
                    std::to_string(sequence) + ")";
  if (facts_.shows_past && motion.shown_s > motion.time_s) {
    result.evidence.push_back({"beyond_delay_s", motion.shown_s - motion.time_s});
    result.sentence +=
        ", which is " + milliseconds(motion.shown_s - motion.time_s) + " beyond the client's delay";
  }
  result.sentence += ". " + moved(trigger);
  return result;
}

Finding CauseFinder::wrong_clock(const Trigger& trigger, const Delivery& d) const {
  Finding result = finding(Cause::clock, trigger);
  result.evidence.push_back({"clock_off_s", d.clock_off_s});
  result.sentence = "The client's estimate of server time was " + milliseconds(std::abs(d.clock_off_s)) +
                    (d.clock_off_s > 0.0 ? " ahead" : " behind") + ", so it extrapolated for a wrong time. " +
                    moved(trigger);
  return result;
}

Finding CauseFinder::postponed(const Trigger& trigger, const Delivery& d) const {
  const MotionFact& motion = motion_of(trigger);
  Finding result = finding(Cause::budget, trigger);
  const double backlog_s =
      link_.backlog_s(std::max(d.previous_sent_s, motion.sent_s - 1.5), motion.sent_s + 0.5 * tick_s_);
  result.evidence.push_back({"postponed_s", d.is_old ? d.age_s : backlog_s});
  result.evidence.push_back({"backlog_s", backlog_s});
  result.sentence = d.is_old ? "The server sent this update " + milliseconds(d.age_s) +
                                   " after it was due, although no datagram was lost"
                             : "The server had published before, but was behind with its updates by " +
                                   milliseconds(backlog_s) + ", although no datagram was lost";
  result.sentence += ": the client's byte budget was used up. " + moved(trigger);
  return result;
}

Finding CauseFinder::allowed_error(const Trigger& trigger, const Delivery& d) const {
  const MotionFact& motion = motion_of(trigger);
  Finding result = finding(Cause::threshold, trigger);
  result.evidence.push_back({"threshold_m", d.allowed_m});
  result.evidence.push_back({"error_m", motion.error_m});
  result.sentence = "The known motion was off by " + metres(std::max(motion.error_m, motion.step_m)) +
                    " when the update came. ";
  result.sentence += d.drifted ? "That is more than the threshold of " + metres(d.allowed_m) +
                                     "; nothing was lost or late, so the server allowed it to save updates."
                               : "The server allows that: the threshold is " + metres(d.allowed_m) + ".";
  return result;
}

Finding CauseFinder::own_motion(const Trigger& trigger, const Delivery&) const {
  const MotionFact& motion = motion_of(trigger);
  Finding result = finding(Cause::motion, trigger);
  const double latency_s = motion.now_s - motion.time_s;
  result.evidence.push_back({"turn_mps", motion.turn_mps});
  result.evidence.push_back({"latency_s", latency_s});
  result.sentence = "The entity itself changed its velocity by " + metres_per_second(motion.turn_mps) +
                    ", and the update came in time, " + milliseconds(latency_s) + " after that. " +
                    moved(trigger);
  return result;
}

// What is shown of a predicted entity comes from the client's game, and from corrections.
Finding CauseFinder::prediction() const {
  constexpr double kLongestS = 0.35;
  const CorrectionFact* latest = nullptr;
  for (const CorrectionFact& fact : facts_.corrections) {
    const double since_s = episode_.peak.local_s - fact.local_s;
    if (since_s >= 0.0 && since_s < kLongestS) latest = &fact;
  }
  Finding result;
  if (latest == nullptr) {
    result.cause = Cause::motion;
    result.known = true;
    result.sentence =
        "This client's game predicts the entity and moved it like this. There was no correction.";
    return result;
  }
  result.cause = Cause::correction;
  result.known = true;
  result.correction_m = latest->error_m;
  result.sentence = "The server corrected what this client's game predicts. " + sentence_of(*latest);
  result.evidence = {{"error_m", latest->error_m}, {"faded_s", latest->faded_s}};
  return result;
}

}  // namespace

Finding find_cause(const Episode& episode, const SessionFacts& facts, const LinkHistory& link) {
  return CauseFinder(episode, facts, link).find();
}

}  // namespace reckoner::harness
