// SPDX-License-Identifier: MIT
#include "harness/explain/collect_facts.hpp"

#include "client/src/testing/client_observer.hpp"
#include "client/src/testing/test_switches.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_transports.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {
namespace {

// Steps below this are not kept. Motion smooths itself: an honest session has many small steps.
constexpr double kLeastStepMps = 0.05;
constexpr double kLeastStepShare = 0.03;  // of the speed
constexpr double kLeastPositionStepM = 0.02;
constexpr double kLongestFrameS = 0.5;  // a longer pause between two pictures is no motion to look at

// Collects the facts while the session is replayed.
class Collector final : public ClientObserver {
 public:
  Collector(const CollectOptions& options, SessionFacts& facts) : options_(options), facts_(facts) {}

  void joined(const Joined& joined) override {
    facts_.client = joined.client;
    facts_.tick_rate_hz = joined.tick_rate_hz;
    newest_sequence_.reset();
  }

  void datagram(const Datagram& datagram) override {
    const std::int64_t sequence =
        newest_sequence_
            ? *newest_sequence_ +
                  sequence_distance(datagram.sequence, static_cast<Sequence>(*newest_sequence_ & 0xffff))
            : std::int64_t{datagram.sequence};
    newest_sequence_ = std::max(newest_sequence_.value_or(sequence), sequence);
    facts_.datagrams.push_back({sequence, datagram.sent_s, datagram.complete_s, datagram.arrived_local_s,
                                now_s(datagram.arrived_local_s, datagram.sent_s)});
  }

  void arrival(const Arrival& arrival) override {
    EntityFacts* entity = find(arrival.entity);
    if (entity == nullptr || facts_.datagrams.empty()) return;  // datagram() comes before its motions
    const State expected = state_at(arrival.previous, arrival.motion.time_s);
    const bool same_frame = arrival.motion.frame == arrival.previous.frame;
    MotionFact fact;
    fact.local_s = local_s_;
    fact.now_s = now_s(local_s_, arrival.sent_s);
    fact.shown_s = arrival.shown_s;
    fact.sent_s = arrival.sent_s;
    fact.time_s = arrival.motion.time_s;
    fact.gap_s = arrival.motion.time_s - arrival.previous.time_s;
    fact.datagram = facts_.datagrams.size() - 1;
    fact.level = arrival.level;
    fact.in_spawn = arrival.announced;
    fact.fresh = arrival.fresh;
    fact.applied = arrival.applied;
    fact.teleports = arrival.motion.teleports != arrival.previous.teleports;
    fact.changes_frame = !same_frame;
    if (same_frame) {
      fact.error_m = glm::distance(expected.position, arrival.motion.state.position);
      fact.turn_mps = glm::distance(expected.velocity, arrival.motion.state.velocity);
    }
    if (same_frame && arrival.applied) {
      fact.step_m = glm::distance(arrival.before.position, arrival.after.position);
      fact.step_mps = glm::distance(arrival.before.velocity, arrival.after.velocity);
    }
    fact.speed_mps = glm::length(arrival.motion.state.velocity);
    entity->motions.push_back(fact);
  }

  void ownership(EntityId id, OwnershipMessage::Change change) override {
    using Change = OwnershipMessage::Change;
    EntityFacts* entity = find(id);
    if (entity == nullptr || change == Change::repeated) return;
    const auto kind = change == Change::given       ? OwnershipFact::Kind::given
                      : change == Change::corrected ? OwnershipFact::Kind::corrected
                                                    : OwnershipFact::Kind::revoked;
    entity->ownership.push_back({local_s_, kind});
  }

  void clock_stepped(double by_s) override { facts_.clock_steps.push_back({local_s_, by_s}); }

  void set_client(const Client& client) { client_ = &client; }
  void begin_call(double local_s) { local_s_ = local_s; }
  void note(const ClientEvent& event) {
    if (event.kind == ClientEvent::Kind::teleported) teleported_.insert(event.entity);
  }
  void frame(double local_s, std::span<const ShownEntity> shown);
  void note_correction(const Correction& correction, double local_s);

 private:
  // What was drawn of an entity.
  struct Drawn {
    std::size_t frame = 0;
    double local_s = 0.0;
    glm::dvec3 position{0.0};
    glm::dvec3 velocity{0.0};        // shown velocity
    glm::dvec3 drawn_velocity{0.0};  // mean velocity since the picture before
    glm::dvec3 acceleration{0.0};
    double frame_s = 0.0;
    bool has_velocity = false;
    EntityId in_frame{};
    std::string name;
  };

  // The client's estimate of server time at `local_s`, which is not after the present call. Before the client
  // has an estimate: the time at which the server sent something.
  [[nodiscard]] double now_s(double local_s, double sent_s) const {
    const auto now = client_ != nullptr ? client_->server_time_s() : std::nullopt;
    return now ? *now - (local_s_ - local_s) : sent_s;
  }
  EntityFacts* find(EntityId id) {
    const auto found = index_.find(id);
    if (found != index_.end()) return &facts_.entities[found->second];
    index_.emplace(id, facts_.entities.size());
    facts_.entities.push_back({});
    facts_.entities.back().id = id;
    return &facts_.entities.back();
  }
  void compare(const ShownEntity& entity, double local_s, double now, double shown_s);
  void follow_correction(double local_s);

