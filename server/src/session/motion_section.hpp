// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/client_stamps.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/reliable_section.hpp"
#include "server/src/session/sections.hpp"
#include "server/src/session/send_turns.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/session/tick_inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The motions in the datagrams of one client. It selects the due updates that are most urgent, and learns
/// from the fate of each datagram which motions the client has. A lost motion becomes due again if it is
/// still the newest one.
///
/// Motions get what the sections leave, at least half of the byte budget.
class MotionSection {
 public:
  /// An update takes at most this number of bits: 12 numbers of 48 bits with their prefixes, and a header.
  static constexpr std::size_t kMaxUpdateBits = 1800;

  /// What a session shares with its motions. All must outlive the section.
  struct Shared {
    ClientId client;
    Subscriptions& subscriptions;
    const ReliableSection& messages;
    const SendTurns& turns;
    const ClientStamps& stamps;
  };
  MotionSection(const Shared& shared, const SenderParts& parts, double tick_rate_hz);

  /// Selects the due updates for this tick, as many as the budget allows. `waits`: a later tick sends the
  /// datagrams of this one, so none is selected. `spawns_wait`: the client lacks spawns. `one_way_s` is the
  /// usual time of a datagram to the client, s.
  void select(const TickInputs& inputs, bool waits, bool spawns_wait, const ByteBudget& budget,
              double one_way_s, WriteScratch& scratch);

  /// Begins the record of a datagram.
  void begin(Sequence sequence, Tick tick) { in_flight_.begin(sequence, tick); }
  /// Writes as many selected updates as fit into `room_bits`, and sets what the header says of them.
  void write(BitWriter& writer, std::size_t room_bits, const SectionPlace& place, WriteScratch& scratch,
             ServerHeader& header);
  /// A datagram has arrived or was lost. Returns the tick in which it was sent.
  Tick settle(Sequence sequence, bool acked);

  /// Prefetches what the next tick reads first.
  void fetch() const { in_flight_.fetch(); }

  /// Mean age of the sent motions, s, and their number.
  [[nodiscard]] double sent_age_s() const { return sent_age_s_; }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  void select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                     Subscription& subscription, Snapshot& snapshot) const;
  void rank(const TickInputs& inputs, double one_way_s, Snapshot& snapshot) const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;
  void report_delay(const Snapshot::Item& item, const TickInputs& inputs) const;
  void note_sent(const Snapshot::Item& item, const TickInputs& inputs, WriteScratch& scratch);
  void settle_motion(Subscription& subscription, const SentMotion& motion, bool acked);

  Shared shared_;
  bool repairs_;
  bool ranks_by_error_;
  double tick_rate_hz_;
  std::optional<Tick> postponed_;  // the last tick whose datagrams were left to a later tick
  Tick acknowledged_tick_ = 0;     // time stamp of the newest motion that the client has acknowledged
  double sent_age_s_ = 0.0;
  std::uint64_t sent_ = 0;
  InFlight in_flight_;
};

}  // namespace reckoner
