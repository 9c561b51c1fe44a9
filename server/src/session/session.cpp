// SPDX-License-Identifier: MIT
#include "server/src/session/session.hpp"

#include "net/src/codec/field_codec.hpp"
#include "server/src/util/prefetch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

// What a message on the control channel costs besides itself, with its acknowledgement's share, bytes.
constexpr std::size_t kMessageHeaders = 40;
constexpr double kHeadersShare = 2.0;  // of one among many

// No announcement is longer: a name, a motion, and all fields.
constexpr std::size_t kMostAnnouncement = 1024 + kMaxValuesBytes;

// Of what is sent again to a client that is back, this much counts against its byte budget.
constexpr std::size_t kMostCharged = 2000;

// Newer motions behind an announcement that is not confirmed: so many at most, so far apart, and only while
// this many messages or fewer are on their way.
constexpr std::uint8_t kMostRepeats = 4;
constexpr double kTellAgainS = 0.04;
constexpr std::size_t kMostBeginnings = 64;

// Announcements are put together up to here, bytes, so that most payloads fit a datagram.
constexpr std::size_t kFullPayload = 1000;

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config)
    : id_(id),
      peer_(peer),
      heartbeat_s_(config.heartbeat_s),
      tick_rate_hz_(config.tick_rate_hz),
      repairs_(config.parts.repair),
      budget_(static_cast<double>(config.bytes_per_second), 1.0 / config.tick_rate_hz, config.follow_link) {}

// Messages that are counted go this way, one by one or (tell()) several in a payload.
void Session::hand_over(std::span<const std::byte> message, Transport& transport) {
  if (comeback_) comeback_->add(message);
  if (peer_) transport.send(peer_, Channel::control, message);
}

void Session::tell_route(const RouteMessage& message, Transport& transport) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  hand_over(encode(message, buffer), transport);
  routes_.push_back(announcements_.sent_other());
}

void Session::tell_ownership(const OwnershipMessage& message, Tick tick, Transport& transport) {
  std::array<std::byte, 512> buffer;
  hand_over(encode(message, buffer), transport);
  (void)announcements_.sent_other();
  Subscription* found = subscriptions_.find(message.entity);
  if (found == nullptr) return;
  const bool owned = message.news != OwnershipMessage::News::taken;
  if (found->muted != owned) owns_ = owned ? owns_ + 1 : owns_ - 1;
  ever_owned_ = ever_owned_ || owned;
  subscriptions_.set_muted(*found, owned, tick);
  if (owned && seen_) seen_->own(message.entity);
}

bool Session::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && announcements_.is_confirmed(routes_[route.value - 1]));
}

// A motion in the frame of an entity that the client does not know is none.
bool Session::knows_frame(const StreamHead& stream) const {
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = subscriptions_.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->confirmed;
}

bool Session::may_announce(const TickInputs& inputs, const Subscription& subscription) const {
  const StreamHead& stream = inputs.entities.heads()[subscription.id.slot() * kLevels + subscription.level];
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = subscriptions_.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->told;
}

bool Session::send_reliable(std::span<const std::byte> encoded, double now_s, Transport& transport) {
  if (!reliable_.has_room_for(encoded.size()) || (!peer_ && !comeback_)) return false;
  if (peer_ && !transport.send(peer_, Channel::control, encoded)) return false;
  if (comeback_) comeback_->add(encoded);
  reliable_.sent(announcements_.sent_other(), encoded.size());
  budget_.spend(encoded.size() + kMessageHeaders, now_s);
  return true;
}

bool Session::send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
  return peer_ && fields_and_messages_.add(std::move(payload), time_s, now_s);
}

