// SPDX-License-Identifier: MIT
// What a session writes in a tick. session.cpp has what it announces, and what it learns from its client.
#include "prefetch.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace reckoner {
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

void Session::compose(const Step& step, std::size_t room, Desk& desk) {
  if (joined_s_ < 0.0) joined_s_ = step.now_s;
  desk.outbox.stats.updates_sent += std::exchange(sent_again_, 0);
  sent_.expire(step.now_s, link_.timeout_s(kAnswerDelayS));
  settle(step.now_s, desk.outbox.stats);
  budget_.advance(step.now_s);
  if (!peer_) return;
  extras_.begin_tick(budget_.bytes_per_second() / tick_rate_hz_,
                     step.tick_time_s - kPatienceTicks / tick_rate_hz_, step.fields, desk.outbox.stats);
  if (room < kLeastRoom) return;  // the peer is gone; its disconnect is on the way
  gather(step, desk);
  if (step.held_back) return;
  while (!desk.snapshot.all_taken() || extras_may_go()) {
    if (!write_datagram(step, room, desk)) break;
  }
  // Who owns something waits for acknowledgements.
  const bool often = owns_ > 0 || step.now_s - joined_s_ < kSettlingS;
  const double heartbeat_s = often ? std::min(kSettlingHeartbeatS, heartbeat_s_) : heartbeat_s_;
  if (step.now_s - last_send_s_ >= heartbeat_s - 0.5 / tick_rate_hz_) write_datagram(step, room, desk);
}

// Of what the client is owed, as much as the byte budget allows.
void Session::gather(const Step& step, Desk& desk) {
  Snapshot& snapshot = desk.snapshot;
  snapshot.clear();
  subscriptions_.note_published(step.published, step.tick, desk.fresh);
  if (step.held_back || !budget_.affordable()) return;
  subscriptions_.for_each_due([&](std::uint32_t slot, Subscriptions::Place place, Subscription& s) {
    choose(step, slot, place, s, snapshot);
  });
  snapshot.keep(static_cast<std::size_t>(std::max(0.0, budget_.available()) / kLeastUpdateBytes) + 1);
  snapshot.measure(step.encodings, desk.worker, budget_.available());
}

// Whether, and against what, a motion that is due can be sent now.
void Session::choose(const Step& step, std::uint32_t slot, Subscriptions::Place place, Subscription& s,
                     Snapshot& snapshot) {
  const StreamHead& stream = step.entities.heads()[slot * kLevels + s.level];
  if (stream.number == s.sent && !s.repair) return subscriptions_.clear_due(slot);
  if (!knows_route(stream.route) || !knows_frame(stream)) return;
  Snapshot::Item item{.slot = slot, .place = place, .level = s.level, .tick = stream.tick};
  if (!s.in_full && stream.can_refer_to(s.held)) {
    item.reference = s.held;
    item.reference_tick = s.held_tick;
  }
  // What is further off goes first, and what waits gains on it.
  const auto waited = static_cast<float>(static_cast<std::int32_t>(step.tick - s.due_since) + 1);
  item.priority = kRelevance[s.level] * std::clamp(stream.urgency, 0.5f, 64.0f) * waited;
  snapshot.add(item);
}

// In a datagram of their own. Fields can wait until one is worth its head, or ride with motions; messages
// cannot, and may overdraw the budget by one datagram.
bool Session::extras_may_go() const {
  if (budget_.affordable()) return extras_.any();
  return extras_.urgent() && budget_.available() > -1.0 * kMaxStateBytes;
}

// Where motions wait too, extras leave half of the datagram to them, and room for one at least.
std::size_t Session::extra_room(std::size_t room_bits, const Snapshot& snapshot) {
  if (snapshot.all_taken()) return room_bits;
  return room_bits - std::min(room_bits, std::max(room_bits / 2, kMostUpdateBits));
}

std::uint32_t Session::complete_age(Tick tick) const {
  // Nothing is missing before the oldest that is still owed.
  Tick oldest = tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  subscriptions_.due().for_each([&](std::uint32_t slot) { note(subscriptions_.find(slot)->due_since); });
  if (const auto since = announcements_.oldest_since()) note(*since);
  if (!endings_.empty()) note(endings_.front().tick);
  extras_.fields().for_each_since(note);
  return tick + 1 - oldest;
}

ServerHeader Session::make_header(const Step& step) const {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(step.tick);
  header.complete_age = complete_age(step.tick);
  if (wants_ack_ && sequence_distance(received_.ack().newest, *wants_ack_) <= kAckedDatagrams)
    header.ack = received_.ack();
  const double echo_interval_s = step.now_s - joined_s_ < kSettlingS ? 0.0 : kEchoIntervalS;
  if (stamp_ && step.now_s - last_echo_s_ >= echo_interval_s) {
    const double held = std::round((step.tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMostHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
}

// False if it carries nothing.
bool Session::write_datagram(const Step& step, std::size_t room, Desk& desk) {
  ServerStats& stats = desk.outbox.stats;
  // First of all, because a full window gives up its oldest datagram, which may make more due.
  const Sequence sequence = sent_.send(step.now_s);
  settle(step.now_s, stats);
  in_flight_.begin(sequence, step.tick);

  const std::size_t room_bits = room * 8 - kHeaderBits;
  std::array<std::byte, kMaxStateBytes> extra_buffer;
  BitWriter extras{extra_buffer};
  const Extras::Sections sections =
      extras_.write(extras, extra_room(room_bits, desk.snapshot), sequence, step.tick, step.fields, stats);
  const std::size_t extra_bits = extras.bits_written();

  std::array<std::byte, kMaxStateBytes + 64> scratch;
  BitWriter updates{scratch};
  const UpdateCoding coding = desk.snapshot.coding(step.tick, held_tick_);
  const auto taken = desk.snapshot.take(step.tick, coding, room_bits - extra_bits, updates);
  for (const Snapshot::Item& item : taken) {
    note_sent(item, step.entities.heads()[item.slot * kLevels + item.level], desk.outbox);
    if (seen_) {
      const Entity& entity = step.entities.slots()[item.slot];
      seen_->sent(sequence, entity.id, entity.levels[item.level].stream.motion(), step.now_s);
    }
    if (step.coding != nullptr) note_coding(step, item);
  }
  const std::size_t bits = updates.bits_written();
  stats.update_bits_sent += bits;

  ServerHeader header = make_header(step);
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
  writer.append(extras.finish(), extra_bits);
  const auto payload = writer.finish();
  const std::size_t wire_bytes = payload.size() + kDatagramHeaders;
  in_flight_.set_bytes(sequence, wire_bytes);
  desk.outbox.add(peer_, payload);
  budget_.spend(wire_bytes, step.now_s);
  if (taken.empty() && extra_bits > 0) extras_.pay(wire_bytes - extra_bits / 8);
  if (header.echo) last_echo_s_ = step.now_s;
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

// What was sent behind an announcement is an update like any other.
void Session::note_coding_in_full(const Step& step, const Subscription& subscription) {
  const Entity& entity = step.entities.slots()[subscription.id.slot()];
  const QuantisedState& state = entity.levels[subscription.level].stream.newest().encoded;
  const Quantisation& q = step.quantisation[entity.archetype];
  std::array<std::byte, kMostUpdateBits / 8> scratch;
  BitWriter writer{scratch};
  write_full(writer, state, q);
  step.coding->add(state, nullptr, 0.0, q, writer.bits_written());
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

}  // namespace reckoner
