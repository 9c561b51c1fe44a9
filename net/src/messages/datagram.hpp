// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Number of a datagram; counts up by one and wraps.
using Sequence = std::uint16_t;

/// How far `a` lies after `b`, -32768 to 32767, across the wrap.
[[nodiscard]] constexpr int sequence_distance(Sequence a, Sequence b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

/// The 32-bit number with these low 16 bits that lies nearest to `reference`. Below zero it wraps.
[[nodiscard]] constexpr std::uint32_t unwrap16(std::uint16_t low, std::uint32_t reference) {
  const auto offset = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - reference));
  return reference + static_cast<std::uint32_t>(static_cast<std::int32_t>(offset));
}

/// Acknowledgement of the newest datagram applied and, a bit each, of the 32 before it (bit 0: the one
/// before).
struct Ack {
  Sequence newest = 0;       ///< number of the newest datagram applied
  std::uint32_t window = 0;  ///< a bit for each of the 32 before: applied
};

/// The receiving half: remembers which datagrams of the other end were applied.
class RECKONER_NET_API ReceivedWindow {
 public:
  /// Notes that a datagram arrived. False if it did before, or is too old to tell: it must not be applied.
  bool note(Sequence sequence);

  /// Whether anything has arrived, so that ack() means something.
  [[nodiscard]] bool any() const { return any_; }
  /// What is to be told the other end.
  [[nodiscard]] Ack ack() const { return {newest_, window_}; }

 private:
  bool any_ = false;
  Sequence newest_ = 0;
  std::uint32_t window_ = 0;
};

/// The sending half: numbers datagrams and finds out what became of each. A datagram that leaves the window
/// unacknowledged, or waits longer than a time-out, counts as lost; an acknowledgement after that is ignored.
class RECKONER_NET_API SentWindow {
 public:
  /// Datagrams in flight at most; the oldest counts as lost when one more is sent.
  static constexpr std::size_t kCapacity = 256;

  /// What became of a datagram, and when it was sent, s.
  struct Outcome {
    Sequence sequence = 0;  ///< its number
    bool acked = false;     ///< false: lost
    double sent_s = 0.0;    ///< s, on the sender's clock
  };

  /// The number for a datagram that is sent at `now_s`.
  Sequence send(double now_s);

  /// Takes in an acknowledgement. False if it names a datagram that was never sent: the other end is broken
  /// or lying, and nothing changes.
  bool acknowledge(const Ack& ack);

  /// Gives up datagrams sent before `now_s` - `timeout_s`.
  void expire(double now_s, double timeout_s);

  /// What became known since clear_outcomes(), each datagram once. Valid until the next call.
  [[nodiscard]] std::span<const Outcome> outcomes() const { return outcomes_; }
  /// Of those that had been given up, the ones that were acknowledged after all since clear_outcomes(), each
  /// once: nothing changes about them, but they tell how slow the way is.
  [[nodiscard]] std::span<const Outcome> late() const { return late_; }
  /// Forgets them, in both lists.
  void clear_outcomes() {
    outcomes_.clear();
    late_.clear();
  }

  /// How many were sent of which nothing is known yet.
  [[nodiscard]] std::size_t in_flight() const;

 private:
  struct Sent {
    double sent_s = 0.0;
    Sequence sequence = 0;
    bool open = false;
    bool given_up = false;
  };

  void settle(Sequence sequence, bool acked);
  void note_late(const Ack& ack);

  Sequence oldest_ = 0;  // no datagram before it is open
  Sequence next_ = 0;
  std::size_t given_up_ = 0;  // of sent_
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> late_;
  std::array<Sent, kCapacity> sent_{};  // by sequence modulo capacity
};

/// Time stamps of a client's clock travel in tenths of a millisecond, modulo 2^24: unique for 27 minutes.
inline constexpr double kStampUnitS = 1e-4;
inline constexpr unsigned kStampBits = 24;

/// The answer to a client's time stamp.
struct Echo {
  std::uint32_t stamp = 0;  ///< the client's, unchanged
  std::int32_t held = 0;    ///< time of this datagram's tick minus the stamp's arrival, in kStampUnitS

  /// The longest that can be told, either way; older stamps are not answered.
  static constexpr std::int32_t kMostHeld = 4095;
};

/// How the heads of a datagram's updates are coded: what suits them best, chosen by the sender.
struct UpdateCoding {
  unsigned gap_order = 0;           ///< of the gaps between slots, 0 to kMostGapOrder
  unsigned reference_order = 0;     ///< of the references, 0 to kMostReferenceOrder
  std::uint32_t reference_age = 0;  ///< references count back from the tick this many before the datagram's

  static constexpr unsigned kMostGapOrder = 15;       ///< the largest that travels
  static constexpr unsigned kMostReferenceOrder = 7;  ///< the largest that travels
};

