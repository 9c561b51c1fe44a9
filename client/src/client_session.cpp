// SPDX-License-Identifier: MIT
#include "client/src/client_session.hpp"

#include "client/src/connection/decode.hpp"
#include "client/src/shown/known_motion.hpp"
#include "client/src/testing/client_observer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

constexpr double kMaxPatienceS = 60.0;  // of Client::predict_spawn()

}  // namespace

bool ClientSession::begin(const WelcomeMessage& message, double local_s) {
  if (!SessionClock::is_valid_tick(message.tick) || !world.formats.begin(message, config.archetypes))
    return false;
  link.begin(message, local_s);
  joined_s_ = link.clock().time_of(message.tick);
  playout.expect_gaps(message.longest_gap_s, 1.0 / message.tick_rate_hz);
  if (switches.observer != nullptr)
    switches.observer->joined({message.client, message.tick_rate_hz, message.epoch_s});
  return true;
}

void ClientSession::receive(std::span<const std::byte> payload, double local_s, double arrived_s) {
  const DecodeContext known{world.formats, link.clock(), world.spawns, link.reliable(), world.entities};
  auto why = decode(payload, known, datagram_);
  if (!why) why = link.accept(datagram_, payload.size(), local_s, arrived_s);
  if (why) return link.count_refusal(*why);
  if (switches.observer != nullptr) {
    switches.observer->datagram({datagram_.header.sequence, datagram_.tick,
                                 link.clock().time_of(datagram_.tick),
                                 link.clock().time_of(datagram_.complete), arrived_s});
  }
  note_arrival(local_s);
  advance(local_s);  // again: the datagram may have corrected the server's clock
  note_datagram(local_s);
  if (world.apply(datagram_, messages.counts().processed_count(), local_s)) link.sender().request_ack();
  // Only now: an old motion that this datagram replaces must not become valid again before.
  if (const auto complete_s = link.complete_s()) world.fades.limit().note_complete(*complete_s);
  messages.deliver(datagram_.messages, stats);
  const PredictionReport& report = datagram_.predictions;
  if (report.inputs) link.inputs().note_report(*report.inputs, link.clock().tick_clock());
  predicted.review_cause();
  if (report.correction) predicted.receive(*report.correction, datagram_.tick, link.clock().tick_clock());
  shown.review_predicted();
}

// Reports to the playout how late the datagram is, and to the server at which instant it is applied.
void ClientSession::note_datagram(double local_s) {
  if (link.clock().ready()) link.showing().note_applied(datagram_.header.sequence, playout.shown_s());
  // A datagram that another one has overtaken brings no newer motions.
  const bool newest = !newest_datagram_ || datagram_.tick > *newest_datagram_;
  if (newest) newest_datagram_ = datagram_.tick;
  const bool is_timed = newest && !datagram_.header.has_only_reliable();
  if (is_timed && link.clock().known() && !link.clock().is_backlog())
    playout.note_datagram(show_s(local_s) - link.clock().time_of(datagram_.tick));
}

void ClientSession::note_arrival(double local_s) {
  // Compared with shown times, which are ahead.
  if (link.clock().known()) {
    const double ahead_s = config.show_ahead_s + playout.seen_s() - playout.now_s();
    world.fades.limit().note_arrival(link.clock().arrival_s(local_s) + ahead_s);
  }
}

bool ClientSession::take_message() {
  ReliableReceiver& stream = link.reliable();
  const bool was_broken = stream.is_broken();
  const auto bytes = stream.next();
  if (!was_broken && stream.is_broken()) refuse(Refusal::malformed);
  if (!bytes) return false;
  auto message = decode_reliable(*bytes);
  // A route needs no spawn, but a spawn may wait for it. Its place in the order still counts.
  if (link.has_begun() && message && std::holds_alternative<RouteMessage>(*message)) {
    if (const auto why = apply(*message)) refuse(*why);
    message = AfterSpawnsMessage{};
  }
  if (auto* unordered = message ? std::get_if<UnorderedMessage>(&*message) : nullptr) {
    stream.was_early() ? ordered_.add_turn(*unordered)
                       : ordered_.add_in_turn(std::move(*unordered), bytes->size());
    return true;
  }
  if (stream.was_early()) message = AfterSpawnsMessage{};  // it was malformed, which is counted already
  ordered_.add(std::move(message), bytes->size());
  return true;
}

