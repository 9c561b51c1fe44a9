// SPDX-License-Identifier: MIT
#include "client/src/connection/server_link.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace reckoner {
namespace {

// A datagram this much older than the newest is refused. The server does not reuse a slot before that.
constexpr double kOldestDatagramS = 2.0;

// A tick further ahead of the newest one is malformed: no transport keeps a silent connection open for this
// long. The client's own clock is no measure, because it may have stopped (a sleeping laptop), and such
// datagrams correct it.
constexpr double kNewestDatagramS = 60.0;

// The longest time that the server waits for an acknowledgement beyond the round trip.
constexpr double kLongestAckIntervalS = 0.1;

// At most this many datagrams are sent at once for unreliable messages. The other messages wait for the next
// call.
constexpr int kMessageDatagrams = 8;

// The header with an ack of one word, the showing report and the end of a client's datagram are never longer.
constexpr std::size_t kClientHeaderBits = 256 + ShowingReport::kMaxArrivals * 36;

// Until the clock has settled, the client sends more time stamps.
constexpr double kSettlingS = 1.0;
constexpr double kSettlingIntervalS = 0.025;
constexpr double kKeepAliveS = 0.25;
constexpr int kExchangesToShow = 3;

// The server has noticed a lost datagram after this time, or after this many round trips if that is longer.
constexpr double kNoticedS = 0.5;
constexpr double kNoticedRoundTrips = 3.0;

std::uint32_t to_stamp(double local_s) {
  const double units = std::fmod(std::floor(local_s / kStampUnitS), double{1u << kStampBits});
  return static_cast<std::uint32_t>(units < 0.0 ? units + double{1u << kStampBits} : units);
}

// Returns the local time of an echoed stamp, which is the latest time before `local_s` with this stamp.
double from_stamp(std::uint32_t stamp, double local_s) {
  const std::uint32_t age = (to_stamp(local_s) - stamp) & ((1u << kStampBits) - 1u);
  return (std::floor(local_s / kStampUnitS) - age) * kStampUnitS;
}

}  // namespace

bool ServerLink::join(const WelcomeMessage& message, std::vector<Archetype>& archetypes, double local_s) {
  if (message.archetypes.size() != archetypes.size() || !is_valid_tick(message.tick)) return false;
  for (std::size_t i = 0; i < archetypes.size(); ++i) {
    const ArchetypeLimits& limits = message.archetypes[i];
    archetypes[i].threshold_m = limits.threshold_m;
    archetypes[i].threshold_rad = limits.threshold_rad;
    archetypes[i].max_speed_mps = limits.max_speed_mps;
    archetypes[i].world_size_m = limits.world_size_m;
    quantisation_.push_back(quantisation_for(archetypes[i]));
    quantisation_.back().codes = limits.codes;
    quantisation_.back().quiet.gap_s = static_cast<float>(quiet_gap_after(message.longest_gap_s));
  }
  archetypes_ = archetypes;
  tick_rate_hz_ = message.tick_rate_hz;
  epoch_s_ = message.epoch_s;
  newest_tick_ = message.tick;
  rewinds_ = message.rewinds;
  settles_from_s_ = local_s;
  return true;
}

bool ServerLink::is_valid_tick(Tick tick) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max() - (Tick{1} << 20);
  return tick <= kLast;
}

// Compares ticks as plain numbers. No server runs until ticks wrap. A tick that is "just before" across the
// wrap lies before the server's first tick, and is two years ahead as a plain number.
bool ServerLink::is_far_ahead(Tick tick) const {
  const bool later = tick > newest_tick_;
  return !is_valid_tick(tick) || (later && (tick - newest_tick_) / tick_rate_hz_ > kNewestDatagramS);
}

bool ServerLink::add_route(const RouteMessage& message) {
  if (message.route.value != routes_.size() + 1) return false;
  return static_cast<bool>(routes_.add(message.definition));
}

