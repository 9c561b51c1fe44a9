// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/join.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Number of a datagram. Each datagram has the number after that of the last one; the numbers wrap.
using Sequence = std::uint16_t;

/// Returns the number of steps from `b` to `a`, -32768 to 32767. The numbers may wrap in between.
[[nodiscard]] constexpr int sequence_distance(Sequence a, Sequence b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

/// The 32-bit number with these low 16 bits that is nearest to `reference`. Wraps below zero.
[[nodiscard]] constexpr std::uint32_t unwrap16(std::uint16_t low, std::uint32_t reference) {
  const auto offset = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - reference));
  return reference + static_cast<std::uint32_t>(static_cast<std::int32_t>(offset));
}

/// Acknowledges the newest applied datagram, and with one bit each the datagrams before it, 32 to 1024 of
/// them. It says nothing about datagrams before those.
struct Ack {
  static constexpr std::size_t kMaxWords = 32;
  static constexpr int kWordBits = 32;
  static constexpr int kMaxDatagrams = kWordBits * int{kMaxWords};

  Sequence newest = 0;  ///< number of the newest applied datagram
  /// One bit for each datagram before the newest; 1 means applied. Bit 0 of the first word is the datagram
  /// directly before the newest one.
  std::array<std::uint32_t, kMaxWords> window{};
  std::size_t words = 1;  ///< number of words in use, 1 to kMaxWords; the others are 0

  /// Number of datagrams before the newest that have a bit.
  [[nodiscard]] int covered() const { return kWordBits * static_cast<int>(words); }
  /// True if the acknowledgement says that the datagram `behind` numbers before the newest was applied.
  [[nodiscard]] bool names(int behind) const {
    if (behind <= 0 || behind > covered()) return behind == 0;
    const auto bit = static_cast<unsigned>(behind - 1);
    return ((window[bit / kWordBits] >> (bit % kWordBits)) & 1u) != 0;
  }
  /// Calls `f(sequence)` for each datagram that was applied, newest first. Reads at most `most_words` words.
  template <class F>
  void for_each(F&& f, std::size_t most_words = kMaxWords) const {
    f(newest);
    for (std::size_t w = 0; w < words && w < most_words; ++w) {
      for (std::uint32_t left = window[w]; left != 0; left &= left - 1) {
        const auto behind = kWordBits * w + static_cast<std::size_t>(std::countr_zero(left)) + 1;
        f(static_cast<Sequence>(newest - behind));
      }
    }
  }
  /// Size on the wire, bits.
  [[nodiscard]] RECKONER_NET_API std::size_t bits() const;
  /// Largest size on the wire, bits.
  static constexpr std::size_t kMaxBits = 16 + 11 + kMaxWords * (1 + kWordBits);
};

/// Unit of the time stamps of a client's clock on the wire, s. They are modulo 2^24, so unique for 27
/// minutes.
inline constexpr double kStampUnitS = 1e-4;
inline constexpr unsigned kStampBits = 24;

/// The answer to a client's time stamp.
struct Echo {
  std::uint32_t stamp = 0;  ///< the client's time stamp, unchanged
  std::int32_t waited = 0;  ///< time of the datagram's tick minus the stamp's arrival, in kStampUnitS

  /// Largest magnitude of `waited`; the server does not answer older stamps.
  static constexpr std::int32_t kMaxWaited = 4095;
};

/// How the heads of a datagram's updates are coded. The sender chooses the shortest.
struct UpdateCoding {
  unsigned gap_order = 0;           ///< Golomb order of the gaps between slots, 0 to kMaxGapOrder
  unsigned reference_order = 0;     ///< Golomb order of the references, 0 to kMaxReferenceOrder
  std::uint32_t reference_age = 0;  ///< references count back from this many ticks before the datagram's tick

  static constexpr unsigned kMaxGapOrder = 15;       ///< largest value on the wire
  static constexpr unsigned kMaxReferenceOrder = 7;  ///< largest on the wire
};

/// What the server says about the session: nothing, one of the two, or both.
struct ServerControl {
  std::optional<JoinAnswer> answer;  ///< answer to the request to join
  std::optional<std::uint16_t>
      processed;  ///< number of processed reliable messages of the client, low 16 bits

  [[nodiscard]] bool any() const { return answer || processed; }
};

/// Head of every state datagram from server to client. The updates and then the announced sections follow.
struct ServerHeader {
  Sequence sequence = 0;   ///< number of the datagram
  std::optional<Ack> ack;  ///< acknowledges the client's datagrams; absent before the first one arrives
  std::uint16_t tick = 0;  ///< low 16 bits of the tick in which it was sent
  std::uint32_t complete_age =
      0;  ///< the client has all updates up to the tick that is this many ticks before `tick`
  std::optional<Echo> echo;        ///< answer to the client's time stamp, if there is a new one
  std::uint32_t update_count = 0;  ///< number of updates
  UpdateCoding coding;             ///< on the wire only if there are updates
  bool has_spawns = false;         ///< a section of spawns follows (spawns.hpp)
  bool has_predictions = false;    ///< a section of predictions follows (correction.hpp)
  bool has_fields = false;         ///< a fields section follows (field_codec.hpp)
  bool has_messages = false;       ///< a messages section follows (messages.hpp)
  bool has_reliable = false;       ///< a section of reliable messages follows (reliable_part.hpp)
  ServerControl control;           ///< about the session

