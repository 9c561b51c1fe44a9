// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/field_updates.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/message_intake.hpp"
#include "server/src/session/reliable_outbox.hpp"
#include "server/src/session/send_turns.hpp"
#include "server/src/session/short_lived_queue.hpp"
#include "server/src/session/stamp_watch.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {

/// The settings that decide which entities are relevant for one client.
struct ClientView {
  /// The relevance of one entity that the game set for this client only.
  struct RelevanceOverride {
    EntityId entity;
    Relevance relevance;
  };

  std::optional<glm::dvec3> eye;  ///< the client's eye in the world frame, m; empty: no entity counts as near
  std::uint32_t groups = kAllGroups;
  /// Entities whose relevance differs for this client; the list is short.
  std::vector<RelevanceOverride> relevance_overrides;
  bool shows_past = false;  ///< the client interpolates instead of predicting while updates arrive in time
  bool changed = true;      ///< the settings changed since the last full update of the client's interest
  std::optional<glm::dvec3> eye_for_rest;  ///< where the eye was at the last search of entities at rest

  /// Drops the overrides for an entity that ended.
  void forget(EntityId entity) {
    if (!relevance_overrides.empty())
      std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
  }

  void set_relevance(EntityId entity, Relevance relevance) {
    std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
    relevance_overrides.push_back({entity, relevance});
    changed = true;
  }

  /// The relevance of an entity for this client: the override if there is one, else `own`. `own` is the
  /// relevance of the entity for all clients.
  [[nodiscard]] Relevance relevance_of(EntityId entity, Relevance own) const {
    const auto found = std::find_if(relevance_overrides.begin(), relevance_overrides.end(),
                                    [&](const RelevanceOverride& e) { return e.entity == entity; });
    return found == relevance_overrides.end() ? own : found->relevance;
  }
};

/// How a client declares that it shows entities: predicted or interpolated, and with which length of blends.
/// To apply a change, the server must visit every entity that the client follows. Therefore it applies
/// changes at most twice a second, and always the newest declaration.
class DeclaredPlayout {
 public:
  DeclaredPlayout() = default;
  explicit DeclaredPlayout(const PlayoutMessage& at_join) : declared_(at_join) {}

  /// Accepts a new declaration. Returns Refusal::repeated if it changes nothing, Refusal::too_many if it
  /// replaces a declaration that was not applied yet, and nullopt otherwise.
  [[nodiscard]] std::optional<Refusal> declare(const PlayoutMessage& message) {
    if (message == declared_) return Refusal::repeated;
    declared_ = message;
    if (pending_) return Refusal::too_many;
    pending_ = true;
    return std::nullopt;
  }

  /// The declaration to apply now. Nullopt if there is no new declaration, or if the last one was applied
  /// less than half a second ago.
  [[nodiscard]] std::optional<PlayoutMessage> due(double now_s) {
    constexpr double kMinIntervalS = 0.5;
    if (!pending_ || now_s - applied_s_ < kMinIntervalS) return std::nullopt;
    pending_ = false;
    applied_s_ = now_s;
    return declared_;
  }

 private:
  PlayoutMessage declared_;
  bool pending_ = false;
  double applied_s_ = -std::numeric_limits<double>::infinity();
};

/// The spawn and despawn messages to one client. Some wait to be sent; the others were sent but are not
/// confirmed yet. ReliableQueue numbers the messages and counts the confirmations; this class knows the
/// entity of each message.
///
/// While a spawn message is not confirmed, the server may send newer motions of the entity as repeated spawn
/// messages, also on the reliable channel.
class SpawnQueue {
 public:
  struct Spawn {
    EntityId id;
    std::uint32_t serial = 0;   ///< serial of the subscription
    Tick since = 0;             ///< the client lacks data of this tick until it has the message
    std::uint32_t number = 0;   ///< number of the message; this and all members below are set when it is sent
    Tick motion_tick = 0;       ///< time stamp of the motion in the message
    std::uint32_t publish = 0;  ///< number of the publish in the message
    std::uint8_t level = 0;     ///< level of detail of that publish
    bool is_repeat = false;     ///< this message repeats an earlier spawn message of the subscription
    std::uint8_t repeats = 0;   ///< number of repeats sent after this message
    Tick newest_sent = 0;       ///< tick in which this message, or its last repeat, was sent
  };
  struct Despawn {
    EntityId id;
    Tick tick = 0;  ///< when the entity ended, or ceased to be relevant
  };
  /// The motion that a spawn message contains, and the message's number.
  struct SentMotionInfo {
    std::uint32_t number = 0;
    std::uint32_t publish = 0;
    std::uint8_t level = 0;
    Tick motion_tick = 0;
  };

