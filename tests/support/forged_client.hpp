// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/welcome_reader.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner::test {

/// A client without a Client. It joins, acknowledges what arrives, and sends reliable messages at once,
/// however many they are: it respects no window and no limit. It sends nothing again, so its links must lose
/// nothing.
class ForgedClient {
 public:
  explicit ForgedClient(World& world)
      : world_(world), transport_(world.network().add_client(kProtocolVersion)) {}

  /// Runs the world until the server has let it in.
  void join() {
    for (int i = 0; i < 200 && !id_; ++i) {
      world_.run_to(world_.now_s() + 0.01);
      service();
    }
    ASSERT_TRUE(id_);
  }
  [[nodiscard]] ClientId id() const { return id_.value_or(ClientId{}); }

  /// Processes what has arrived, and acknowledges it. Call it often.
  void service() {
    poll();
    if (arrived_.any() && std::exchange(news_, false)) send_parts({});
  }

  /// Adds a message to the stream, and sends it.
  void send(std::span<const std::byte> message) {
    Bytes stream;
    append_message(stream, message);
    send_bytes(stream);
  }
  void send(const ReliableMessage& message) { send(encoded_message(message)); }
  /// Adds bytes to the stream, and sends them.
  void send_bytes(std::span<const std::byte> stream) {
    send_bytes_at(offset_, stream);
    offset_ += stream.size();
  }
  /// Sends bytes for any place of the stream, in full datagrams. Returns their number.
  std::size_t send_bytes_at(std::uint64_t offset, std::span<const std::byte> stream) {
    std::size_t datagrams = 0;
    for (; !stream.empty(); ++datagrams) {
      const auto part = stream.first(std::min(kPartBytes, stream.size()));
      send_parts({{{offset, {part.begin(), part.end()}}}});
      offset += part.size();
      stream = stream.subspan(part.size());
    }
    return datagrams;
  }
  /// Sends one datagram with these parts, in ascending order.
  void send_parts(const std::vector<ReliablePart>& parts) {
    ClientDatagram head;
    head.sequence = next_++;
    if (arrived_.any()) head.ack = arrived_.acknowledge();
    transport_.send(server_, forged_reliable(head, parts));
  }
  /// Sends one datagram with these inputs, whatever is wrong with them. `base` as for write_inputs().
  void send_inputs(const InputBatch& batch, const Input& base = {}) {
    ClientDatagram head;
    head.sequence = next_++;
    if (arrived_.any()) head.ack = arrived_.acknowledge();
    head.has_inputs = true;
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, head);
    write_inputs(writer, batch, base);
    ASSERT_FALSE(writer.overflowed());
    transport_.send(server_, writer.finish());
  }

  /// The end of the stream.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// The number of the next datagram.
  [[nodiscard]] Sequence next() const { return next_; }
  /// Why the server has ended the connection.
  [[nodiscard]] const std::optional<EndCode>& ended() const { return ended_; }
  /// True if the server has acknowledged the datagram.
  [[nodiscard]] bool is_acknowledged(Sequence sequence) const { return acknowledged_.contains(sequence); }

  static constexpr std::size_t kPartBytes = 1000;

 private:
  void poll() {
    while (const auto event = transport_.poll()) {
      if (event->kind == TransportEvent::Kind::connected) {
        server_ = event->peer;
        transport_.send(server_,
                        request_datagram({.archetype_hash = archetype_hash(ClientConfig{}.archetypes)}));
      } else if (event->kind == TransportEvent::Kind::disconnected) {
        ended_ = unpack_end_code(event->reason);
      } else {
        BitReader reader{event->payload};
        const ServerHeader head = read_server_header(reader);
        if (!arrived_.note(head.sequence)) continue;
        arrived_.want(head.sequence);
        news_ = true;
        if (const auto welcome = welcome_.take(head, reader)) id_ = welcome->client;
        if (head.ack) head.ack->for_each([this](Sequence sequence) { acknowledged_.insert(sequence); });
      }
    }
  }

  World& world_;
  Transport& transport_;
  PeerId server_;
  std::optional<ClientId> id_;
  WelcomeReader welcome_;
  std::optional<EndCode> ended_;
  ReceivedWindow arrived_;
  bool news_ = false;
  std::set<Sequence> acknowledged_;
  Sequence next_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace reckoner::test
