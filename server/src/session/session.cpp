// SPDX-License-Identifier: MIT
#include "server/src/session/session.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/rewind/shown_history.hpp"
#include "server/src/session/update_order.hpp"
#include "server/src/util/server_observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

constexpr ReliableQueue::Limits kReliableLimits{
    // The limit also keeps the confirmed count unambiguous, because only 16 bits of the count are on the
    // wire.
    .in_flight = {4096, MessageLimit::kUnlimited},
    .game = {1024, 256 * 1024},
    .retained = {8192, 1024 * 1024},
};

// Bytes that ENet, UDP and IPv4 add (IPv6 adds 20 more) to a payload. The first constant is for the reliable
// channel and includes the payload's share of an acknowledgement. The second is for the unreliable channel.
constexpr std::size_t kReliableHeaders = 40;
constexpr std::size_t kDatagramHeaders = 40;
// The approximate size of a message of the library on the wire, bytes: of ownership, or about a route.
constexpr double kLibraryMessageBytes = 64.0;
// Bytes of headers for each message, if many messages share a payload.
constexpr double kMessageHeaders = 2.0;

// Messages are combined up to this size, bytes, so that most payloads fit into one packet.
constexpr std::size_t kUsualPayload = 1000;
// Number of motions over which the age of sent motions is averaged.
constexpr std::uint64_t kAgeAverage = 64;

// A resume sends messages again. It charges at most this number of their bytes to the byte budget.
constexpr std::size_t kMaxResumeCharge = 2000;

// The longest time that a client waits before it acknowledges (ClientConfig::ack_interval_s and keep-alives).
constexpr double kMaxAckDelayS = 0.1;

// The random delays of an ordinary link are shorter.
constexpr double kRandomDelayS = 0.1;

// A new client gets more datagrams for this time, until its clock has settled. So does a client whose clock
// is wrong.
constexpr double kJoinSettlingS = 1.5;
constexpr double kSettlingHeartbeatS = 0.05;

// Afterwards the client's time stamps are echoed at this interval. An echo costs five bytes, and the clock
// needs only the fastest of many round trips.
constexpr double kEchoIntervalS = 0.2;

// Weight of each level of detail in the priority. A finer level means that the entity is more relevant.
constexpr std::array<float, kLevels> kLevelWeight{1.0f, 0.5f, 0.25f};

// If not all due updates fit the byte budget, the updates that are most urgent by a first estimate are
// compared exactly. Their number is this number of times the number of updates that could fit.
constexpr double kCandidates = 4.0;

constexpr std::size_t kMaxHeaderBits = 256;  // end of a datagram, and header with an ack of one word
constexpr std::size_t kMaxUpdateBits =
    1800;  // an update: 12 numbers of 48 bits with their prefixes, and a header
// A datagram of this size, bytes, fits any update.
constexpr std::size_t kMinRoom = (kMaxHeaderBits + Ack::kMaxBits + kMaxUpdateBits) / 8 + 1;
constexpr double kMinUpdateBytes = 3.0;  // limits how many updates are considered for a budget

// The sections of a datagram, fields and unreliable messages, get this share of the byte budget, together
// with reliable game messages. The share that sections do not use accumulates for a number of ticks, or up to
// the size of the largest datagram.
constexpr double kSectionShare = 0.5;
constexpr double kSectionTicks = 8.0;

// An unreliable message is sent in one of two ticks, or dropped. The half tick allows for rounding.
constexpr double kMaxMessageAgeTicks = 1.5;

const PublishStream& stream_of(const Session::TickInputs& inputs, const Subscription& subscription) {
  return inputs.entities.slots()[subscription.id.slot()].levels[subscription.level].stream;
}

const StreamHead& head_of(const Session::TickInputs& inputs, const Subscription& subscription) {
  return inputs.entities.heads()[subscription.id.slot() * kLevels + subscription.level];
}

// Number of ticks since the client began to lack the entity's newest motion, at least 1.
double waited_ticks(const Session::TickInputs& inputs, const Subscription& subscription) {
  return static_cast<std::int32_t>(inputs.tick - subscription.due_since) + 1.0;
}

// Writes the values of the entity's user fields; nothing if it has no fields.
void write_fields(const Session::TickInputs& inputs, EntityId entity, std::vector<std::byte>& bytes) {
  bytes.clear();
  const FieldTable::Row* row = inputs.fields.find(entity);
  if (row == nullptr) return;
  bytes.resize(kMaxValuesBytes);
  BitWriter writer{bytes};
  write_values(writer, inputs.fields.specs(*row), row->values);
  bytes.resize(writer.finish().size());
}

void note_coding(const Session::TickInputs& inputs, const Snapshot::Item& item) {
  const Entity& entity = inputs.entities.slots()[item.slot];
  const PublishStream& stream = entity.levels[item.level].stream;
  const PublishStream::Publish& newest = stream.newest();
  const Quantisation& q = inputs.quantisation[entity.archetype];
  if (item.reference == 0) return inputs.coding->add(newest.encoded, nullptr, 0.0, q, item.bits);
  const PublishStream::Publish& base = stream.at(item.reference);
  inputs.coding->add(newest.encoded, &base.encoded, (newest.tick - base.tick) / inputs.tick_rate_hz, q,
                     item.bits);
}