// Takes the next unordered message that is complete before its turn. Returns false if there is none.
bool ClientSession::take_early_message() {
  const auto bytes = link.reliable().next_early();
  if (!bytes) return false;
  auto message = decode_reliable(*bytes);
  auto* unordered = message ? std::get_if<UnorderedMessage>(&*message) : nullptr;
  if (unordered != nullptr) {
    ordered_.add_early(std::move(*unordered), bytes->size());
  } else {
    refuse(Refusal::malformed);
  }
  return true;
}

std::optional<OrderedMessages::Message> ClientSession::next_message() {
  return count(ordered_.next(world.spawns));
}

std::optional<OrderedMessages::Message> ClientSession::next_message_at_the_end() {
  return count(ordered_.next_at_the_end());
}

// An unordered message counts in its turn.
std::optional<OrderedMessages::Message> ClientSession::count(
    std::optional<OrderedMessages::Message> message) {
  const bool is_unordered = message && *message && std::holds_alternative<UnorderedMessage>(**message);
  if (message && !is_unordered) messages.counts().note_processed();
  return message;
}

void ClientSession::refuse(Refusal why) {
  ++stats.malformed;
  ++stats.refusals[why];
}

std::optional<Refusal> ClientSession::apply(const ReliableMessage& message) {
  if (std::holds_alternative<AfterSpawnsMessage>(message)) return std::nullopt;  // OrderedMessages has waited
  if (const auto* route = std::get_if<RouteMessage>(&message)) return world.apply(*route);
  if (const auto* ownership = std::get_if<OwnershipMessage>(&message)) return apply(*ownership);
  const auto* unordered = std::get_if<UnorderedMessage>(&message);
  const auto* data = unordered != nullptr ? &unordered->data : std::get_if<GameDataMessage>(&message);
  if (data == nullptr) return Refusal::unexpected;
  messages.deliver(data->payload, data->time_s, stats);
  return std::nullopt;
}

std::optional<Refusal> ClientSession::apply(const OwnershipMessage& message) {
  const auto why = owned.apply(message);
  KnownEntity* entity = world.entities.find(message.entity);
  if (entity == nullptr) return why;
  if (const auto motion = owned.take_kept(*entity)) world.apply_kept(*entity, *motion);
  return why;
}

void ClientSession::advance(double local_s) {
  const bool stepped = link.clock().advance(local_s);
  if (!link.clock().ready()) return;
  const double now_s = link.clock().server_time_s(local_s);
  const double show_s = now_s + config.show_ahead_s;
  const bool first = !playout.started();
  double before_s = playout.shown_s();
  const double rate = playout.rate();
  const double stepped_by_s = show_s - playout.now_s();
  const bool jumped = playout.advance(show_s, stepped, advance_inputs(local_s));
  if (first) before_s = playout.shown_s();  // nothing was shown before
  if (jumped) {
    link.showing().note_jump();
    if (steps_in_a_row_.add(local_s, stepped ? stepped_by_s : 0.0)) {
      world.events.note_jumps(world.entities);
    } else {
      shown.blend_over_jump(before_s, rate);
    }
  }
  review_path();
  shown.review_predicted();
  shown.review_hits();
  if (stepped) {
    world.fades.limit().clock_stepped(stepped_by_s);
    if (switches.observer != nullptr) switches.observer->clock_stepped(stepped_by_s);
    say(config.log, LogLevel::warning, "clock stepped", {{"by_s", stepped_by_s}});
  }
  // The server cannot reconstruct how a fade ends.
  if (world.fades.review(playout.shown_s(), before_s, playout.blend_s())) link.showing().note_jump();
  owned.brake_idle(now_s, shown.paused());
  while (const EntityId late = world.predictions.expire(playout.seen_s()))
    world.fail_prediction(late);
  stats.delay_s = playout.delay_s() - config.show_ahead_s;
  if (!retired_) messages.release(playout.shown_s());
}