/// Head of every state datagram from server to client. The updates follow it, then the sections that it
/// announces.
struct ServerHeader {
  Sequence sequence = 0;           ///< number of the datagram, counted by its sender
  std::optional<Ack> ack;          ///< of the client's datagrams; absent before the first
  std::uint16_t tick = 0;          ///< low 16 bits of the tick that sent it
  std::uint32_t complete_age = 0;  ///< the client is complete up to the tick this many before `tick`
  std::optional<Echo> echo;        ///< the answer to the client's clock, where one is due
  std::uint32_t update_count = 0;  ///< how many updates follow
  UpdateCoding coding;             ///< travels only with updates
  bool has_fields = false;         ///< a fields section follows (field_codec.hpp)
  bool has_messages = false;       ///< a messages section follows (messages.hpp)
};

/// Head of an update. Updates stand in order of slot, and the motion follows each: in full, or as what
/// differs from an earlier motion of the same entity and level.
struct UpdateHeader {
  std::uint32_t slot = 0;  ///< of the entity, below kMaxEntities
  std::uint32_t age = 0;   ///< ticks from the motion's time stamp to the datagram's tick
  std::uint8_t level = 0;  ///< of detail, below kLevels
  std::optional<std::uint32_t>
      reference_age;  ///< ticks from the earlier motion to the datagram's tick; absent: in full

  /// Levels of detail that can travel.
  static constexpr std::uint8_t kLevels = 3;
};

/// What a client tells of what it shows, to a server that wants to know (WelcomeMessage::rewinds): with this
/// and what it was sent, the server can tell what it showed.
struct ShowingReport {
  /// Instants are told in this unit, s.
  static constexpr double kArrivalUnitS = 5e-4;
  /// Arrivals in a report at most.
  static constexpr std::size_t kMostArrivals = 24;
  static constexpr std::uint32_t kMostDelay = 100'000;  ///< 10 s
  static constexpr unsigned kClockBits = 16;            ///< that the clock travels in
  static constexpr unsigned kEras = 4;                  ///< that are told apart

  /// A datagram of the server's was applied.
  struct Arrival {
    Sequence sequence = 0;  ///< of the datagram
    std::uint32_t ago = 0;  ///< in the time that is shown, before the report, in kArrivalUnitS
    /// Member by member.
    bool operator==(const Arrival&) const = default;
  };

  std::uint16_t clock = 0;  ///< server time as the client knows it, in kStampUnitS modulo 2^kClockBits
  std::uint32_t delay = 0;  ///< what is shown is so long ago by that clock, in kStampUnitS
  std::uint8_t era = 0;     ///< how often what is shown has jumped in time, modulo kEras
  std::uint8_t count = 0;   ///< of arrivals
  std::array<Arrival, kMostArrivals> arrivals{};  ///< newest first, only with an acknowledgement
};

/// A state datagram from client to server, but for the sections that it may announce.
struct ClientDatagram {
  Sequence sequence = 0;                 ///< number of the datagram, counted by its sender
  std::optional<Ack> ack;                ///< of the server's datagrams; absent before the first
  std::uint32_t ack_delay = 0;           ///< how long ago the newest acknowledged one arrived, in kStampUnitS
  std::uint16_t control_count = 0;       ///< control messages taken in so far, low 16 bits
  std::uint32_t stamp = 0;               ///< the client's clock, in kStampUnitS modulo 2^kStampBits
  std::optional<ShowingReport> showing;  ///< only to servers that want to know
  bool has_owned = false;                ///< an owned section follows (owned_codec.hpp), before the messages
  bool has_messages = false;             ///< a messages section follows (messages.hpp)
};

RECKONER_NET_API void write(BitWriter& writer, const ServerHeader& header);
[[nodiscard]] RECKONER_NET_API ServerHeader read_server_header(BitReader& reader);

/// Writes the head of an update. `previous_slot` is that of the update before it, or -1. A reference must not
/// be newer than the tick that the coding counts back from.
RECKONER_NET_API void write(BitWriter& writer, const UpdateHeader& update, const UpdateCoding& coding,
                            std::int64_t previous_slot);

/// Reads an update's head; the reader is failed if it is malformed.
[[nodiscard]] RECKONER_NET_API UpdateHeader read_update(BitReader& reader, const UpdateCoding& coding,
                                                        std::int64_t previous_slot);

RECKONER_NET_API void write(BitWriter& writer, const ClientDatagram& datagram);
/// Nothing if it is malformed. The reader is finished, but for the sections.
[[nodiscard]] RECKONER_NET_API std::optional<ClientDatagram> read_client_datagram(BitReader& reader);

}  // namespace reckoner
