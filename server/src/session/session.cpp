// SPDX-License-Identifier: MIT
#include "server/src/session/session.hpp"

#include "reckoning/src/util/prefetch.hpp"
#include "server/src/rewind/shown_history.hpp"
#include "server/src/session/message_datagram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

// Bytes that ENet, UDP and IPv4 add to a datagram (IPv6 adds 20 more).
constexpr std::size_t kDatagramHeaders = 40;

// The longest time that a client waits before it acknowledges (ClientConfig::ack_interval_s and keep-alives).
constexpr double kMaxAckDelayS = 0.1;

// The random delays of an ordinary connection are shorter.
constexpr double kRandomDelayS = 0.1;

// A client whose clock has to settle, or which owns entities, gets a datagram at least this often.
constexpr double kSettlingHeartbeatS = 0.05;

constexpr std::size_t kMaxHeaderBits = 256;   // end of a datagram, and header with an ack of one word
constexpr std::size_t kMaxControlBits = 128;  // of ServerControl
// A datagram of this size, bytes, fits any update.
constexpr std::size_t kMinRoom =
    (kMaxHeaderBits + kMaxControlBits + Ack::kMaxBits + MotionSection::kMaxUpdateBits) / 8 + 1;

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts)
    : id_(id),
      peer_(peer),
      heartbeat_s_(config.heartbeat_s),
      tick_rate_hz_(config.tick_rate_hz),
      turns_(id, config),
      motions_({id, subscriptions_, reliable_, turns_, stamps_}, parts, config.tick_rate_hz),
      fields_(subscriptions_),
      spawns_({id, subscriptions_, fields_.updates(), reliable_, budget_}),
      reliable_(budget_, spawns_.queue(), link_),
      control_(reliable_.counts()),
      sections_(spawns_, predictions_, fields_, messages_, reliable_),
      budget_(static_cast<double>(config.bytes_per_second), turns_.interval_s(), config.follow_link),
      intake_(config.client_messages_per_second, static_cast<double>(config.client_message_bytes_per_second)),
      link_(kMaxAckDelayS) {}

void Session::welcome(const WelcomeMessage& message) {
  reliable_.send_welcome(message);
  control_.answer({});
  written_tick_ = message.tick;
}

void Session::send_kick(const KickMessage& message) {
  std::array<std::byte, kMaxKickReasonBytes + 16> buffer;
  reliable_.send(encode(message, buffer));
}

// A server may have many routes, which take a slow connection a while. So a connected client is stuck only if
// it makes no progress.
bool Session::is_stuck(double now_s) {
  if (reliable_.counts().unconfirmed_count() > kMostUnconfirmed) return true;
  if (progress_s_ == kLongAgo || reliable_.bytes() <= kMostRetained ||
      progress_ != reliable_.received_count()) {
    progress_ = reliable_.received_count();
    progress_s_ = now_s;
  }
  return reliable_.bytes() > kMostRetained && (!peer_ || now_s - progress_s_ > kLongestPauseS);
}

void Session::send_ownership(const OwnershipMessage& message, Tick tick) {
  std::array<std::byte, 512> buffer;
  reliable_.send(encode(message, buffer));
  Subscription* found = subscriptions_.find(message.entity);
  if (found == nullptr) return;
  const bool owned = message.change != OwnershipMessage::Change::revoked;
  if (found->muted != owned) muted_count_ = owned ? muted_count_ + 1 : muted_count_ - 1;
  ever_owned_ = ever_owned_ || owned;
  subscriptions_.set_muted(*found, owned, tick);
  if (owned && seen_.history() != nullptr) seen_.history()->own(message.entity);
}

void Session::set_predicted(EntityId id, bool predicted, Tick tick) {
  Subscription* found = subscriptions_.find(id);
  if (found == nullptr || found->muted == predicted) return;
  muted_count_ = predicted ? muted_count_ + 1 : muted_count_ - 1;
  subscriptions_.set_muted(*found, predicted, tick);
  if (predicted && seen_.history() != nullptr) seen_.history()->predict(id);
}