// Returns the time of the inputs, for ahead mode. In a pause, it goes on with the same lead.
std::optional<PlayoutClock::InputTime> ClientSession::advance_inputs(double local_s) {
  PlayerInputs& inputs = link.inputs();
  const double now_s = link.clock().server_time_s(local_s);
  if (!inputs.has_begun()) return std::nullopt;
  if (shown.paused()) {
    inputs.interrupt();
    return PlayoutClock::InputTime{now_s + inputs.clock().lead_s()};
  }
  constexpr double kTicks = 2.0;  // until the server reports how early inputs arrive
  const double one_way_s = std::max(link.one_way_s(), 0.5 * stats.round_trip_s);
  const double guess_s = one_way_s + kTicks / link.clock().tick_rate_hz();
  inputs.advance(local_s, now_s, guess_s, link.clock().tick_clock());
  const InputClock& clock = inputs.clock();
  if (inputs.is_running()) stats.input_lead_s = clock.lead_s();
  return PlayoutClock::InputTime{clock.time_s(), clock.rate(), clock.has_jumped()};
}

void ClientSession::review_path() {
  if (playout.review_path()) shown.change_path();
}

void ClientSession::set_playout(const PlayoutConfig& to) {
  const BlendSettings blended = playout.blend();
  playout.change(to);
  if (playout.blend() != blended) {
    shown.change_blend();
    // The server must use the new blend for lag compensation.
    link.showing().note_jump();
  }
  review_path();
}

CallResult ClientSession::correct(EntityId id, const State& in_world, double anticipated_s) {
  const double one_way_s = std::max(link.one_way_s(), 0.5 * stats.round_trip_s);
  return shown.correct(id, in_world, anticipated_s, one_way_s);
}

std::optional<State> ClientSession::motion_at(EntityId id, double time_s) const {
  if (const Predictions::Prediction* prediction = world.predictions.find(id)) {
    const bool is_known = std::isfinite(time_s) && time_s >= prediction->motion.time_s;
    return is_known ? std::optional(state_at(prediction->motion, time_s)) : std::nullopt;
  }
  const KnownEntity* entity = world.entities.find(id);
  if (entity == nullptr || !entity->visible) return std::nullopt;
  return known_motion(world.entities, link.owned(), id, time_s);
}

SpawnResult ClientSession::predict_spawn(std::size_t archetype, const State& counted, std::uint32_t key,
                                         double patience_s) {
  const Quantisation* q = world.formats.quantisation(archetype);
  if (q == nullptr) return CallError::unknown_archetype;
  if (!link.clock().ready()) return CallError::no_clock;
  if (!(patience_s >= 0.0 && patience_s <= kMaxPatienceS)) return CallError::out_of_range;
  if (const auto why = find_unencodable(counted, *q); why != CallError::none) return why;
  const double now_s = playout.seen_s();
  const double until_s = now_s + patience_s;
  const Motion motion{.state = counted, .time_s = now_s, .floor = q->floor, .walls = q->walls};
  const EntityId id = world.predictions.add(key, archetype, motion, until_s);
  if (!id) return CallError::world_full;
  return id;
}

bool ClientSession::can_replace(double local_s) {
  constexpr double kRelevanceS = 0.4;  // by then, the server has decided what is relevant
  constexpr double kLongestWaitS = 1.0;
  if (!link.clock().ready()) return false;
  if (!clock_ready_s_) clock_ready_s_ = local_s;
  return link.complete_s() > joined_s_ + kRelevanceS || local_s > *clock_ready_s_ + kLongestWaitS;
}

}  // namespace reckoner
