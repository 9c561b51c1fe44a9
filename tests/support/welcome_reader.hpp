// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/reliable_receiver.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/join.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace reckoner::test {

/// Reads the welcome message out of the datagrams of a server.
class WelcomeReader {
 public:
  /// Reads a datagram after its head. Returns the welcome message if it is complete now.
  std::optional<WelcomeMessage> take(const ServerHeader& head, BitReader& reader) {
    if (is_taken_ || !head.has_only_reliable()) return std::nullopt;
    std::vector<ReliablePart> parts;
    read_reliable_parts(reader, stream_.near(), parts);
    stream_.add(parts);
    const auto bytes = stream_.next();
    auto message = bytes ? decode_reliable(*bytes) : std::nullopt;
    auto* const welcome = message ? std::get_if<WelcomeMessage>(&*message) : nullptr;
    if (welcome == nullptr) return std::nullopt;
    is_taken_ = true;
    return std::move(*welcome);
  }

 private:
  ReliableReceiver stream_{{}};
  bool is_taken_ = false;
};

}  // namespace reckoner::test
