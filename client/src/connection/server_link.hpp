// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/arrival_log.hpp"
#include "client/src/connection/completeness.hpp"
#include "client/src/ownership/owned_link.hpp"
#include "client/src/world/entity_store.hpp"
#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/codec/route_table.hpp"
#include "net/src/link/clock_sync.hpp"
#include "net/src/link/message_outbox.hpp"
#include "net/src/messages/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/message_codec.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The client's end of the state channel: reads the server's datagrams, keeps the server's time from their
/// stamps, and acknowledges them. Knows no entity, only what archetype a slot holds.
class ServerLink {
 public:
  /// The motion of the entity in a slot.
  struct Update {
    std::uint32_t slot;
    std::uint8_t level;
    Tick tick;
    QuantisedState encoded;  ///< later motions may refer to it
    Motion motion;
  };

  /// A user field of the entity in a slot changed.
  struct FieldUpdate {
    std::uint32_t slot;
    std::uint8_t field;
    double time_s;  ///< of the change, server time
    FieldValue value;
  };

  /// Takes over what the server said at the welcome; `archetypes` get its tolerances and limits, and must
  /// outlive this. False, and nothing changes, if that makes no sense.
  [[nodiscard]] bool join(const WelcomeMessage& message, std::vector<Archetype>& archetypes, double local_s);

  /// Takes in a route. False if it is none, or not the next one.
  [[nodiscard]] bool add_route(const RouteMessage& message);
  [[nodiscard]] const RouteTable& routes() const { return routes_; }

  /// Reads a state datagram that arrived at `local_s` and counts it. The updates in it, valid until the next
  /// call; nothing if it must not be applied, being malformed, a duplicate or too late.
  [[nodiscard]] std::optional<std::span<const Update>> receive(std::span<const std::byte> payload,
                                                               double local_s, const EntityStore& entities,
                                                               ClientStats& stats);

  /// What else was in the datagram whose updates receive() returned. Valid until its next call.
  [[nodiscard]] std::span<const FieldUpdate> field_updates() const { return field_updates_; }
  [[nodiscard]] const MessageBatch& messages() const { return messages_; }

  /// A message of the control channel that the server numbers was taken in, whether it made sense or not.
  void note_control() { ++control_count_; }
  [[nodiscard]] std::uint32_t control_count() const { return control_count_; }

  /// The session goes on over another connection, at this tick: what is meant for it can be read again, and
  /// the clock settles anew.
  void resume(Tick tick, double local_s) {
    note_tick(tick);
    joined_s_ = local_s;
    note_jump();
    hurry();
  }

  /// The next call of acknowledge() is to send, however short ago the last one did.
  void hurry() { hurried_ = true; }

  /// True if a server may have come to this tick: short of where ticks, or what is read of them, wrap.
  [[nodiscard]] static bool can_be(Tick tick);

  /// True if no server can have run this tick yet.
  [[nodiscard]] bool is_far_ahead(Tick tick) const;

  /// From now on what is received arrived at some time before, nobody knows when: it says nothing about the
  /// clock, unless nothing else ever did. Or no more.
  void take_for_history(bool history) { history_ = history && clock_.known(); }
  [[nodiscard]] bool is_history() const { return history_; }
  /// When what is received arrived, as far as is known: by the tick of the newest, if it is history.
  [[nodiscard]] double arrival_s(double local_s) const {
    const double now_s = server_time_s(local_s);
    return history_ ? std::min(now_s, time_of(newest_tick_)) : now_s;
  }

  /// The server has run this tick.
  void note_tick(Tick tick) { newest_tick_ = std::max(newest_tick_, tick); }

  /// So much has arrived unacknowledged that more of it could not be acknowledged at once.
  [[nodiscard]] bool ack_overdue() const;

  /// The datagram whose updates receive() returned is being applied while `shown_s` is shown.
  void note_applied(double shown_s) {
    if (rewinds_) arrivals_.add(applied_, shown_s);
  }
  /// True if the server wants to know what is shown.
  [[nodiscard]] bool rewinds() const { return rewinds_; }
  /// What is shown has jumped in time.
  void note_jump() {
    arrivals_.clear();
    era_ = (era_ + 1u) % ShowingReport::kEras;
  }

