// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "client/src/connection/field_reader.hpp"
#include "client/src/connection/message_reader.hpp"
#include "client/src/connection/motion_reader.hpp"
#include "client/src/connection/reliable_reader.hpp"
#include "client/src/connection/section_readers.hpp"
#include "client/src/connection/session_clock.hpp"
#include "client/src/connection/session_formats.hpp"
#include "client/src/connection/spawn_reader.hpp"
#include "client/src/world/entity_store.hpp"
#include "net/src/link/settled_numbers.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Decodes the server's datagrams. Trusts nothing in them, and changes nothing but the result.
class DatagramDecoder {
 public:
  /// All must outlive the decoder.
  DatagramDecoder(const SessionFormats& formats, const SessionClock& clock, const SettledNumbers& spawns,
                  const ReliableReceiver& reliable, const EntityStore& entities)
      : clock_(clock),
        motions_(formats, clock, entities),
        sections_({formats, clock, spawns}, {formats, clock, entities}, {}, ReliableReader{reliable}) {}

  /// Decodes a datagram. Returns the reason if it must not be applied, because it is malformed, refers to
  /// something unknown or is too old; else nullopt.
  [[nodiscard]] std::optional<Refusal> decode(std::span<const std::byte> payload);
  /// The datagram decoded last, if it was not refused. Valid until the next call of decode().
  [[nodiscard]] DecodedDatagram& datagram() { return datagram_; }

 private:
  const SessionClock& clock_;
  MotionReader motions_;
  SectionReaders<SpawnReader, FieldReader, MessageReader, ReliableReader> sections_;
  DecodedDatagram datagram_;
};

}  // namespace reckoner