void Session::follow(const Entity& entity, std::uint8_t level, Tick tick) {
  const Subscription& added = subscriptions_.add(entity.id, level);
  announcements_.add(entity.id, added.serial, tick);
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
  if (datagram.has_messages || datagram.has_owned || datagram.showing) wants_ack_ = datagram.sequence;

  if (newest) {
    stamp_ = datagram.stamp;
    stamp_arrival_s_ = now_s;
  }
  if (datagram.ack) measure_link(datagram, now_s);
  settle(now_s, stats);
  if (earlier(announcements_.confirmed_count(), confirmed)) confirm(confirmed, now_s);
  if (seen_ && datagram.showing) {
    if (const auto why = seen_->process(*datagram.showing, datagram.ack, now_s)) ++stats.refusals[*why];
  }
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
  // Given up too soon: only these tell that the way has become longer than any time-out.
  for (const SentWindow::Outcome& outcome : sent_.late()) {
    if (outcome.sequence == datagram.ack->newest) link_.add(now_s - outcome.sent_s - ack_delay_s);
    budget_.found(outcome.sent_s);
    budget_.acknowledged(outcome.sent_s, now_s, ack_delay_s, in_flight_.at(outcome.sequence).bytes);
  }
}

void Session::confirm(std::uint32_t control_count, double now_s) {
  const double arrived = (control_count - announcements_.confirmed_count()) * message_bytes_;
  budget_.reliable_arrived(static_cast<std::size_t>(arrived), now_s);
  reliable_.confirm(control_count);
  if (comeback_) comeback_->confirm(control_count, announcements_.sent_count());
  announcements_.confirm(control_count, [&](const Announcements::Entry& entry) {
    Subscription* subscription = subscriptions_.find(entry.id);
    if (entry.serial == 0 || subscription == nullptr || subscription->serial != entry.serial) return;
    if (entry.again) {
      Subscriptions::note_held(*subscription, entry.publish, entry.level, entry.motion_tick);
      held_tick_ = earlier(held_tick_, entry.motion_tick) ? entry.motion_tick : held_tick_;
      return;
    }
    subscriptions_.confirm(*subscription, entry.publish, entry.level, entry.motion_tick);
    if (seen_) seen_->confirmed(entry.id);
    fields_and_messages_.fields().release_held(entry.id);
    held_tick_ = earlier(held_tick_, entry.motion_tick) ? entry.motion_tick : held_tick_;
    // Whatever was published while the announcement was on its way.
    subscriptions_.set_due(*subscription, entry.motion_tick + 1, false);
  });
}

bool Session::can_resume(std::uint32_t taken) const {
  return comeback_ && !comeback_->overflowed && !earlier(announcements_.sent_count(), taken) &&
         !earlier(taken, announcements_.confirmed_count());
}

void Session::resume(std::uint32_t taken, const ServerConfig& config, double now_s, Tick tick,
                     Transport& transport) {
  // It may be another link.
  budget_ = ByteBudget{static_cast<double>(config.bytes_per_second), 1.0 / tick_rate_hz_, config.follow_link};
  budget_.advance(now_s);
  if (taken != announcements_.confirmed_count()) confirm(taken, now_s);
  std::vector<std::byte> payload;
  std::size_t sent = 0;
  const auto flush = [&] {
    if (!payload.empty()) transport.send(peer_, Channel::control, payload);
    sent += payload.size();
    payload.clear();
  };
  comeback_->sent.for_each([&](std::span<const std::byte> message) {
    if (payload.size() + message.size() > kFullPayload) flush();
    payload.insert(payload.end(), message.begin(), message.end());
  });
  flush();
  // State must not wait for all of it: the link may be as fast as it was.
  budget_.spend(std::min(sent, kMostCharged), now_s);
  // What was on its way is lost, and what was published meanwhile was never sent.
  subscriptions_.slots().for_each([&](std::uint32_t slot) {
    Subscription& s = *subscriptions_.find(slot);
    if (!s.confirmed || s.muted) return;
    subscriptions_.set_due(s, tick, true);
    s.in_full = true;
  });
  joined_s_ = now_s;  // the client's clock has to settle again
  stamp_.reset();
}

