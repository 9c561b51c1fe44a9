// SPDX-License-Identifier: MIT
#include "session.hpp"

#include "server_stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <reckoner/net/field_codec.hpp>

namespace reckoner {
namespace {

// What ENet, UDP and IPv4 add to a payload on the state channel, bytes, and what a message on the control
// channel costs besides itself, with its acknowledgement's share.
constexpr std::size_t kDatagramHeaders = 40;
constexpr std::size_t kMessageHeaders = 40;
constexpr double kHeadersShare = 2.0;  // of one among many

// The client waits this long at most before it acknowledges (ClientConfig::ack_interval_s and its
// keep-alive).
constexpr double kAnswerDelayS = 0.1;

// A new client gets datagrams more often until its clock has settled.
constexpr double kSettlingS = 1.5;
constexpr double kSettlingHeartbeatS = 0.05;

// An unreliable message finds a place in one of two ticks, or none. The half is for rounding.
constexpr double kPatienceTicks = 1.5;

// No announcement is longer: a name, a motion, and all fields.
constexpr std::size_t kMostAnnouncement = 1024 + kMaxValuesBytes;

// Announcements are put together up to here, bytes, so that most payloads fit a datagram.
constexpr std::size_t kFullPayload = 1000;

// More than the head of a datagram and its end ever take.
constexpr std::size_t kHeaderBits = 256;

// A datagram takes any update: its own head, and the longest motion.
constexpr std::size_t kLeastRoom = 256;

// No update is longer, its head included: 12 numbers of 48 bits with their prefixes.
constexpr std::size_t kMostUpdateBits = 1800;

// No update is shorter: bounds how many are looked at for a budget.
constexpr double kLeastUpdateBytes = 3.0;

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config)
    : id_(id),
      peer_(peer),
      heartbeat_s_(config.heartbeat_s),
      repairs_(config.parts.repair),
      tick_rate_hz_(config.tick_rate_hz),
      budget_(static_cast<double>(config.bytes_per_second), 1.0 / config.tick_rate_hz, config.follow_link) {}

void Session::tell_route(const RouteMessage& message, Transport& transport) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  transport.send(peer_, Channel::control, encode(message, buffer));
  routes_.push_back(announcements_.sent_other());
}

bool Session::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && announcements_.is_confirmed(routes_[route.value - 1]));
}

bool Session::send_reliable(std::span<const std::byte> encoded, double now_s, Transport& transport) {
  if (!reliable_.has_room_for(encoded.size()) || !transport.send(peer_, Channel::control, encoded))
    return false;
  reliable_.sent(announcements_.sent_other(), encoded.size());
  budget_.spend(encoded.size() + kMessageHeaders, now_s);
  return true;
}

bool Session::send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
  return extras_.add(std::move(payload), time_s, now_s);
}

void Session::follow(const Entity& entity, std::uint8_t level, Tick tick) {
  const Subscription& added = subscriptions_.add(entity.id, level);
  announcements_.add(entity.id, added.serial, tick);
}

void Session::unfollow(EntityId id, Tick tick, Transport& transport) {
  const Subscription* found = subscriptions_.find(id);
  if (found == nullptr) return;
  if (found->told) {
    std::array<std::byte, 64> buffer;
    transport.send(peer_, Channel::control, encode(DespawnMessage{id, tick}, buffer));
    announcements_.sent_end(id, tick);
  }
  extras_.fields().forget(id);
  if (seen_) seen_->forget(id);
  subscriptions_.remove(static_cast<std::uint32_t>(id.slot()));
}

void Session::set_level(EntityId id, std::uint8_t level, Tick tick) {
  Subscription* found = subscriptions_.find(id);
  if (found != nullptr && found->level != level) subscriptions_.set_level(*found, level, tick);
}

