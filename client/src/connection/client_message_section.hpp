// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_messages.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// The section of this client's unreliable game messages. Each is sent once, in the next datagram that has
/// room for it.
class ClientMessageSection {
 public:
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_messages;

  /// Both must outlive the section.
  ClientMessageSection(ClientMessages& messages, ClientStats& stats) : messages_(messages), stats_(stats) {}

  // For ClientSections.
  [[nodiscard]] bool any_due() const { return !messages_.unreliable().empty(); }
  bool write(BitWriter& writer, std::size_t most_bits, Sequence) {
    const std::size_t count = messages_.unreliable().write(writer, most_bits);
    stats_.messages_sent += count;
    return count > 0;
  }

 private:
  ClientMessages& messages_;
  ClientStats& stats_;
};

}  // namespace reckoner