  /// What this client owns.
  [[nodiscard]] OwnedLink& owned() { return owned_; }
  [[nodiscard]] const OwnedLink& owned() const { return owned_; }
  [[nodiscard]] OwnedEntity::Clock clock() const { return {epoch_s_, tick_rate_hz_}; }

  /// Which instant is shown, at which server time by the client's clock.
  struct Showing {
    double now_s = 0.0;
    double shown_s = 0.0;
  };

  /// Sends an acknowledgement if one is due, `ack_interval_s` after the last one at the latest, and with it
  /// what is in the outbox, in as many datagrams as that takes. Says what is shown, if the server wants to
  /// know. How many messages.
  std::size_t acknowledge(double local_s, double ack_interval_s, const std::optional<Showing>& showing,
                          MessageOutbox& outbox, PeerId server, Transport& transport);

  /// Moves the clock on; true if it stepped.
  bool advance(double local_s) { return clock_.advance(local_s); }

  /// True once the clock is good enough to show entities by.
  [[nodiscard]] bool clock_ready() const;
  [[nodiscard]] bool clock_known() const { return clock_.known(); }
  /// Only with clock_known().
  [[nodiscard]] double server_time_s(double local_s) const { return clock_.server_time_s(local_s); }

  /// The server time up to which nothing is missing here; nothing before that is known.
  [[nodiscard]] std::optional<double> complete_s() const {
    return completeness_.tick() ? std::optional(time_of(*completeness_.tick())) : std::nullopt;
  }

  [[nodiscard]] double time_of(Tick tick) const { return epoch_s_ + tick / tick_rate_hz_; }
  /// Null for an archetype that there is not.
  [[nodiscard]] const Quantisation* quantisation(std::size_t archetype) const {
    return archetype < quantisation_.size() ? &quantisation_[archetype] : nullptr;
  }

 private:
  // These say why what they read is not to be taken in, or nothing.
  [[nodiscard]] std::optional<Refusal> read_updates(BitReader& reader, const ServerHeader& header, Tick tick,
                                                    const EntityStore& entities);
  [[nodiscard]] std::optional<Refusal> read_fields(BitReader& reader, Tick tick, const EntityStore& entities);
  [[nodiscard]] std::optional<Refusal> read_motion(BitReader& reader, const UpdateHeader& head, Tick tick,
                                                   const EntityStore& entities);
  [[nodiscard]] bool frames_fit(const EntityStore& entities) const;
  [[nodiscard]] FrameId frame_after(std::uint32_t slot, const EntityStore& entities) const;
  std::size_t send_datagram(ClientDatagram datagram, double local_s, const std::optional<Showing>& showing,
                            MessageOutbox& outbox, PeerId server, Transport& transport);
  [[nodiscard]] double waited_s(Tick tick, double local_s) const;
  void note_header(const ServerHeader& header, Tick tick, double local_s, ClientStats& stats);

  ClockSync clock_;
  bool history_ = false;
  int exchanges_ = 0;
  double joined_s_ = 0.0;
  double tick_rate_hz_ = 60.0;
  double epoch_s_ = 0.0;
  std::span<const Archetype> archetypes_;
  std::vector<Quantisation> quantisation_;  // by archetype
  RouteTable routes_;                       // motions point into it
  Tick newest_tick_ = 0;
  // Of the datagram read last:
  std::vector<Update> updates_;
  std::vector<FieldUpdate> field_updates_;
  MessageBatch messages_;
  std::vector<FieldChange> changes_;  // scratch

  bool rewinds_ = false;  // the server wants to know what is shown
  unsigned era_ = 0;
  Sequence applied_ = 0;  // of the datagram read last
  ArrivalLog arrivals_;

  ReceivedWindow received_;
  Completeness completeness_;
  Sequence newest_sequence_ = 0;
  std::int64_t sequences_seen_ = 0;  // from the first to the newest
  double newest_arrival_s_ = 0.0;

  OwnedLink owned_;
  std::uint32_t control_count_ = 0;  // of which 16 bits travel with acknowledgements
  int unacknowledged_ = 0;           // datagrams since the last acknowledgement
  bool hurried_ = false;
  double last_ack_s_ = -1e9;
};

}  // namespace reckoner