void Session::note_fate(Subscription& s, const SentMotion& carried, bool acked) {
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
void Session::settle(double now_s, ServerStats& stats) {
  if (sent_.outcomes().empty() && sent_.late().empty()) return;
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    const InFlight::Datagram& datagram = in_flight_.at(outcome.sequence);
    if (outcome.acked) {
      held_tick_ = earlier(held_tick_, datagram.tick) ? datagram.tick : held_tick_;
    } else {
      ++stats.datagrams_lost;
      budget_.lost(outcome.sent_s, now_s, datagram.bytes);
    }
    in_flight_.for_each(outcome.sequence,
                        [this](const SentMotion& c) { prefetch(&subscriptions_.at(c.place)); });
    in_flight_.for_each(outcome.sequence, [&](const SentMotion& c) {
      Subscription& s = subscriptions_.at(c.place);
      if (s.serial == c.serial && s.level == c.level) note_fate(s, c, outcome.acked);
    });
    fields_and_messages_.fields().settle(outcome.sequence, outcome.acked);
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
      if (s.told && s.id == row.id)
        fields_and_messages_.fields().changed(s.id, row.changed_now, tick, s.confirmed);
    });
  }
}

// Many messages in one payload: a datagram each would cost a slow link more than what they say.
struct Session::Telling {
  std::array<std::byte, kFullPayload + kMostAnnouncement> payload;
  std::size_t size = 0;

  [[nodiscard]] std::span<std::byte> rest() { return std::span{payload}.subspan(size); }
};

void Session::hand_over(Telling& telling, double now_s, Transport& transport) {
  if (telling.size == 0) return;
  transport.send(peer_, Channel::control, std::span{telling.payload}.first(telling.size));
  budget_.spend(telling.size + kMessageHeaders, now_s);
  telling.size = 0;
}

// As if all messages were as long as the newest.
bool Session::has_room(const Telling& telling) const {
  const double under_way = announcements_.unconfirmed_count() * message_bytes_;
  return budget_.available() > static_cast<double>(telling.size) && under_way < budget_.reliable_room();
}

void Session::tell(const TickInputs& inputs, Transport& transport) {
  if (inputs.fields_changed) note_fields(inputs.fields, inputs.tick);
  if (!peer_) return;
  if (!tell_endings(inputs.now_s, transport)) return;
  Telling telling;
  std::size_t deferred = 0;
  for (const Announcements::Entry* entry = announcements_.next(); entry != nullptr && has_room(telling);
       entry = announcements_.next()) {
    Subscription* subscription = subscriptions_.find(entry->id);
    if (subscription == nullptr || subscription->serial != entry->serial) {
      announcements_.drop();  // gone before its turn came
      continue;
    }
    if (!may_announce(inputs, *subscription)) {
      if (deferred++ == announcements_.waiting_count()) break;
      announcements_.defer();  // until the one in whose frame it lives has been
      continue;
    }
    const std::size_t bytes = announce(inputs, *subscription, telling.rest());
    message_bytes_ = static_cast<double>(bytes) + kHeadersShare;
    if (comeback_) comeback_->add(telling.rest().first(bytes));
    telling.size += bytes;
    if (telling.size >= kFullPayload) hand_over(telling, inputs.now_s, transport);
    deferred = 0;
  }
  if (announcements_.waiting_count() == 0) tell_again(inputs, telling, transport);
  hand_over(telling, inputs.now_s, transport);
}

