// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_counts.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/link/reliable_sender.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/sections.hpp"
#include "server/src/session/spawn_queue.hpp"
#include "server/src/session/tick_inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The section of reliable messages of one session: those of the library, and those of the game. It belongs
/// to the session, so what a lost connection did not deliver goes on over the next one.
///
/// The messages have a part of the byte budget of their own, and yield to motions when the connection has a
/// queue. Before a message whose predecessors include spawns that the client may lack, a mark tells the
/// client to wait for them (AfterSpawnsMessage).
class ReliableSection {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_reliable;
  /// The section does not use the budget of the others.
  static constexpr bool kPaysItself = true;

  /// All must outlive this object.
  ReliableSection(const ByteBudget& budget, const SpawnQueue& spawns, const PeerLink& link);

  /// Counts the messages of both directions.
  [[nodiscard]] MessageCounts& counts() { return counts_; }
  [[nodiscard]] const MessageCounts& counts() const { return counts_; }
  /// The messages of the client.
  [[nodiscard]] ReliableReceiver& received() { return received_; }

  /// Adds a message of the library.
  void send(std::span<const std::byte> message);
  /// Adds the first message.
  void send_welcome(const WelcomeMessage& message);
  /// The client has the first message.
  [[nodiscard]] bool is_welcomed() const { return !lacks_welcome_; }
  /// Adds the next route.
  void send_route(const RouteMessage& message);
  /// True if the client can decode motions on this route.
  [[nodiscard]] bool knows_route(RouteId route) const;
  /// The newest spawn that was written, if the client may lack a spawn; else nullopt. An unordered message
  /// must contain it: no mark is written in front of it.
  [[nodiscard]] std::optional<std::uint32_t> lacking_spawns() const {
    return spawns_.has_all() ? std::nullopt : std::optional(spawns_.newest_number());
  }
  /// Adds a game message. Returns false and drops it if too many are unconfirmed.
  [[nodiscard]] bool send_game(std::span<const std::byte> encoded);

  /// The client has processed `count` messages, a possible count.
  void confirm(std::uint32_t count) {
    (void)counts_.confirm(count);
    sender_.note_received_up_to(count);
  }
  /// Number of messages that the client has received.
  [[nodiscard]] std::uint32_t received_count() const { return sender_.received(); }
  /// Bytes that the client lacks.
  [[nodiscard]] std::size_t bytes() const { return sender_.bytes(); }
  /// Gives away what the client lacks, because the session ends.
  [[nodiscard]] ReliableSender take_rest() { return std::move(sender_); }
  /// True if the session can go on after the client has received `count` messages.
  [[nodiscard]] bool can_restart(std::uint32_t count) const { return sender_.can_restart(count); }
  /// The client has another connection, and has received `count` messages.
  void restart(std::uint32_t count);

  /// Adds `bytes` for this tick to what may be written. Returns the bytes of earlier messages that must be
  /// charged to the byte budget now: messages are written in a burst, but charged evenly, so that motions
  /// keep their part of the budget.
  [[nodiscard]] std::size_t refill(double bytes, double now_s);
  /// Motions leave room for another datagram. Returns true if messages use it.
  [[nodiscard]] bool use_spare() {
    uses_spare_ = sender_.is_due(now_s_);
    if (uses_spare_) room_ = std::max(room_, ByteBudget::kDatagramBytes);
    return is_due();
  }
  /// Bytes since the last call that refill() charges later. The others are charged with their datagram.
  [[nodiscard]] std::size_t take_credit() { return std::exchange(credit_, 0); }
  /// Messages that are alone in a datagram pay for its headers, too.
  void spend_headers(std::size_t bytes) { room_ -= static_cast<double>(bytes); }
  [[nodiscard]] std::size_t take_bytes() { return std::exchange(written_, 0); }

  // For datagrams of their own.
  void begin(double now_s) {
    now_s_ = now_s;
    uses_spare_ = false;
    sender_.review(link_.round_trip().deviation_s());
  }
  /// True if messages can be written now.
  [[nodiscard]] bool is_due() const;
  bool write(BitWriter& writer, std::size_t most_bits, Sequence sequence, TrafficShare& traffic);

  // For Sections.
  void begin(const TickInputs& inputs, ServerStats&) { begin(inputs.now_s); }
  /// A second copy is worth a datagram of its own only if the budget is not tight.
  [[nodiscard]] Urgency urgency(Tick) const {
    // Before the client has the welcome message, it reads only datagrams without anything else.
    if (!is_due() || !is_welcomed()) return Urgency::none;
    return sender_.waits() || budget_.has_reserve() ? Urgency::now : Urgency::waits;
  }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place) {
    return write(writer, most_bits, place.sequence, place.traffic);
  }
  void settle(const Settled& datagram) {
    sender_.settle(datagram.sequence, datagram.sent_s, datagram.acked);
    if (sender_.received() > 0) lacks_welcome_ = false;
  }

 private:
  // As much may be written at once on a connection without a queue (the initial window of RFC 6928), bytes.
  static constexpr double kBurst = 10.0 * ByteBudget::kDatagramBytes;

  void add(std::span<const std::byte> message, MessageCounts::Origin origin);
  void add_order_mark();

  const ByteBudget& budget_;
  const SpawnQueue& spawns_;
  const PeerLink& link_;
  MessageCounts counts_;
  ReliableReceiver received_;
  ReliableSender sender_;
  double now_s_ = 0.0;
  double room_ = kBurst;  // bytes that may be written
  double share_ = 1.0;    // of the part of the budget that the messages use at present
  std::optional<double> followed_s_;
  std::size_t written_ = 0;
  std::size_t credit_ = 0;             // bytes since the last take_credit()
  double uncharged_ = 0.0;             // bytes that were written and are not charged to the byte budget yet
  bool uses_spare_ = false;            // what is written now is charged at once
  std::vector<std::uint32_t> routes_;  // index: route; value: number of the message that contained it
  bool lacks_welcome_ = false;         // the client lacks the first message
  std::uint32_t marked_ = 0;           // the spawn in the newest AfterSpawnsMessage
};

}  // namespace reckoner
