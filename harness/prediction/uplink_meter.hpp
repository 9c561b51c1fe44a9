// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::harness {

/// A client's transport that measures what its datagrams carry behind their heads: inputs and results, owned
/// motions, messages. The heads have acknowledgements and clocks, which every client sends.
class UplinkMeter final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  bool send(PeerId peer, std::span<const std::byte> datagram) override {
    BitReader reader{datagram};
    const auto head = read_client_datagram(reader);
    if (head && !head->join) content_bits_ += reader.bits_left();
    return ForwardingTransport::send(peer, datagram);
  }

  /// Bits behind the heads so far, with the padding of the last byte.
  [[nodiscard]] std::uint64_t content_bits() const { return content_bits_; }

 private:
  std::uint64_t content_bits_ = 0;
};

}  // namespace reckoner::harness
