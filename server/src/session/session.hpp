// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/link_estimate.hpp"
#include "net/src/messages/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/snapshot.hpp"
#include "server/src/rewind/seen_by.hpp"
#include "server/src/session/announcements.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_view.hpp"
#include "server/src/session/comeback.hpp"
#include "server/src/session/declared_playout.hpp"
#include "server/src/session/fields_and_messages.hpp"
#include "server/src/session/in_flight.hpp"
#include "server/src/session/mail_intake.hpp"
#include "server/src/session/outbox.hpp"
#include "server/src/session/reliable_window.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// One client as the server knows it: what it follows, what is on its way to it, what it is owed.
///
/// A tick goes in two steps: tell() and compose(). The second touches nothing but this session and its
/// scratch, so that those of different clients may run at the same time.
class Session {
 public:
  /// The tick that is sent, and what it is sent from.
  struct TickInputs {
    const EntityTable& entities;
    const FieldTable& fields;
    const Published& published;                  ///< in this tick
    std::span<const Quantisation> quantisation;  ///< by archetype
    Encodings& encodings;
    Tick tick = 0;
    double tick_time_s = 0.0;
    double now_s = 0.0;
    double tick_rate_hz = 0.0;
    bool fields_changed = false;         ///< of any entity, in this tick
    bool held_back = false;              ///< what there is to send is left to a later tick
    CodingStatistics* coding = nullptr;  ///< takes note of every update, if not null
  };