void Session::resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick) {
  // The new connection may use another network path.
  budget_ = ByteBudget{static_cast<double>(config.bytes_per_second), turns_.interval_s(), config.follow_link};
  budget_.advance(now_s);
  reliable_.restart(received);
  written_tick_ = tick;
  control_.answer({ResumeAnswer{reliable_.received().taken(), counts().report(), tick}});
  // Datagrams in flight are lost, and motions published in the meantime were never sent.
  subscriptions_.slots().for_each([&](std::uint32_t slot) {
    Subscription& s = *subscriptions_.find(slot);
    if (!s.confirmed || s.muted) return;
    subscriptions_.set_due(s, tick, true);
    s.in_full = true;
  });
  stamps_.restart(now_s);
  spawns_.restart();
  predictions_.restart();
  last_send_s_ = kLongAgo;  // what was written last is too old
}

// The entities that the client follows.

void Session::follow(const Entity& entity, std::uint8_t level, Tick tick) {
  spawns_.follow(entity, level, tick);
}

void Session::unfollow(EntityId id, Tick tick, bool ended_as_planned) {
  const Subscription* found = subscriptions_.find(id);
  if (found == nullptr) return;
  spawns_.unfollow(*found, tick, found->short_lived && ended_as_planned);
  fields_.updates().forget(id);
  if (ShownHistory* seen = seen_.history()) seen->forget(id, found->spawn_number != 0 && !ended_as_planned);
  if (found->muted) --muted_count_;
  subscriptions_.remove(static_cast<std::uint32_t>(id.slot()));
}

void Session::set_level(EntityId id, std::uint8_t level, Tick tick) {
  Subscription* found = subscriptions_.find(id);
  if (found != nullptr && found->level != level) subscriptions_.set_level(*found, level, tick);
}

// Reports in the client's datagrams.

Session::Receipt Session::receive(const ClientDatagram& datagram, double now_s, ServerStats& stats,
                                  double waited_s) {
  const MessageCounts& sent = reliable_.counts();
  const std::uint32_t confirmed = unwrap16(datagram.processed, sent.confirmed_count());
  if (earlier(sent.added_count(), confirmed)) return Receipt::refused;
  const double ack_delay_s = plausible_ack_delay_s(datagram, now_s - waited_s);
  const double usual_trip_s = round_trip().round_trip_s(), deviation_s = round_trip().deviation_s();
  const auto receipt = link_.receive(datagram.sequence, datagram.ack, ack_delay_s, now_s - waited_s);
  if (receipt == PeerLink::Receipt::refused) return Receipt::refused;
  if (receipt == PeerLink::Receipt::repeated) return Receipt::repeated;
  if (datagram.has_messages || datagram.has_reliable || datagram.has_owned || datagram.showing)
    link_.want_ack(datagram.sequence);
  owes_answer_ = owes_answer_ || datagram.has_reliable;

  const bool newest = receipt == PeerLink::Receipt::newest;
  if (newest) stamps_.note(datagram.stamp, now_s - waited_s);
  if (datagram.ack) charge_arrivals(ack_delay_s, now_s - waited_s);
  if (newest && round_trip().known()) {
    const double added_s = link_.newest_round_trip_s() - usual_trip_s;
    stamps_.check(datagram.stamp, deviation_s, added_s, now_s);
  }
  const std::uint32_t received = reliable_.received_count();
  settle_datagrams(now_s, stats);
  const bool processed = earlier(sent.confirmed_count(), confirmed);
  if (processed) reliable_.confirm(confirmed);
  // Spawns may have waited for a route, or for messages before the end of another entity.
  if (processed || reliable_.received_count() != received) spawns_.queue().try_again();
  ShownHistory* seen = seen_.history();
  if (seen != nullptr && datagram.ack) seen->acknowledged(*datagram.ack, now_s);
  if (seen != nullptr && datagram.showing) {
    if (const auto why = seen->process(*datagram.showing, now_s, newest)) ++stats.refusals[*why];
  }
  return Receipt::accepted;
}

