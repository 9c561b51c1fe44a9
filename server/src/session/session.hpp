// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/field_updates.hpp"
#include "server/src/publish/sender_parts.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_settings.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/spawn_queue.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

class CodingStatistics;
class ShownHistory;

/// One client as the server knows it: the entities it follows, the messages and updates in flight to it, and
/// the data that it still lacks.
///
/// Each tick has two steps. send_spawns() uses the transport, so one thread calls it for all clients.
/// write_datagrams() changes only this session and its scratch, so it may run for several clients at a time.
///
/// A session outlives its connection: it may resume over another one.
class Session {
 public:
  /// The inputs of one tick, shared by all sessions.
  struct TickInputs {
    const EntityTable& entities;
    const FieldTable& fields;
    const Published& published;                  ///< what was published in this tick
    std::span<const Quantisation> quantisation;  ///< by archetype
    Encodings& encodings;
    Tick tick = 0;
    double tick_time_s = 0.0;
    double now_s = 0.0;
    double tick_rate_hz = 0.0;
    bool fields_changed = false;         ///< a field of some entity changed in this tick
    bool held_back = false;              ///< this tick leaves its datagrams to a later one
    CodingStatistics* coding = nullptr;  ///< counts every update; may be null
  };

  Session(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts = {});
  ~Session();

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }  ///< null: there is no connection now
  void set_peer(PeerId peer) {
    peer_ = peer;
    link_ = {};  // the new connection may use another link
  }
  [[nodiscard]] const LinkEstimate& link() const { return link_; }

  /// Settings of the client.
  [[nodiscard]] ClientView& view() { return view_; }
  [[nodiscard]] const ClientView& view() const { return view_; }
  [[nodiscard]] DeclaredPlayout& playout() { return playout_; }

  /// Records from now on what the client shows (ShownHistory). Call it before anything is sent.
  void remember_seen(MotionPath path, double blend_s, double limit_s);
  /// The client now shows entities by this path and blend.
  void change_seen(MotionPath path, double blend_s);
  /// What the client showed of `entity` when its own clock said `time_s`, server time; the present server
  /// time is `present_s`. Nothing if that is not known.
  [[nodiscard]] std::optional<State> shown(EntityId entity, double time_s, double present_s) const;
  /// Appends what the client showed of every entity at that time to `poses`; nothing if that is not known.
  void shown(double time_s, double present_s, std::vector<SeenPose>& poses) const;
  /// Records the frame of a motion that the client sent as an owner (ShownHistory::note_frame()).
  void note_shown_frame(const Motion& motion) const;

  // Resuming.

  /// What it takes to resume the session over another connection.
  struct Resume {
    SessionKey key;             ///< none: the session cannot resume
    double lost_s = 0.0;        ///< when the connection was lost; only without a connection
    bool expects_join = false;  ///< the join message that follows the resume message has not arrived yet
  };
  [[nodiscard]] Resume& resume() { return resume_; }
  [[nodiscard]] const Resume& resume() const { return resume_; }

  /// Retains reliable messages until the client confirms them, so that the session can resume. Call it before
  /// anything is sent.
  void enable_resume(const SessionKey& key) {
    resume_.key = key;
    reliable_.retain();
  }
  /// True if the session can resume when the connection is lost now. False while too much is unconfirmed.
  [[nodiscard]] bool can_resume() const { return reliable_.can_resume(); }
  /// The client has a new connection and has received `received` reliable messages. Sends it all others
  /// again, and makes every entity due that it follows. Requires reliable().can_resume_from(received).
  void resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick,
                   Transport& transport);

  // The reliable channel.

  /// The reliable messages of both directions. The server counts the client's messages here.
  [[nodiscard]] ReliableQueue& reliable() { return reliable_; }
  [[nodiscard]] const ReliableQueue& reliable() const { return reliable_; }

  /// Sends the next route. No motion along it is sent before the client has confirmed this message.
  void send_route(const RouteMessage& message, Transport& transport);

  /// Notifies the client that it owns, or no longer owns, an entity that it knows. An owner is sent no
  /// motions of its entity.
  void send_ownership(const OwnershipMessage& message, Tick tick, Transport& transport);
  /// True if the client owns an entity, or owned one before.
  [[nodiscard]] bool ever_owned() const { return ever_owned_; }

  /// Sends an encoded game message, of at most max_message_bytes(). Returns false, and sends nothing, if too
  /// many messages of its kind are unconfirmed or waiting.
  [[nodiscard]] bool send_reliable(std::span<const std::byte> encoded, double now_s, Transport& transport);
  [[nodiscard]] bool send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s,
                                     double now_s);

  // The entities that the client follows.

  [[nodiscard]] const Subscriptions& subscriptions() const { return subscriptions_; }

  /// The client now follows the entity; send_spawns() sends the spawn message. No state of the entity is sent
  /// before the client has confirmed it.
  void follow(const Entity& entity, std::uint8_t level, Tick tick);
  /// The client no longer follows the entity, or the entity ended. send_spawns() sends the despawn message,
  /// before any spawn message.
  void unfollow(EntityId id, Tick tick);
  void set_level(EntityId id, std::uint8_t level, Tick tick);
  /// True if the client follows the entity and was sent its spawn message.
  [[nodiscard]] bool knows(EntityId id) const {
    const Subscription* found = subscriptions_.find(static_cast<std::uint32_t>(id.slot()));
    return found != nullptr && found->id == id && found->spawn_sent;
  }

  // The unreliable channel.

  enum class Receipt : std::uint8_t {
    accepted,
    repeated,  ///< received before, or too old to decide
    refused,   ///< it cannot be true
  };
  /// Processes a client's datagram that arrived at `now_s`.
  [[nodiscard]] Receipt receive(const ClientDatagram& datagram, double now_s, ServerStats& stats);

  /// Sends despawn and spawn messages that wait, as far as the client's link keeps up.
  void send_spawns(const TickInputs& inputs, Transport& transport);

  /// Prefetches the session, and then the lists that write_datagrams() reads first. No cache holds all
  /// sessions from tick to tick, so one client's memory loads while another client is processed.
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
  /// if there are any. `room` is the largest datagram that can be sent, bytes.
  void write_datagrams(const TickInputs& inputs, std::size_t room, Scratch& scratch);

  /// Age of the oldest data that the client lacked when the last datagram was written, ticks.
  [[nodiscard]] std::uint32_t behind_ticks() const { return behind_ticks_; }
  /// The byte budget in force, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return budget_.bytes_per_second(); }

 private:
  struct SpawnPayload;  // several spawn messages in one payload

  void send_message(std::span<const std::byte> message, Transport& transport);
  [[nodiscard]] bool knows_route(RouteId route) const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;

  void measure_link(const ClientDatagram& datagram, double now_s);
  void confirm_reliable(std::uint32_t count, double now_s);
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
  [[nodiscard]] bool has_reliable_room() const;
  [[nodiscard]] bool may_spawn(const TickInputs& inputs, const Subscription& subscription) const;

  void select_updates(const TickInputs& inputs, Scratch& scratch);
  void select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                     Subscription& subscription, Snapshot& snapshot);
  bool write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch);
  [[nodiscard]] ServerHeader make_header(const TickInputs& inputs) const;
  [[nodiscard]] std::uint32_t complete_age(Tick tick) const;
  void note_sent(const Snapshot::Item& item, const StreamHead& stream, DatagramBuffer& datagrams);

  struct Sections {
    bool fields = false;
    bool messages = false;
  };
  void begin_sections(const TickInputs& inputs, ServerStats& stats);
  [[nodiscard]] bool sections_due() const;
  [[nodiscard]] bool sections_need_datagram() const;
  [[nodiscard]] static std::size_t section_room(std::size_t room_bits, const Snapshot& snapshot);
  Sections write_sections(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                          const TickInputs& inputs, ServerStats& stats);

  ClientId id_;
  PeerId peer_;
  double heartbeat_s_;
  unsigned owned_count_ = 0;  // entities that the client owns
  bool ever_owned_ = false;
  double tick_rate_hz_;

  // Every tick reads these members, so they lie close together (see fetch()).
  double joined_s_ = -1.0;
  double last_send_s_ = -1e9;
  double stamp_arrival_s_ = 0.0;
  double last_echo_s_ = -1e9;
  std::optional<std::uint32_t> stamp_;  // the client's newest time stamp, not echoed yet
  std::optional<Sequence> wants_ack_;   // the client's newest datagram with more than acknowledgements
  Tick held_tick_ = 0;                  // no motion that the client is known to hold is newer
  bool repairs_;
  ReceivedWindow received_;
  LinkEstimate link_;
  Subscriptions subscriptions_;
  SpawnQueue spawns_;
  // Changed fields and unreliable messages are sections of datagrams, behind the motions.
  FieldUpdates fields_;
  MessageOutbox unreliable_;
  double section_bytes_ = 0.0;  // byte budget of the sections
  ByteBudget budget_;

  ClientView view_;
  std::uint32_t behind_ticks_ = 0;
  ReliableQueue reliable_;
  Resume resume_;
  DeclaredPlayout playout_;
  std::unique_ptr<ShownHistory> seen_;        // null: what the client shows is not recorded
  std::vector<std::uint32_t> routes_;         // by route: number of its message
  double message_bytes_ = 64.0;               // size of the newest spawn or despawn message, on the wire
  std::uint64_t repeated_spawn_motions_ = 0;  // not added to the statistics yet
  SentWindow sent_;
  InFlight in_flight_;
};

/// All sessions, in the order in which the clients joined, so that no result depends on a hash. References
/// stay valid until remove().
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

  /// Moves the session to another connection. `to` is null if it has none for now.
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

  // Sorted lists, because they are searched many times per tick: a few kB stay in the processor's first-level
  // cache, the sessions themselves do not.
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<ClientId> ids_;  // of sessions_; new ids are always larger
  ByPeer by_peer_;             // sorted by peer
};

}  // namespace reckoner
