// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/arrival_log.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/completeness.hpp"
#include "client/src/ownership/owned_link.hpp"
#include "client/src/world/entity_store.hpp"
#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/link/clock_sync.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The client's end of the unreliable channel: decodes the server's datagrams, estimates the server's time
/// from their time stamps, and acknowledges them.
class ServerLink {
 public:
  /// The client sends an acknowledgement after this number of datagrams at the latest. So the server soon
  /// knows how many bytes the link carries, and what was lost, when many datagrams arrive at once.
  static constexpr int kDatagramsPerAck = 8;

  /// A new motion of the entity in a slot.
  struct Update {
    std::uint32_t slot;
    std::uint8_t level;
    Tick tick;
    QuantisedState encoded;  ///< the received numbers; they are the baseline of later motions
    Motion motion;
    bool lacks_frame = false;  ///< the client has refused the entity that carries the motion's frame
  };

  /// A changed field of the entity in a slot.
  struct FieldUpdate {
    std::uint32_t slot;
    std::uint8_t field;
    double time_s;  ///< server time of the change
    FieldValue value;
  };

  /// A spawn, with what the client needs of it.
  struct NewEntity {
    std::uint32_t number = 0;  ///< Spawn::number
    EntityId entity{};
    EntityInfo info{};
    std::optional<std::uint32_t> prediction{};  ///< key of the prediction that the entity fulfils
    std::uint8_t level = 0;
    Tick motion_tick = 0;
    QuantisedState encoded{};
    Motion motion{};
    std::vector<FieldValue> values{};
    bool values_follow = false;  ///< `values` are the initial ones; the others follow
  };
  /// The end of an entity.
  struct EndedEntity {
    std::uint32_t number = 0;  ///< Despawn::number
    EntityId entity{};
    Tick tick = 0;                                  ///< the first tick without the entity
    std::optional<std::uint16_t> after_messages{};  ///< Despawn::after_messages
  };
  using EntityChange = std::variant<NewEntity, EndedEntity, PredictionRefusal>;

  /// Applies the server's settings from the welcome message. `archetypes` receive the server's thresholds and
  /// limits, and must outlive this object. Returns false, and changes nothing, if the message is invalid.
  [[nodiscard]] bool join(const WelcomeMessage& message, std::vector<Archetype>& archetypes, double local_s);

  /// Adds a route. Returns false if it is invalid, or not the next one.
  [[nodiscard]] bool add_route(const RouteMessage& message);
  [[nodiscard]] const RouteTable& routes() const { return routes_; }

  /// Decodes a datagram at local time `local_s`, and counts it in `stats`. The datagram arrived in the
  /// machine at `arrived_s`; this time serves to estimate the clock. Returns the updates of the datagram,
  /// valid until the next call. Returns nullopt if the datagram must not be applied, because it is malformed,
  /// a duplicate or too old.
  [[nodiscard]] std::optional<std::span<const Update>> receive(std::span<const std::byte> payload,
                                                               double local_s, double arrived_s,
                                                               const EntityStore& entities,
                                                               ClientStats& stats);

  /// The other contents of the datagram that receive() decoded. Valid until the next call of receive().
  [[nodiscard]] std::span<const FieldUpdate> field_updates() const { return field_updates_; }
  [[nodiscard]] std::span<EntityChange> entity_changes() { return entity_changes_; }
  /// The tick in which the server sent the datagram.
  [[nodiscard]] Tick datagram_tick() const { return datagram_tick_; }
  /// The sequence number of the datagram.
  [[nodiscard]] Sequence datagram_sequence() const { return applied_; }
  /// The tick up to which the server considers the client's data complete, as the datagram says.
  [[nodiscard]] Tick datagram_complete() const { return datagram_complete_; }
  [[nodiscard]] double tick_rate_hz() const { return tick_rate_hz_; }
  [[nodiscard]] const MessageBatch& messages() const { return messages_; }

  /// The spawns that have arrived, and those whose entities are known to have ended.
  [[nodiscard]] SettledNumbers& spawns() { return spawns_; }
  [[nodiscard]] const SettledNumbers& spawns() const { return spawns_; }

