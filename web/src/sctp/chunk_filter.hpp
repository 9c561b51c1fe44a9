// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/refusal.hpp>

namespace reckoner::web {

/// Size of the largest SCTP packet that passes, bytes. DTLS and UDP carry no larger one in 1200 bytes.
inline constexpr std::size_t kMaxSctpPacketBytes = 1200;

/// Lets only those SCTP packets (RFC 9260) of a browser through that a data channel needs in the present
/// state of its association. It stands in front of the SCTP library, which receives packets from strangers'
/// browsers and has had errors in chunks that data channels never use. In particular, nothing restarts an
/// association: usrsctp 0.9.5.0 uses freed memory there (CVE-2021-30523).
///
/// The browser begins the association, and the server only listens:
///
/// | state | passes |
/// |---|---|
/// | new | INIT, alone in its packet; COOKIE-ECHO at the front of a packet, which opens the association;
/// ABORT | | open | DATA, SACK, HEARTBEAT, HEARTBEAT-ACK, FORWARD-TSN, ERROR, SHUTDOWN and its answers, ABORT
/// |
///
/// COOKIE-ECHO passes again if it has the same bytes and the browser has sent nothing else since: then our
/// COOKIE-ACK was lost. A message must be in one DATA chunk, so the library never has to store a part of a
/// message.
class ChunkFilter {
 public:
  /// Checks a packet as DTLS delivered it. Returns nullopt if it passes to the SCTP library. Otherwise
  /// returns why it must be dropped: `malformed`, `too_large`, or `unexpected` for chunks that are not
  /// allowed in this state.
  [[nodiscard]] std::optional<Refusal> refuse(std::span<const std::byte> packet);

  /// True after the first COOKIE-ECHO.
  [[nodiscard]] bool is_open() const { return !cookie_.empty(); }

 private:
  std::vector<std::byte> cookie_;   // the packet's tag and the chunk that opened the association; empty: new
  bool cookie_is_settled_ = false;  // the browser has our COOKIE-ACK
};

}  // namespace reckoner::web