  const CollectOptions& options_;
  SessionFacts& facts_;
  const Client* client_ = nullptr;
  double local_s_ = 0.0;
  std::optional<std::int64_t> newest_sequence_;
  std::map<EntityId, std::size_t> index_;
  std::map<EntityId, Drawn> drawn_;
  std::set<EntityId> teleported_;
  // The picture before:
  double last_local_s_ = 0.0;
  double last_now_s_ = 0.0;
  double last_shown_s_ = 0.0;
  double clock_rate_ = 1.0, last_clock_rate_ = 1.0;
  double shown_rate_ = 1.0, last_shown_rate_ = 1.0;
};

void Collector::frame(double local_s, std::span<const ShownEntity> shown) {
  const auto now = client_->server_time_s();
  if (!now) return;
  ++facts_.frames;
  if (!facts_.shown_since_s) facts_.shown_since_s = local_s;
  const double shown_s = *now - client_->stats().delay_s;
  const double elapsed_s = local_s - last_local_s_;
  last_clock_rate_ = std::exchange(clock_rate_, 1.0);
  last_shown_rate_ = std::exchange(shown_rate_, 1.0);
  if (facts_.frames > 1 && elapsed_s > 0.0) {
    clock_rate_ = (*now - last_now_s_) / elapsed_s;
    shown_rate_ = (shown_s - last_shown_s_) / elapsed_s;
  }
  for (const ShownEntity& entity : shown)
    compare(entity, local_s, *now, shown_s);
  follow_correction(local_s);
  last_local_s_ = local_s;
  last_now_s_ = *now;
  last_shown_s_ = shown_s;
  teleported_.clear();
  // Entities that are not drawn any more.
  std::erase_if(drawn_, [&](const auto& entry) { return entry.second.frame != facts_.frames; });
}

void copy(const CorrectionDebug& from, CorrectionFact& to) {
  to.cause = from.cause;
  to.had_result = from.had_result;
  to.error_m = from.error_m;
  to.error_rad = from.error_rad;
  to.game_state_differs = from.game_state_differs;
  to.input_tick = from.input_tick;
  to.input_late_s = from.input_late_s;
}

void Collector::note_correction(const Correction& correction, double local_s) {
  CorrectionFact fact{.local_s = local_s, .tick = correction.tick};
  fact.cause = correction.reason == CorrectionReason::teleported      ? CorrectionCause::teleported
               : correction.reason == CorrectionReason::input_missing ? CorrectionCause::input_missing
               : correction.reason == CorrectionReason::differs       ? CorrectionCause::differs
                                                                      : CorrectionCause::begins;
  for (const CorrectedEntity& entity : correction.entities) {
    const auto debug = client_->debug(entity.id);
    const bool is_known = debug && debug->prediction && debug->prediction->correction;
    const bool is_worse = is_known && (!fact.entity || debug->prediction->correction->error_m > fact.error_m);
    if (fact.entity && !is_worse) continue;
    fact.entity = entity.id;
    if (!is_known) continue;
    copy(*debug->prediction->correction, fact);
    fact.lead_s = debug->prediction->lead_s;
  }
  if (const EntityInfo* info = client_->info(fact.entity)) fact.name = info->name;
  const auto own = drawn_.find(fact.entity);
  for (const auto& [id, drawn] : drawn_) {
    if (own == drawn_.end() || id == fact.entity) continue;
    const double distance_m = glm::distance(own->second.position, drawn.position);
    if (fact.nearest && distance_m >= fact.nearest_m) continue;
    fact.nearest = id;
    fact.nearest_name = drawn.name;
    fact.nearest_m = distance_m;
  }
  facts_.corrections.push_back(std::move(fact));
}

// The cause becomes known after the correction, and its error fades.
void Collector::follow_correction(double local_s) {
  constexpr double kLongestS = 1.0;
  constexpr double kLeastM = 1e-3;
  if (facts_.corrections.empty()) return;
  CorrectionFact& fact = facts_.corrections.back();
  if (local_s > fact.local_s + kLongestS) return;
  const auto debug = client_->debug(fact.entity);
  if (!debug || !debug->prediction || !debug->prediction->correction) return;
  if (debug->prediction->correction->tick == fact.tick) copy(*debug->prediction->correction, fact);
  fact.shown_error_m = std::max(fact.shown_error_m, debug->prediction->fading_m);
  if (debug->prediction->fading_m > kLeastM) fact.faded_s = local_s - fact.local_s;
}

void Collector::compare(const ShownEntity& entity, double local_s, double now, double shown_s) {
  const auto before = drawn_.find(entity.id);
  const bool appeared = before == drawn_.end();
  Drawn here{.frame = facts_.frames,
             .local_s = local_s,
             .position = entity.shown.position,
             .velocity = glm::dvec3{entity.shown.velocity},
             .in_frame = entity.frame,
             .name = entity.info->name};
  const auto debug = client_->debug(entity.id);
  if (debug) here.acceleration = glm::dvec3{debug->motion.acceleration};
  StepFact step{.frame = facts_.frames - 1,
                .local_s = local_s,
                .now_s = now,
                .shown_s = shown_s,
                .speed_mps = glm::length(debug ? debug->motion.velocity : entity.shown.velocity),
                .clock_rate = clock_rate_,
                .shown_rate = shown_rate_,
                .appeared = appeared,
                .teleported = teleported_.contains(entity.id),
                .fading = debug && debug->fading,
                .owned = debug && debug->owned,
                .predicted = debug && debug->prediction,
                .in_frame = entity.frame};
  if (!appeared) {
    const Drawn& last = before->second;
    here.frame_s = local_s - last.local_s;
    step.frame_s = here.frame_s;
    step.changed_frame = last.in_frame != entity.frame;
    if (here.frame_s > 0.0 && here.frame_s < kLongestFrameS) {
      here.drawn_velocity = (here.position - last.position) / here.frame_s;
      here.has_velocity = true;
      const glm::dvec3 mean_velocity = 0.5 * (here.velocity + last.velocity);
      step.position_step_m = glm::length(here.position - last.position - mean_velocity * here.frame_s);
      if (last.has_velocity) {
        // The drawn velocities are means over two pictures, so half of both pictures lies between them.
        const double between_s = 0.5 * (here.frame_s + last.frame_s);
        const glm::dvec3 change = here.drawn_velocity - last.drawn_velocity;
        step.velocity_step_mps = std::min(glm::length(change - here.acceleration * between_s),
                                          glm::length(change - last.acceleration * between_s));
        step.clock_change_mps = step.speed_mps * std::abs(clock_rate_ - last_clock_rate_);
        step.delay_change_mps =
            step.speed_mps * std::abs(shown_rate_ - clock_rate_ - (last_shown_rate_ - last_clock_rate_));
      }
    }
  }
  drawn_[entity.id] = here;
  const bool visible = step.velocity_step_mps > kLeastStepMps + kLeastStepShare * step.speed_mps ||
                       step.position_step_m > kLeastPositionStepM;
  const bool wanted = !options_.only || entity.id.index1 == *options_.only;
  if (!wanted || !(visible || appeared || step.teleported || step.changed_frame)) return;
  EntityFacts& facts = *find(entity.id);
  if (debug) facts.threshold_m = debug->threshold_m;
  if (facts.name.empty()) {
    facts.name = entity.info->name;
  }
  facts.steps.push_back(step);
}

std::string_view mode_name(PlayoutMode mode) {
  constexpr std::array<std::string_view, 4> kNames{"present", "adaptive", "delayed", "ahead"};
  return kNames[static_cast<std::size_t>(mode)];
}

void poll_events(Client& client, Collector& collector) {
  while (const auto event = client.poll_event())
    collector.note(*event);
}

}  // namespace