// The newest datagram that a client acknowledges arrived after the client's previous datagram left. So it has
// not waited for longer than the time between the two. A client whose clock was set reports any time, and a
// round trip that looks too short makes later ones look like a queue.
double Session::plausible_ack_delay_s(const ClientDatagram& datagram, double arrived_s) const {
  const double reported_s = datagram.ack_delay * kStampUnitS;
  const double between_s = std::max(0.0, arrived_s - stamps_.arrival_s());
  // Random delays of the connection make the time between the arrivals shorter, too.
  const double random_s = std::max(kRandomDelayS, 4.0 * round_trip().deviation_s());
  return reported_s > between_s + random_s ? between_s : reported_s;
}

// Tells the byte budget which datagrams have arrived.
void Session::charge_arrivals(double ack_delay_s, double now_s) {
  for (const PeerLink::Outcome& outcome : link_.outcomes()) {
    if (outcome.acked)
      budget_.acknowledged(outcome.sent_s, now_s, ack_delay_s, link_.bytes(outcome.sequence));
  }
  for (const PeerLink::Outcome& outcome : link_.late()) {
    budget_.found(outcome.sent_s);
    budget_.acknowledged(outcome.sent_s, now_s, ack_delay_s, link_.bytes(outcome.sequence));
  }
}

// Handles the datagrams that were newly acknowledged or found lost.
void Session::settle_datagrams(double now_s, ServerStats& stats) {
  if (link_.outcomes().empty() && link_.late().empty()) return;
  for (const PeerLink::Outcome& outcome : link_.outcomes()) {
    if (!outcome.acked) {
      ++stats.datagrams_lost;
      ++figures_.datagrams_lost;
      budget_.lost(outcome.sent_s, now_s, link_.bytes(outcome.sequence));
    }
    const Tick tick = motions_.settle(outcome.sequence, outcome.acked);
    if (outcome.acked) control_.acknowledged(outcome.sequence);
    sections_.settle({outcome.sequence, tick, outcome.sent_s, outcome.acked, seen_.history()});
  }
  for (const PeerLink::Outcome& outcome : link_.late())
    control_.acknowledged(outcome.sequence);
  link_.clear_outcomes();
}

// The datagrams of a tick.

void Session::fetch() const {
  prefetch(this, static_cast<std::size_t>(reinterpret_cast<const char*>(&view_) -
                                          reinterpret_cast<const char*>(this)));
}

void Session::fetch_lists(const Published& published) const {
  subscriptions_.fetch(published);
  prefetch(&link_, 64);
  motions_.fetch();
}