Session::Receipt Session::receive(const ClientDatagram& datagram, double now_s, ServerStats& stats) {
  const std::uint32_t confirmed = unwrap16(datagram.control_count, announcements_.confirmed_count());
  if (earlier(announcements_.sent_count(), confirmed)) return Receipt::refused;
  if (datagram.ack && !sent_.acknowledge(*datagram.ack)) return Receipt::refused;
  const bool newest = !received_.any() || sequence_distance(datagram.sequence, received_.ack().newest) > 0;
  if (!received_.note(datagram.sequence)) return Receipt::repeated;

  if (newest) {
    stamp_ = datagram.stamp;
    stamp_arrival_s_ = now_s;
  }
  if (datagram.ack) measure_link(datagram, now_s);
  settle(now_s);
  stats.datagrams_lost += std::exchange(counts_.datagrams_lost, 0);
  if (earlier(announcements_.confirmed_count(), confirmed)) confirm(confirmed, now_s);
  if (seen_ && datagram.showing) seen_->take_in(*datagram.showing, datagram.ack, now_s);
  return Receipt::fresh;
}

// How long datagrams were on their way, there and back.
void Session::measure_link(const ClientDatagram& datagram, double now_s) {
  const double ack_delay_s = datagram.ack_delay * kStampUnitS;
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    if (!outcome.acked) continue;
    // The others waited longer for this acknowledgement than it says.
    if (outcome.sequence == datagram.ack->newest) link_.add(now_s - outcome.sent_s - ack_delay_s);
    budget_.acknowledged(outcome.sent_s, now_s, ack_delay_s, in_flight_.at(outcome.sequence).bytes);
  }
  for (const SentWindow::Outcome& outcome : sent_.late())
    budget_.acknowledged(outcome.sent_s, now_s, ack_delay_s, in_flight_.at(outcome.sequence).bytes);
}

void Session::confirm(std::uint32_t control_count, double now_s) {
  const double arrived = (control_count - announcements_.confirmed_count()) * message_bytes_;
  budget_.reliable_arrived(static_cast<std::size_t>(arrived), now_s);
  reliable_.confirm(control_count);
  announcements_.confirm(control_count, [&](const Announcements::Entry& entry) {
    Subscription* subscription = subscriptions_.find(entry.id);
    if (entry.serial == 0 || subscription == nullptr || subscription->serial != entry.serial) return;
    subscriptions_.confirm(*subscription);
    if (seen_) seen_->confirmed(entry.id);
    extras_.fields().allow(entry.id);
    held_tick_ = earlier(held_tick_, entry.motion_tick) ? entry.motion_tick : held_tick_;
    // Whatever was published while the announcement was on its way.
    subscriptions_.set_due(*subscription, entry.motion_tick + 1, false);
  });
}

void Session::note_fate(Subscription& s, const Carried& carried, bool acked) {
  if (acked) {
    s.losses = 0;
    if (s.held != 0 && !earlier(s.held, carried.number)) return;
    s.held = carried.number;
    s.held_tick = carried.motion_tick;
    return;
  }
  // Twice in a row may mean that the client refuses them, because it does not have what they refer to.
  s.losses = static_cast<std::uint8_t>(std::min(s.losses + 1, 255));
  const bool newest = s.sent == carried.number;
  if (newest && repairs_) subscriptions_.set_due(s, carried.motion_tick, true);
  s.in_full = s.in_full || newest || s.losses >= 2;
}

// Draws the conclusions from the fates of datagrams.
void Session::settle(double now_s) {
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    const InFlight::Datagram& datagram = in_flight_.at(outcome.sequence);
    if (outcome.acked) {
      held_tick_ = earlier(held_tick_, datagram.tick) ? datagram.tick : held_tick_;
    } else {
      ++counts_.datagrams_lost;
      budget_.lost(outcome.sent_s, now_s, datagram.bytes);
    }
    for (const Carried& c : datagram.carried) {
      Subscription& s = subscriptions_.at(c.place);
      if (s.serial != c.serial || s.level != c.level) continue;
      note_fate(s, c, outcome.acked);
    }
    extras_.fields().settle(outcome.sequence, outcome.acked);
    in_flight_.end(outcome.sequence);
  }
  sent_.clear_outcomes();
}

