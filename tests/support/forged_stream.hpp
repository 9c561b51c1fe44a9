// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_length.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "tests/support/followed_stream.hpp"
#include "tests/support/tap.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner::test {

/// The bytes of the message on the wire.
inline Bytes encoded_message(const ReliableMessage& message) {
  Bytes buffer(2 * kMaxReliableMessageBytes);
  buffer.resize(encode(message, buffer).size());
  return buffer;
}

/// Appends a message to the bytes of a stream, as ReliableSender does.
inline void append_message(Bytes& stream, std::span<const std::byte> message) {
  append_message_length(stream, message.size());
  stream.insert(stream.end(), message.begin(), message.end());
}

/// A datagram with this head, and with these bytes of a stream as its only section. `Head` is ServerHeader or
/// ClientDatagram.
template <class Head>
Bytes forged_reliable(Head head, std::span<const ReliablePart> parts) {
  if constexpr (std::is_same_v<Head, ServerHeader>) {
    head.update_count = 0;
    head.has_spawns = head.has_predictions = head.has_fields = false;
  } else {
    head.has_owned = head.has_inputs = false;
  }
  head.has_messages = false;
  head.has_reliable = !parts.empty();
  Bytes buffer(kMaxDatagramBytes);
  BitWriter writer{buffer};
  write(writer, head);
  ReliablePartsWriter section;
  for (const ReliablePart& part : parts)
    section.add(writer, part.offset, part.bytes, part.unordered);
  section.finish(writer);
  buffer.resize(writer.finish().size());
  return buffer;
}

/// Adds messages to the stream of reliable messages that one end of a client's connection sends, as if that
/// end had sent them. They travel in real datagrams of that end which have no other content, so every number
/// and acknowledgement is a real one. The links must lose nothing.
///
/// The object follows what the end itself adds to its stream. It fails the test if it cannot, because the
/// bytes came behind other contents, which it does not decode.
class ForgedStream {
 public:
  enum class End { server, client };

  /// Create it before the end sends its first reliable message. Hooks into World::tap(), and calls the hooks
  /// that are there already. `world` must outlive this object.
  ForgedStream(World& world, std::size_t client, End end) : world_(world), tap_(world.tap(client)) {
    if (end == End::server) {
      tap_.filter = [this, before = std::move(tap_.filter)](const TransportEvent& event) {
        if (before && !before(event)) return false;
        if (event.kind != TransportEvent::Kind::received) return true;
        auto forged = pass<ServerHeader>(event.payload);
        if (forged) tap_.inject_payload(event.peer, std::move(*forged));
        return !forged;
      };
    } else {
      tap_.drop_sent = [this, before = std::move(tap_.drop_sent)](std::span<const std::byte> payload) {
        if (before && before(payload)) return true;
        const auto forged = pass<ClientDatagram>(payload);
        if (forged) tap_.ForwardingTransport::send({1}, *forged);
        return forged.has_value();
      };
    }
  }
  ForgedStream(const ForgedStream&) = delete;
  ForgedStream& operator=(const ForgedStream&) = delete;

  /// Adds a message, which need not be a valid one, and runs the world until the other end has it.
  void send(std::span<const std::byte> message) {
    Bytes stream;
    append_message(stream, message);
    send_bytes(stream);
  }
  void send(const ReliableMessage& message) { send(encoded_message(message)); }
  /// Adds bytes to the stream itself.
  void send_bytes(std::span<const std::byte> stream) {
    for (; !stream.empty(); stream = stream.subspan(std::min(kPartBytes, stream.size()))) {
      const auto part = stream.first(std::min(kPartBytes, stream.size()));
      send_part({offset_, {part.begin(), part.end()}});
      offset_ += part.size();
    }
  }
  /// Sends bytes at any place of the stream. They do not count as its end.
  void send_part(ReliablePart part) {
    waiting_ = {std::move(part)};
    for (int i = 0; i < 100 && !waiting_.empty(); ++i)
      world_.run_to(world_.now_s() + 0.01);
    EXPECT_TRUE(waiting_.empty()) << "no datagram without other contents";
    world_.run_to(world_.now_s() + 0.1);
  }
  /// The end of the stream.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// The number of the datagram that the last part travelled in.
  [[nodiscard]] Sequence sequence() const { return sequence_; }

 private:
  static constexpr std::size_t kPartBytes = 1000;

  // Follows what the end itself has sent. Returns the datagram to send instead; nullopt: this one itself.
  template <class Head>
  std::optional<Bytes> pass(std::span<const std::byte> payload) {
    BitReader reader{payload};
    Head head;
    bool is_empty = true;
    std::vector<ReliablePart> parts;
    if constexpr (std::is_same_v<Head, ServerHeader>) {
      head = read_server_header(reader);
      is_empty = head.update_count == 0 && !head.has_spawns && !head.has_predictions && !head.has_fields;
      parts = followed_.add(payload);
    } else {
      head = read_client_datagram(reader).value_or(ClientDatagram{});
      is_empty = !head.has_owned && !head.has_inputs;
      EXPECT_TRUE(is_empty || !head.has_reliable) << "the stream cannot be followed";
      MessageBatch messages;
      if (is_empty && head.has_messages) read_messages(reader, messages);
      if (is_empty && head.has_reliable) read_reliable_parts(reader, offset_, parts);
    }
    for (const ReliablePart& part : parts)
      offset_ = std::max(offset_, part.offset + part.bytes.size());
    if (!is_empty || head.has_messages || head.has_reliable || waiting_.empty()) return std::nullopt;
    sequence_ = head.sequence;
    return forged_reliable(head, std::exchange(waiting_, {}));
  }

  World& world_;
  Tap& tap_;
  FollowedStream followed_;  // if the end is the server
  std::uint64_t offset_ = 0;
  std::vector<ReliablePart> waiting_;
  Sequence sequence_ = 0;
};

}  // namespace reckoner::test