  // Despawn messages that wait. The server sends them before any spawn message.

  void add_despawn(EntityId id, Tick tick) { despawns_.push_back({id, tick}); }
  /// The oldest waiting despawn; null if none waits.
  [[nodiscard]] const Despawn* next_despawn() const {
    return despawns_.empty() ? nullptr : &despawns_.front();
  }
  [[nodiscard]] std::size_t waiting_despawns() const { return despawns_.size(); }
  /// The oldest waiting despawn was sent as message `number`.
  void despawn_sent(std::uint32_t number) {
    Spawn entry{.id = despawns_.front().id, .since = despawns_.front().tick, .number = number};
    despawns_.pop_front();
    push_unconfirmed(entry);
  }

  // Spawns that wait.

  void add_spawn(EntityId id, std::uint32_t serial, Tick since) {
    push_waiting({.id = id, .serial = serial, .since = since});
  }
  /// The first waiting spawn; null if none waits. The caller must then call spawn_sent(), drop_spawn() or
  /// defer_spawn().
  [[nodiscard]] const Spawn* next_spawn() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  [[nodiscard]] std::size_t waiting_spawns() const { return waiting_.size(); }
  void drop_spawn() {
    waiting_.pop_front();
    oldest_waiting_.pop();
  }
  /// The first waiting spawn depends on a later one: moves it behind all others.
  void defer_spawn() {
    const Spawn entry = waiting_.front();
    drop_spawn();
    push_waiting(entry);
  }
  /// The first waiting spawn was sent in tick `now`.
  void spawn_sent(const SentMotionInfo& motion, Tick now) {
    Spawn entry = waiting_.front();
    drop_spawn();
    set_motion(entry, motion);
    entry.newest_sent = now;
    push_unconfirmed(entry);
  }

  // Repeats of unconfirmed spawns.

  /// Calls `f(spawn)` for every unconfirmed spawn, oldest first. Does nothing if more than `most` messages of
  /// this queue are unconfirmed. `f` may call repeat_sent() with its argument.
  template <class F>
  void for_each_unconfirmed_spawn(std::size_t most, F&& f) {
    if (unconfirmed_.size() > most) return;
    for (std::size_t i = 0, count = unconfirmed_.size(); i < count; ++i) {
      if (Spawn& entry = unconfirmed_[i]; is_spawn(entry) && !entry.is_repeat) f(entry);
    }
  }
  /// `first` is an unconfirmed spawn. A newer motion of its entity was sent in tick `now`.
  void repeat_sent(Spawn& first, const SentMotionInfo& motion, Tick now) {
    // The previous spawn message contains all data up to the tick in which it was sent.
    Spawn entry{.id = first.id, .serial = first.serial, .since = first.newest_sent + 1, .is_repeat = true};
    ++first.repeats;
    first.newest_sent = now;
    set_motion(entry, motion);
    push_unconfirmed(entry);
  }

  /// The client has confirmed `count` messages. Calls `f(spawn)` for each newly confirmed spawn and
  /// `ended(entity)` for each newly confirmed despawn, in the order of sending.
  template <class F, class Ended>
  void confirm(std::uint32_t count, F&& f, Ended&& ended) {
    while (!unconfirmed_.empty() && static_cast<std::int32_t>(count - unconfirmed_.front().number) >= 0) {
      const Spawn entry = unconfirmed_.front();
      unconfirmed_.pop_front();
      oldest_unconfirmed_.pop();
      is_spawn(entry) ? f(entry) : ended(entry.id);
    }
  }
  template <class F>
  void confirm(std::uint32_t count, F&& f) {
    confirm(count, f, [](EntityId) {});
  }