  /// True if the datagram may have been sent at any time after its tick. Nothing can be concluded from when
  /// it arrives.
  [[nodiscard]] bool has_only_reliable() const {
    return has_reliable && update_count == 0 && !echo && !has_spawns && !has_predictions && !has_fields &&
           !has_messages;
  }
};

/// Head of an update. Updates are in order of slot. After each head follows the motion, either complete or as
/// the difference to an earlier motion of the same entity and level (the reference).
struct UpdateHeader {
  std::uint32_t slot = 0;  ///< slot of the entity, below kMaxEntities
  std::uint32_t age = 0;   ///< ticks from the motion's time stamp to the datagram's tick
  std::uint8_t level = 0;  ///< level of detail, below kLevels
  std::optional<std::uint32_t>
      reference_age;  ///< ticks from the reference to the datagram's tick; absent: complete

  /// Number of levels of detail.
  static constexpr std::uint8_t kLevels = 3;
};

/// Describes the instants that a client shows, for a server with lag compensation (WelcomeMessage::rewinds).
/// From this and the sent updates, the server computes what the client showed.
struct ShowingReport {
  /// Maximum number of arrivals in a report.
  static constexpr std::size_t kMaxArrivals = 24;
  static constexpr std::uint32_t kMaxDelay = 100'000;  ///< 10 s in kStampUnitS
  static constexpr unsigned kClockBits = 16;           ///< bits of the clock on the wire
  static constexpr unsigned kEras = 4;                 ///< number of distinct eras

  /// The number of kStampUnitS up to a time, s, and the time of a number of them. All times that a report is
  /// about are rounded like this, and the client applies what arrives at such a rounded time. So both sides
  /// compute with equal numbers, and take the same decisions about corrections.
  [[nodiscard]] static std::int64_t units(double time_s) {
    return static_cast<std::int64_t>(std::floor(time_s / kStampUnitS));
  }
  [[nodiscard]] static double time_of(std::int64_t units) { return static_cast<double>(units) * kStampUnitS; }

  /// The client applied a datagram of the server.
  struct Arrival {
    Sequence sequence = 0;  ///< number of the datagram
    std::uint32_t ago = 0;  ///< shown time between the arrival and the report, in kStampUnitS
    bool operator==(const Arrival&) const = default;
  };

  std::uint16_t clock = 0;  ///< the client's estimate of server time, in kStampUnitS modulo 2^kClockBits
  std::uint32_t delay = 0;  ///< that clock minus the shown time, in kStampUnitS
  std::uint8_t era = 0;     ///< number of jumps of the shown time, modulo kEras
  std::uint8_t count = 0;   ///< number of arrivals
  std::array<Arrival, kMaxArrivals> arrivals{};  ///< newest first; only if there is an acknowledgement
};

/// A state datagram from client to server, without the announced sections.
struct ClientDatagram {
  Sequence sequence = 0;        ///< number of the datagram
  std::optional<Ack> ack;       ///< acknowledges the server's datagrams; absent before the first one arrives
  std::uint32_t ack_delay = 0;  ///< time since the newest acknowledged datagram arrived, in kStampUnitS
  std::uint16_t processed = 0;  ///< number of processed reliable messages of the server, low 16 bits
  std::uint32_t stamp = 0;      ///< the client's clock, in kStampUnitS modulo 2^kStampBits
  std::optional<ShowingReport> showing;  ///< only for servers with lag compensation
  std::optional<JoinRequest> join;       ///< asks for a session; the datagram then contains nothing else
  bool has_owned = false;                ///< an owned section follows (owned_codec.hpp)
  bool has_inputs = false;               ///< a section of inputs follows (input_batch.hpp)
  bool has_messages = false;             ///< a messages section follows (messages.hpp)
  bool has_reliable = false;             ///< a section of reliable messages follows (reliable_part.hpp)
};

RECKONER_NET_API void write(BitWriter& writer, const ServerHeader& header);
[[nodiscard]] RECKONER_NET_API ServerHeader read_server_header(BitReader& reader);

/// Writes the head of an update. `previous_slot` is the slot of the update before it, or -1. The reference
/// must not be newer than the tick from which the coding counts back.
RECKONER_NET_API void write(BitWriter& writer, const UpdateHeader& update, const UpdateCoding& coding,
                            std::int64_t previous_slot);

/// Reads the head of an update. Marks the reader as failed if the head is malformed.
[[nodiscard]] RECKONER_NET_API UpdateHeader read_update(BitReader& reader, const UpdateCoding& coding,
                                                        std::int64_t previous_slot);

RECKONER_NET_API void write(BitWriter& writer, const ClientDatagram& datagram);
/// The datagram of a client that asks for a session.
[[nodiscard]] RECKONER_NET_API std::vector<std::byte> request_datagram(const JoinRequest& request);
/// Reads a datagram up to its first section. Returns nullopt if the datagram is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<ClientDatagram> read_client_datagram(BitReader& reader);

}  // namespace reckoner