// What changed of the entities that the client was told of before: what it is told of now has it already.
void Session::note_fields(const FieldTable& fields, Tick tick) {
  const auto changed = fields.changes().words();
  const auto followed = subscriptions_.slots().words();
  for (std::size_t w = 0; w < std::min(changed.size(), followed.size()); ++w) {
    SlotSet::for_each_in(changed[w] & followed[w], w, [&](std::uint32_t slot) {
      const Subscription& s = *subscriptions_.find(slot);
      const FieldTable::Row& row = fields.row(slot);
      if (s.told && s.id == row.id) extras_.fields().changed(s.id, row.changed_now, tick, s.confirmed);
    });
  }
}

void Session::tell(const Step& step, Transport& transport) {
  note_fields(step.fields, step.tick);
  // Many in one payload: a datagram each would cost a slow link more than what they say.
  std::array<std::byte, kFullPayload + kMostAnnouncement> payload;
  std::size_t size = 0;
  const auto hand_over = [&] {
    transport.send(peer_, Channel::control, std::span{payload}.first(size));
    budget_.spend(size + kMessageHeaders, step.now_s);
    size = 0;
  };
  // As if all messages were as long as the newest.
  const auto room = [&] {
    const double under_way = announcements_.unconfirmed_count() * message_bytes_;
    return budget_.available() > static_cast<double>(size) && under_way < budget_.reliable_room();
  };
  for (const Announcements::Entry* entry = announcements_.next(); entry != nullptr && room();
       entry = announcements_.next()) {
    Subscription* subscription = subscriptions_.find(entry->id);
    if (subscription == nullptr || subscription->serial != entry->serial) {
      announcements_.drop();  // gone before its turn came
      continue;
    }
    const std::size_t bytes = announce(step, *subscription, std::span{payload}.subspan(size));
    size += bytes;
    message_bytes_ = static_cast<double>(bytes) + kHeadersShare;
    if (size >= kFullPayload) hand_over();
  }
  if (size > 0) hand_over();
}

// Writes the message that an entity begins, and returns its bytes.
std::size_t Session::announce(const Step& step, Subscription& subscription, std::span<std::byte> buffer) {
  const Entity& entity = step.entities.slots()[subscription.id.slot()];
  const PublishStream& stream = entity.levels[subscription.level].stream;
  SpawnMessage message;
  message.entity = entity.id;
  message.archetype = static_cast<std::uint8_t>(entity.archetype);
  message.name = entity.name;
  message.level = subscription.level;
  message.orientation_bits = static_cast<std::uint8_t>(step.quantisation[entity.archetype].orientation_bits);
  message.tick = step.tick;
  message.motion_tick = stream.newest().tick;
  message.state = stream.newest().encoded;
  if (const FieldTable::Row* row = step.fields.find(entity.id)) {
    message.fields.resize(kMaxValuesBytes);
    BitWriter writer{message.fields};
    write_values(writer, step.fields.specs(*row), row->values);
    message.fields.resize(writer.finish().size());
  }
  if (seen_) seen_->announced(entity.id, stream.motion());
  subscription.told = true;
  subscription.sent = stream.number();
  subscription.sent_tick = stream.newest().tick;
  announcements_.sent(stream.newest().tick);
  return encode(message, buffer).size();
}