// It takes three ways of the link until a client can be sent state of what begins. What moves otherwise by
// then is told behind the beginning, if nothing else waits: a few times, so that no stream comes of it.
void Session::tell_again(const TickInputs& inputs, Telling& telling, Transport& transport) {
  const auto apart = static_cast<Tick>(std::ceil(kTellAgainS * tick_rate_hz_));
  announcements_.for_each_beginning(kMostBeginnings, [&](Announcements::Entry& first) {
    Subscription* s = subscriptions_.find(first.id);
    if (s == nullptr || s->serial != first.serial || s->muted || s->level != first.level) return;
    const PublishStream& stream = inputs.entities.slots()[s->id.slot()].levels[s->level].stream;
    const bool due = stream.number() != s->sent && first.repeats < kMostRepeats &&
                     (first.repeats == 0 || !earlier(inputs.tick, first.told + apart));
    if (!due || !has_room(telling) || !knows_route(stream.head().route) || !may_announce(inputs, *s)) return;
    const std::size_t bytes = write_spawn(inputs, *s, telling.rest());
    if (comeback_) comeback_->add(telling.rest().first(bytes));
    telling.size += bytes;
    announcements_.sent_again(first, stream.number(), s->level, stream.newest().tick, inputs.tick);
    if (seen_) seen_->announcement_updated(s->id, stream.motion());
    s->sent = stream.number();
    ++sent_again_;
    if (inputs.coding != nullptr) note_coding_in_full(inputs, *s);
    if (telling.size >= kFullPayload) hand_over(telling, inputs.now_s, transport);
  });
}

// Writes the message that an entity begins, and returns its bytes.
std::size_t Session::announce(const TickInputs& inputs, Subscription& subscription,
                              std::span<std::byte> buffer) {
  const PublishStream& stream =
      inputs.entities.slots()[subscription.id.slot()].levels[subscription.level].stream;
  if (seen_) seen_->announced(subscription.id, stream.motion());
  subscription.told = true;
  subscription.sent = stream.number();
  announcements_.sent(stream.number(), subscription.level, stream.newest().tick, inputs.tick);
  return write_spawn(inputs, subscription, buffer);
}

std::size_t Session::write_spawn(const TickInputs& inputs, const Subscription& subscription,
                                 std::span<std::byte> buffer) {
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const PublishStream& stream = entity.levels[subscription.level].stream;
  SpawnMessage message;
  message.entity = entity.id;
  message.archetype = static_cast<std::uint8_t>(entity.archetype);
  message.name = entity.name;
  message.level = subscription.level;
  message.orientation_bits =
      static_cast<std::uint8_t>(inputs.quantisation[entity.archetype].orientation_bits);
  message.tick = inputs.tick;
  message.motion_tick = stream.newest().tick;
  message.state = stream.newest().encoded;
  if (const FieldTable::Row* row = inputs.fields.find(entity.id)) {
    message.fields.resize(kMaxValuesBytes);
    BitWriter writer{message.fields};
    write_values(writer, inputs.fields.specs(*row), row->values);
    message.fields.resize(writer.finish().size());
  }
  return encode(message, buffer).size();
}

// What a session writes in a tick. session.cpp has what it announces, and what it learns from its client.
namespace {

// What ENet, UDP and IPv4 add to a payload on the state channel, bytes.
constexpr std::size_t kDatagramHeaders = 40;

// The client waits this long at most before it acknowledges (ClientConfig::ack_interval_s and its
// keep-alive).
constexpr double kAnswerDelayS = 0.1;

// A new client gets datagrams more often until its clock has settled.
constexpr double kSettlingS = 1.5;
constexpr double kSettlingHeartbeatS = 0.05;

// From then on it is answered this often at most: its estimate rests on the fastest of many answers, and each
// takes five bytes.
constexpr double kEchoIntervalS = 0.2;

// A datagram of the client's that wants to be acknowledged is in as many acknowledgements as tell of it.
constexpr int kAckedDatagrams = 32;

// An unreliable message finds a place in one of two ticks, or none. The half is for rounding.
constexpr double kPatienceTicks = 1.5;

// What a level of detail weighs against the finest: what is told of more finely concerns the client more.
constexpr std::array<float, kLevels> kRelevance{1.0f, 0.5f, 0.25f};

// More than the head of a datagram and its end ever take.
constexpr std::size_t kHeaderBits = 256;

// A datagram takes any update: its own head, and the longest motion.
constexpr std::size_t kLeastRoom = 256;

// No update is longer, its head included: 12 numbers of 48 bits with their prefixes.
constexpr std::size_t kMostUpdateBits = 1800;

// No update is shorter: bounds how many are looked at for a budget.
constexpr double kLeastUpdateBytes = 3.0;

}  // namespace