void Session::write_datagrams(const TickInputs& inputs, std::size_t room, WriteScratch& scratch) {
  ServerStats& stats = scratch.datagrams.stats;
  stamps_.begin(inputs.now_s);
  if (inputs.fields_changed) fields_.note_changes(inputs.fields, inputs.tick);
  link_.expire(inputs.now_s);
  settle_datagrams(inputs.now_s, stats);
  budget_.advance(inputs.now_s);
  if (!peer_) return;
  sections_.begin(inputs, stats);
  refill_budgets(inputs.now_s);
  if (room < kMinRoom) return;  // the connection is gone; the disconnect event will follow
  // The client can read nothing else before it has the welcome message.
  if (!is_welcomed()) write_messages(inputs.now_s, room, scratch.datagrams, scratch.traffic);
  const bool urgent = sections_.urgent(inputs.tick) || control_.is_due();
  const bool waits = inputs.postponed || !(turns_.is_due(inputs.tick) || urgent);
  const bool spawns_wait = spawns_.queue().oldest_since().has_value();
  motions_.select(inputs, waits, spawns_wait, budget_, round_trip().one_way_s(), scratch);
  if (waits) return;
  turns_.take();
  while (!scratch.snapshot.all_written() || control_.is_due() ||
         sections_.need_datagram(inputs.tick, budget_)) {
    if (link_.full() || !write_datagram(inputs, room, scratch)) break;
  }
  // What the motions leave of the budget is for reliable messages.
  while (budget_.has_spare() && !link_.full() && is_welcomed() && reliable_.use_spare()) {
    if (!write_datagram(inputs, room, scratch)) break;
  }
  // A client waits for the acknowledgement of its own updates and reliable messages, and therefore gets
  // datagrams more often.
  const bool answers = owes_answer_ && budget_.has_reserve();
  const bool often = muted_count_ > 0 || answers || stamps_.settles(inputs.now_s);
  const double heartbeat_s = often ? std::min(kSettlingHeartbeatS, heartbeat_s_) : heartbeat_s_;
  const bool is_due = inputs.now_s - last_send_s_ >= heartbeat_s - 0.5 / tick_rate_hz_;
  if (is_due && !link_.full()) write_datagram(inputs, room, scratch);
}

// Divides the part of the byte budget that motions leave between the sections and the reliable messages.
void Session::refill_budgets(double now_s) {
  const double share = SectionBudget::kShare * budget_.bytes_per_second() / tick_rate_hz_;
  const double for_messages = sections_.budget().refill(share, reliable_.take_bytes());
  if (reliable_.bytes() > 0) budget_.note_waiting();
  budget_.charge(reliable_.refill(for_messages, now_s));
}

// Writes the next datagram. Returns false if it contains no updates and no sections.
bool Session::write_datagram(const TickInputs& inputs, std::size_t path_room, WriteScratch& scratch) {
  const std::size_t room = messages_.datagram_bytes(path_room);
  ServerHeader header;
  header.sequence = link_.begin(inputs.now_s);
  header.tick = static_cast<std::uint16_t>(inputs.tick);
  header.ack = link_.acknowledge_if_wanted();
  header.control = control_.write(header.sequence);
  motions_.begin(header.sequence, inputs.tick);
  const SectionPlace place{header.sequence,         inputs,         link_, seen_.history(),
                           scratch.datagrams.stats, scratch.traffic};

  const std::size_t ack_bits = header.ack && header.ack->words > 1 ? header.ack->bits() : 0;
  const std::size_t control_bits = header.control.any() ? kMaxControlBits : 0;
  const std::size_t room_bits = room * 8 - kMaxHeaderBits - ack_bits - control_bits;
  std::array<std::byte, kMaxDatagramBytes> section_buffer;
  BitWriter section_writer{section_buffer};
  const bool motions_wait = !scratch.snapshot.all_written();
  const std::size_t section_room =
      sections_.room(room_bits, motions_wait, MotionSection::kMaxUpdateBits, inputs.tick, budget_);
  sections_.write(section_writer, section_room, place, header);
  const std::size_t section_bits = section_writer.bits_written();

  std::array<std::byte, kMaxDatagramBytes + 64> update_buffer;
  BitWriter update_writer{update_buffer};
  motions_.write(update_writer, room_bits - section_bits, place, scratch, header);

  header.complete_age = behind_ticks_ = complete_age(inputs);
  header.echo = stamps_.echo(inputs.tick_time_s, inputs.now_s);
  std::array<std::byte, kMaxDatagramBytes> buffer;
  BitWriter writer{std::span{buffer}.first(room)};
  reckoner::write(writer, header);
  const std::size_t update_bits = update_writer.bits_written();
  writer.append(update_writer.finish(), update_bits);
  writer.append(section_writer.finish(), section_bits);
  const auto payload = writer.finish();
  send(header.sequence, payload, inputs.now_s, scratch.datagrams, scratch.traffic);
  // Without updates, the sections pay for the headers.
  if (header.update_count == 0 && section_bits > 0) {
    const std::size_t headers = payload.size() + kDatagramHeaders - section_bits / 8;
    header.has_only_reliable() ? reliable_.spend_headers(headers) : sections_.budget().spend_headers(headers);
  }
  stamps_.datagram_sent(header.echo.has_value(), inputs.now_s);
  written_tick_ = inputs.tick;
  return header.update_count > 0 || section_bits > 0;
}