void Session::prepare(const Step& step, unsigned worker) {
  if (joined_s_ < 0.0) joined_s_ = step.now_s;
  sent_.expire(step.now_s, link_.timeout_s(kAnswerDelayS));
  settle(step.now_s);
  budget_.advance(step.now_s);
  extras_.begin_tick(budget_.bytes_per_second() / tick_rate_hz_,
                     step.tick_time_s - kPatienceTicks / tick_rate_hz_, step.fields, counts_);
  snapshot_.clear();
  subscriptions_.collect_due(
      step.published, step.tick,
      [&](std::uint32_t slot, Subscriptions::Place place, Subscription& s) { choose(step, slot, place, s); });
  if (!budget_.affordable()) return snapshot_.clear();
  snapshot_.keep(static_cast<std::size_t>(std::max(0.0, budget_.available()) / kLeastUpdateBytes) + 1);
  for (const Snapshot::Item& item : snapshot_.items())
    step.encodings.want(worker, item.slot, item.level, item.reference);
}

// Whether, and against what, a motion that is due can be sent now.
void Session::choose(const Step& step, std::uint32_t slot, Subscriptions::Place place, Subscription& s) {
  const StreamHead& stream = step.entities.heads()[slot * kLevels + s.level];
  if (stream.number == s.sent && !s.repair) return subscriptions_.clear_due(slot);
  if (!knows_route(stream.route)) return;
  Snapshot::Item item{.slot = slot, .place = place, .level = s.level, .tick = stream.tick};
  if (!s.in_full && stream.can_refer_to(s.held)) {
    item.reference = s.held;
    item.reference_tick = s.held_tick;
  }
  // What is further off goes first, and what waits gains on it.
  const auto waited = static_cast<float>(static_cast<std::int32_t>(step.tick - s.due_since) + 1);
  item.priority = std::clamp(stream.urgency, 0.5f, 64.0f) * waited;
  snapshot_.add(item);
}

void Session::write(const Step& step, std::size_t room) {
  if (room < kLeastRoom) return;  // the peer is gone; its disconnect is on the way
  snapshot_.measure(step.encodings, budget_.available());
  while (!snapshot_.all_taken() || extras_may_go()) {
    if (!write_datagram(step, room)) break;
  }
  const double heartbeat_s = step.now_s - joined_s_ < kSettlingS ? kSettlingHeartbeatS : heartbeat_s_;
  if (step.now_s - last_send_s_ >= heartbeat_s - 0.5 / tick_rate_hz_) write_datagram(step, room);
}

// In a datagram of their own. Fields can wait until one is worth its head, or ride with motions; messages
// cannot, and may overdraw the budget by one datagram.
bool Session::extras_may_go() const {
  if (budget_.affordable()) return extras_.any();
  return extras_.urgent() && budget_.available() > -1.0 * kMaxStateBytes;
}

// Where motions wait too, extras leave half of the datagram to them, and room for one at least.
std::size_t Session::extra_room(std::size_t room_bits) const {
  if (snapshot_.all_taken()) return room_bits;
  return room_bits - std::min(room_bits, std::max(room_bits / 2, kMostUpdateBits));
}

std::uint32_t Session::complete_age(Tick tick) const {
  // Nothing is missing before the oldest that is still owed.
  Tick oldest = tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  subscriptions_.due().for_each([&](std::uint32_t slot) { note(subscriptions_.find(slot)->due_since); });
  if (const auto since = announcements_.oldest()) note(*since);
  if (const auto since = extras_.fields().oldest()) note(*since);
  return tick + 1 - oldest;
}