  /// The session resumes over another connection; the server's last tick is `tick`. The clock has to settle
  /// again.
  void resume(Tick tick, double local_s) {
    note_tick(tick);
    settles_from_s_ = local_s;
    note_jump();
    request_ack();
  }

  /// The next call of acknowledge() sends an acknowledgement, even if the last one was sent very recently.
  void request_ack() { ack_requested_ = true; }

  /// True if a server can have reached this tick. Such a tick is well before the wrap of the counter.
  [[nodiscard]] static bool is_valid_tick(Tick tick);

  /// True if the tick is so far after the newest known one that the server cannot have run it yet.
  [[nodiscard]] bool is_far_ahead(Tick tick) const;

  /// Sets whether datagrams are a backlog from now on. Datagrams of a backlog queued while the program slept,
  /// and arrived at an unknown earlier time. They do not change the clock, unless the clock is not known yet.
  void set_backlog(bool backlog) { backlog_ = backlog && clock_.known(); }
  [[nodiscard]] bool is_backlog() const { return backlog_; }
  /// The server time at which a datagram arrived that is received now. For a backlog this is an estimate, the
  /// time of the newest tick. If the clock was set far ahead, it is limited by that tick, too: otherwise
  /// motions would hold until the clock is corrected.
  [[nodiscard]] double arrival_s(double local_s) const {
    constexpr double kSlackS = 0.25;
    const double slack_s = backlog_ ? 0.0 : kSlackS + std::min(1.0, clock_.round_trip_s().value_or(1.0));
    return std::min(server_time_s(local_s), time_of(newest_tick_) + slack_s);
  }

  /// The server has run this tick.
  void note_tick(Tick tick) { newest_tick_ = std::max(newest_tick_, tick); }

  /// True if an acknowledgement should be sent at once, because many datagrams have arrived since the last
  /// one.
  [[nodiscard]] bool ack_overdue() const;

  /// The datagram that receive() decoded is being applied while the client shows the instant `shown_s`.
  void note_applied(double shown_s) {
    if (rewinds_) arrivals_.add(applied_, shown_s);
  }
  /// True if the server uses lag compensation, and so needs to know what the client shows.
  [[nodiscard]] bool rewinds() const { return rewinds_; }
  /// The shown time has jumped, or what is shown depends on more than the reports say. The next report begins
  /// a new era.
  void note_jump() {
    arrivals_.clear();
    jumped_ = true;
  }

  /// Typical delay from client to server, s; 0: unknown.
  [[nodiscard]] double one_way_s() const {
    return link_.round_trip().known() ? link_.round_trip().one_way_s() : 0.0;
  }

  /// The entities that this client owns.
  [[nodiscard]] OwnedLink& owned() { return owned_; }
  [[nodiscard]] const OwnedLink& owned() const { return owned_; }
  [[nodiscard]] OwnedEntity::Clock clock() const { return {epoch_s_, tick_rate_hz_}; }

  /// The shown instant `shown_s`, at the client's estimate `now_s` of the server time.
  struct Showing {
    double now_s = 0.0;
    double shown_s = 0.0;
  };

  /// Sends datagrams if there is something to send: an acknowledgement (at least every `ack_interval_s` while
  /// datagrams arrive), waiting unreliable messages, or states of owned entities. Each datagram reports what
  /// the client shows if the server needs that. Returns the number of messages sent.
  std::size_t acknowledge(double local_s, double ack_interval_s, const std::optional<Showing>& showing,
                          ClientMessages& messages, PeerId server, Transport& transport);

  /// Call it after the arrivals until local time `local_s`. See ClockSync::review().
  [[nodiscard]] ClockSync::Review review_clock(double local_s, double rate) {
    const ClockSync::Review review = clock_.review(local_s, 1.0 / tick_rate_hz_, rate);
    if (review.changed) {
      settles_from_s_ = local_s;
      request_ack();  // the server notices the wrong clock by its time stamps, and sends more of its own
    }
    return review;
  }
  /// Advances the clock. Returns true if it stepped.
  bool advance(double local_s) { return clock_.advance(local_s); }