// Counts a repeated spawn as an update in full.
void note_coding_in_full(const Session::TickInputs& inputs, const Subscription& subscription) {
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const QuantisedState& state = stream_of(inputs, subscription).newest().encoded;
  const Quantisation& q = inputs.quantisation[entity.archetype];
  std::array<std::byte, kMaxUpdateBits / 8> scratch;
  BitWriter writer{scratch};
  write_full(writer, state, q);
  inputs.coding->add(state, nullptr, 0.0, q, writer.bits_written());
}

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts)
    : id_(id),
      peer_(peer),
      heartbeat_s_(config.heartbeat_s),
      tick_rate_hz_(config.tick_rate_hz),
      turns_(id, config),
      repairs_(parts.repair),
      ranks_by_error_(parts.error_order),
      budget_(static_cast<double>(config.bytes_per_second), turns_.interval_s(), config.follow_link),
      reliable_(kReliableLimits),
      intake_(config.client_messages_per_second, static_cast<double>(config.client_message_bytes_per_second)),
      link_(kMaxAckDelayS) {}

// The reliable channel.

// Sends one message in a payload of its own. Without a connection the message is sent when the session
// resumes.
void Session::send_message(std::span<const std::byte> message, Transport& transport) {
  std::vector<std::byte> payload;
  add_order_mark(payload);
  payload.insert(payload.end(), message.begin(), message.end());
  reliable_.add_sent(message);
  if (!peer_) return;
  transport.send(peer_, Channel::control, payload);
  figures_.bytes_sent += payload.size() + kReliableHeaders;
}

// Begins a payload: the client processes the messages that follow only when it has the spawns that were
// written before.
void Session::add_order_mark(std::vector<std::byte>& payload) {
  if (spawns_.has_all() || marked_ == spawns_.newest_number()) return;
  marked_ = spawns_.newest_number();
  std::array<std::byte, 16> buffer;
  const auto mark = encode(AfterSpawnsMessage{marked_}, buffer);
  reliable_.add_sent(mark);
  payload.insert(payload.end(), mark.begin(), mark.end());
}

// Charges bytes on the wire to the budget.
void Session::spend(std::size_t wire_bytes, double now_s) {
  budget_.spend(wire_bytes, now_s);
  figures_.bytes_sent += wire_bytes;
}

Session::~Session() = default;

void Session::remember_seen(MotionPath path, double blend_s, double limit_s) {
  seen_ = std::make_unique<ShownHistory>(path, blend_s, limit_s);
}

void Session::change_seen(MotionPath path, double blend_s) {
  if (seen_) seen_->change(path, blend_s);
}

std::optional<State> Session::shown(EntityId entity, double time_s, double present_s) const {
  const auto shown_s = seen_ ? seen_->shown_at(time_s, present_s) : std::nullopt;
  if (!shown_s) return std::nullopt;
  return seen_->shown(entity, *shown_s);
}

RewindStatus Session::rewind_status(double time_s, double present_s) const {
  return seen_ ? seen_->status(time_s, present_s) : RewindStatus::unavailable;
}

void Session::note_shown_frame(const Motion& motion) const {
  if (seen_) seen_->note_owned_frame(motion);
}

void Session::shown(double time_s, double present_s, std::vector<SeenPose>& poses) const {
  const auto shown_s = seen_ ? seen_->shown_at(time_s, present_s) : std::nullopt;
  if (shown_s) seen_->shown(*shown_s, poses);
}

void Session::send_route(const RouteMessage& message, Transport& transport) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  send_message(encode(message, buffer), transport);
  routes_.push_back(reliable_.added_count());
}

void Session::send_ownership(const OwnershipMessage& message, Tick tick, Transport& transport) {
  std::array<std::byte, 512> buffer;
  send_message(encode(message, buffer), transport);
  Subscription* found = subscriptions_.find(message.entity);
  if (found == nullptr) return;
  const bool owned = message.change != OwnershipMessage::Change::revoked;
  if (found->muted != owned) owned_count_ = owned ? owned_count_ + 1 : owned_count_ - 1;
  ever_owned_ = ever_owned_ || owned;
  subscriptions_.set_muted(*found, owned, tick);
  if (owned && seen_) seen_->own(message.entity);
}

bool Session::send_reliable(std::span<const std::byte> encoded, Transport& transport) {
  const MessageLimit waiting{outbox_.messages(), outbox_.bytes()};
  if (!reliable_.has_room_for_game(encoded.size(), waiting) || (!peer_ && !resume_.key)) return false;
  outbox_.add(encoded);
  send_waiting_messages(transport);
  return true;
}

// The part of the byte budget for all sections of datagrams and all reliable game messages together, bytes/s.
double Session::message_share() const {
  return kSectionShare * budget_.bytes_per_second();
}

void Session::send_waiting_messages(Transport& transport) {
  while (!outbox_.empty() && outbox_.room() > 0.0 && budget_.available() > -1.0 * kMaxStateBytes &&
         static_cast<double>(reliable_.game_bytes()) < budget_.max_in_flight()) {
    if (!send_message_payload(transport)) return;
  }
}

void Session::send_all_messages(Transport& transport) {
  while (!outbox_.empty() && send_message_payload(transport)) {
  }
}