void Session::fetch() const {
  prefetch(this, static_cast<std::size_t>(reinterpret_cast<const char*>(&view_) -
                                          reinterpret_cast<const char*>(this)));
}

void Session::fetch_lists(const Published& published) const {
  subscriptions_.fetch(published);
  prefetch(&sent_, 64);
  in_flight_.fetch();
}

void Session::compose(const TickInputs& inputs, std::size_t room, Scratch& scratch) {
  if (joined_s_ < 0.0) joined_s_ = inputs.now_s;
  scratch.outbox.stats.updates_sent += std::exchange(sent_again_, 0);
  sent_.expire(inputs.now_s, link_.timeout_s(kAnswerDelayS));
  settle(inputs.now_s, scratch.outbox.stats);
  budget_.advance(inputs.now_s);
  if (!peer_) return;
  fields_and_messages_.begin_tick(budget_.bytes_per_second() / tick_rate_hz_,
                                  inputs.tick_time_s - kPatienceTicks / tick_rate_hz_, inputs.fields,
                                  scratch.outbox.stats);
  if (room < kLeastRoom) return;  // the peer is gone; its disconnect is on the way
  gather(inputs, scratch);
  if (inputs.held_back) return;
  while (!scratch.snapshot.all_written() || fields_and_messages_may_go()) {
    if (!write_datagram(inputs, room, scratch)) break;
  }
  // Who owns something waits for acknowledgements.
  const bool often = owns_ > 0 || inputs.now_s - joined_s_ < kSettlingS;
  const double heartbeat_s = often ? std::min(kSettlingHeartbeatS, heartbeat_s_) : heartbeat_s_;
  if (inputs.now_s - last_send_s_ >= heartbeat_s - 0.5 / tick_rate_hz_) write_datagram(inputs, room, scratch);
}

// Of what the client is owed, as much as the byte budget allows.
void Session::gather(const TickInputs& inputs, Scratch& scratch) {
  Snapshot& snapshot = scratch.snapshot;
  snapshot.clear();
  subscriptions_.note_published(inputs.published, inputs.tick, scratch.fresh);
  if (inputs.held_back || !budget_.affordable()) return;
  subscriptions_.for_each_due([&](std::uint32_t slot, Subscriptions::Index place, Subscription& s) {
    choose(inputs, slot, place, s, snapshot);
  });
  snapshot.keep(static_cast<std::size_t>(std::max(0.0, budget_.available()) / kLeastUpdateBytes) + 1);
  snapshot.measure(inputs.encodings, scratch.worker, budget_.available());
}

// Whether, and against what, a motion that is due can be sent now.
void Session::choose(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index place,
                     Subscription& s, Snapshot& snapshot) {
  const StreamHead& stream = inputs.entities.heads()[slot * kLevels + s.level];
  if (stream.number == s.sent && !s.repair) return subscriptions_.clear_due(slot);
  if (!knows_route(stream.route) || !knows_frame(stream)) return;
  Snapshot::Item item{.slot = slot, .place = place, .level = s.level, .tick = stream.tick};
  if (!s.in_full && stream.can_refer_to(s.held)) {
    item.reference = s.held;
    item.reference_tick = s.held_tick;
  }
  // What is further off goes first, and what waits gains on it.
  const auto waited = static_cast<float>(static_cast<std::int32_t>(inputs.tick - s.due_since) + 1);
  item.priority = kRelevance[s.level] * std::clamp(stream.urgency, 0.5f, 64.0f) * waited;
  snapshot.add(item);
}

// In a datagram of their own. Fields can wait until one is worth its head, or ride with motions; messages
// cannot, and may overdraw the budget by one datagram.
bool Session::fields_and_messages_may_go() const {
  if (budget_.affordable()) return fields_and_messages_.any();
  return fields_and_messages_.urgent() && budget_.available() > -1.0 * kMaxStateBytes;
}

// Where motions wait too, fields_and_messages leave half of the datagram to them, and room for one at least.
std::size_t Session::extra_room(std::size_t room_bits, const Snapshot& snapshot) {
  if (snapshot.all_written()) return room_bits;
  return room_bits - std::min(room_bits, std::max(room_bits / 2, kMostUpdateBits));
}