std::optional<std::span<const ServerLink::Update>> ServerLink::receive(std::span<const std::byte> payload,
                                                                       double local_s, double arrived_s,
                                                                       const EntityStore& entities,
                                                                       ClientStats& stats) {
  BitReader reader{payload};
  const ServerHeader header = read_server_header(reader);
  const Tick tick = unwrap16(header.tick, newest_tick_);
  const double ahead_s = static_cast<std::int32_t>(tick - newest_tick_) / tick_rate_hz_;
  // Refused before the updates are decoded, because their slots may hold other entities now.
  if (!reader.failed() && ahead_s < -kOldestDatagramS) {
    ++stats.datagrams_stale;
    ++stats.refusals[Refusal::too_old];
    return std::nullopt;
  }
  const std::optional<Refusal> why = reader.failed()      ? Refusal::malformed
                                     : is_far_ahead(tick) ? Refusal::from_future
                                                          : read_updates(reader, header, tick, entities);
  if (why) {
    // Without an acknowledgement, the server sends the updates again, in full.
    const bool unknown = *why == Refusal::unknown_baseline || *why == Refusal::unknown_frame;
    ++(unknown ? stats.unknown_references : stats.malformed);
    ++stats.refusals[*why];
    return std::nullopt;
  }
  const auto receipt = link_.receive(header.sequence, header.ack, 0.0, local_s);
  if (receipt == PeerLink::Receipt::refused) {
    ++stats.malformed;
    ++stats.refusals[Refusal::malformed];
    return std::nullopt;
  }
  if (receipt == PeerLink::Receipt::repeated) {
    ++stats.datagrams_stale;
    ++stats.refusals[Refusal::repeated];
    return std::nullopt;
  }
  link_.want_ack(header.sequence);
  applied_ = header.sequence;
  datagram_tick_ = tick;
  datagram_complete_ = tick - std::min(header.complete_age, tick);
  if (header.ack) arrivals_.acknowledged(*header.ack);
  settle_datagrams();
  ++stats.datagrams_received;
  stats.state_bytes_received += payload.size();
  note_header(header, tick, local_s, arrived_s, stats);
  return updates_;
}

std::optional<Refusal> ServerLink::read_updates(BitReader& reader, const ServerHeader& header, Tick tick,
                                                const EntityStore& entities) {
  updates_.clear();
  std::int64_t previous = -1;
  for (std::uint32_t i = 0; i < header.update_count; ++i) {
    const UpdateHeader head = read_update(reader, header.coding, previous);
    if (reader.failed()) return Refusal::malformed;
    if (const auto why = read_motion(reader, head, tick, entities)) return why;
    previous = head.slot;
  }
  if (!frames_fit(entities)) return Refusal::unknown_frame;
  field_updates_.clear();
  messages_.clear();
  entity_changes_.clear();
  if (header.has_spawns) {
    if (const auto why = read_entity_changes(reader, tick)) return why;
  }
  if (header.has_fields) {
    if (const auto why = read_fields(reader, tick, entities)) return why;
  }
  if (header.has_messages) read_messages(reader, messages_);
  return reader.finished() ? std::nullopt : std::optional{Refusal::malformed};
}

// Returns the frame that the entity in a slot will have when the updates are applied.
FrameId ServerLink::frame_after(std::uint32_t slot, const EntityStore& entities) const {
  const Motion& known = entities.slots()[slot]->remote.newest();
  const auto update = std::lower_bound(updates_.begin(), updates_.end(), slot,
                                       [](const Update& u, std::uint32_t s) { return u.slot < s; });
  const bool newer = update != updates_.end() && update->slot == slot && update->motion.time_s > known.time_s;
  return newer ? update->motion.frame : known.frame;
}

