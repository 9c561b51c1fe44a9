// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/field_updates.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_view.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/declared_playout.hpp"
#include "server/src/session/message_intake.hpp"
#include "server/src/session/reliable_outbox.hpp"
#include "server/src/session/send_turns.hpp"
#include "server/src/session/spawn_section.hpp"
#include "server/src/session/stamp_watch.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {

class CodingStatistics;
class SharedMotions;
class ServerObserver;
class ShownHistory;

/// The server's data of one client: the entities that the client follows, the messages and updates in flight
/// to it, and the data that it still lacks.
///
/// Each tick has two steps. send_waiting_messages() uses the transport, so one thread calls it for all
/// clients. write_datagrams() changes only this session and the scratch memory passed to it, so it may run
/// for several clients at a time.
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
    link_.forget_path();  // the new connection may use another one
  }
  /// Mean time from a publish until its update arrives, s; valid if round_trip().known().
  [[nodiscard]] double mean_delay_s() const { return turns_.mean_wait_s() + round_trip().one_way_s(); }
  [[nodiscard]] const LinkEstimate& round_trip() const { return link_.round_trip(); }

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

  /// The client now follows the entity; datagrams bring its spawn. No update of the entity is sent before the
  /// client has acknowledged the spawn.
  void follow(const Entity& entity, std::uint8_t level, Tick tick);
  /// The client no longer follows the entity, or the entity ended; datagrams tell the client.
  /// `ended_as_planned`: a short-lived entity ended at the time that its spawn names, so a client that has
  /// the spawn knows.
  void unfollow(EntityId id, Tick tick, bool ended_as_planned = false);
  void set_level(EntityId id, std::uint8_t level, Tick tick);
  /// Tells the client that its prediction with this key fails.
  void refuse_prediction(std::uint32_t key, Tick tick) { spawns_.add_refusal(key, tick); }
  /// True if the client follows the entity and was sent its spawn.
  [[nodiscard]] bool knows(EntityId id) const {
    const Subscription* found = subscriptions_.find(static_cast<std::uint32_t>(id.slot()));
    return found != nullptr && found->id == id && found->spawn_number != 0;
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
  // With more loss than this, spawns and ends are sent twice.
  static constexpr double kLossyShare = 0.002;
  static constexpr double kFirstSpawns = 4.0 * ByteBudget::kDatagramBytes;  // bytes
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();

  void send_message(std::span<const std::byte> message, Transport& transport);
  void spend(std::size_t wire_bytes, double now_s);
  [[nodiscard]] bool knows_route(RouteId route) const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;

  [[nodiscard]] double plausible_ack_delay_s(const ClientDatagram& datagram, double arrived_s) const;
  void charge_arrivals(double ack_delay_s, double now_s);
  std::size_t confirm_reliable(std::uint32_t count);
  void settle_datagrams(double now_s, ServerStats& stats);
  void settle_motion(Subscription& subscription, const SentMotion& motion, bool acked);
  void note_held_tick(Tick tick) { held_tick_ = earlier(held_tick_, tick) ? tick : held_tick_; }

  void note_changed_fields(const FieldTable& fields, Tick tick);
  [[nodiscard]] double message_share() const;
  bool send_message_payload(Transport& transport);
  void add_order_mark(std::vector<std::byte>& payload);
  [[nodiscard]] bool may_spawn(const TickInputs& inputs, const Subscription& subscription) const;

  void select_updates(const TickInputs& inputs, bool waits, Scratch& scratch);
  void select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                     Subscription& subscription, Snapshot& snapshot);
  void rank_updates(const TickInputs& inputs, Snapshot& snapshot);
  bool write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch);
  [[nodiscard]] ServerHeader make_header(const TickInputs& inputs);
  [[nodiscard]] std::uint32_t complete_age(const TickInputs& inputs);
  void report_delay(const Snapshot::Item& item, const TickInputs& inputs);
  void note_sent(const Snapshot::Item& item, const StreamHead& stream, Tick tick, DatagramBuffer& datagrams);

  struct Sections {
    bool spawns = false;
    bool fields = false;
    bool messages = false;
  };
  void begin_sections(const TickInputs& inputs, ServerStats& stats);
  [[nodiscard]] bool sections_due(Tick tick) const;
  [[nodiscard]] bool has_room_for_spawns() const;
  [[nodiscard]] bool has_urgent_sections(Tick tick) const;
  [[nodiscard]] bool sections_need_datagram(Tick tick) const;
  [[nodiscard]] std::size_t section_room(std::size_t room_bits, const Snapshot& snapshot) const;
  std::size_t write_spawns(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                           const TickInputs& inputs, ServerStats& stats);
  [[nodiscard]] bool make_spawn(const TickInputs& inputs, Spawn& spawn, SpawnSection::Sent& sent);
  void note_spawn_written(const SpawnSection::Sent& sent, Sequence sequence, const TickInputs& inputs,
                          ServerStats& stats);
  void confirm_spawn(const SpawnSection::Sent& sent);
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
  double stamp_arrival_s_ = kLongAgo;
  double last_echo_s_ = kLongAgo;
  std::optional<std::uint32_t> stamp_;  // the client's newest time stamp; empty after its echo was sent
  Tick held_tick_ = 0;                  // time stamp of the newest motion that the client is known to hold
  bool repairs_;
  bool ranks_by_error_;
  StampWatch stamps_;
  Subscriptions subscriptions_;
  // Spawns, changed fields and unreliable messages are sections of datagrams, like the motions.
  SpawnSection spawns_;
  FieldUpdates fields_;
  MessageOutbox unreliable_;
  double spawn_room_ = kFirstSpawns;  // bytes of many spawns that may be in flight
  double section_bytes_ = 0.0;        // byte budget of the sections
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
  std::uint32_t marked_ = 0;            // the spawn in the newest AfterSpawnsMessage
  PeerLink link_;
  InFlight in_flight_;
};

}  // namespace reckoner