Result<SessionFacts> collect_facts(program::SessionReader& reader, const CollectOptions& options) {
  SessionFacts facts;
  const program::SessionSettings& settings = reader.settings();
  facts.version = settings.version;
  facts.mode = mode_name(settings.playout.mode);
  facts.shows_past = is_buffered(settings.playout.mode);
  facts.blend = {settings.playout.blend_curve, settings.playout.blend_s};
  ClientConfig config = program::config_of(settings);
  config.archetypes = options.archetypes;
  if (auto invalid = find_invalid_setting(config)) return std::move(*invalid);
  Collector collector(options, facts);
  program::PlayedTransport transport{reader};
  Client client = make_test_client(std::move(config), transport, {.observer = &collector});
  collector.set_client(client);
  std::vector<ShownEntity> shown;
  bool any = false;
  double last_s = 0.0;
  const auto begin = [&](double local_s) {
    if (!std::exchange(any, true)) facts.first_local_s = local_s;
    last_s = local_s;
    collector.begin_call(local_s);
  };
  while (const auto call = transport.next_call()) {
    const auto* const service = std::get_if<program::ServiceRecord>(&*call);
    begin(service != nullptr ? service->local_s : last_s);
    if (const auto correction = program::repeat_call(client, *call))
      collector.note_correction(*correction, last_s);
    if (std::holds_alternative<program::FrameRecord>(*call)) {
      const auto span = client.shown();
      shown.assign(span.begin(), span.end());
      poll_events(client, collector);  // the events of this picture
      collector.frame(last_s, shown);
    }
    poll_events(client, collector);
  }
  facts.seconds = any ? last_s - facts.first_local_s : 0.0;
  facts.truncated = reader.is_truncated();
  if (transport.error()) facts.damage = transport.error()->message;
  facts.differences = transport.differences();
  return facts;
}

}  // namespace reckoner::harness