// Sends the oldest waiting message, and the following ones if they fit into its payload. Returns false if the
// transport does not take it.
bool Session::send_message_payload(Transport& transport) {
  if (!peer_) return false;
  std::vector<std::byte> payload;
  std::size_t count = 0;
  // If the transport does not take the payload, the mark is still retained.
  add_order_mark(payload);
  const double most = std::min(outbox_.room(), static_cast<double>(kUsualPayload));
  for (const std::vector<std::byte>& message : outbox_.waiting()) {
    if (count > 0 && static_cast<double>(payload.size() + message.size()) > most) break;
    payload.insert(payload.end(), message.begin(), message.end());
    ++count;
  }
  if (!transport.send(peer_, Channel::control, payload)) return false;
  for (const std::vector<std::byte>& message : outbox_.waiting().first(count))
    reliable_.add_sent(message, ReliableQueue::Origin::game);
  outbox_.remove(count);
  const std::size_t wire_bytes = payload.size() + kReliableHeaders;
  const std::size_t now = outbox_.sent(wire_bytes);
  budget_.charge(now);
  budget_.send_on_credit(wire_bytes);
  message_bytes_sent_ += wire_bytes;
  figures_.bytes_sent += wire_bytes;
  return true;
}

bool Session::send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
  return peer_ && unreliable_.add(std::move(payload), time_s, now_s);
}

void Session::resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick,
                          Transport& transport) {
  // The new connection may use another link.
  budget_ = ByteBudget{static_cast<double>(config.bytes_per_second), turns_.interval_s(), config.follow_link};
  budget_.advance(now_s);
  if (received != reliable_.confirmed_count()) (void)confirm_reliable(received);
  std::vector<std::byte> payload;
  std::size_t sent = 0;
  const auto send_payload = [&] {
    if (!payload.empty()) transport.send(peer_, Channel::control, payload);
    sent += payload.size();
    payload.clear();
  };
  reliable_.resend_all();
  for (; const auto message = reliable_.next(); reliable_.mark_sent()) {
    if (payload.size() + message->size() > kUsualPayload) send_payload();
    payload.insert(payload.end(), message->begin(), message->end());
  }
  send_payload();
  outbox_.restart();
  // The link may be as fast as before. So motions must not wait until the budget has paid for all messages.
  budget_.spend(std::min(sent, kMaxResumeCharge), now_s);
  figures_.bytes_sent += sent;
  // Datagrams in flight are lost, and motions published in the meantime were never sent.
  subscriptions_.slots().for_each([&](std::uint32_t slot) {
    Subscription& s = *subscriptions_.find(slot);
    if (!s.confirmed || s.muted) return;
    subscriptions_.set_due(s, tick, true);
    s.in_full = true;
  });
  send_waiting_messages(transport);
  joined_s_ = settles_from_s_ = now_s;  // the client's clock has to settle again
  spawn_room_ = kFirstSpawns;
  stamp_.reset();
}

// The entities that the client follows.

void Session::follow(const Entity& entity, std::uint8_t level, Tick tick) {
  Subscription& added = subscriptions_.add(entity.id, level);
  added.short_lived = entity.short_lived != nullptr;
  spawns_.add_spawn(entity.id, tick, added.short_lived);
}

void Session::unfollow(EntityId id, Tick tick, bool ended_as_planned) {
  const Subscription* found = subscriptions_.find(id);
  if (found == nullptr) return;
  if (found->short_lived && ended_as_planned) {
    spawns_.end_as_planned(id, found->spawn_number, tick);
  } else {
    // The client may still lack messages about the entity.
    const bool lacks_messages = reliable_.unconfirmed_count() > 0;
    const auto count = static_cast<std::uint16_t>(reliable_.added_count());
    spawns_.add_end(id, found->short_lived, found->spawn_number, tick,
                    lacks_messages ? std::optional(count) : std::nullopt);
  }
  fields_.forget(id);
  if (seen_) seen_->forget(id, found->spawn_number != 0 && !ended_as_planned);
  if (found->muted) --owned_count_;
  subscriptions_.remove(static_cast<std::uint32_t>(id.slot()));
}

void Session::set_level(EntityId id, std::uint8_t level, Tick tick) {
  Subscription* found = subscriptions_.find(id);
  if (found != nullptr && found->level != level) subscriptions_.set_level(*found, level, tick);
}

// True if the client can decode motions on this route.
bool Session::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && reliable_.is_confirmed(routes_[route.value - 1]));
}

// True if the client can show a motion in this frame.
bool Session::knows_frame(const StreamHead& stream) const {
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = subscriptions_.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->confirmed;
}

// Reports in the client's datagrams.

Session::Receipt Session::receive(const ClientDatagram& datagram, double now_s, ServerStats& stats,
                                  double waited_s) {
  const std::uint32_t confirmed = unwrap16(datagram.control_count, reliable_.confirmed_count());
  if (earlier(reliable_.added_count(), confirmed)) return Receipt::refused;
  const double ack_delay_s = plausible_ack_delay_s(datagram, now_s - waited_s);
  const double usual_trip_s = round_trip().round_trip_s(), deviation_s = round_trip().deviation_s();
  const auto receipt = link_.receive(datagram.sequence, datagram.ack, ack_delay_s, now_s - waited_s);
  if (receipt == PeerLink::Receipt::refused) return Receipt::refused;
  if (receipt == PeerLink::Receipt::repeated) return Receipt::repeated;
  if (datagram.has_messages || datagram.has_owned || datagram.showing) link_.want_ack(datagram.sequence);

  const bool newest = receipt == PeerLink::Receipt::newest;
  if (newest) {
    stamp_ = datagram.stamp;
    stamp_arrival_s_ = now_s - waited_s;
  }
  if (datagram.ack) charge_arrivals(ack_delay_s, now_s - waited_s);
  if (newest && round_trip().known()) {
    const double added_s = link_.newest_round_trip_s() - usual_trip_s;
    if (stamps_.is_wrong(datagram.stamp, stamp_arrival_s_, deviation_s, added_s)) settles_from_s_ = now_s;
  }
  settle_datagrams(now_s, stats);
  if (earlier(reliable_.confirmed_count(), confirmed))
    budget_.reliable_arrived(confirm_reliable(confirmed), now_s);
  if (seen_ && datagram.ack) seen_->acknowledged(*datagram.ack, now_s);
  if (seen_ && datagram.showing) {
    if (const auto why = seen_->process(*datagram.showing, now_s, newest)) ++stats.refusals[*why];
  }
  return Receipt::accepted;
}