// Adds a finished datagram to those that are sent.
void Session::send(Sequence sequence, std::span<const std::byte> payload, double now_s,
                   DatagramBuffer& datagrams, TrafficShare& traffic) {
  const std::size_t wire_bytes = payload.size() + kDatagramHeaders;
  link_.set_bytes(sequence, wire_bytes);
  ++figures_.datagrams_sent;
  datagrams.add(peer_, payload);
  traffic.datagram(payload.size());
  const std::size_t credit = reliable_.take_credit();
  budget_.send_on_credit(credit);
  budget_.spend(wire_bytes - credit, now_s);
  figures_.bytes_sent += wire_bytes;
  last_send_s_ = now_s;
  owes_answer_ = false;
}

void Session::write_messages(double now_s, std::size_t room, DatagramBuffer& datagrams,
                             TrafficShare& traffic) {
  const bool has_written = last_send_s_ != kLongAgo || !is_welcomed();
  if (!peer_ || !has_written || room < kMinRoom) return;
  reliable_.begin(now_s);
  while (budget_.available() > -1.0 * kMaxDatagramBytes && reliable_.is_due() && !link_.full()) {
    // A client without the welcome message has nothing.
    MessageDatagram datagram{written_tick_, is_welcomed() ? behind_ticks_ : written_tick_};
    const Sequence sequence = datagram.begin(link_, now_s);
    settle_datagrams(now_s, datagrams.stats);
    motions_.begin(sequence, written_tick_);
    const auto payload =
        datagram.finish(link_, control_.write(sequence), room, [&](BitWriter& writer, std::size_t most_bits) {
          return reliable_.write(writer, most_bits, sequence, traffic);
        });
    send(sequence, payload, now_s, datagrams, traffic);
    reliable_.spend_headers(kDatagramHeaders);
  }
}

SessionStats Session::stats() const {
  SessionStats stats = figures_;
  stats.client = id_;
  stats.connected = static_cast<bool>(peer_);
  stats.round_trip_s = round_trip().round_trip_s();
  stats.round_trip_deviation_s = round_trip().deviation_s();
  stats.loss = link_.loss();
  stats.sent_bytes_per_second = peer_ ? budget_.sent_bytes_per_second() : 0.0;
  stats.budget_bytes_per_second = budget_.bytes_per_second();
  stats.entities = subscriptions_.slots().count();
  stats.queued_motions = subscriptions_.due().slots().count();
  stats.queued_spawns = spawns_.queue().waiting_spawns();
  stats.queued_messages = reliable_.counts().game().messages;
  stats.queued_message_bytes = reliable_.counts().game().bytes;
  stats.sent_age_s = motions_.sent_age_s();
  stats.motions_sent = motions_.sent();
  stats.behind_s = behind_ticks_ / tick_rate_hz_;
  return stats;
}

// Returns how many ticks ago the client's data was complete. It is complete up to the tick before the oldest
// data that the client lacks.
std::uint32_t Session::complete_age(const TickInputs& inputs) {
  Tick oldest = inputs.tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  subscriptions_.due().for_each([&](std::uint32_t slot) { note(subscriptions_.find(slot)->due_since); });
  spawns_.for_each_since(inputs, note);
  fields_.updates().for_each_since(note);
  return inputs.tick + 1 - oldest;
}

}  // namespace reckoner
