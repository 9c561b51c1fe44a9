// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/rewind/recorded_view.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_stamps.hpp"
#include "server/src/session/client_view.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/declared_playout.hpp"
#include "server/src/session/field_section.hpp"
#include "server/src/session/message_intake.hpp"
#include "server/src/session/message_section.hpp"
#include "server/src/session/motion_section.hpp"
#include "server/src/session/reliable_messages.hpp"
#include "server/src/session/sections.hpp"
#include "server/src/session/send_turns.hpp"
#include "server/src/session/spawn_section.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/session/tick_inputs.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {

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
  Session(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts = {});
  Session(const Session&) = delete;  // its parts know each other
  Session& operator=(const Session&) = delete;

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }  ///< null while there is no connection
  void set_peer(PeerId peer) {
    peer_ = peer;
    reliable_.set_peer(peer);
    link_.forget_path();  // the new connection may use another one
  }
  /// Mean time from a publish until its update arrives, s; valid if round_trip().known().
  [[nodiscard]] double mean_delay_s() const { return turns_.mean_wait_s() + round_trip().one_way_s(); }
  [[nodiscard]] const LinkEstimate& round_trip() const { return link_.round_trip(); }

  /// Settings of the client.
  [[nodiscard]] ClientView& view() { return view_; }
  [[nodiscard]] const ClientView& view() const { return view_; }
  [[nodiscard]] DeclaredPlayout& playout() { return playout_; }

  /// What the client showed.
  [[nodiscard]] RecordedView& seen() { return seen_; }
  [[nodiscard]] const RecordedView& seen() const { return seen_; }

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
    reliable_.queue().retain();
  }
  /// True if the session could resume if the connection were lost now. False while too many messages are
  /// unconfirmed.
  [[nodiscard]] bool can_resume() const { return reliable_.queue().can_resume(); }
  /// The client has a new connection and has received `received` reliable messages. Sends all other retained
  /// messages again, and makes every entity due that the client follows. The caller must have checked
  /// reliable().can_resume_from(received).
  void resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick,
                   Transport& transport);

  // The reliable channel.

  /// The reliable messages of both directions. The server counts the client's messages here.
  [[nodiscard]] ReliableQueue& reliable() { return reliable_.queue(); }
  [[nodiscard]] const ReliableQueue& reliable() const { return reliable_.queue(); }

  /// Sends the next route. No motion along it is sent before the client has confirmed this message.
  void send_route(const RouteMessage& message, Transport& transport) {
    reliable_.send_route(message, transport);
  }

  /// Notifies the client that it owns, or no longer owns, an entity that it knows. The server sends an owner
  /// no motions of its own entity.
  void send_ownership(const OwnershipMessage& message, Tick tick, Transport& transport);
  /// True if the client owns an entity, or owned one before.
  [[nodiscard]] bool ever_owned() const { return ever_owned_; }

  /// Sends an encoded game message of at most max_message_bytes(), now or as soon as the byte budget allows
  /// it. Returns false and drops the message if too many reliable game messages are unconfirmed or waiting.
  [[nodiscard]] bool send_reliable(std::span<const std::byte> encoded, Transport& transport) {
    return reliable_.send_game(encoded, static_cast<bool>(resume_.key), transport);
  }
  [[nodiscard]] bool send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s,
                                     double now_s) {
    return peer_ && messages_.add(std::move(payload), time_s, now_s);
  }

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
  void refuse_prediction(std::uint32_t key, Tick tick) { spawns_.queue().add_refusal(key, tick); }
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
  void send_waiting_messages(Transport& transport) { reliable_.send_waiting(transport); }
  /// Sends all waiting reliable game messages now, because the session ends.
  void send_all_messages(Transport& transport) { reliable_.send_all(transport); }

  /// Prefetches the session, and then the lists that write_datagrams() reads first. The processor's caches
  /// are too small for all sessions. So the memory of one client is loaded while another client is processed.
  void fetch() const;
  void fetch_lists(const Published& published) const;

  /// Finds lost datagrams, selects the updates that the client lacks, and writes the datagrams of this tick,
  /// if any are needed. `room` is the size of the largest datagram that can be sent, bytes.
  void write_datagrams(const TickInputs& inputs, std::size_t room, WriteScratch& scratch);

  /// Age of the oldest data that the client lacked when the last datagram was written, ticks.
  [[nodiscard]] std::uint32_t behind_ticks() const { return behind_ticks_; }
  /// The byte budget in force, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return budget_.bytes_per_second(); }

  /// The figures of this client. Counts the followed entities, so it takes time in proportion to them.
  [[nodiscard]] SessionStats stats() const;

 private:
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();

  [[nodiscard]] double plausible_ack_delay_s(const ClientDatagram& datagram, double arrived_s) const;
  void charge_arrivals(double ack_delay_s, double now_s);
  std::size_t confirm_reliable(std::uint32_t count);
  void settle_datagrams(double now_s, ServerStats& stats);

  void refill_budgets(double now_s);
  bool write_datagram(const TickInputs& inputs, std::size_t room, WriteScratch& scratch);
  [[nodiscard]] std::uint32_t complete_age(const TickInputs& inputs);

  ClientId id_;
  PeerId peer_;
  double heartbeat_s_;
  unsigned owned_count_ = 0;  // entities that the client owns
  bool ever_owned_ = false;
  double tick_rate_hz_;
  SendTurns turns_;

  // Every tick reads these members, so they lie close together (see fetch()).
  double last_send_s_ = kLongAgo;
  ClientStamps stamps_;
  Subscriptions subscriptions_;
  MotionSection motions_;
  FieldSection fields_;
  SpawnSection spawns_;
  MessageSection messages_;
  Sections<SpawnSection, FieldSection, MessageSection> sections_;
  ByteBudget budget_;
  ReliableMessages reliable_;

  SessionStats figures_;  // only the counters; stats() adds the rest
  ClientView view_;
  std::uint32_t behind_ticks_ = 0;
  MessageIntake intake_;
  Resume resume_;
  DeclaredPlayout playout_;
  RecordedView seen_;
  PeerLink link_;
};

}  // namespace reckoner