// The newest datagram that a client acknowledges arrived after the client's previous datagram left. So it has
// not waited for longer than the time between the two. A client whose clock was set reports any time, and a
// round trip that looks too short makes later ones look like a queue.
double Session::plausible_ack_delay_s(const ClientDatagram& datagram, double arrived_s) const {
  const double reported_s = datagram.ack_delay * kStampUnitS;
  const double between_s = std::max(0.0, arrived_s - stamp_arrival_s_);
  // Random delays of the link make the time between the arrivals shorter, too.
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

// Handles the report that the client has received `count` reliable messages. Returns the approximate number
// of bytes that arrived.
std::size_t Session::confirm_reliable(std::uint32_t count) {
  const std::uint32_t messages = count - reliable_.confirmed_count();
  const std::size_t game_messages = reliable_.game_messages(), game_bytes = reliable_.game_bytes();
  (void)reliable_.confirm(count);  // the callers have checked the count
  spawns_.try_again();             // the client may have a route now
  const auto from_game = static_cast<double>(game_messages - reliable_.game_messages());
  const double arrived = (messages - from_game) * kLibraryMessageBytes + from_game * kMessageHeaders +
                         static_cast<double>(game_bytes - reliable_.game_bytes());
  return static_cast<std::size_t>(arrived);
}

// The client has acknowledged a datagram with a spawn. The server may now send updates of the entity.
void Session::confirm_spawn(const SpawnSection::Sent& sent) {
  Subscription* s = subscriptions_.find(sent.id);
  if (s == nullptr || s->spawn_number != sent.number) return;
  if (s->confirmed) return Subscriptions::note_held(*s, sent.publish, sent.level, sent.motion_tick);
  subscriptions_.confirm(*s, sent.publish, sent.level, sent.motion_tick);
  fields_.release_held(s->id);
  // The client lacks the motions that were published while the spawn was in flight.
  subscriptions_.set_due(*s, sent.motion_tick + 1, false);
}

// Handles the datagrams that were newly acknowledged or found lost.
void Session::settle_datagrams(double now_s, ServerStats& stats) {
  if (link_.outcomes().empty() && link_.late().empty()) return;
  for (const PeerLink::Outcome& outcome : link_.outcomes()) {
    if (outcome.acked) {
      note_held_tick(in_flight_.at(outcome.sequence).tick);
    } else {
      ++stats.datagrams_lost;
      ++figures_.datagrams_lost;
      budget_.lost(outcome.sent_s, now_s, link_.bytes(outcome.sequence));
    }
    in_flight_.for_each(outcome.sequence,
                        [this](const SentMotion& m) { prefetch(&subscriptions_.at(m.subscription)); });
    in_flight_.for_each(outcome.sequence, [&](const SentMotion& m) {
      Subscription& s = subscriptions_.at(m.subscription);
      if (s.spawn_number == m.spawn_number && s.level == m.level) settle_motion(s, m, outcome.acked);
    });
    fields_.settle(outcome.sequence, outcome.acked);
    spawns_.settle(
        outcome.sequence, in_flight_.at(outcome.sequence).tick, outcome.acked,
        [this](const SpawnSection::Sent& sent) { confirm_spawn(sent); },
        [this](EntityId ended) {
          if (seen_) seen_->end_confirmed(ended);
        });
    in_flight_.end(outcome.sequence);
  }
  link_.clear_outcomes();
}

void Session::settle_motion(Subscription& s, const SentMotion& motion, bool acked) {
  if (acked) {
    s.losses = 0;
    if (s.held != 0 && !earlier(s.held, motion.number)) return;
    s.held = motion.number;
    s.held_tick = motion.motion_tick;
    return;
  }
  // After two losses in a row, the cause may be that the client refuses the updates because it lacks their
  // baseline.
  s.losses = static_cast<std::uint8_t>(std::min(s.losses + 1, 255));
  const bool newest = s.sent == motion.number;
  if (newest && repairs_) subscriptions_.set_due(s, motion.motion_tick, true);
  s.in_full = s.in_full || newest || s.losses >= 2;
}

// Notes the changed fields of entities whose spawn was sent. A first spawn of this tick contains them.
void Session::note_changed_fields(const FieldTable& fields, Tick tick) {
  const auto changed = fields.changes().words();
  const auto followed = subscriptions_.slots().words();
  for (std::size_t w = 0; w < std::min(changed.size(), followed.size()); ++w) {
    SlotSet::for_each_in(changed[w] & followed[w], w, [&](std::uint32_t slot) {
      const Subscription& s = *subscriptions_.find(slot);
      const FieldTable::Row& row = fields.row(slot);
      if (s.spawn_number != 0 && s.id == row.id) fields_.changed(s.id, row.changed_now, tick, s.confirmed);
    });
  }
}

// False if the entity lives in the frame of another entity whose spawn must be written first. The client
// shows the entity when it has both.
bool Session::may_spawn(const TickInputs& inputs, const Subscription& subscription) const {
  const StreamHead& stream = head_of(inputs, subscription);
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = subscriptions_.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->spawn_number != 0;
}

// The datagrams of a tick.

void Session::fetch() const {
  prefetch(this, static_cast<std::size_t>(reinterpret_cast<const char*>(&view_) -
                                          reinterpret_cast<const char*>(this)));
}

void Session::fetch_lists(const Published& published) const {
  subscriptions_.fetch(published);
  prefetch(&link_, 64);
  in_flight_.fetch();
}

void Session::write_datagrams(const TickInputs& inputs, std::size_t room, Scratch& scratch) {
  ServerStats& stats = scratch.datagrams.stats;
  if (!joined_s_) joined_s_ = settles_from_s_ = inputs.now_s;
  if (inputs.fields_changed) note_changed_fields(inputs.fields, inputs.tick);
  link_.expire(inputs.now_s);
  settle_datagrams(inputs.now_s, stats);
  budget_.advance(inputs.now_s);
  if (!peer_) return;
  begin_sections(inputs, stats);
  if (room < kMinRoom) return;  // the connection is gone; the disconnect event will follow
  const bool waits = inputs.held_back || !(turns_.is_due(inputs.tick) || has_urgent_sections(inputs.tick));
  select_updates(inputs, waits, scratch);
  if (waits) return;
  turns_.take();
  while (!scratch.snapshot.all_written() || sections_need_datagram(inputs.tick)) {
    if (link_.full() || !write_datagram(inputs, room, scratch)) break;
  }
  // An owner waits for acknowledgements of its updates, and therefore gets datagrams more often.
  const bool often = owned_count_ > 0 || inputs.now_s - settles_from_s_ < kJoinSettlingS;
  const double heartbeat_s = often ? std::min(kSettlingHeartbeatS, heartbeat_s_) : heartbeat_s_;
  const bool is_due = inputs.now_s - last_send_s_ >= heartbeat_s - 0.5 / tick_rate_hz_;
  if (is_due && !link_.full()) write_datagram(inputs, room, scratch);
}

// Selects the most urgent due updates that the byte budget allows. None if the datagrams of this tick wait
// for a later tick.
void Session::select_updates(const TickInputs& inputs, bool waits, Scratch& scratch) {
  Snapshot& snapshot = scratch.snapshot;
  snapshot.clear();
  subscriptions_.note_published(inputs.published, inputs.tick, scratch.fresh);
  if (inputs.held_back) held_back_ = inputs.tick;
  if (waits || !budget_.affordable()) return;
  subscriptions_.for_each_due([&](std::uint32_t slot, Subscriptions::Index index, Subscription& s) {
    select_update(inputs, slot, index, s, snapshot);
  });
  const double room = std::max(0.0, budget_.available());
  const double most = room / kMinUpdateBytes + 1.0;
  snapshot.keep(static_cast<std::size_t>(ranks_by_error_ ? kCandidates * most : most));
  if (snapshot.measure(inputs.encodings, scratch.worker) <= room) return;
  // While announcements are on their way, the first estimate is as good, and leaves the link more even.
  if (ranks_by_error_ && !spawns_.oldest_since()) rank_updates(inputs, snapshot);
  snapshot.keep_within(room);
}

// Sets the priority of each update by what it improves for the client.
void Session::rank_updates(const TickInputs& inputs, Snapshot& snapshot) {
  const OrderInputs order{inputs.routes, inputs.tick, inputs.tick_time_s, inputs.tick_rate_hz,
                          inputs.tick_time_s + round_trip().one_way_s()};
  for (Snapshot::Item& item : snapshot.items()) {
    const Subscription& s = subscriptions_.at(item.subscription);
    const Entity& entity = inputs.entities.slots()[item.slot];
    item.priority = priority_of({.entity = entity,
                                 .archetype = inputs.archetypes[entity.archetype],
                                 .quantisation = inputs.quantisation[entity.archetype],
                                 .level = item.level,
                                 .known = s.repair ? s.held : s.sent,
                                 .waited_s = waited_ticks(inputs, s) / inputs.tick_rate_hz,
                                 .bits = item.bits},
                                order);
  }
}

// Decides whether a due motion can be sent now, and relative to which baseline it is encoded.
void Session::select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                            Subscription& s, Snapshot& snapshot) {
  const StreamHead& stream = inputs.entities.heads()[slot * kLevels + s.level];
  if (stream.number == s.sent && !s.repair) return subscriptions_.clear_due(slot);
  if (!knows_route(stream.route) || !knows_frame(stream)) return;
  Snapshot::Item item{.slot = slot, .subscription = index, .level = s.level, .tick = stream.tick};
  if (!s.in_full && stream.can_refer_to(s.held)) {
    item.reference = s.held;
    item.reference_tick = s.held_tick;
  }
  // A first estimate. It grows with the error of the client's motion and with the time that the update has
  // waited.
  item.priority = kLevelWeight[s.level] * std::clamp(stream.urgency, 0.5f, 64.0f) *
                  static_cast<float>(waited_ticks(inputs, s));
  snapshot.add(item);
}

