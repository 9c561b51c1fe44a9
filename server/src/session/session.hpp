// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/link/message_counts.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/rewind/recorded_view.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_stamps.hpp"
#include "server/src/session/client_view.hpp"
#include "server/src/session/closing_link.hpp"
#include "server/src/session/control_section.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/declared_playout.hpp"
#include "server/src/session/field_section.hpp"
#include "server/src/session/message_intake.hpp"
#include "server/src/session/message_section.hpp"
#include "server/src/session/motion_section.hpp"
#include "server/src/session/prediction_section.hpp"
#include "server/src/session/reliable_section.hpp"
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
#include <utility>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {

/// The server's data of one client: the entities that the client follows, the messages and updates in flight
/// to it, and the data that it still lacks.
///
/// write_datagrams() changes only this session and the scratch memory passed to it, so it may run for several
/// clients at a time.
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
    link_.forget_path();  // the new connection may use another one
  }
  /// Whether the connection keeps the order of datagrams (Transport::is_ordered()).
  void set_ordered(bool ordered) { link_.set_ordered(ordered); }
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
    SessionKey key;       ///< a null key: the session cannot resume
    double lost_s = 0.0;  ///< when the connection was lost, s; valid only without a connection
  };
  [[nodiscard]] Resume& resume() { return resume_; }
  [[nodiscard]] const Resume& resume() const { return resume_; }

  /// Lets the session resume. Call it before anything is sent to the client.
  void enable_resume(const SessionKey& key) { resume_.key = key; }
  /// True if the session could resume if the connection were lost now. False while too many messages are
  /// unconfirmed.
  [[nodiscard]] bool can_resume() const { return resume_.key && reliable_.bytes() <= kMostRetained; }
  /// Call it about once a second. True if the client lacks so many reliable messages that the session must
  /// end: it does not acknowledge them, or is away. Their memory is limited by this.
  [[nodiscard]] bool is_stuck(double now_s);
  /// True if it can resume with a client that has received `count` reliable messages.
  [[nodiscard]] bool can_resume_from(std::uint32_t count) const { return reliable_.can_restart(count); }
  /// The client has a new connection and has received `received` reliable messages. The others wait to be
  /// sent again, and every entity is due that the client follows. The caller must have checked
  /// can_resume_from(received).
  void resume_from(std::uint32_t received, const ServerConfig& config, double now_s, Tick tick);

  // Reliable messages.

  /// Accepts the client: the answer to its request, and the first message.
  void welcome(const WelcomeMessage& message);
  /// Reports to the client how many of its reliable messages are processed.
  void report_processed() {
    (void)counts().report();
    control_.report();
  }

  /// The reliable messages of both directions. The server counts the client's messages here.
  [[nodiscard]] MessageCounts& counts() { return reliable_.counts(); }
  [[nodiscard]] const MessageCounts& counts() const { return reliable_.counts(); }
  /// The stream of the client's reliable messages.
  [[nodiscard]] ReliableReceiver& received() { return reliable_.received(); }

  /// Adds the reason of a kick, the last message.
  void send_kick(const KickMessage& message);
  /// True if the client may lack reliable messages.
  [[nodiscard]] bool has_unsent() const { return reliable_.bytes() > 0; }
  /// What has to be sent after the session has ended. The session must not be used any more, except for its
  /// identity and its subscriptions.
  [[nodiscard]] ClosingLink::Rest take_rest(Tick tick) {
    return {std::move(link_), reliable_.take_rest(), control_.rest(), tick};
  }

  /// Sends the next route. No motion along it is sent before the client has received this message.
  void send_route(const RouteMessage& message) { reliable_.send_route(message); }

  /// Notifies the client that it owns, or no longer owns, an entity that it knows. The server sends an owner
  /// no motions of its own entity.
  void send_ownership(const OwnershipMessage& message, Tick tick);
  /// True if the client owns an entity, or owned one before.
  [[nodiscard]] bool ever_owned() const { return ever_owned_; }

  /// Sends an encoded game message of at most max_message_bytes(), now or as soon as the byte budget allows
  /// it. Fails and drops the message if too many reliable game messages are unconfirmed or waiting.
  CallResult send_reliable(std::span<const std::byte> encoded) {
    if (!peer_ && !resume_.key) return CallError::no_connection;
    return reliable_.send_game(encoded) ? CallError::none : CallError::queue_full;
  }
  /// What an unordered message must name (ReliableSection::lacking_spawns()).
  [[nodiscard]] std::optional<std::uint32_t> lacking_spawns() const { return reliable_.lacking_spawns(); }
  /// Sends an unreliable game message with a datagram of the next two ticks. Fails and drops the message if
  /// too many wait, or if the client has no connection.
  CallResult send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
    if (!peer_) return CallError::no_connection;
    return messages_.add(std::move(payload), time_s, now_s) ? CallError::none : CallError::queue_full;
  }

  /// The game messages from the client that wait until its rates allow them.
  [[nodiscard]] MessageIntake& intake() { return intake_; }

  /// The client's inputs, and the entities that it predicts.
  [[nodiscard]] PredictionSection& predictions() { return predictions_; }
  [[nodiscard]] const PredictionSection& predictions() const { return predictions_; }
  /// The server sends no motions of an entity that the client predicts, and all others again.
  void set_predicted(EntityId id, bool predicted, Tick tick);
  /// True if the client has acknowledged the spawn of the entity.
  [[nodiscard]] bool has_confirmed(EntityId id) const {
    const Subscription* found = subscriptions_.find(static_cast<std::uint32_t>(id.slot()));
    return found != nullptr && found->id == id && found->confirmed;
  }

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

  // Datagrams.

  enum class Receipt : std::uint8_t {
    accepted,
    repeated,  ///< received before, or too old to know whether it was
    refused,   ///< its content cannot be true
  };
  /// Processes a datagram from the client at `now_s`. It arrived `waited_s` earlier, which the client's clock
  /// and the measured round trip do not include.
  [[nodiscard]] Receipt receive(const ClientDatagram& datagram, double now_s, ServerStats& stats,
                                double waited_s = 0.0);

  /// Prefetches the session, and then the lists that write_datagrams() reads first. The processor's caches
  /// are too small for all sessions. So the memory of one client is loaded while another client is processed.
  void fetch() const;
  void fetch_lists(const Published& published) const;

  /// Finds lost datagrams, selects the updates that the client lacks, and writes the datagrams of this tick,
  /// if any are needed. `room` is the size of the largest datagram that can be sent, bytes.
  void write_datagrams(const TickInputs& inputs, std::size_t room, WriteScratch& scratch);

  /// True for the first call after the tick `last`.
  [[nodiscard]] bool may_send_early(Tick last) { return std::exchange(early_after_, last) != last; }
  /// Writes datagrams with the reliable messages that the client lacks: between two ticks, and before the
  /// client has the welcome message. `room` is the size of the largest datagram, bytes.
  void write_messages(double now_s, std::size_t room, DatagramBuffer& datagrams, TrafficShare& traffic);

  /// Age of the oldest data that the client lacked when the last datagram was written, ticks.
  [[nodiscard]] std::uint32_t behind_ticks() const { return behind_ticks_; }
  /// The byte budget in force, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return budget_.bytes_per_second(); }

  /// The figures of this client. Counts the followed entities, so it takes time in proportion to them.
  [[nodiscard]] SessionStats stats() const;

 private:
  // A session whose client lacks more bytes of reliable messages ends with its connection.
  static constexpr std::size_t kMostRetained = 1024 * 1024;
  // A connected client that lacks more must acknowledge messages at least this often, s.
  static constexpr double kLongestPauseS = 30.0;
  // So many messages that the 16 bits of a count stay unambiguous.
  static constexpr std::uint32_t kMostUnconfirmed = 8192;
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();

  // False while the client lacks the welcome message.
  [[nodiscard]] bool is_welcomed() const { return reliable_.is_welcomed(); }
  [[nodiscard]] double plausible_ack_delay_s(const ClientDatagram& datagram, double arrived_s) const;
  void charge_arrivals(double ack_delay_s, double now_s);
  void settle_datagrams(double now_s, ServerStats& stats);

  void refill_budgets(double now_s);
  bool write_datagram(const TickInputs& inputs, std::size_t path_room, WriteScratch& scratch);
  void send(Sequence sequence, std::span<const std::byte> payload, double now_s, DatagramBuffer& datagrams,
            TrafficShare& traffic);
  [[nodiscard]] std::uint32_t complete_age(const TickInputs& inputs);

  ClientId id_;
  PeerId peer_;
  double heartbeat_s_;
  unsigned muted_count_ = 0;  // entities that the client owns or predicts
  bool ever_owned_ = false;
  bool owes_answer_ = false;  // the client waits for the acknowledgement of reliable messages
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
  ReliableSection reliable_;
  ControlSection control_;
  PredictionSection predictions_;
  Sections<SpawnSection, PredictionSection, FieldSection, MessageSection, ReliableSection> sections_;
  ByteBudget budget_;

  SessionStats figures_;  // only the counters; stats() adds the rest
  ClientView view_;
  std::uint32_t behind_ticks_ = 0;
  Tick written_tick_ = 0;         // of the last datagram
  Tick early_after_ = 0;          // the tick of the last may_send_early()
  std::uint32_t progress_ = 0;    // messages that the client had received when it last made progress
  double progress_s_ = kLongAgo;  // then, or when it lacked few bytes, s
  MessageIntake intake_;
  Resume resume_;
  DeclaredPlayout playout_;
  RecordedView seen_;
  PeerLink link_;
};

}  // namespace reckoner