// Returns false if a frame is unknown, nested in a circle or nested too deeply. After a lost change of frame
// this may happen for a moment. The server then sends the refused updates again. It would do so without end
// if the client has refused the frame's entity, so such an update only counts as not applicable.
bool ServerLink::frames_fit(const EntityStore& entities) {
  for (Update& update : updates_) {
    FrameId frame = update.motion.frame;
    const bool is_relevant = frame && update.slot < entities.slots().size() && entities.slots()[update.slot];
    if (!is_relevant) continue;
    for (int depth = 0; frame; ++depth) {
      const KnownEntity* outer = entities.find(entity_of(frame));
      // The frame of the frame has not arrived yet. Until then, nothing in it is shown.
      if (outer == nullptr && depth > 0) break;
      if (outer == nullptr && entities.is_refused(entity_of(frame))) {
        update.lacks_frame = true;
        break;
      }
      if (outer == nullptr || outer->id.slot() == update.slot || depth == kMaxFrameDepth) return false;
      frame = frame_after(static_cast<std::uint32_t>(outer->id.slot()), entities);
    }
  }
  return true;
}

std::optional<Refusal> ServerLink::read_fields(BitReader& reader, Tick tick, const EntityStore& entities) {
  std::int64_t previous = -1;
  while (const auto slot = read_field_slot(reader, previous)) {
    previous = *slot;
    const auto archetype = entities.archetype_of(*slot);
    if (!archetype) return Refusal::unknown_entity;
    changes_.clear();
    read_changes(reader, archetypes_[*archetype].fields, changes_);
    if (reader.failed()) return Refusal::malformed;
    for (const FieldChange& change : changes_) {
      if (change.age > tick) return Refusal::malformed;
      field_updates_.push_back({*slot, change.field, time_of(tick - change.age), change.value});
    }
  }
  // An empty section is malformed.
  return previous >= 0 && !reader.failed() ? std::nullopt : std::optional{Refusal::malformed};
}

std::optional<Refusal> ServerLink::read_entity_changes(BitReader& reader, Tick tick) {
  read_spawns(reader, spawns_.first_open(), entries_);
  if (reader.failed()) return Refusal::malformed;
  const auto is_possible = [&](std::uint32_t number) {
    return spawns_.contains(number) || spawns_.is_within_window(number);
  };
  for (SpawnEntry& entry : entries_) {
    if (const auto* end = std::get_if<Despawn>(&entry)) {
      if (end->age > tick || end->number == 0) return Refusal::malformed;
      if (!is_possible(end->number)) return Refusal::beyond_limits;
      entity_changes_.push_back(EndedEntity{end->number, end->entity, tick - end->age, end->after_messages});
    } else if (const auto* refusal = std::get_if<PredictionRefusal>(&entry)) {
      entity_changes_.push_back(*refusal);
    } else {
      Spawn& spawn = std::get<Spawn>(entry);
      if (spawn.number == 0) return Refusal::malformed;
      if (!is_possible(spawn.number)) return Refusal::beyond_limits;
      if (const auto why = decode(spawn, tick)) return why;
    }
  }
  return std::nullopt;
}

// Checks everything that could make the client refuse the spawn later. An acknowledged datagram tells the
// server that the client knows the entity. Its frame may arrive later.
std::optional<Refusal> ServerLink::decode(Spawn& spawn, Tick tick) {
  const Quantisation* q = quantisation(spawn.archetype);
  if (q == nullptr || spawn.orientation_bits != q->orientation_bits) return Refusal::beyond_limits;
  if (spawn.age > tick) return Refusal::malformed;
  const Tick motion_tick = tick - spawn.age;
  const auto motion = motion_of(spawn.state, time_of(motion_tick), *q, routes_);
  if (!motion) return refusal_for(spawn.state, routes_);
  if (motion->frame == frame_of(spawn.entity)) return Refusal::unknown_frame;
  NewEntity entity{.number = spawn.number,
                   .entity = spawn.entity,
                   .info = {spawn.archetype, std::move(spawn.name), spawn.short_lived.has_value()},
                   .level = spawn.level,
                   .motion_tick = motion_tick,
                   .encoded = spawn.state,
                   .motion = *motion,
                   .values_follow = spawn.values_follow};
  if (spawn.short_lived) {
    Spawn::ShortLife& life = *spawn.short_lived;
    entity.prediction = life.prediction;
    entity.info.data = std::move(life.data);
    if (life.life) {
      const double ticks = static_cast<double>(*life.life) / Spawn::kLifeSteps;
      entity.info.end_s = time_of(motion_tick) + ticks / tick_rate_hz_;
    }
  }
  const std::span<const FieldSpec> fields = archetypes_[spawn.archetype].fields;
  if (spawn.values_follow) {
    for (const FieldSpec& field : fields)
      entity.values.push_back(initial_value(field));
  } else {
    BitReader values{spawn.fields};
    read_values(values, fields, entity.values);
    if (!values.finished()) return Refusal::malformed;
  }
  entity_changes_.push_back(std::move(entity));
  return std::nullopt;
}