  /// The oldest `since` of all messages that wait or are unconfirmed: from this tick on, the client may lack
  /// data. Nullopt if there are no such messages. Takes constant time, because every datagram needs this tick
  /// and thousands of spawns may wait.
  [[nodiscard]] std::optional<Tick> oldest_since() const {
    std::optional<Tick> oldest = older(oldest_waiting_.get(), oldest_unconfirmed_.get());
    if (!despawns_.empty()) oldest = older(oldest, despawns_.front().tick);
    return oldest;
  }

 private:
  // A queue of ticks that knows its oldest tick. It stores a tick only until an older or equal tick is pushed
  // after it. So the first stored tick is always the oldest.
  class MinimumQueue {
   public:
    void push(Tick tick) {
      while (!minima_.empty() && !earlier(minima_.back().tick, tick))
        minima_.pop_back();
      minima_.push_back({pushed_++, tick});
    }
    // Removes the tick that was pushed first.
    void pop() {
      if (!minima_.empty() && minima_.front().index == popped_) minima_.pop_front();
      ++popped_;
    }
    [[nodiscard]] std::optional<Tick> get() const {
      return minima_.empty() ? std::nullopt : std::optional{minima_.front().tick};
    }

   private:
    struct Entry {
      std::uint64_t index;  // number of ticks pushed before this one
      Tick tick;
    };
    std::deque<Entry> minima_;
    std::uint64_t pushed_ = 0;
    std::uint64_t popped_ = 0;
  };

  [[nodiscard]] static bool is_spawn(const Spawn& entry) { return entry.serial != 0; }
  [[nodiscard]] static std::optional<Tick> older(std::optional<Tick> a, std::optional<Tick> b) {
    if (!a || !b) return a ? a : b;
    return earlier(*a, *b) ? a : b;
  }
  static void set_motion(Spawn& entry, const SentMotionInfo& motion) {
    entry.number = motion.number;
    entry.publish = motion.publish;
    entry.level = motion.level;
    entry.motion_tick = motion.motion_tick;
  }
  void push_waiting(const Spawn& entry) {
    waiting_.push_back(entry);
    oldest_waiting_.push(entry.since);
  }
  void push_unconfirmed(const Spawn& entry) {
    unconfirmed_.push_back(entry);
    oldest_unconfirmed_.push(entry.since);
  }

  std::deque<Despawn> despawns_;   // oldest first
  std::deque<Spawn> waiting_;      // spawns
  std::deque<Spawn> unconfirmed_;  // spawns, and despawns (serial 0), in order of number
  MinimumQueue oldest_waiting_;
  MinimumQueue oldest_unconfirmed_;
};

class CodingStatistics;
class SharedMotions;
class ServerObserver;
class ShownHistory;

/// The server's data of one client: the entities that the client follows, the messages and updates in flight
/// to it, and the data that it still lacks.
///
/// Each tick has two steps. send_spawns() uses the transport, so one thread calls it for all clients.
/// write_datagrams() changes only this session and the scratch memory passed to it, so it may run for several
/// clients at a time.
///
/// A session outlives its connection: the client may resume it over another connection.
class Session {
 public:
  /// The inputs of one tick, shared by all sessions.
  struct TickInputs {
    const EntityTable& entities;
    const FieldTable& fields;
    const Published& published;  ///< the slots published in this tick
    std::span<const Archetype> archetypes;
    std::span<const Quantisation> quantisation;  ///< index: archetype
    const RouteTable& routes;                    ///< the routes that motions may be on
    Encodings& encodings;
    Tick tick = 0;
    double tick_time_s = 0.0;
    double now_s = 0.0;
    double tick_rate_hz = 0.0;
    bool fields_changed = false;         ///< a field of some entity changed in this tick
    bool held_back = false;              ///< a later tick sends the datagrams of this tick
    CodingStatistics* coding = nullptr;  ///< counts every update; may be null
    /// The motions of `published` and of earlier ticks. Required for clients whose history is recorded.
    SharedMotions* motions = nullptr;
    ServerObserver* observer = nullptr;  ///< gets every delayed update; may be null
  };

