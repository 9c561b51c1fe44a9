// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// How the datagrams of a stream of a PipeServer or a PipeTransport travel. The default is the stream itself.
struct PipePath {
  /// True: datagrams never overtake each other (Transport::is_ordered()).
  bool is_ordered = true;
  /// Size of the largest datagram that should travel this way, bytes, from 1 to kMaxDatagramBytes. Rarely,
  /// there are larger ones, for large unreliable messages of the game. They should travel over the stream.
  std::size_t max_datagram_bytes = kMaxDatagramBytes;
};

}  // namespace reckoner