std::uint32_t Session::complete_age(Tick tick) const {
  // Nothing is missing before the oldest that is still owed.
  Tick oldest = tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  subscriptions_.due().for_each([&](std::uint32_t slot) { note(subscriptions_.find(slot)->due_since); });
  if (const auto since = announcements_.oldest_since()) note(*since);
  if (!endings_.empty()) note(endings_.front().tick);
  fields_and_messages_.fields().for_each_since(note);
  return tick + 1 - oldest;
}

ServerHeader Session::make_header(const TickInputs& inputs) const {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(inputs.tick);
  header.complete_age = complete_age(inputs.tick);
  if (wants_ack_ && sequence_distance(received_.ack().newest, *wants_ack_) <= kAckedDatagrams)
    header.ack = received_.ack();
  const double echo_interval_s = inputs.now_s - joined_s_ < kSettlingS ? 0.0 : kEchoIntervalS;
  if (stamp_ && inputs.now_s - last_echo_s_ >= echo_interval_s) {
    const double held = std::round((inputs.tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMostHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
}

// False if it carries nothing.
bool Session::write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch) {
  ServerStats& stats = scratch.outbox.stats;
  // First of all, because a full window gives up its oldest datagram, which may make more due.
  const Sequence sequence = sent_.send(inputs.now_s);
  settle(inputs.now_s, stats);
  in_flight_.begin(sequence, inputs.tick);

  const std::size_t room_bits = room * 8 - kHeaderBits;
  std::array<std::byte, kMaxStateBytes> extra_buffer;
  BitWriter extra{extra_buffer};
  const FieldsAndMessages::Sections sections = fields_and_messages_.write(
      extra, extra_room(room_bits, scratch.snapshot), sequence, inputs.tick, inputs.fields, stats);
  const std::size_t extra_bits = extra.bits_written();

  std::array<std::byte, kMaxStateBytes + 64> update_buffer;
  BitWriter updates{update_buffer};
  const UpdateCoding coding = scratch.snapshot.coding(inputs.tick, held_tick_);
  const auto taken = scratch.snapshot.take(inputs.tick, coding, room_bits - extra_bits, updates);
  for (const Snapshot::Item& item : taken) {
    note_sent(item, inputs.entities.heads()[item.slot * kLevels + item.level], scratch.outbox);
    if (seen_) {
      const Entity& entity = inputs.entities.slots()[item.slot];
      seen_->sent(sequence, entity.id, entity.levels[item.level].stream.motion(), inputs.now_s);
    }
    if (inputs.coding != nullptr) note_coding(inputs, item);
  }
  const std::size_t bits = updates.bits_written();
  stats.update_bits_sent += bits;

  ServerHeader header = make_header(inputs);
  behind_ticks_ = header.complete_age;
  header.sequence = sequence;
  header.update_count = static_cast<std::uint32_t>(taken.size());
  header.coding = coding;
  header.has_fields = sections.fields;
  header.has_messages = sections.messages;
  std::array<std::byte, kMaxStateBytes> buffer;
  BitWriter writer{std::span{buffer}.first(room)};
  reckoner::write(writer, header);
  writer.append(updates.finish(), bits);
  writer.append(extra.finish(), extra_bits);
  const auto payload = writer.finish();
  const std::size_t wire_bytes = payload.size() + kDatagramHeaders;
  in_flight_.set_bytes(sequence, wire_bytes);
  scratch.outbox.add(peer_, payload);
  budget_.spend(wire_bytes, inputs.now_s);
  if (taken.empty() && extra_bits > 0) fields_and_messages_.pay(wire_bytes - extra_bits / 8);
  if (header.echo) last_echo_s_ = inputs.now_s;
  stamp_.reset();
  last_send_s_ = inputs.now_s;
  return !taken.empty() || extra_bits > 0;
}

void Session::note_coding(const TickInputs& inputs, const Snapshot::Item& item) const {
  const Entity& entity = inputs.entities.slots()[item.slot];
  const PublishStream& stream = entity.levels[item.level].stream;
  const PublishStream::Publish& newest = stream.newest();
  const Quantisation& q = inputs.quantisation[entity.archetype];
  if (item.reference == 0) return inputs.coding->add(newest.encoded, nullptr, 0.0, q, item.bits);
  const PublishStream::Publish& base = stream.at(item.reference);
  inputs.coding->add(newest.encoded, &base.encoded, (newest.tick - base.tick) / inputs.tick_rate_hz, q,
                     item.bits);
}

// What was sent behind an announcement is an update like any other.
void Session::note_coding_in_full(const TickInputs& inputs, const Subscription& subscription) {
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const QuantisedState& state = entity.levels[subscription.level].stream.newest().encoded;
  const Quantisation& q = inputs.quantisation[entity.archetype];
  std::array<std::byte, kMostUpdateBits / 8> scratch;
  BitWriter writer{scratch};
  write_full(writer, state, q);
  inputs.coding->add(state, nullptr, 0.0, q, writer.bits_written());
}

void Session::note_sent(const Snapshot::Item& item, const StreamHead& stream, Outbox& outbox) {
  Subscription& s = subscriptions_.at(item.place);
  ServerStats& stats = outbox.stats;
  in_flight_.add({item.place, s.serial, stream.number, stream.tick, item.level});
  s.sent = stream.number;
  ++stats.updates_sent;
  stats.full_updates_sent += item.reference == 0 ? 1 : 0;
  if (stream.route) {
    ++stats.route_updates_sent;
    stats.route_bits_sent += item.bits;
  }
  if (s.repair) {
    ++stats.repairs_sent;
    outbox.repaired.push_back(static_cast<std::uint32_t>(item.slot * kLevels + item.level));
  }
  s.repair = s.in_full = false;
  subscriptions_.clear_due(item.slot);
}

// How a session tells its client what is no more.
namespace {

constexpr std::size_t kMostEnding = 64;  // bytes: the longest message that ends an entity

}  // namespace

void Session::unfollow(EntityId id, Tick tick) {
  const Subscription* found = subscriptions_.find(id);
  if (found == nullptr) return;
  if (found->told) endings_.push_back({id, tick});
  fields_and_messages_.fields().forget(id);
  if (seen_) seen_->forget(id);
  if (found->muted) --owns_;
  subscriptions_.remove(static_cast<std::uint32_t>(id.slot()));
}

// As much as the link takes up, many in a payload: hundreds at once, each with headers of its own, would fill
// a slow link's queue, and be sent again and again. True if nothing is left.
bool Session::tell_endings(double now_s, Transport& transport) {
  const double least = std::min(kMostEnding * static_cast<double>(endings_.size()), budget_.quantum());
  while (!endings_.empty() && budget_.available() >= least) {
    std::array<std::byte, kFullPayload + kMostEnding> payload;
    const double room = std::min(budget_.available(), static_cast<double>(kFullPayload));
    std::size_t size = 0;
    while (!endings_.empty() && (size == 0 || static_cast<double>(size + kMessageHeaders) < room)) {
      const double under_way = announcements_.unconfirmed_count() * message_bytes_;
      if (announcements_.is_full() || under_way >= budget_.reliable_room()) break;
      const Ending& ending = endings_.front();
      const auto message =
          encode(DespawnMessage{ending.id, ending.tick}, std::span{payload}.subspan(size, kMostEnding));
      if (comeback_) comeback_->add(message);
      announcements_.sent_end(ending.id, ending.tick);
      endings_.pop_front();
      size += message.size();
      message_bytes_ = static_cast<double>(message.size()) + kHeadersShare;
    }
    if (size == 0) break;
    transport.send(peer_, Channel::control, std::span{payload}.first(size));
    budget_.spend(size + kMessageHeaders, now_s);
  }
  return endings_.empty();
}

}  // namespace reckoner