// Writes the next datagram. Returns false if it contains no updates and no sections.
bool Session::write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch) {
  ServerStats& stats = scratch.datagrams.stats;
  const Sequence sequence = link_.begin(inputs.now_s);
  in_flight_.begin(sequence, inputs.tick);

  const std::optional<Ack> ack = link_.acknowledge_if_wanted();
  const std::size_t ack_bits = ack && ack->words > 1 ? ack->bits() : 0;
  const std::size_t room_bits = room * 8 - kMaxHeaderBits - ack_bits;
  std::array<std::byte, kMaxStateBytes> section_buffer;
  BitWriter section_writer{section_buffer};
  const Sections sections =
      write_sections(section_writer, section_room(room_bits, scratch.snapshot), sequence, inputs, stats);
  const std::size_t section_bits = section_writer.bits_written();

  std::array<std::byte, kMaxStateBytes + 64> update_buffer;
  BitWriter update_writer{update_buffer};
  const UpdateCoding coding = scratch.snapshot.coding(inputs.tick, held_tick_);
  const auto updates =
      scratch.snapshot.write_updates(inputs.tick, coding, room_bits - section_bits, update_writer);
  for (const Snapshot::Item& item : updates) {
    if (inputs.observer != nullptr) report_delay(item, inputs);
    note_sent(item, inputs.entities.heads()[item.slot * kLevels + item.level], inputs.tick,
              scratch.datagrams);
    if (seen_) {
      seen_->sent(sequence, inputs.entities.slots()[item.slot].id,
                  inputs.motions->newest(item.slot, item.level), inputs.now_s);
    }
    if (inputs.coding != nullptr) note_coding(inputs, item);
  }
  const std::size_t update_bits = update_writer.bits_written();
  stats.update_bits_sent += update_bits;

  ServerHeader header = make_header(inputs);
  behind_ticks_ = header.complete_age;
  header.sequence = sequence;
  header.ack = ack;
  header.update_count = static_cast<std::uint32_t>(updates.size());
  header.coding = coding;
  header.has_spawns = sections.spawns;
  header.has_fields = sections.fields;
  header.has_messages = sections.messages;
  std::array<std::byte, kMaxStateBytes> buffer;
  BitWriter writer{std::span{buffer}.first(room)};
  reckoner::write(writer, header);
  writer.append(update_writer.finish(), update_bits);
  writer.append(section_writer.finish(), section_bits);
  const auto payload = writer.finish();
  const std::size_t wire_bytes = payload.size() + kDatagramHeaders;
  link_.set_bytes(sequence, wire_bytes);
  ++figures_.datagrams_sent;
  scratch.datagrams.add(peer_, payload);
  spend(wire_bytes, inputs.now_s);
  // Sections that are alone in a datagram pay for its headers, too.
  if (updates.empty() && section_bits > 0) {
    const std::size_t header_bytes = wire_bytes - section_bits / 8;
    section_bytes_ -= static_cast<double>(header_bytes);
  }
  if (header.echo) last_echo_s_ = inputs.now_s;
  stamp_.reset();
  last_send_s_ = inputs.now_s;
  return !updates.empty() || section_bits > 0;
}