  /// True once the clock is precise enough to show entities.
  [[nodiscard]] bool clock_ready() const;
  [[nodiscard]] bool clock_known() const { return clock_.known(); }
  /// Requires clock_known().
  [[nodiscard]] double server_time_s(double local_s) const { return clock_.server_time_s(local_s); }

  /// The server time up to which the client's data is complete; nullopt before that is known.
  [[nodiscard]] std::optional<double> complete_s() const {
    return completeness_.tick() ? std::optional(time_of(*completeness_.tick())) : std::nullopt;
  }

  [[nodiscard]] double time_of(Tick tick) const { return epoch_s_ + tick / tick_rate_hz_; }
  /// Null if there is no such archetype.
  [[nodiscard]] const Quantisation* quantisation(std::size_t archetype) const {
    return archetype < quantisation_.size() ? &quantisation_[archetype] : nullptr;
  }

 private:
  // These functions return the reason if they refuse the datagram, else nullopt.
  [[nodiscard]] std::optional<Refusal> read_updates(BitReader& reader, const ServerHeader& header, Tick tick,
                                                    const EntityStore& entities);
  [[nodiscard]] std::optional<Refusal> read_fields(BitReader& reader, Tick tick, const EntityStore& entities);
  [[nodiscard]] std::optional<Refusal> read_entity_changes(BitReader& reader, Tick tick);
  [[nodiscard]] std::optional<Refusal> decode(Spawn& spawn, Tick tick);
  [[nodiscard]] std::optional<Refusal> read_motion(BitReader& reader, const UpdateHeader& head, Tick tick,
                                                   const EntityStore& entities);
  [[nodiscard]] bool frames_fit(const EntityStore& entities);
  [[nodiscard]] FrameId frame_after(std::uint32_t slot, const EntityStore& entities) const;
  std::size_t send_datagram(ClientDatagram datagram, double local_s, const std::optional<Showing>& showing,
                            MessageOutbox& messages, PeerId server, Transport& transport);
  [[nodiscard]] double waited_s(Tick tick, double local_s) const;
  void settle_datagrams();
  void note_header(const ServerHeader& header, Tick tick, double local_s, double arrived_s,
                   ClientStats& stats);

  ClockSync clock_;
  bool backlog_ = false;
  int exchanges_ = 0;
  double settles_from_s_ = 0.0;  // local time since which the clock has to settle
  double tick_rate_hz_ = 60.0;
  double epoch_s_ = 0.0;
  std::span<const Archetype> archetypes_;
  std::vector<Quantisation> quantisation_;  // by archetype
  RouteTable routes_;                       // motions refer to its routes
  Tick newest_tick_ = 0;
  // Contents of the datagram decoded last:
  std::vector<Update> updates_;
  std::vector<FieldUpdate> field_updates_;
  MessageBatch messages_;
  Tick datagram_tick_ = 0;
  Tick datagram_complete_ = 0;
  std::vector<EntityChange> entity_changes_;
  std::vector<SpawnEntry> entries_;   // scratch
  std::vector<FieldChange> changes_;  // scratch

  SettledNumbers spawns_;

  bool rewinds_ = false;  // the server uses lag compensation
  unsigned era_ = 0;
  bool jumped_ = false;   // note_jump() was called since the last report
  Sequence applied_ = 0;  // sequence number of the datagram decoded last
  ArrivalLog arrivals_;

  // The server acknowledges in every datagram, and sends one to an owner at least this often, s, with a tick
  // to spare.
  static constexpr double kServerAnswerDelayS = 0.07;
  PeerLink link_{kServerAnswerDelayS};
  Completeness completeness_;
  Sequence newest_sequence_ = 0;
  std::int64_t sequences_seen_ = 0;  // from the first to the newest
  double newest_arrival_s_ = 0.0;

  OwnedLink owned_;
  int unacknowledged_ = 0;  // datagrams since the last acknowledgement
  bool ack_requested_ = false;
  double last_ack_s_ = -1e300;
};

}  // namespace reckoner
