// SPDX-License-Identifier: MIT
#include "session.hpp"

#include "prefetch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <reckoner/net/field_codec.hpp>

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

bool Session::may_announce(const Step& step, const Subscription& subscription) const {
  const StreamHead& stream = step.entities.heads()[subscription.id.slot() * kLevels + subscription.level];
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
  return peer_ && extras_.add(std::move(payload), time_s, now_s);
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
    if (const auto why = seen_->take_in(*datagram.showing, datagram.ack, now_s)) ++stats.refusals[*why];
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
    extras_.fields().allow(entry.id);
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
                        [this](const Carried& c) { prefetch(&subscriptions_.at(c.place)); });
    in_flight_.for_each(outcome.sequence, [&](const Carried& c) {
      Subscription& s = subscriptions_.at(c.place);
      if (s.serial == c.serial && s.level == c.level) note_fate(s, c, outcome.acked);
    });
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

void Session::tell(const Step& step, Transport& transport) {
  if (step.fields_changed) note_fields(step.fields, step.tick);
  if (!peer_) return;
  if (!tell_endings(step.now_s, transport)) return;
  Telling telling;
  std::size_t deferred = 0;
  for (const Announcements::Entry* entry = announcements_.next(); entry != nullptr && has_room(telling);
       entry = announcements_.next()) {
    Subscription* subscription = subscriptions_.find(entry->id);
    if (subscription == nullptr || subscription->serial != entry->serial) {
      announcements_.drop();  // gone before its turn came
      continue;
    }
    if (!may_announce(step, *subscription)) {
      if (deferred++ == announcements_.waiting_count()) break;
      announcements_.defer();  // until the one in whose frame it lives has been
      continue;
    }
    const std::size_t bytes = announce(step, *subscription, telling.rest());
    message_bytes_ = static_cast<double>(bytes) + kHeadersShare;
    if (comeback_) comeback_->add(telling.rest().first(bytes));
    telling.size += bytes;
    if (telling.size >= kFullPayload) hand_over(telling, step.now_s, transport);
    deferred = 0;
  }
  if (announcements_.waiting_count() == 0) tell_again(step, telling, transport);
  hand_over(telling, step.now_s, transport);
}

// It takes three ways of the link until a client can be sent state of what begins. What moves otherwise by
// then is told behind the beginning, if nothing else waits: a few times, so that no stream comes of it.
void Session::tell_again(const Step& step, Telling& telling, Transport& transport) {
  const auto apart = static_cast<Tick>(std::ceil(kTellAgainS * tick_rate_hz_));
  announcements_.for_each_beginning(kMostBeginnings, [&](Announcements::Entry& first) {
    Subscription* s = subscriptions_.find(first.id);
    if (s == nullptr || s->serial != first.serial || s->muted || s->level != first.level) return;
    const PublishStream& stream = step.entities.slots()[s->id.slot()].levels[s->level].stream;
    const bool due = stream.number() != s->sent && first.repeats < kMostRepeats &&
                     (first.repeats == 0 || !earlier(step.tick, first.told + apart));
    if (!due || !has_room(telling) || !knows_route(stream.head().route) || !may_announce(step, *s)) return;
    const std::size_t bytes = write_spawn(step, *s, telling.rest());
    if (comeback_) comeback_->add(telling.rest().first(bytes));
    telling.size += bytes;
    announcements_.sent_again(first, stream.number(), s->level, stream.newest().tick, step.tick);
    if (seen_) seen_->announced_again(s->id, stream.motion());
    s->sent = stream.number();
    ++sent_again_;
    if (step.coding != nullptr) note_coding_in_full(step, *s);
    if (telling.size >= kFullPayload) hand_over(telling, step.now_s, transport);
  });
}

// Writes the message that an entity begins, and returns its bytes.
std::size_t Session::announce(const Step& step, Subscription& subscription, std::span<std::byte> buffer) {
  const PublishStream& stream =
      step.entities.slots()[subscription.id.slot()].levels[subscription.level].stream;
  if (seen_) seen_->announced(subscription.id, stream.motion());
  subscription.told = true;
  subscription.sent = stream.number();
  announcements_.sent(stream.number(), subscription.level, stream.newest().tick, step.tick);
  return write_spawn(step, subscription, buffer);
}

std::size_t Session::write_spawn(const Step& step, const Subscription& subscription,
                                 std::span<std::byte> buffer) {
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
  return encode(message, buffer).size();
}

}  // namespace reckoner