ServerHeader Session::make_header(const Step& step) const {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(step.tick);
  header.complete_age = complete_age(step.tick);
  if (received_.any()) header.ack = received_.ack();
  if (stamp_) {
    const double held = std::round((step.tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMostHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
}

// False if it carries nothing.
bool Session::write_datagram(const Step& step, std::size_t room) {
  // First of all, because a full window gives up its oldest datagram, which may make more due.
  const Sequence sequence = sent_.send(step.now_s);
  settle(step.now_s);
  InFlight::Datagram& record = in_flight_.begin(sequence, step.tick);

  const std::size_t room_bits = room * 8 - kHeaderBits;
  std::array<std::byte, kMaxStateBytes> extra_buffer;
  BitWriter extras{extra_buffer};
  const Extras::Sections sections =
      extras_.write(extras, extra_room(room_bits), sequence, step.tick, step.fields, counts_);
  const std::size_t extra_bits = extras.bits_written();

  std::array<std::byte, kMaxStateBytes + 64> scratch;
  BitWriter updates{scratch};
  const UpdateCoding coding = snapshot_.coding(step.tick, held_tick_);
  const auto taken = snapshot_.take(step.tick, coding, room_bits - extra_bits, updates);
  for (const Snapshot::Item& item : taken) {
    note_sent(item, step.entities.heads()[item.slot * kLevels + item.level], record.carried);
    if (seen_) {
      const Entity& entity = step.entities.slots()[item.slot];
      seen_->sent(sequence, entity.id, entity.levels[item.level].stream.motion(), step.now_s);
    }
    if (step.coding != nullptr) note_coding(step, item);
  }
  const std::size_t bits = updates.bits_written();
  counts_.update_bits_sent += bits;

  ServerHeader header = make_header(step);
  header.sequence = sequence;
  header.update_count = static_cast<std::uint32_t>(taken.size());
  header.coding = coding;
  header.has_fields = sections.fields;
  header.has_messages = sections.messages;
  std::array<std::byte, kMaxStateBytes> buffer;
  BitWriter writer{std::span{buffer}.first(room)};
  reckoner::write(writer, header);
  writer.append(updates.finish(), bits);
  writer.append(extras.finish(), extra_bits);
  const auto payload = writer.finish();
  record.bytes = payload.size() + kDatagramHeaders;
  snapshot_.add_datagram(payload);
  budget_.spend(record.bytes, step.now_s);
  if (taken.empty() && extra_bits > 0) extras_.pay(record.bytes - extra_bits / 8);
  stamp_.reset();
  last_send_s_ = step.now_s;
  return !taken.empty() || extra_bits > 0;
}

void Session::note_coding(const Step& step, const Snapshot::Item& item) const {
  const Entity& entity = step.entities.slots()[item.slot];
  const PublishStream& stream = entity.levels[item.level].stream;
  const PublishStream::Publish& newest = stream.newest();
  const Quantisation& q = step.quantisation[entity.archetype];
  if (item.reference == 0) return step.coding->add(newest.encoded, nullptr, 0.0, q, item.bits);
  const PublishStream::Publish& base = stream.at(item.reference);
  step.coding->add(newest.encoded, &base.encoded, (newest.tick - base.tick) / step.tick_rate_hz, q,
                   item.bits);
}

void Session::note_sent(const Snapshot::Item& item, const StreamHead& stream, std::vector<Carried>& carried) {
  Subscription& s = subscriptions_.at(item.place);
  carried.push_back({item.place, s.serial, stream.number, stream.tick, item.level});
  s.sent = stream.number;
  s.sent_tick = stream.tick;
  ++counts_.updates_sent;
  counts_.full_updates_sent += item.reference == 0 ? 1 : 0;
  if (stream.route) {
    ++counts_.route_updates_sent;
    counts_.route_bits_sent += item.bits;
  }
  if (s.repair) {
    ++counts_.repairs_sent;
    repaired_.push_back(static_cast<std::uint32_t>(item.slot * kLevels + item.level));
  }
  s.repair = s.in_full = false;
  subscriptions_.clear_due(item.slot);
}

void Session::flush(Transport& transport, ServerStats& stats, std::vector<std::uint32_t>& repaired) {
  snapshot_.for_each_datagram([&](std::span<const std::byte> payload) {
    transport.send(peer_, Channel::state, payload);
    ++counts_.datagrams_sent;
    counts_.state_bytes_sent += payload.size();
  });
  add(stats, counts_);
  counts_ = {};
  repaired.insert(repaired.end(), repaired_.begin(), repaired_.end());
  repaired_.clear();
}

}  // namespace reckoner