  Session(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts = {});
  ~Session();

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }  ///< null while there is no connection
  void set_peer(PeerId peer) {
    peer_ = peer;
    link_ = {};  // the new connection may use another link
  }
  /// Mean time from a publish until its update arrives, s; valid if link().known().
  [[nodiscard]] double mean_delay_s() const { return turns_.mean_wait_s() + link_.one_way_s(); }
  [[nodiscard]] const LinkEstimate& link() const { return link_; }

  /// Settings of the client.
  [[nodiscard]] ClientView& view() { return view_; }
  [[nodiscard]] const ClientView& view() const { return view_; }
  [[nodiscard]] DeclaredPlayout& playout() { return playout_; }

  /// Starts to record what the client shows (ShownHistory). Call it before anything is sent to the client.
  void remember_seen(MotionPath path, double blend_s, double limit_s);
  /// Call it when the client's path or its length of blends has changed.
  void change_seen(MotionPath path, double blend_s);
  /// The state of `entity` that the client showed when its estimate of server time was `time_s`. `present_s`
  /// is the present server time. Nullopt if the state is unknown.
  [[nodiscard]] std::optional<State> shown(EntityId entity, double time_s, double present_s) const;
  /// Tells whether it is known what the client showed when its estimate of server time was `time_s`.
  [[nodiscard]] RewindStatus rewind_status(double time_s, double present_s) const;
  /// Appends to `poses` the poses of all entities that the client showed when its estimate of server time was
  /// `time_s`. Appends nothing if the poses are unknown.
  void shown(double time_s, double present_s, std::vector<SeenPose>& poses) const;
  /// Records the frame of a motion that the client sent as an owner (ShownHistory::note_owned_frame()).
  void note_shown_frame(const Motion& motion) const;

  // Resuming.

  /// The data needed to resume the session over another connection.
  struct Resume {
    SessionKey key;             ///< a null key: the session cannot resume
    double lost_s = 0.0;        ///< when the connection was lost, s; valid only without a connection
    bool expects_join = false;  ///< the join message that follows the resume message has not arrived yet
  };
  [[nodiscard]] Resume& resume() { return resume_; }
  [[nodiscard]] const Resume& resume() const { return resume_; }

  /// Retains reliable messages until the client confirms them, so that the session can resume. Call it before
  /// anything is sent to the client.
  void enable_resume(const SessionKey& key) {
    resume_.key = key;
    reliable_.retain();
  }
  /// True if the session could resume if the connection were lost now. False while too many messages are
  /// unconfirmed.
  [[nodiscard]] bool can_resume() const { return reliable_.can_resume(); }
  /// The client has a new connection and has received `received` reliable messages. Sends all other retained
  /// messages again, and makes every entity due that the client follows. The caller must have checked
  /// reliable().can_resume_from(received).
  void resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick,
                   Transport& transport);

  // The reliable channel.

  /// The reliable messages of both directions. The server counts the client's messages here.
  [[nodiscard]] ReliableQueue& reliable() { return reliable_; }
  [[nodiscard]] const ReliableQueue& reliable() const { return reliable_; }

  /// Sends the next route. No motion along it is sent before the client has confirmed this message.
  void send_route(const RouteMessage& message, Transport& transport);

  /// Notifies the client that it owns, or no longer owns, an entity that it knows. The server sends an owner
  /// no motions of its own entity.
  void send_ownership(const OwnershipMessage& message, Tick tick, Transport& transport);
  /// True if the client owns an entity, or owned one before.
  [[nodiscard]] bool ever_owned() const { return ever_owned_; }

  /// Sends an encoded game message of at most max_message_bytes(), now or as soon as the byte budget allows
  /// it. Returns false and drops the message if too many reliable game messages are unconfirmed or waiting.
  [[nodiscard]] bool send_reliable(std::span<const std::byte> encoded, Transport& transport);
  [[nodiscard]] bool send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s,
                                     double now_s);

  /// The game messages from the client that wait until its rates allow them.
  [[nodiscard]] MessageIntake& intake() { return intake_; }

  // The entities that the client follows.

  [[nodiscard]] const Subscriptions& subscriptions() const { return subscriptions_; }

  /// The client now follows the entity; send_spawns() sends the spawn message. No update of the entity is
  /// sent before the client has confirmed the spawn message.
  void follow(const Entity& entity, std::uint8_t level, Tick tick);
  /// The client no longer follows the entity, or the entity ended. send_spawns() sends the despawn message,
  /// before any spawn message. `ended_as_planned`: a short-lived entity ended at the time that its spawn
  /// names, so a client that has the spawn needs no message.
  void unfollow(EntityId id, Tick tick, bool ended_as_planned = false);
  void set_level(EntityId id, std::uint8_t level, Tick tick);
  /// Tells the client that its prediction with this key fails.
  void refuse_prediction(std::uint32_t key, Tick tick) { short_lived_.add_refusal(key, tick, copies()); }
  /// True if the client follows the entity and was sent its spawn message.
  [[nodiscard]] bool knows(EntityId id) const {
    const Subscription* found = subscriptions_.find(static_cast<std::uint32_t>(id.slot()));
    return found != nullptr && found->id == id && found->spawn_sent;
  }

  // The unreliable channel.

  enum class Receipt : std::uint8_t {
    accepted,
    repeated,  ///< received before, or too old to know whether it was
    refused,   ///< its content cannot be true
  };
  /// Processes a datagram from the client at `now_s`. It arrived `waited_s` earlier, which the client's clock
  /// and the measured round trip do not include.
  [[nodiscard]] Receipt receive(const ClientDatagram& datagram, double now_s, ServerStats& stats,
                                double waited_s = 0.0);

  /// Sends waiting reliable game messages, as many as their share of the byte budget allows.
  void send_waiting_messages(Transport& transport);
  /// Sends all waiting reliable game messages now, because the session ends.
  void send_all_messages(Transport& transport);
  /// Sends waiting despawn and spawn messages, as many as the client's link can carry now.
  void send_spawns(const TickInputs& inputs, Transport& transport);

  /// Prefetches the session, and then the lists that write_datagrams() reads first. The processor's caches
  /// are too small for all sessions. So the memory of one client is loaded while another client is processed.
  void fetch() const;
  void fetch_lists(const Published& published) const;

  /// The scratch memory of one worker.
  struct Scratch {
    unsigned worker = 0;
    Snapshot& snapshot;
    std::vector<std::uint32_t>& fresh;
    DatagramBuffer& datagrams;
  };

  /// Finds lost datagrams, selects the updates that the client lacks, and writes the datagrams of this tick,
  /// if any are needed. `room` is the size of the largest datagram that can be sent, bytes.
  void write_datagrams(const TickInputs& inputs, std::size_t room, Scratch& scratch);

  /// Age of the oldest data that the client lacked when the last datagram was written, ticks.
  [[nodiscard]] std::uint32_t behind_ticks() const { return behind_ticks_; }
  /// The byte budget in force, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return budget_.bytes_per_second(); }

  /// The figures of this client. Counts the followed entities, so it takes time in proportion to them.
  [[nodiscard]] SessionStats stats() const;

 private:
  struct SpawnPayload;  // several spawn messages in one payload

  // With more loss than this, spawns and ends of short-lived entities are sent twice.
  static constexpr double kLossyShare = 0.002;
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();

  void send_message(std::span<const std::byte> message, Transport& transport);
  void spend(std::size_t wire_bytes, double now_s);
  [[nodiscard]] bool knows_route(RouteId route) const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;

  void measure_link(const ClientDatagram& datagram, double now_s);
  std::size_t confirm_reliable(std::uint32_t count);
  void confirm_spawn(Subscription& subscription, std::uint32_t publish, std::uint8_t level, Tick motion_tick);
  void settle_datagrams(double now_s, ServerStats& stats);
  void settle_motion(Subscription& subscription, const SentMotion& motion, bool acked);
  void note_held_tick(Tick tick) { held_tick_ = earlier(held_tick_, tick) ? tick : held_tick_; }

  void note_changed_fields(const FieldTable& fields, Tick tick);
  [[nodiscard]] bool send_despawns(double now_s, Transport& transport);
  void send_new_spawns(const TickInputs& inputs, SpawnPayload& payload, Transport& transport);
  void repeat_spawns(const TickInputs& inputs, SpawnPayload& payload, Transport& transport);
  SpawnQueue::SentMotionInfo add_spawn(const TickInputs& inputs, Subscription& subscription,
                                       SpawnPayload& payload);
  void flush(SpawnPayload& payload, double now_s, Transport& transport);
  [[nodiscard]] double message_share() const;
  bool send_message_payload(Transport& transport);
  [[nodiscard]] bool has_reliable_room() const;
  [[nodiscard]] bool may_spawn(const TickInputs& inputs, const Subscription& subscription) const;

  void select_updates(const TickInputs& inputs, bool waits, Scratch& scratch);
  void select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                     Subscription& subscription, Snapshot& snapshot);
  void rank_updates(const TickInputs& inputs, Snapshot& snapshot);
  bool write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch);
  [[nodiscard]] ServerHeader make_header(const TickInputs& inputs) const;
  [[nodiscard]] std::uint32_t complete_age(Tick tick) const;
  void report_delay(const Snapshot::Item& item, const TickInputs& inputs);
  void note_sent(const Snapshot::Item& item, const StreamHead& stream, Tick tick, DatagramBuffer& datagrams);

  struct Sections {
    bool short_lived = false;
    bool fields = false;
    bool messages = false;
  };
  void begin_sections(const TickInputs& inputs, ServerStats& stats);
  [[nodiscard]] bool sections_due(Tick tick) const;
  [[nodiscard]] bool has_urgent_sections(Tick tick) const;
  [[nodiscard]] bool sections_need_datagram(Tick tick) const;
  [[nodiscard]] std::size_t section_room(std::size_t room_bits, const Snapshot& snapshot) const;
  void repeat_short_lived(const TickInputs& inputs);
  bool write_short_lived(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                         const TickInputs& inputs);
  [[nodiscard]] bool make_short_lived(const TickInputs& inputs, ShortLivedSpawn& spawn,
                                      ShortLivedQueue::SentSpawn& sent);
  void note_short_lived_sent(const ShortLivedQueue::SentSpawn& sent, Sequence sequence,
                             const TickInputs& inputs);
  void confirm_short_lived(const ShortLivedQueue::SentSpawn& sent);
  [[nodiscard]] unsigned copies() const { return loss_share_ > kLossyShare ? 2 : 1; }
  Sections write_sections(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                          const TickInputs& inputs, ServerStats& stats);

  ClientId id_;
  PeerId peer_;
  double heartbeat_s_;
  unsigned owned_count_ = 0;  // entities that the client owns
  bool ever_owned_ = false;
  double tick_rate_hz_;
  SendTurns turns_;

  // Every tick reads these members, so they lie close together (see fetch()).
  std::optional<double> joined_s_;    // when the connection could be used first
  double settles_from_s_ = kLongAgo;  // since then, the client's clock has to settle
  double last_send_s_ = kLongAgo;
  std::optional<Tick> held_back_;  // the last tick whose datagrams were left to a later tick
  double stamp_arrival_s_ = 0.0;
  double last_echo_s_ = kLongAgo;
  std::optional<std::uint32_t> stamp_;  // the client's newest time stamp; empty after its echo was sent
  // The client's newest datagram that contains more than acknowledgements.
  std::optional<Sequence> wants_ack_;
  Tick held_tick_ = 0;  // time stamp of the newest motion that the client is known to hold
  bool repairs_;
  bool ranks_by_error_;
  ReceivedWindow received_;
  LinkEstimate link_;
  StampWatch stamps_;
  double newest_trip_s_ = 0.0;  // newest measured round trip, s
  Subscriptions subscriptions_;
  SpawnQueue spawns_;
  // Changed fields and unreliable messages are sections of datagrams; they follow the motions.
  FieldUpdates fields_;
  MessageOutbox unreliable_;
  ShortLivedQueue short_lived_;
  double loss_share_ = 0.0;        // recent share of datagrams that were lost
  std::vector<EntityId> repeats_;  // scratch
  double section_bytes_ = 0.0;     // byte budget of the sections
  // Bytes of sections and of reliable game messages since the last tick.
  std::size_t section_bytes_sent_ = 0, message_bytes_sent_ = 0;
  ReliableOutbox outbox_;
  ByteBudget budget_;

  SessionStats figures_;  // only the counters and the age of sent motions; stats() adds the rest
  ClientView view_;
  std::uint32_t behind_ticks_ = 0;
  ReliableQueue reliable_;
  MessageIntake intake_;
  Resume resume_;
  DeclaredPlayout playout_;
  std::unique_ptr<ShownHistory> seen_;  // null: what the client shows is not recorded
  std::vector<std::uint32_t> routes_;   // index: route; value: number of the message that contained it
  double message_bytes_ = 64.0;         // bytes of the newest spawn or despawn message on the wire
  // Motions in repeated spawns that the statistics do not contain yet.
  std::uint64_t repeated_spawn_motions_ = 0;
  SentWindow sent_;
  InFlight in_flight_;
};