std::optional<Refusal> ServerLink::read_motion(BitReader& reader, const UpdateHeader& head, Tick tick,
                                               const EntityStore& entities) {
  const auto archetype = entities.archetype_of(head.slot);
  if (!archetype) return Refusal::unknown_entity;
  if (head.age > tick) return Refusal::malformed;
  const Quantisation& q = quantisation_[*archetype];
  const Tick motion_tick = tick - head.age;
  QuantisedState encoded;
  if (head.reference_age) {
    if (*head.reference_age <= head.age)
      return Refusal::malformed;  // the baseline is the motion itself, or a later one
    const Tick reference_tick = tick - *head.reference_age;
    const References* references = entities.references(head.slot);
    const QuantisedState* reference =
        references != nullptr ? references->find(head.level, reference_tick) : nullptr;
    if (reference == nullptr) return Refusal::unknown_baseline;
    encoded = read_residual(reader, *reference, (motion_tick - reference_tick) / tick_rate_hz_, q);
  } else {
    encoded = read_full(reader, q);
  }
  if (reader.failed()) return Refusal::malformed;
  const auto motion = motion_of(encoded, time_of(motion_tick), q, routes_);
  if (!motion) return refusal_for(encoded, routes_);
  updates_.push_back({head.slot, head.level, motion_tick, encoded, *motion, false});
  return std::nullopt;
}

// Returns the time for which a datagram of a backlog waited unread, s. The acknowledgement reports this
// delay, so that the server does not mistake it for a queue on the link.
double ServerLink::waited_s(Tick tick, double local_s) const {
  if (!backlog_) return 0.0;
  const double one_way_s = 0.5 * clock_.round_trip_s().value_or(0.0);
  return std::max(0.0, server_time_s(local_s) - time_of(tick) - one_way_s);
}

// Tells the contents of this client's datagrams which of them arrived or were lost.
void ServerLink::settle_datagrams() {
  for (const PeerLink::Outcome& outcome : link_.outcomes())
    owned_.settle(outcome);
  link_.clear_outcomes();
}

void ServerLink::note_header(const ServerHeader& header, Tick tick, double local_s, double arrived_s,
                             ClientStats& stats) {
  if (link_.newest_received() == header.sequence) {
    sequences_seen_ += sequences_seen_ == 0 ? 1 : sequence_distance(header.sequence, newest_sequence_);
    newest_sequence_ = header.sequence;
    newest_arrival_s_ = arrived_s - waited_s(tick, arrived_s);
  }
  note_tick(tick);
  const double noticed_s = std::max(kNoticedS, kNoticedRoundTrips * stats.round_trip_s);
  completeness_.note(header.sequence, tick, header.complete_age <= tick ? tick - header.complete_age : 0,
                     noticed_s * tick_rate_hz_);
  stats.datagrams_lost = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, sequences_seen_ - static_cast<std::int64_t>(stats.datagrams_received)));

  if (backlog_) {
    clock_.note_waited(time_of(tick));
  } else {
    clock_.add_arrival(time_of(tick), arrived_s);
  }
  if (header.echo && !backlog_) {
    const double sent_s = from_stamp(header.echo->stamp, local_s);
    clock_.add_exchange(sent_s, time_of(tick) - header.echo->held * kStampUnitS, time_of(tick), arrived_s);
    ++exchanges_;
  }
  if (const auto round_trip_s = clock_.round_trip_s()) stats.round_trip_s = *round_trip_s;
  ++unacknowledged_;
}

