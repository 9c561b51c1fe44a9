// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Writes datagrams with nothing but reliable messages: between two ticks, and after the end of a session.
/// The client learns nothing else from them.
class MessageDatagram {
 public:
  /// The datagram says that it belongs to this tick, and that the client's data is complete up to
  /// `complete_age` ticks before it.
  MessageDatagram(Tick tick, std::uint32_t complete_age)
      : tick_(tick), complete_age_(std::min(complete_age, kMostAge)) {}

  /// Begins a datagram of the link at `now_s`. The caller must then ask the link for outcomes.
  [[nodiscard]] Sequence begin(PeerLink& link, double now_s) { return sequence_ = link.begin(now_s); }
  /// Writes it, in at most `room` bytes, with `control`. `write(writer, most_bits)` writes the section, and
  /// returns false if it writes nothing. The result is valid as long as this object.
  template <class Write>
  [[nodiscard]] std::span<const std::byte> finish(PeerLink& link, const ServerControl& control,
                                                  std::size_t room, Write&& write_section) {
    ServerHeader header;
    header.sequence = sequence_;
    header.ack = link.acknowledge_if_wanted();
    header.tick = static_cast<std::uint16_t>(tick_);
    header.complete_age = complete_age_;
    header.control = control;
    const std::size_t head_bits = kMaxHeaderBits + (header.ack ? header.ack->bits() : 0);
    std::array<std::byte, kMaxDatagramBytes> section_buffer;
    BitWriter section{section_buffer};
    header.has_reliable = room * 8 > head_bits && write_section(section, room * 8 - head_bits);
    const std::size_t section_bits = section.bits_written();
    BitWriter writer{std::span{buffer_}.first(room)};
    write(writer, header);
    writer.append(section.finish(), section_bits);
    return writer.finish();
  }

 private:
  // So old that the client has newer claims, and so young that ticks do not wrap.
  static constexpr std::uint32_t kMostAge = 1u << 20;
  static constexpr std::size_t kMaxHeaderBits = 384;  // with the end of the datagram, without the ack

  Tick tick_;
  std::uint32_t complete_age_;
  Sequence sequence_ = 0;
  std::array<std::byte, kMaxDatagramBytes> buffer_;
};

}  // namespace reckoner