/// All sessions in the order in which the clients joined. The order is fixed so that results are
/// deterministic. References to a session stay valid until it is removed.
class SessionTable {
 public:
  Session& add(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts = {}) {
    sessions_.push_back(std::make_unique<Session>(id, peer, config, parts));
    Session& added = *sessions_.back();
    ids_.push_back(id);
    by_peer_.insert(position_of(peer), {peer, &added});
    return added;
  }

  /// Null if there is no such session.
  [[nodiscard]] Session* find(PeerId peer) const {
    const auto found = position_of(peer);
    return found == by_peer_.end() || found->first != peer ? nullptr : found->second;
  }
  [[nodiscard]] Session* find(ClientId id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
    return found == ids_.end() || *found != id ? nullptr : sessions_[index_of(found)].get();
  }

  void remove(ClientId id) {
    const auto gone = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (gone == ids_.end() || *gone != id) return;
    forget(sessions_[index_of(gone)]->peer());
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(index_of(gone)));
    ids_.erase(gone);
  }

  /// Moves the session to the connection `to`. A null `to` means that the session has no connection for now.
  void move(Session& session, PeerId to) {
    forget(session.peer());
    session.set_peer(to);
    if (to) by_peer_.insert(position_of(to), {to, &session});
  }
  void clear() {
    sessions_.clear();
    ids_.clear();
    by_peer_.clear();
  }

  [[nodiscard]] std::span<const std::unique_ptr<Session>> all() const { return sessions_; }
  /// The ids of all sessions, in the same order.
  [[nodiscard]] std::span<const ClientId> ids() const { return ids_; }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  using ByPeer = std::vector<std::pair<PeerId, Session*>>;

  [[nodiscard]] ByPeer::const_iterator position_of(PeerId peer) const {
    return std::lower_bound(by_peer_.begin(), by_peer_.end(), peer,
                            [](const auto& entry, PeerId wanted) { return entry.first < wanted; });
  }
  void forget(PeerId peer) {
    const auto found = position_of(peer);
    if (found != by_peer_.end() && found->first == peer) by_peer_.erase(found);
  }
  [[nodiscard]] std::size_t index_of(std::vector<ClientId>::const_iterator id) const {
    return static_cast<std::size_t>(id - ids_.begin());
  }

  // The lists are searched many times per tick. A sorted list of a few kB stays in the processor's
  // first-level cache, but the sessions do not.
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<ClientId> ids_;  // ids of sessions_; a new id is larger than all earlier ids
  ByPeer by_peer_;             // sorted by peer
};

/// Measures, for every entity and level of detail, the delay within which an update reaches 90 % of the
/// subscribers. The publisher plans ahead by this delay. It is a percentile so that a few slow clients do not
/// decide for all others.
class DelaySurvey {
 public:
  /// Measures some of the entities. Over many calls, each entity is measured about once a second.
  void run(EntityTable& entities, const SessionTable& sessions);

 private:
  void measure_word(EntityTable& entities, const SessionTable& sessions, std::size_t word);

  std::size_t next_turn_ = 0;
  // Scratch; index: bit of the slot in its word.
  std::array<std::vector<double>, SlotSet::kWordBits> delays_s_;
};

}  // namespace reckoner