  Session(ClientId id, PeerId peer, const ServerConfig& config);

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }  ///< null: it has no connection at present
  void set_peer(PeerId peer) {
    peer_ = peer;
    link_ = {};  // may be another
  }
  [[nodiscard]] const LinkEstimate& link() const { return link_; }
  [[nodiscard]] ClientView& view() { return view_; }
  [[nodiscard]] const ClientView& view() const { return view_; }
  [[nodiscard]] const Subscriptions& subscriptions() const { return subscriptions_; }

  /// How the client says that it shows others.
  [[nodiscard]] DeclaredPlayout& playout() { return playout_; }

  /// From now on, what the client shows is remembered (ShownHistory). Call it before anything is sent.
  void remember_seen(MotionPath path, double blend_s, double limit_s) {
    seen_ = std::make_unique<ShownHistory>(path, blend_s, limit_s);
  }
  /// It shows others in another way from now on.
  void change_seen(MotionPath path, double blend_s) {
    if (seen_) seen_->change(path, blend_s);
  }
  /// Null if it is not remembered.
  [[nodiscard]] const ShownHistory* seen() const { return seen_.get(); }

  /// Its reliable messages.
  [[nodiscard]] MailIntake& intake() { return intake_; }

  /// From now on what the client is sent reliably is kept until it has it, so that it can come back
  /// (Comeback). Call it before anything is sent.
  void remember_sent(const SessionKey& key) { comeback_ = std::make_unique<Comeback>(key); }
  /// Null if it cannot.
  [[nodiscard]] Comeback* comeback() { return comeback_.get(); }
  /// The client is back, over another connection, and has taken in so many messages: the others are sent
  /// again, and so is the motion of everything that it follows. Only if can_resume().
  [[nodiscard]] bool can_resume(std::uint32_t taken) const;
  void resume(std::uint32_t taken, const ServerConfig& config, double now_s, Tick tick, Transport& transport);

  /// True if the client was told that the entity begins, and follows it.
  [[nodiscard]] bool knows(EntityId id) const {
    const Subscription* found = subscriptions_.find(static_cast<std::uint32_t>(id.slot()));
    return found != nullptr && found->id == id && found->told;
  }
  /// What the client is owed, as of the last datagram, is so old at most, ticks; and what it may be sent.
  [[nodiscard]] std::uint32_t behind_ticks() const { return behind_ticks_; }
  [[nodiscard]] double bytes_per_second() const { return budget_.bytes_per_second(); }

  /// True if the client owns something, or did.
  [[nodiscard]] bool ever_owned() const { return ever_owned_; }
  /// Tells the client whose an entity is that it knows. Of its own it is sent no motions.
  void tell_ownership(const OwnershipMessage& message, Tick tick, Transport& transport);

  /// Tells the client of the next route. Nothing that is on it is sent until the client has taken that in.
  void tell_route(const RouteMessage& message, Transport& transport);

  /// Sends a game message of max_message_bytes() at most. False, and nothing is sent, if too much of its kind
  /// is on its way or waits.
  [[nodiscard]] bool send_reliable(std::span<const std::byte> encoded, double now_s, Transport& transport);
  [[nodiscard]] bool send_unreliable(MessageOutbox::Payload payload, std::optional<double> time_s,
                                     double now_s);

  /// The client is to follow an entity; tell() announces it. No state is sent for it until the client has
  /// taken that in.
  void follow(const Entity& entity, std::uint8_t level, Tick tick);
  /// The client is to follow the entity no more, or it has ended; tell() says so, before anything begins.
  void unfollow(EntityId id, Tick tick);
  void set_level(EntityId id, std::uint8_t level, Tick tick);

  enum class Receipt : std::uint8_t {
    fresh,     ///< taken in
    repeated,  ///< it was before, or is too old to tell
    refused,   ///< cannot be true
  };
  /// Takes in a client's datagram that arrived at `now_s`.
  [[nodiscard]] Receipt receive(const ClientDatagram& datagram, double now_s, ServerStats& stats);

  /// Says what has ended, and announces what waits to be announced, as far as the client keeps up.
  void tell(const TickInputs& inputs, Transport& transport);

  /// Asks for the memory that compose() begins with, or that this in turn points to. There is too much of it
  /// for a processor to keep from tick to tick, and what one client needs can come while another's turn is
  /// on.
  void fetch() const;
  void fetch_lists(const Published& published) const;

  /// Where datagrams are written: one worker's at a time.
  struct Scratch {
    unsigned worker = 0;
    Snapshot& snapshot;                 ///< scratch
    std::vector<std::uint32_t>& fresh;  ///< scratch
    Outbox& outbox;
  };

  /// Finds out what was lost and what the client is owed, and writes the datagrams of this tick, if any;
  /// `room` is the largest that can be sent, bytes.
  void compose(const TickInputs& inputs, std::size_t room, Scratch& scratch);

 private:
  // session_endings.cpp
  [[nodiscard]] bool tell_endings(double now_s, Transport& transport);

  void note_fields(const FieldTable& fields, Tick tick);
  void hand_over(std::span<const std::byte> message, Transport& transport);
  void confirm(std::uint32_t control_count, double now_s);
  [[nodiscard]] std::size_t announce(const TickInputs& inputs, Subscription& subscription,
                                     std::span<std::byte> buffer);
  [[nodiscard]] static std::size_t write_spawn(const TickInputs& inputs, const Subscription& subscription,
                                               std::span<std::byte> buffer);
  struct Telling;
  [[nodiscard]] bool has_room(const Telling& telling) const;
  void hand_over(Telling& telling, double now_s, Transport& transport);
  void tell_again(const TickInputs& inputs, Telling& telling, Transport& transport);
  void settle(double now_s, ServerStats& stats);
  void note_fate(Subscription& subscription, const SentMotion& carried, bool acked);
  [[nodiscard]] bool knows_route(RouteId route) const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;
  [[nodiscard]] bool may_announce(const TickInputs& inputs, const Subscription& subscription) const;
  void measure_link(const ClientDatagram& datagram, double now_s);
  void gather(const TickInputs& inputs, Scratch& scratch);
  void choose(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index place,
              Subscription& subscription, Snapshot& snapshot);
  [[nodiscard]] bool fields_and_messages_may_go() const;
  [[nodiscard]] static std::size_t extra_room(std::size_t room_bits, const Snapshot& snapshot);
  [[nodiscard]] ServerHeader make_header(const TickInputs& inputs) const;
  [[nodiscard]] std::uint32_t complete_age(Tick tick) const;
  bool write_datagram(const TickInputs& inputs, std::size_t room, Scratch& scratch);
  void note_coding(const TickInputs& inputs, const Snapshot::Item& item) const;
  static void note_coding_in_full(const TickInputs& inputs, const Subscription& subscription);
  void note_sent(const Snapshot::Item& item, const StreamHead& stream, Outbox& outbox);

  ClientId id_;
  PeerId peer_;
  double heartbeat_s_;
  unsigned owns_ = 0;  // entities
  bool ever_owned_ = false;
  double tick_rate_hz_;

  // What compose() needs in every tick stands together, see fetch().
  double joined_s_ = -1.0;
  double last_send_s_ = -1e9;
  double stamp_arrival_s_ = 0.0;
  double last_echo_s_ = -1e9;
  std::optional<std::uint32_t> stamp_;  // the client's newest, not answered yet
  std::optional<Sequence> wants_ack_;   // the client's newest that carried more than acknowledgements
  Tick held_tick_ = 0;                  // no motion that the client is known to hold is newer
  bool repairs_;
  ReceivedWindow received_;
  LinkEstimate link_;
  Subscriptions subscriptions_;
  Announcements announcements_;
  FieldsAndMessages fields_and_messages_;
  ByteBudget budget_;

  ClientView view_;
  std::uint32_t behind_ticks_ = 0;
  ReliableWindow reliable_;
  MailIntake intake_;
  std::unique_ptr<Comeback> comeback_;  // null: nothing is kept for it
  DeclaredPlayout playout_;
  std::unique_ptr<ShownHistory> seen_;  // null: what the client shows is not remembered
  struct Ending {
    EntityId id;
    Tick tick = 0;
  };
  std::deque<Ending> endings_;         // that the client is not told yet, the oldest first
  std::vector<std::uint32_t> routes_;  // by route: number of the message
  double message_bytes_ = 64.0;        // of the announcement sent last, on the wire
  std::uint64_t sent_again_ = 0;       // motions behind announcements, not counted yet
  SentWindow sent_;
  InFlight in_flight_;
};

}  // namespace reckoner
