// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/reliable_receiver.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {

/// Reads the reliable messages out of a server's datagrams beside their real receiver. It cannot read
/// datagrams that contain motions, predictions or fields besides, and fails the test if a reliable message
/// comes in one.
class FollowedStream {
 public:
  /// Reads a datagram. Returns its parts of the stream.
  std::vector<ReliablePart> add(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader head = read_server_header(reader);
    std::vector<ReliablePart> parts;
    if (head.update_count > 0 || head.has_predictions || head.has_fields) {
      EXPECT_FALSE(head.has_reliable) << "the stream cannot be followed";
      return parts;
    }
    if (head.has_spawns) {
      std::vector<SpawnEntry> entries;
      read_spawns(reader, newest_spawn_, entries);
      for (const SpawnEntry& entry : entries) {
        if (const auto* spawn = std::get_if<Spawn>(&entry))
          newest_spawn_ = std::max(newest_spawn_, spawn->number);
      }
    }
    MessageBatch messages;
    if (head.has_messages) read_messages(reader, messages);
    if (head.has_reliable) read_reliable_parts(reader, receiver_.near(), parts);
    EXPECT_TRUE(reader.finished());
    receiver_.add(parts);
    return parts;
  }

  /// Removes and returns the next message that is complete.
  [[nodiscard]] std::optional<ReliableMessage> next() {
    const auto bytes = receiver_.next();
    return bytes ? decode_reliable(*bytes) : std::nullopt;
  }

 private:
  ReliableReceiver receiver_{{}};
  std::uint32_t newest_spawn_ = 0;
};

}  // namespace reckoner::test