ServerHeader Session::make_header(const TickInputs& inputs) {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(inputs.tick);
  header.complete_age = complete_age(inputs);
  const double echo_interval_s = inputs.now_s - settles_from_s_ < kJoinSettlingS ? 0.0 : kEchoIntervalS;
  if (stamp_ && inputs.now_s - last_echo_s_ >= echo_interval_s) {
    const double held = std::round((inputs.tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMaxHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
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
  stats.queued_spawns = spawns_.waiting_spawns();
  stats.queued_messages = reliable_.game_messages() + outbox_.messages();
  stats.queued_message_bytes = reliable_.game_bytes() + outbox_.bytes();
  stats.behind_s = behind_ticks_ / tick_rate_hz_;
  return stats;
}

// Returns how many ticks ago the client's data was complete. It is complete up to the tick before the oldest
// data that the client lacks.
std::uint32_t Session::complete_age(const TickInputs& inputs) {
  Tick oldest = inputs.tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  subscriptions_.due().for_each([&](std::uint32_t slot) { note(subscriptions_.find(slot)->due_since); });
  if (const auto since = spawns_.oldest_since()) note(*since);
  spawns_.for_each_unacknowledged([&](EntityId id, Tick sent) {
    const Subscription* s = subscriptions_.find(id);
    if (!id || (s != nullptr && !s->confirmed && !s->muted && head_of(inputs, *s).number != s->sent))
      note(sent + 1);
  });
  fields_.for_each_since(note);
  return inputs.tick + 1 - oldest;
}

// Reports an update that became due in an earlier tick. Call it before note_sent().
void Session::report_delay(const Snapshot::Item& item, const TickInputs& inputs) {
  const Subscription& s = subscriptions_.at(item.subscription);
  const auto waited = static_cast<std::int32_t>(inputs.tick - s.due_since);
  if (waited <= 0 && !s.repair) return;
  using Why = ServerObserver::Delayed::Why;
  const bool was_held = held_back_ && static_cast<std::int32_t>(*held_back_ - s.due_since) >= 0;
  const Entity& entity = inputs.entities.slots()[item.slot];
  inputs.observer->delayed({id_, entity.id, item.level, inputs.tick_time_s,
                            entity.levels[item.level].stream.motion().time_s,
                            std::max(*joined_s_, inputs.tick_time_s - waited / tick_rate_hz_),
                            s.repair                                  ? Why::repair
                            : was_held                                ? Why::late
                            : turns_.explains(waited / tick_rate_hz_) ? Why::turn
                                                                      : Why::budget});
}

void Session::note_sent(const Snapshot::Item& item, const StreamHead& stream, Tick tick,
                        DatagramBuffer& datagrams) {
  Subscription& s = subscriptions_.at(item.subscription);
  ServerStats& stats = datagrams.stats;
  const double age_s = static_cast<std::int32_t>(tick - stream.tick) / tick_rate_hz_;
  figures_.sent_age_s +=
      (age_s - figures_.sent_age_s) / static_cast<double>(std::min(++figures_.motions_sent, kAgeAverage));
  in_flight_.add({item.subscription, s.spawn_number, stream.number, stream.tick, item.level});
  s.sent = stream.number;
  ++stats.updates_sent;
  stats.full_updates_sent += item.reference == 0 ? 1 : 0;
  if (stream.route) {
    ++stats.route_updates_sent;
    stats.route_bits_sent += item.bits;
  }
  if (s.repair) {
    ++stats.repairs_sent;
    datagrams.repaired.push_back(static_cast<std::uint32_t>(item.slot * kLevels + item.level));
  }
  s.repair = s.in_full = false;
  subscriptions_.clear_due(item.slot);
}

// The sections of datagrams: spawns, changed fields and unreliable messages. Together with the reliable game
// messages they get at most half of the byte budget, so that neither many messages nor a field that always
// changes can displace the motions. Many spawns, as after a join, also get what the motions leave.

void Session::begin_sections(const TickInputs& inputs, ServerStats& stats) {
  fields_.requeue_lost(inputs.fields);
  const auto arrived = static_cast<double>(spawns_.take_acknowledged_bytes());
  if (!budget_.may_have_queue()) spawn_room_ += arrived;
  spawns_.repeat(inputs.tick, tick_rate_hz_, [&](EntityId id) {
    const Subscription* s = subscriptions_.find(id);
    return s != nullptr && !s->muted && head_of(inputs, *s).number != s->sent;
  });
  // Sections and reliable messages share their part of the budget. Each gets what the other did not use in
  // the last tick, and at least half.
  const double share = message_share() / tick_rate_hz_;
  const double most = std::max(kSectionTicks * share, 1.0 * kMaxStateBytes);
  const auto rest = [share](std::size_t used) {
    return share - std::min(0.5 * share, static_cast<double>(used));
  };
  section_bytes_ = std::min(section_bytes_ + rest(std::exchange(message_bytes_sent_, 0)), most);
  const double for_messages = rest(std::exchange(section_bytes_sent_, 0));
  if (!outbox_.empty()) {
    budget_.note_waiting();
    outbox_.follow_link(budget_.may_have_queue(), inputs.now_s);
  }
  // A burst of messages would delay the motions behind it, so their bucket is small.
  budget_.charge(outbox_.refill(outbox_.share() * for_messages, std::max(share, 1.0 * kMaxStateBytes)));
  stats.messages_dropped += unreliable_.expire(inputs.tick_time_s - kMaxMessageAgeTicks / tick_rate_hz_);
}

bool Session::sections_due(Tick tick) const {
  const bool others = fields_.any() || !unreliable_.empty();
  return ((others || spawns_.is_due(tick)) && section_bytes_ > 0.0) ||
         (spawns_.has_many() && spawns_.is_due(tick) && has_room_for_spawns());
}

// True if the link can take more of many spawns. While little is known about the link, they must not fill its
// queue: what may be in flight begins small, and grows as it arrives (slow start, RFC 5681).
bool Session::has_room_for_spawns() const {
  if (!budget_.follows_link()) return true;
  return static_cast<double>(spawns_.bytes_in_flight()) < std::min(spawn_room_, budget_.reliable_room());
}

bool Session::has_urgent_sections(Tick tick) const {
  return !unreliable_.empty() || spawns_.is_urgent(tick);
}

// True if the sections need a datagram without updates. Fields can wait until a datagram is worth its
// headers, or until motions are sent. Messages and single spawns cannot wait, and may overdraw the budget by
// one datagram.
bool Session::sections_need_datagram(Tick tick) const {
  if (budget_.affordable()) return sections_due(tick);
  return has_urgent_sections(tick) && section_bytes_ > 0.0 && budget_.available() > -1.0 * kMaxStateBytes;
}

// If motions wait, the sections leave them half of the datagram, and room for at least one motion. Many
// spawns take no more than the budget allows now, so that a slow link gets small datagrams.
std::size_t Session::section_room(std::size_t room_bits, const Snapshot& snapshot) const {
  if (!snapshot.all_written() && !spawns_.is_crowded_out())
    room_bits -= std::min(room_bits, std::max(room_bits / 2, kMaxUpdateBits));
  if (!spawns_.has_many()) return room_bits;
  const double affordable = 8.0 * std::max(budget_.quantum(), budget_.available());
  return affordable < static_cast<double>(room_bits) ? static_cast<std::size_t>(affordable) : room_bits;
}

// Writes sections of at most `most_bits` for the datagram `sequence`.
Session::Sections Session::write_sections(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                                          const TickInputs& inputs, ServerStats& stats) {
  Sections sections;
  if (!sections_due(inputs.tick)) return sections;
  const bool many_spawns = spawns_.has_many();
  sections.spawns = write_spawns(writer, most_bits, sequence, inputs, stats) > 0;
  const std::size_t before = writer.bits_written();
  if (many_spawns && section_bytes_ <= 0.0) return sections;
  if (fields_.any()) {
    const FieldUpdates::Written written =
        fields_.write(writer, most_bits - writer.bits_written(), sequence, inputs.tick, inputs.fields);
    sections.fields = written.entities > 0;
    stats.field_changes_sent += written.changes;
    stats.field_repairs_sent += written.repairs;
    stats.field_bits_sent += writer.bits_written() - before;
  }
  const std::size_t messages =
      unreliable_.empty() ? 0 : unreliable_.write(writer, most_bits - writer.bits_written());
  sections.messages = messages > 0;
  stats.messages_sent += messages;
  const std::size_t bits = writer.bits_written() - (many_spawns ? before : 0);
  section_bytes_ -= static_cast<double>(bits) / 8.0;
  section_bytes_sent_ += bits / 8;
  return sections;
}

std::size_t Session::write_spawns(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                                  const TickInputs& inputs, ServerStats& stats) {
  if (!spawns_.is_due(inputs.tick) || (spawns_.has_many() && !has_room_for_spawns())) return 0;
  return spawns_.write(
      writer, writer.bits_written() + most_bits,
      {sequence, inputs.tick, tick_rate_hz_, link_.loss() > kLossyShare},
      [&](Spawn& spawn, SpawnSection::Sent& sent) { return make_spawn(inputs, spawn, sent); },
      [&](const SpawnSection::Sent& sent) { note_spawn_written(sent, sequence, inputs, stats); },
      [&](EntityId ended, bool waits) {
        if (seen_ && !waits) seen_->ended_in(sequence, ended, inputs.now_s);
      });
}

void Session::note_spawn_written(const SpawnSection::Sent& sent, Sequence sequence, const TickInputs& inputs,
                                 ServerStats& stats) {
  Subscription& subscription = *subscriptions_.find(sent.id);
  // How the client blends from its own prediction is unknown.
  if (seen_ && !sent.predicted)
    seen_->announced_in(sequence, sent.id, inputs.motions->newest(sent.id.slot(), sent.level), inputs.now_s);
  if (subscription.spawn_number != 0 && subscription.sent != sent.publish) {  // a newer motion
    ++stats.updates_sent;
    if (inputs.coding != nullptr) note_coding_in_full(inputs, subscription);
  }
  subscription.spawn_number = sent.number;
  subscription.sent = sent.publish;
  const FieldTable::Row* row = inputs.fields.find(sent.id);
  if (!sent.values_follow || row == nullptr) return;
  const std::size_t count = inputs.fields.specs(*row).size();
  fields_.changed(sent.id, static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1), inputs.tick, false);
}

// Fills the spawn of an entity with its newest motion. Returns false if the client cannot show it yet,
// because it does not know the frame or the route of the motion.
bool Session::make_spawn(const TickInputs& inputs, Spawn& spawn, SpawnSection::Sent& sent) {
  const Subscription& subscription = *subscriptions_.find(sent.id);
  const StreamHead& head = head_of(inputs, subscription);
  if (head.number == 0 || !knows_route(head.route) || !may_spawn(inputs, subscription)) return false;
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const PublishStream& stream = stream_of(inputs, subscription);
  const PublishStream::Publish& newest = stream.newest();
  spawn.entity = entity.id;
  spawn.archetype = static_cast<std::uint8_t>(entity.archetype);
  spawn.level = subscription.level;
  spawn.orientation_bits = static_cast<std::uint8_t>(inputs.quantisation[entity.archetype].orientation_bits);
  spawn.age = inputs.tick - newest.tick;
  spawn.state = newest.encoded;
  spawn.name = entity.name;
  std::size_t content = spawn.name.size();
  if (entity.short_lived == nullptr) {
    spawn.short_lived.reset();
  } else {
    if (!spawn.short_lived) spawn.short_lived.emplace();
    Spawn::ShortLife& life = *spawn.short_lived;
    life.life.reset();
    if (const auto end_s = entity.short_lived->end_s) {
      const double ticks = (*end_s - inputs.tick_time_s) * inputs.tick_rate_hz + spawn.age;
      life.life = static_cast<std::uint32_t>(std::max(0.0, ticks * Spawn::kLifeSteps));
    }
    life.prediction.reset();
    if (entity.short_lived->predicted_by == id_) life.prediction = entity.short_lived->prediction;
    life.data = entity.short_lived->data;
    content += life.data.size();
    sent.predicted = life.prediction.has_value();
  }
  write_fields(inputs, entity.id, spawn.fields);
  spawn.values_follow = content + spawn.fields.size() > kMaxSpawnContentBytes;
  if (spawn.values_follow) spawn.fields.clear();
  sent.publish = stream.number();
  sent.level = subscription.level;
  sent.motion_tick = newest.tick;
  sent.values_follow = spawn.values_follow;
  return true;
}

}  // namespace reckoner
