// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of unreliable game messages.
class MessageReader {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_messages;

  // For SectionReaders.
  static void clear(DecodedDatagram& datagram) { datagram.messages.clear(); }
  [[nodiscard]] static std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram) {
    read_messages(reader, datagram.messages);
    return reader.failed() ? std::optional{Refusal::malformed} : std::nullopt;
  }
};

}  // namespace reckoner