std::size_t ServerLink::acknowledge(double local_s, double ack_interval_s,
                                    const std::optional<Showing>& showing, ClientMessages& messages,
                                    PeerId server, Transport& transport) {
  MessageOutbox& outbox = messages.unreliable();
  const bool settling = local_s - settles_from_s_ < kSettlingS;
  const double interval_s = settling              ? kSettlingIntervalS
                            : unacknowledged_ > 0 ? std::min(ack_interval_s, kLongestAckIntervalS)
                                                  : kKeepAliveS;
  link_.expire(local_s);
  settle_datagrams();
  const bool due = ack_requested_ || ack_overdue() || local_s - last_ack_s_ >= interval_s;
  if (!due && outbox.empty() && !owned_.any_due()) return 0;
  ClientDatagram datagram;
  datagram.control_count = static_cast<std::uint16_t>(messages.reliable().received_count());
  datagram.stamp = to_stamp(local_s);
  datagram.ack = link_.acknowledge();
  if (datagram.ack) {
    const double delay_s = std::clamp(local_s - newest_arrival_s_, 0.0, 10.0);
    datagram.ack_delay = static_cast<std::uint32_t>(delay_s / kStampUnitS);
  }
  std::size_t sent = 0;
  for (int i = 0; i == 0 || ((!outbox.empty() || owned_.any_due()) && i < kMessageDatagrams); ++i)
    sent += send_datagram(datagram, local_s, showing, outbox, server, transport);
  transport.service(local_s);
  last_ack_s_ = local_s;
  unacknowledged_ = 0;
  ack_requested_ = false;
  return sent;
}

// Sends one datagram. Returns the number of messages in it.
std::size_t ServerLink::send_datagram(ClientDatagram datagram, double local_s,
                                      const std::optional<Showing>& showing, MessageOutbox& messages,
                                      PeerId server, Transport& transport) {
  datagram.sequence = link_.begin(local_s);
  settle_datagrams();
  std::array<std::byte, kMaxStateBytes> section_buffer;
  BitWriter section{section_buffer};
  std::size_t room_bits = transport.max_state_bytes(server) * 8;
  const std::size_t ack_bits = datagram.ack && datagram.ack->words > 1 ? datagram.ack->bits() : 0;
  room_bits -= std::min(room_bits, kClientHeaderBits + ack_bits);
  datagram.has_owned = owned_.write(section, room_bits, datagram.sequence, tick_rate_hz_);
  // A message that does not fit waits for the next datagram.
  const std::size_t left_bits = room_bits - std::min(room_bits, section.bits_written());
  const std::size_t count = messages.empty() ? 0 : messages.write(section, left_bits);
  const std::size_t section_bits = section.bits_written();
  datagram.has_messages = count > 0;
  if (showing && rewinds_) {
    ShowingReport& report = datagram.showing.emplace();
    const std::int64_t now = ShowingReport::units(showing->now_s);
    const std::int64_t delay = now - ShowingReport::units(showing->shown_s);
    report.clock = static_cast<std::uint16_t>(now);
    report.delay = static_cast<std::uint32_t>(std::clamp<std::int64_t>(delay, 0, ShowingReport::kMaxDelay));
    if (std::exchange(jumped_, false)) era_ = (era_ + 1u) % ShowingReport::kEras;
    report.era = static_cast<std::uint8_t>(era_);
    // A message may be about what is shown now (a shot), so the server needs all arrivals.
    if (datagram.ack)
      arrivals_.fill(report, datagram.sequence, showing->shown_s, count > 0 || ack_requested_);
  }
  std::array<std::byte, kMaxStateBytes> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  writer.append(section.finish(), section_bits);
  transport.send(server, Channel::state, writer.finish());
  return count;
}

bool ServerLink::ack_overdue() const {
  return unacknowledged_ >= kDatagramsPerAck;
}

bool ServerLink::clock_ready() const {
  return clock_.known() && exchanges_ >= kExchangesToShow;
}

}  // namespace reckoner
