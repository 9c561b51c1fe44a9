// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of reliable messages: parts of their stream.
class ReliableReader {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_reliable;

  /// `receiver` must outlive the reader.
  explicit ReliableReader(const ReliableReceiver& receiver) : receiver_(receiver) {}

  // For SectionReaders.
  static void clear(DecodedDatagram& datagram) { datagram.reliable.clear(); }
  [[nodiscard]] std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram) const {
    read_reliable_parts(reader, receiver_.near(), datagram.reliable);
    if (reader.failed()) return Refusal::malformed;
    return receiver_.accepts(datagram.reliable) ? std::nullopt : std::optional{Refusal::beyond_limits};
  }

 private:
  const ReliableReceiver& receiver_;
};

}  // namespace reckoner
