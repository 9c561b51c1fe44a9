// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <reckoner/net/ack_window.hpp>
#include <reckoner/net/bit_stream.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/sequence.hpp>

namespace reckoner {

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

/// Head of every state datagram from server to client. The updates follow it.
struct ServerHeader {
  Sequence sequence = 0;
  std::optional<Ack> ack;          ///< of the client's datagrams; absent before the first
  std::uint16_t tick = 0;          ///< low 16 bits of the tick that sent it
  std::uint32_t complete_age = 0;  ///< the client is complete up to the tick this many before `tick`
  std::optional<Echo> echo;
};

/// Head of an update. Updates stand in order of slot; every one is preceded by a set bit, the last followed
/// by a clear one.
struct UpdateHeader {
  std::uint32_t slot = 0;
  std::uint32_t age = 0;  ///< ticks from the motion's time stamp to the datagram's tick
};

/// A state datagram from client to server, whole.
struct ClientDatagram {
  Sequence sequence = 0;
  std::optional<Ack> ack;           ///< of the server's datagrams; absent before the first
  std::uint32_t ack_delay = 0;      ///< how long ago the newest acknowledged one arrived, in kStampUnitS
  std::uint16_t control_count = 0;  ///< control messages taken in so far, low 16 bits
  std::uint32_t stamp = 0;          ///< the client's clock, in kStampUnitS modulo 2^kStampBits
};

void write(BitWriter& writer, const ServerHeader& header);
[[nodiscard]] ServerHeader read_server_header(BitReader& reader);

/// Writes the set bit and the head of an update. `previous_slot` is that of the update before it, or -1.
void write(BitWriter& writer, const UpdateHeader& update, std::int64_t previous_slot);

/// Reads the next update's head; nothing after the last, or if the bytes are malformed.
[[nodiscard]] std::optional<UpdateHeader> read_update(BitReader& reader, std::int64_t previous_slot);

void write(BitWriter& writer, const ClientDatagram& datagram);
[[nodiscard]] std::optional<ClientDatagram> read_client_datagram(BitReader& reader);

}  // namespace reckoner
